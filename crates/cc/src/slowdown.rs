//! The slowdown schedule: now and then the window drops to its floor, so that the queue empties and everybody sees
//! the true base delay.
//!
//! ```text
//!   wait ──now ≥ next──▶ freeze (2 RTT at the floor) ──▶ ramp (slow start back) ──W ≥ ssthresh──▶ wait
//! ```
//!
//! The wait after a slowdown is nine times as long as the slowdown took, freeze and ramp together, so that slowdowns
//! cost at most a tenth of the time.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-01 §4.4.

use crate::units::{Span, Time};

/// Round trips between the end of the initial slow start and the first slowdown (§4.4).
pub const FIRST_WAIT_RTTS: u64 = 2;
/// Round trips at the floor (§4.4).
pub const FREEZE_RTTS: u64 = 2;
/// The wait is this many times the slowdown's duration (§4.4).
pub const WAIT_FACTOR: u64 = 9;
/// The least wait after a slowdown whose window was restored at once (ours; Bagnulo 2022 §5.1.3 leaves it open).
pub const RESTORED_WAIT: Span = Span::from_secs(10);

/// Round trips are taken to be at least this long. Before the first sample a transport knows none, and a slowdown of no
/// length would be over and due again for ever; on shorter paths than this there is no queue worth emptying.
const SHORTEST_RTT: Span = Span::from_millis(1);

/// Where in the cycle a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowdown {
    /// No slowdown is due: a slow start that is not part of one is going on.
    Unscheduled,
    /// Waiting for the next one.
    Waiting {
        /// When it is due.
        next: Time,
    },
    /// At the floor.
    Freezing {
        /// When the slowdown began.
        began: Time,
        /// When the window may grow again.
        until: Time,
    },
    /// Growing back.
    Ramping {
        /// When the slowdown began.
        began: Time,
    },
}

impl Slowdown {
    /// The wait after a slow start that was not part of a slowdown: two round trips.
    pub fn after_slow_start(now: Time, rtt: Span) -> Slowdown {
        Slowdown::Waiting { next: now + rtt.max(SHORTEST_RTT) * FIRST_WAIT_RTTS }
    }

    /// A slowdown begins.
    pub fn begin(now: Time, rtt: Span) -> Slowdown {
        Slowdown::Freezing { began: now, until: now + rtt.max(SHORTEST_RTT) * FREEZE_RTTS }
    }

    /// A slowdown that began at `began` ends.
    pub fn end(began: Time, now: Time) -> Slowdown {
        Slowdown::Waiting { next: now + now.since(began) * WAIT_FACTOR }
    }

    /// A slowdown that began at `began` ends at once, without a ramp. Nine times two round trips would be too often: the wait
    /// is at least [`RESTORED_WAIT`].
    pub fn end_restored(began: Time, now: Time) -> Slowdown {
        Slowdown::Waiting { next: now + (now.since(began) * WAIT_FACTOR).max(RESTORED_WAIT) }
    }

    /// A slowdown has begun and not ended.
    pub fn is_under_way(&self) -> bool {
        matches!(self, Slowdown::Freezing { .. } | Slowdown::Ramping { .. })
    }

    /// When something is to happen although no ack arrives.
    pub fn wake_at(&self) -> Option<Time> {
        match *self {
            Slowdown::Waiting { next } => Some(next),
            Slowdown::Freezing { until, .. } => Some(until),
            Slowdown::Unscheduled | Slowdown::Ramping { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_round_trip_time_a_slowdown_still_takes_time() {
        let begins = Time::from_millis(5);
        let wake = |slowdown: Slowdown| slowdown.wake_at().unwrap().since(begins);
        assert_eq!(wake(Slowdown::after_slow_start(begins, Span::ZERO)), Span::from_millis(2));
        assert_eq!(wake(Slowdown::begin(begins, Span::ZERO)), Span::from_millis(2));
    }
}
