//! The window of a group: how many bytes all of its connections may have under way in one direction.
//!
//! # Model
//! LEDBAT++ from outside. A tick sees how long the queue is (the round trip less the base) and how much came through. Below the target the
//! window grows, above it shrinks in proportion; slow start, slowdowns and the restart are LEDBAT++'s in form. It differs in what an
//! observer has to do otherwise:
//! - A window that was granted cannot be withdrawn, so it never grows beyond 1.5 times of what came in the last round trip.
//! - A slowdown goes to half of the base's worth of the rate, which drains the own queue in two round trips, and back at once.
//! - The target is half of the largest queue of late if that is less: in a short buffer the constant one would never be exceeded.
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
//! One-way delays: an observer has none. So a busy opposite direction looks like a queue; see [`super::reverse`].
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
/// A slowdown lasts so many round trips: one until the smaller window holds, one to see the base.
const SLOWDOWN_ROUNDS: u64 = 2;
/// The next slowdown begins after this many times of the last one's length, so that it costs at most a twentieth (§4.4) …
const APART: u64 = 9;
/// … and not before this long.
const APART_MIN: Span = Span::from_secs(10);
/// Below this part of the target for [`RESTART_ROUNDS`] the path is free, and slow start begins again.
const FREE: f64 = 0.125;
/// See [`FREE`].
const RESTART_ROUNDS: u64 = 4;
/// The largest queue is that of this long: as long as CUBIC takes to fill a buffer of home links once or twice.
const LARGEST_KEPT: Span = Span::from_secs(10);
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
    /// The target is not set below this for short buffers: less than the sensor's errors and a few packets of a slow link.
    pub target_min: Span,
}

impl Default for Params {
    fn default() -> Params {
        Params { target: Span::from_millis(25), target_min: Span::from_millis(10) }
    }
}

/// Part of the state diagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Exponential growth until the queue shows.
    SlowStart,
    /// Growth and decrease by the queue.
    Avoidance,
    /// A smaller window until `until`, so that the base shows; then `window` again, bytes.
    Slowdown {
        /// When it ends.
        until: Time,
        /// How long it takes as a whole.
        length: Span,
        /// The window before it, bytes.
        window: f64,
    },
}

/// What a tick has seen of the group's active connections.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Time of the tick.
    pub now: Time,
    /// Round-trip time without a queue.
    pub base: Span,
    /// Queuing delay; `None` if no connection fills its window, so that none can say.
    pub queue: Option<Span>,
    /// Bytes that came since the tick before.
    pub moved: f64,
    /// Bytes that came in the last round trip.
    pub per_round: f64,
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
    /// Seconds.
    largest: Largest,
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
            largest: Largest::new(LARGEST_KEPT),
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

    /// Returns the queuing delay that the law goes by, seconds, once it was seen.
    pub fn queue(&self) -> Option<f64> {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
    }

    /// Returns the target, seconds.
    pub fn target(&self) -> f64 {
        let Params { target, target_min } = self.params;
        let half = self.largest.get().map_or(f64::INFINITY, |largest| largest / 2.0);
        half.clamp(target_min.as_secs_f64(), target.as_secs_f64())
    }

    /// Returns whether others have the link: the window is less than half of what it was.
    pub fn is_crowded(&self) -> bool {
        !matches!(self.phase, Phase::Slowdown { .. })
            && self.highest.get().is_some_and(|highest| self.window < highest / 2.0)
            && self.queue().is_some_and(|queue| queue > self.target() / 2.0)
    }

    /// Takes in what a tick has seen; the window stays at `floor` bytes at least.
    pub fn tick(&mut self, seen: &Seen, floor: f64) {
        self.used.note(seen.now, seen.per_round);
        if self.is_slowed_down(seen.now) {
            return;
        }
        let Some(queue) = seen.queue else {
            self.forget_unused(floor);
            return;
        };
        self.samples.rotate_left(1);
        self.samples[SAMPLES - 1] = queue.as_secs_f64();
        let queue = self.queue().unwrap_or(0.0);
        self.largest.note(seen.now, queue);
        self.begin_round(seen, queue);
        let before = self.window;
        if seen.has_lost && !self.round.has_lost {
            self.round.has_lost = true;
            self.window /= 2.0;
            self.leave_slow_start(seen);
        } else {
            self.follow(seen, queue);
        }
        let lowest = self.round.window / 2.0;
        let highest = before.max(CREDIT * seen.per_round);
        self.window = self.window.max(lowest).min(highest).max(floor);
        self.highest.note(seen.now, self.window);
        self.begin_slowdown(seen, queue, floor);
    }

    /// Changes the window by the queue.
    fn follow(&mut self, seen: &Seen, queue: f64) {
        let target = self.target();
        let gain = 1.0 / (2.0 * target / seen.base.as_secs_f64().max(1e-6)).ceil().clamp(1.0, DIVISOR_MAX);
        if self.phase == Phase::SlowStart {
            if queue <= EXIT * target {
                self.window += gain.max(0.5) * seen.moved;
                return;
            }
            let rtt = seen.base.as_secs_f64() + queue;
            let of_rate = seen.per_round / rtt * (seen.base.as_secs_f64() + target);
            self.window = self.window.min(of_rate);
            self.leave_slow_start(seen);
        }
        // The part of a round trip that this tick was.
        let part = (seen.moved / self.window).min(1.0);
        let growth = gain * seen.mss;
        let change = match queue < target {
            true => growth,
            false => (growth - self.window * (queue / target - 1.0)).max(-self.window / 2.0),
        };
        self.window += change * part;
        self.restart_if_free(seen, queue < FREE * target);
    }

    fn leave_slow_start(&mut self, seen: &Seen) {
        if self.phase == Phase::SlowStart {
            self.phase = Phase::Avoidance;
            self.next_slowdown = self.next_slowdown.min(seen.now + APART_MIN);
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
        if seen.now.since(since) >= seen.base * RESTART_ROUNDS {
            self.phase = Phase::SlowStart;
            self.free_since = None;
        }
    }

    fn begin_round(&mut self, seen: &Seen, queue: f64) {
        if seen.now.since(self.round.began) >= seen.base + Span::from_secs_f64(queue) {
            self.round = Round { began: seen.now, window: self.window, has_lost: false };
        }
    }

    fn begin_slowdown(&mut self, seen: &Seen, queue: f64, floor: f64) {
        if self.phase != Phase::Avoidance || seen.now < self.next_slowdown {
            return;
        }
        let rtt = seen.base + Span::from_secs_f64(queue);
        let length = rtt * SLOWDOWN_ROUNDS;
        self.phase = Phase::Slowdown { until: seen.now + length, length, window: self.window };
        let of_rate = seen.per_round * seen.base.as_secs_f64() / rtt.as_secs_f64() / 2.0;
        self.window = of_rate.min(self.window).max(floor);
    }

    /// Returns whether a slowdown is under way, after ending one that is over.
    fn is_slowed_down(&mut self, now: Time) -> bool {
        let Phase::Slowdown { until, length, window } = self.phase else { return false };
        if now < until {
            return true;
        }
        self.window = window;
        self.phase = Phase::Avoidance;
        self.next_slowdown = now + (length * APART).max(APART_MIN);
        self.round = Round { began: now, window, has_lost: false };
        false
    }

    /// Lowers a window that nobody fills to what is used of it: later it might come all at once.
    fn forget_unused(&mut self, floor: f64) {
        let used = CREDIT * self.used.get().unwrap_or(0.0);
        if used < self.window {
            self.window = used.max(floor);
            self.phase = Phase::SlowStart;
        }
    }
}
