//! A busy opposite direction, taken off the queue.
//!
//! # Model
//! An upload of the own host delays the acknowledgements of a download, and the download sees a long round trip: the queue could as well be
//! its own. While the host moves data the other way, the group tries it out. It makes its window larger and smaller by turns and looks
//! whether the round trip follows. A queue in front of the own data grows by what the larger window adds, divided by the link's rate; a queue in
//! front of the acknowledgements does not. If the round trip does not follow, what it has beyond its base is *explained*: it counts as base
//! until the opposite direction is idle.
//!
//! The other direction's queue swings. A shorter round trip lowers what is explained at once. A longer one raises it slowly, and only while the
//! group has much less than the link: otherwise the own queue would explain itself.
//!
//! # States
//! idle → (busy, crowded) → [`Step::Grow`] → some times [`Step::Hold`] → explained, or idle for a while.
//!
//! # Constants
//! See below, each with its unit and reason.
//!
//! # Source
//! Own. RFC 9840 §4.2 measures one direction by timestamps, which an observer does not see.
//!
//! # Not implemented
//! Uploads of other hosts behind the same router: only the own host's traffic starts a trial.
//!
//! # Known bad cases
//! A download of another host beside an own upload is taken for the upload if its queue swings against the trial. Then the group takes more
//! until the queue has grown by the target.

use super::law::{Law, Seen};
use afteryou_base::{Span, Time};

/// The opposite direction is busy above this rate, bytes a second (100 kbit/s): less fills no uplink.
const BUSY_PER_S: f64 = 12_500.0;
/// It is busy after so long, and idle after so long: chunks and pauses change nothing.
const BUSY_FOR: Span = Span::from_secs(1);
/// A trial takes this part of the link: others keep the rest …
const TRIED: f64 = 0.1;
/// … or as much as makes a queue of this length, if that is more: less disappears in jitter …
const TRIED_S: f64 = 0.036;
/// … but this part at most.
const TRIED_MAX: f64 = 0.4;
/// It has grown if its window is this part of the one it aims at, which moves with the round trip.
const GROWN: f64 = 0.9;
/// Ratio of the larger window of a trial to the smaller, and of its growth in a round trip: more than that is never granted.
const STEP: f64 = 1.5;
/// A trial begins with this many packets: as few as a window may always have.
const LEAST_PACKETS: f64 = 4.0;
/// Steps of growth, and then of holding, until a trial is given up. From four packets to a tenth of 100 Mbit/s at 750 ms growth takes 13, and
/// two verdicts take eight beside a queue that loses packets twice.
const STEPS_MAX: u32 = 24;
/// The round trip follows if it grows by this part of what the link's rate lets expect.
const FOLLOWS: f64 = 0.5;
/// Weights of the four means. A queue that swings by itself cancels out: a constant, a slope and a parabola have no part in the sum, and the
/// difference of the two windows has the part 1.
const WEIGHTS: [f64; 4] = [-0.25, 0.75, -0.75, 0.25];
/// The round trip must not follow this many times: once may be chance, and a wrong answer costs others more than a late one costs the group.
const UNMOVED: u32 = 2;
/// An expected growth below this is none.
const LEAST_EXPECTED_S: f64 = 0.006;
/// A round trip that moves by this many times more from step to step says nothing: a queue has just lost packets. The steps before do not count.
const SWINGS: f64 = 5.0;
/// The first trial comes so long after trouble began …
const WAIT_MIN: Span = Span::from_secs(2);
/// … and the next one so long after a failure, since the same upload beside the same download seldom ends within seconds …
const WAIT_FAILED: Span = Span::from_secs(16);
/// … which grows by this factor …
const WAIT_GROWTH: u64 = 2;
/// … up to this.
const WAIT_MAX: Span = Span::from_secs(64);
/// The explained part grows by this at most, seconds a second: a loss-based upload fills a home uplink more slowly …
const DRIFT: f64 = 0.1;
/// … only below this part of the best rate …
const DRIFT_BELOW: f64 = 0.8;
/// … and as long as what remains is below this many targets: somebody who arrives makes a long queue at once.
const DRIFT_TARGETS: f64 = 2.0;
/// Round trips of a step: one until the window shows, one to measure.
const ROUNDS: u64 = 2;

/// The part of the queue that the opposite direction explains.
#[derive(Clone, Debug)]
pub struct Opposite {
    busy_since: Option<Time>,
    idle_since: Option<Time>,
    explained_s: f64,
    trial: Option<Trial>,
    next_trial: Time,
    wait: Span,
}

/// A trial under way.
#[derive(Clone, Debug)]
struct Trial {
    step: Step,
    began: Time,
    /// Of the step, from the reading before it.
    round: Span,
    window: f64,
    steps: u32,
    /// The smaller window, bytes.
    low: f64,
    /// Most bytes that came in a round trip of this step.
    came: f64,
    /// How often the round trip did not follow.
    unmoved: u32,
    /// Mean round trips of the latest steps, seconds, with both windows by turns.
    means: Vec<f64>,
    /// Sum, number and least of the readings of this step's second half, seconds.
    sum: f64,
    readings: u32,
    least: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The window grows step by step.
    Grow,
    /// The smaller window and the larger one by turns.
    Hold,
}

impl Default for Opposite {
    fn default() -> Opposite {
        Opposite {
            busy_since: None,
            idle_since: None,
            explained_s: 0.0,
            trial: None,
            next_trial: Time::ZERO,
            wait: WAIT_FAILED,
        }
    }
}

impl Opposite {
    /// Notes what the host moves the other way, bytes a second, without the acknowledgements of this group.
    pub fn note_rate(&mut self, now: Time, per_s: f64) {
        if per_s >= BUSY_PER_S {
            self.busy_since.get_or_insert(now);
            self.idle_since = None;
            return;
        }
        let since = *self.idle_since.get_or_insert(now);
        if now.since(since) >= BUSY_FOR {
            *self = Opposite { idle_since: Some(since), ..Opposite::default() };
        }
    }

    /// Moves what the opposite direction explains from the queue to the base, and returns the group's window, bytes, while it tries that out
    /// whatever the law says. `best` is the link's rate in bytes a second as far as the group has seen it.
    pub fn tick(&mut self, seen: &mut Seen, law: &mut Law, best: f64) -> Option<f64> {
        if let Some(queue) = seen.queue {
            self.advance(seen, queue.as_secs_f64(), law, best);
            self.take_off(seen, queue.as_secs_f64(), law.target(), best);
        }
        self.trial.as_ref().map(|trial| trial.window)
    }

    /// Begins a trial, or continues it.
    fn advance(&mut self, seen: &Seen, queue_s: f64, law: &mut Law, best: f64) {
        let rtt = seen.base.as_secs_f64() + queue_s;
        let Some(trial) = &mut self.trial else {
            let is_busy = self.busy_since.is_some_and(|since| seen.now.since(since) >= BUSY_FOR);
            if !is_busy || queue_s < self.explained_s + law.target() {
                self.next_trial = self.next_trial.max(seen.now + WAIT_MIN);
            } else if seen.now >= self.next_trial && aim(rtt, best) > law.window() {
                self.trial = Some(Trial::new(seen.now, rtt, law.window()));
            }
            return;
        };
        let wait = match trial.tick(seen, rtt, best) {
            Ended::No => return,
            Ended::Unclear => WAIT_MIN,
            Ended::Follows => {
                let wait = self.wait;
                self.wait = (wait * WAIT_GROWTH).min(WAIT_MAX);
                wait
            }
            Ended::Explained { rtt_s, window } => {
                self.wait = WAIT_FAILED;
                self.explained_s = (rtt_s - seen.base.as_secs_f64()).max(0.0);
                law.resume(window);
                WAIT_MIN
            }
        };
        self.trial = None;
        self.next_trial = seen.now + wait;
    }

    fn take_off(&mut self, seen: &mut Seen, queue_s: f64, target_s: f64, best: f64) {
        if self.explained_s == 0.0 {
            return;
        }
        let remains = queue_s - self.explained_s;
        if remains < 0.0 {
            self.explained_s = queue_s;
        } else if seen.rate < DRIFT_BELOW * best && remains < DRIFT_TARGETS * target_s {
            self.explained_s += (DRIFT * seen.passed.as_secs_f64()).min(remains);
        }
        seen.queue = Some(Span::from_secs_f64(queue_s - self.explained_s));
        seen.base = seen.base + Span::from_secs_f64(self.explained_s);
    }
}

/// Returns the larger window of a trial, bytes.
fn aim(rtt_s: f64, best: f64) -> f64 {
    best * TRIED_S.max(TRIED * rtt_s).min(TRIED_MAX * rtt_s)
}

/// How a trial ended.
enum Ended {
    /// Not yet.
    No,
    /// It says nothing.
    Unclear,
    /// The queue is in front of the own data.
    Follows,
    /// It is not; the round trip at its shortest, and the larger window, bytes.
    Explained { rtt_s: f64, window: f64 },
}

impl Trial {
    fn new(now: Time, rtt: f64, window: f64) -> Trial {
        Trial {
            step: Step::Grow,
            began: now,
            round: Span::from_secs_f64(rtt),
            window,
            steps: 0,
            low: window,
            came: 0.0,
            unmoved: 0,
            means: Vec::with_capacity(WEIGHTS.len()),
            sum: 0.0,
            readings: 0,
            least: f64::INFINITY,
        }
    }

    fn tick(&mut self, seen: &Seen, rtt: f64, best: f64) -> Ended {
        let passed = seen.now.since(self.began);
        self.came = self.came.max(seen.per_round);
        if self.step == Step::Grow {
            return self.grow(seen, passed, rtt, best);
        }
        if passed >= self.round {
            self.sum += rtt;
            self.readings += 1;
            self.least = self.least.min(rtt);
        }
        if passed < self.round * ROUNDS {
            return Ended::No;
        }
        let mean = self.sum / f64::from(self.readings.max(1));
        let expected = self.low * (STEP - 1.0) / best.max(1.0);
        if self.means.last().is_some_and(|last| (mean - last).abs() > SWINGS * expected) {
            self.means.clear();
        }
        self.means.push(mean);
        if self.means.len() == WEIGHTS.len() {
            if expected < LEAST_EXPECTED_S {
                return Ended::Unclear;
            }
            if self.has_grown(expected) {
                return Ended::Follows;
            }
            self.unmoved += 1;
            self.means.clear();
        }
        if self.unmoved == UNMOVED {
            return Ended::Explained { rtt_s: self.least, window: self.low * STEP };
        }
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Ended::Unclear;
        }
        let window = if self.is_larger() { self.low } else { self.low * STEP };
        self.begin(Step::Hold, seen.now, rtt, window);
        Ended::No
    }

    fn is_larger(&self) -> bool {
        self.window > self.low
    }

    fn grow(&mut self, seen: &Seen, passed: Span, rtt: f64, best: f64) -> Ended {
        if passed < self.round + self.round / 4 {
            return Ended::No;
        }
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Ended::Unclear;
        }
        let aim = aim(rtt, best);
        if self.window >= GROWN * aim {
            self.low = self.window / STEP;
            self.steps = 0;
            self.begin(Step::Hold, seen.now, rtt, self.low);
        } else {
            // Never more than came, times the step; a packet of it may have no room.
            let least = LEAST_PACKETS * seen.mss;
            let came = (STEP * (self.came + seen.mss)).max(least).max(self.window);
            let window = (STEP * self.window).max(least).min(came).min(aim);
            self.begin(Step::Grow, seen.now, rtt, window);
        }
        Ended::No
    }

    fn begin(&mut self, step: Step, now: Time, rtt: f64, window: f64) {
        self.step = step;
        self.began = now;
        self.round = Span::from_secs_f64(rtt);
        self.window = window;
        self.came = 0.0;
        self.sum = 0.0;
        self.readings = 0;
        self.least = f64::INFINITY;
    }

    /// Returns whether the round trip has grown with the window in the latest steps.
    fn has_grown(&self, expected: f64) -> bool {
        let sum: f64 = self.means.iter().zip(WEIGHTS).map(|(mean, weight)| mean * weight).sum();
        // The weights are those of a trial whose last window is the larger.
        let grown = if self.is_larger() { sum } else { -sum };
        grown >= FOLLOWS * expected
    }
}
