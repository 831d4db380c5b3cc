//! The window of a group: how many bytes all of its connections may have under way in one direction.
//!
//! # Model
//! LEDBAT++ from outside. A tick sees how long the queue is (the round trip less the base) and how much came through. Below the target the
//! window grows, above it shrinks in proportion; slow start, slowdowns and the restart are LEDBAT++'s in form. It differs in what an
//! observer has to do otherwise:
//! - A window that was granted cannot be withdrawn, so it never grows beyond 1.5 times of what came in the last round trip.
//! - A slowdown goes to half of the base's worth of the rate, which drains the own queue in two round trips, and is over in one more.
//! - Above the target it first shrinks by what makes the queue too long, if all of it is its own. Only what remains after that is others',
//!   and then the decrease is LEDBAT++'s. Otherwise, since the measure is a round trip late, the window would swing.
//! - It begins with what the connections have under way when they are first seen, as far as that leaves the queue short.
//! - The target is half of the queue at which packets are lost if that is less: in a short buffer the constant one would never be exceeded.
//!
//! # States
//! [`Phase::SlowStart`] → [`Phase::Avoidance`] ⇄ [`Phase::Slowdown`]; a queue that stays short leads back to slow start.
//!
//! # Constants
//! See [`Params`] and the constants below, each with its unit and reason.
//!
//! # Sources
//! draft-irtf-iccrg-ledbat-plus-plus-01 §4.1–4.4 (gain, decrease, slow start, slowdown); RFC 9840 §4.1, §4.3 (the receiver's window and
//! losses). The differences were found by trial with kernel senders.
//!
//! # Not implemented
//! One-way delays: an observer has none. So a busy opposite direction looks like a queue, but for what [`super::opposite`] explains.
//!
//! # Known bad cases
//! Behind a fair queue the own delay says nothing of others: then only the number of active connections bounds the share. Jitter beyond
//! the target looks like a queue.

use super::recent::Largest;
use afteryou_base::{Span, Time};

/// Largest divisor of GAIN (LEDBAT++ §4.2).
const DIVISOR_MAX: f64 = 16.0;
/// Slow start ends at this part of the target (§4.1).
const EXIT: f64 = 0.75;
/// A window grows to this many times of what came in a round trip: granted bytes cannot be withdrawn.
const CREDIT: f64 = 1.5;
/// Round trips of a slowdown: one until the smaller window holds, one to see the base.
const SLOWDOWN_ROUNDS: u64 = 2;
/// The next slowdown begins after this many times of the last one's length, so that it costs at most a twentieth (§4.4) …
const APART: u64 = 9;
/// … and not before this long.
const APART_MIN: Span = Span::from_secs(10);
/// … and this long after slow start, which has seen the base.
const AFTER_SLOW_START: Span = Span::from_secs(2);
/// A window of fewer floors needs no slowdown: the path shows its base beside it.
const LEAST_SLOWED: f64 = 4.0;
/// Below this part of the target for [`RESTART_ROUNDS`] the path is free, and slow start begins again.
const FREE: f64 = 0.25;
/// See [`FREE`].
const RESTART_ROUNDS: u64 = 4;
/// The queue at losses is remembered this long after the last one: as long as CUBIC takes to fill a buffer of home links again.
const FULL_KEPT: Span = Span::from_secs(20);
/// Weight of a new one: a managed queue is long at the first loss and short at those that follow.
const FULL_WEIGHT: f64 = 0.25;
/// The queue at a loss is the largest of this long before it.
const BEFORE_LOSS: Span = Span::from_millis(300);
/// A loss without a queue of this much before it is chance: the sender itself answers it, and the window need not.
const NO_QUEUE: Span = Span::from_millis(2);
/// Quarters of a round trip until a correction shows: one round trip, and the measure's own delay.
const CORRECTION_QUARTERS: u64 = 5;
/// The rate that a restart may go back to is the best of this long.
const BEST_KEPT: Span = Span::from_secs(3);
/// A window may always grow to this many packets: a receiver acknowledges two at once, and less would wait for its timer.
const CREDIT_PACKETS: f64 = 4.0;
/// The window is forgotten down to what came in this long if it is not used.
const USED_KEPT: Span = Span::from_secs(1);
/// The window is crowded out if it is below half of what it was within this.
const CROWDED_KEPT: Span = Span::from_secs(30);
/// Samples of the queue of which the smallest counts: a late poll or one late packet is no queue.
const SAMPLES: usize = 3;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Queuing delay to stay below. 25 ms: the sensor errs by 3 ms, a call does not notice, and 60 ms keep less for CUBIC.
    pub target: Span,
    /// The target is not set below this for short buffers: the sensor errs by 3 ms, and queues with CoDel keep 5.
    pub target_min: Span,
}

impl Default for Params {
    fn default() -> Params {
        Params { target: Span::from_millis(25), target_min: Span::from_millis(5) }
    }
}

/// Part of the state diagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Exponential growth until the queue shows.
    SlowStart,
    /// Growth and decrease by the queue.
    Avoidance,
    /// A smaller window until `until`, so that the base shows; then in one more round trip back.
    Slowdown {
        /// When the window begins to grow again.
        until: Time,
        /// A round trip without a queue.
        base: Span,
        /// The window during it, bytes.
        low: f64,
        /// The window before and after it, bytes.
        window: f64,
    },
}

/// A tick's reading of the group's active connections.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Time of the tick.
    pub now: Time,
    /// Time since the tick before.
    pub passed: Span,
    /// Round-trip time without a queue.
    pub base: Span,
    /// Queuing delay; `None` if no connection fills its window, so that none can say.
    pub queue: Option<Span>,
    /// Bytes that came since the tick before.
    pub moved: f64,
    /// Bytes that came in the last round trip.
    pub per_round: f64,
    /// Bytes under way, as far as this end knows.
    pub in_flight: f64,
    /// Bytes a second that came of late.
    pub rate: f64,
    /// Payload of a packet, bytes.
    pub mss: f64,
    /// A packet was lost.
    pub has_lost: bool,
}

/// The window of a group.
#[derive(Clone, Debug)]
pub struct Law {
    params: Params,
    /// Bytes.
    window: f64,
    phase: Phase,
    next_slowdown: Time,
    samples: [f64; SAMPLES],
    last_loss: Option<Time>,
    /// Smoothed queue at which packets are lost, seconds.
    full: Option<f64>,
    /// Late queues, seconds.
    late: Largest,
    /// The queue is above the target, and the own part of that was corrected: it shows from this time on.
    corrected_until: Option<Time>,
    /// Bytes a second.
    best: Largest,
    /// Slow start ends at this window, bytes.
    threshold: f64,
    /// The window was cut since the last slow start.
    was_cut: bool,
    /// Others had the link since the last slow start.
    was_crowded: bool,
    /// Bytes a round trip.
    used: Largest,
    /// Bytes.
    highest: Largest,
    round: Round,
    /// Since when the queue is short.
    free_since: Option<Time>,
}

/// A round trip: a decrease within it is at most a half, and losses count once.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    window: f64,
    has_lost: bool,
}

impl Law {
    /// Creates the law of a group that begins with `window` bytes.
    pub fn new(params: Params, window: f64) -> Law {
        Law {
            params,
            window,
            phase: Phase::SlowStart,
            next_slowdown: Time::NEVER,
            samples: [f64::INFINITY; SAMPLES],
            last_loss: None,
            full: None,
            late: Largest::new(BEFORE_LOSS),
            corrected_until: None,
            best: Largest::new(BEST_KEPT),
            threshold: f64::INFINITY,
            was_cut: false,
            was_crowded: false,
            used: Largest::new(USED_KEPT),
            highest: Largest::new(CROWDED_KEPT),
            round: Round { began: Time::ZERO, window, has_lost: false },
            free_since: None,
        }
    }

    /// Returns the window, bytes.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Returns the state.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the queue at which packets are lost, seconds, if any were of late.
    pub fn full_queue(&self) -> Option<f64> {
        self.full
    }

    /// Returns the queuing delay that the law goes by, seconds, once it was seen.
    pub fn queue(&self) -> Option<f64> {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
    }

    /// Returns the target, seconds: half of it while others have the link, so that a dip of their queue is no invitation.
    pub fn target(&self) -> f64 {
        match self.is_crowded() {
            true => self.whole_target() / 2.0,
            false => self.whole_target(),
        }
    }

    fn whole_target(&self) -> f64 {
        let Params { target, target_min } = self.params;
        let half = self.full.map_or(f64::INFINITY, |full| full / 2.0);
        half.clamp(target_min.as_secs_f64(), target.as_secs_f64())
    }

    /// Returns whether others have the link: the window is less than half of what it was.
    pub fn is_crowded(&self) -> bool {
        !matches!(self.phase, Phase::Slowdown { .. })
            && self.highest.get().is_some_and(|highest| self.window < highest / 2.0)
            && self.queue().is_some_and(|queue| queue > self.whole_target() / 2.0)
    }

    /// Begins anew with a window, bytes, since the queue that kept it small is not its own.
    pub fn resume(&mut self, window: f64) {
        self.window = window;
        self.phase = Phase::SlowStart;
        self.threshold = f64::INFINITY;
        self.samples = [f64::INFINITY; SAMPLES];
        self.corrected_until = None;
        self.free_since = None;
        self.round.window = window;
    }

    /// Takes in a tick's reading; the window stays at `floor` bytes at least.
    pub fn tick(&mut self, seen: &Seen, floor: f64) {
        self.used.note(seen.now, seen.per_round);
        if self.is_slowed_down(seen.now) {
            return;
        }
        if self.queue().is_none() {
            // What is under way already had no bound; what of it makes the queue too long is not granted again.
            let fitting = seen.rate * (seen.base.as_secs_f64() + self.target());
            self.window = self.window.max(seen.per_round.max(seen.in_flight).min(fitting));
        }
        let Some(queue) = seen.queue else {
            self.forget_unused(floor);
            return;
        };
        self.samples.rotate_left(1);
        self.samples[SAMPLES - 1] = queue.as_secs_f64();
        let queue = self.queue().unwrap_or(0.0);
        self.note_queue(seen, queue);
        self.begin_round(seen, queue);
        let before = self.window;
        if self.last_loss == Some(seen.now) && !self.round.has_lost {
            self.round.has_lost = true;
            self.was_cut = true;
            self.window /= 2.0;
            self.leave_slow_start(seen);
        } else {
            self.follow(seen, queue);
        }
        let lowest = self.round.window / 2.0;
        let highest = before.max(CREDIT * seen.per_round).max(CREDIT_PACKETS * seen.mss);
        self.window = self.window.max(lowest).min(highest).max(floor);
        self.highest.note(seen.now, self.window);
        self.best.note(seen.now, seen.rate);
        self.was_crowded |= self.is_crowded();
        self.begin_slowdown(seen, queue, floor);
    }

    /// Changes the window by the queue.
    fn follow(&mut self, seen: &Seen, queue: f64) {
        let target = self.target();
        let gain = 1.0 / (2.0 * target / seen.base.as_secs_f64().max(1e-6)).ceil().clamp(1.0, DIVISOR_MAX);
        if self.phase == Phase::SlowStart {
            if queue <= EXIT * target && self.window < self.threshold {
                self.window = (self.window + gain.max(0.5) * seen.moved).min(self.threshold);
                return;
            }
            if queue > EXIT * target {
                self.window = self.window.min(seen.rate * (seen.base.as_secs_f64() + target));
            }
            self.leave_slow_start(seen);
        }
        // The part of a round trip that this tick was.
        let part = (seen.moved / self.window).min(1.0);
        let growth = gain * seen.mss;
        if queue < target {
            self.corrected_until = None;
            self.window += growth * part;
        } else {
            self.shrink(seen, queue, growth);
        }
        self.restart_if_free(seen, queue < FREE * target);
    }

    /// Shrinks the window above the target: first at once by what is too long, if all of it is the own, then by what remains.
    fn shrink(&mut self, seen: &Seen, queue: f64, growth: f64) {
        let target = self.target();
        let rtt = seen.base.as_secs_f64() + queue;
        self.was_cut = true;
        match self.corrected_until {
            None => {
                self.window -= self.window * (queue - target) / rtt;
                let shows = Span(Span::from_secs_f64(rtt).as_nanos() / 4 * CORRECTION_QUARTERS);
                self.corrected_until = Some(seen.now + shows);
            }
            Some(until) if seen.now < until => {}
            Some(_) => {
                let change = growth - self.window * (queue / target - 1.0);
                // By time and not by what came: in a queue of others little comes.
                let part = seen.passed.as_secs_f64() / rtt;
                self.window += change.max(-self.window / 2.0) * part.min(1.0);
            }
        }
    }

    fn leave_slow_start(&mut self, seen: &Seen) {
        if self.phase == Phase::SlowStart {
            self.phase = Phase::Avoidance;
            self.next_slowdown = match self.next_slowdown {
                Time::NEVER => seen.now + APART_MIN,
                due => due.max(seen.now + AFTER_SLOW_START),
            };
            self.free_since = None;
        }
    }

    /// Begins slow start again if the queue has been short for some round trips.
    fn restart_if_free(&mut self, seen: &Seen, is_free: bool) {
        if !is_free {
            self.free_since = None;
            return;
        }
        let since = *self.free_since.get_or_insert(seen.now);
        if seen.now.since(since) < seen.base * RESTART_ROUNDS {
            return;
        }
        self.free_since = None;
        self.phase = Phase::SlowStart;
        // After an own cut the link is as large as it was. Without one it must be larger.
        let (was_cut, was_crowded) =
            (std::mem::take(&mut self.was_cut), std::mem::take(&mut self.was_crowded));
        let full = self.best.get().unwrap_or(0.0) * (seen.base.as_secs_f64() + self.target() / 2.0);
        self.threshold = if was_cut && !was_crowded && full > self.window { full } else { f64::INFINITY };
    }

    fn begin_round(&mut self, seen: &Seen, queue: f64) {
        if seen.now.since(self.round.began) >= seen.base + Span::from_secs_f64(queue) {
            self.round = Round { began: seen.now, window: self.window, has_lost: false };
        }
    }

    fn note_queue(&mut self, seen: &Seen, queue: f64) {
        self.late.note(seen.now, queue);
        if self.last_loss.is_some_and(|at| seen.now.since(at) > FULL_KEPT) {
            self.full = None;
        }
        let largest = self.late.get().filter(|largest| seen.has_lost && *largest > NO_QUEUE.as_secs_f64());
        if let Some(largest) = largest {
            self.full = Some(self.full.map_or(largest, |full| full + FULL_WEIGHT * (largest - full)));
            self.last_loss = Some(seen.now);
        }
    }

    fn begin_slowdown(&mut self, seen: &Seen, queue: f64, floor: f64) {
        if self.phase != Phase::Avoidance
            || seen.now < self.next_slowdown
            || self.window < LEAST_SLOWED * floor
        {
            return;
        }
        let rtt = seen.base + Span::from_secs_f64(queue);
        let length = rtt * SLOWDOWN_ROUNDS;
        let of_rate = seen.per_round * seen.base.as_secs_f64() / rtt.as_secs_f64() / 2.0;
        let low = of_rate.min(self.window).max(floor);
        self.phase = Phase::Slowdown { until: seen.now + length, base: seen.base, low, window: self.window };
        self.window = low;
    }

    /// Returns whether a slowdown is under way, after ending one that is over.
    fn is_slowed_down(&mut self, now: Time) -> bool {
        let Phase::Slowdown { until, base, low, window } = self.phase else { return false };
        // All at once would be a burst of half a round trip's bytes.
        let back = now.since(until).as_secs_f64() / base.as_secs_f64().max(1e-3);
        if back < 1.0 {
            self.window = low + (window - low) * back;
            return true;
        }
        self.window = window;
        self.phase = Phase::Avoidance;
        self.next_slowdown = now + (base * (SLOWDOWN_ROUNDS + 1) * APART).max(APART_MIN);
        self.round = Round { began: now, window, has_lost: false };
        false
    }

    /// Reduces a window that nobody fills to its used part: later it might come all at once.
    fn forget_unused(&mut self, floor: f64) {
        let used = CREDIT * self.used.get().unwrap_or(0.0);
        if used < self.window && self.queue().is_some() {
            self.window = used.max(floor);
            self.phase = Phase::SlowStart;
        }
    }
}
