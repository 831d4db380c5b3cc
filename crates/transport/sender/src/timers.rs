//! Deadlines of a sender, and how the retransmission timeout backs off.

use afteryou_base::{Span, Time};

/// Backoff ends here (RFC 6298 §2.5 requires 60 s or more).
pub const MAX_RTO: Span = Span::from_secs(60);
/// Consecutive timeouts that still double the timer.
const MAX_DOUBLINGS: u32 = 16;

/// Consecutive timeouts (RFC 6298 §5.5 and §5.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    timeouts: u32,
}

impl Backoff {
    /// Doubles the timeout after an expiry.
    pub fn back_off(&mut self) {
        self.timeouts += 1;
    }

    /// Resets the backoff: an ack made progress.
    pub fn reset(&mut self) {
        self.timeouts = 0;
    }

    /// Limits the timer to `doublings` from here: the peer answers and is only busy.
    pub fn limit(&mut self, doublings: u32) {
        self.timeouts = self.timeouts.min(doublings);
    }

    /// Returns the number of expiries since an ack made progress.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Returns the timeout that follows from `rto`, the one of the round-trip times alone.
    #[inline]
    pub fn apply(&self, rto: Span) -> Span {
        if self.timeouts == 0 {
            return rto.min(MAX_RTO);
        }
        (rto * (1 << self.timeouts.min(MAX_DOUBLINGS))).min(MAX_RTO)
    }
}

/// Deadlines of loss recovery; [`Time::NEVER`]: not set.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// The retransmission timeout (RFC 6298).
    pub retransmit: Time,
    /// The tail loss probe (RFC 8985 §7).
    pub probe: Time,
    /// When a packet that was overtaken counts as lost (RFC 8985 §6.2, step 5).
    pub reordering: Time,
    /// A probe is to leave.
    pub probe_due: bool,
    /// Consecutive timeouts.
    pub backoff: Backoff,
}

impl Default for Timers {
    fn default() -> Timers {
        let (retransmit, probe, reordering) = (Time::NEVER, Time::NEVER, Time::NEVER);
        Timers { retransmit, probe, reordering, probe_due: false, backoff: Backoff::default() }
    }
}

impl Timers {
    /// Returns the earliest deadline.
    #[inline]
    pub fn next(&self) -> Time {
        self.retransmit.min(self.probe).min(self.reordering)
    }

    /// Starts the retransmission timer if it is not running.
    pub fn ensure_retransmit(&mut self, at: Time) {
        if self.retransmit == Time::NEVER {
            self.retransmit = at;
        }
    }

    /// Starts the retransmission timer anew until `at` after an expiry; everything else waits for its answer.
    pub fn time_out(&mut self, at: Time) {
        (self.retransmit, self.probe, self.reordering) = (at, Time::NEVER, Time::NEVER);
        self.probe_due = false;
    }

    /// Stops all timers: nothing is outstanding.
    pub fn stop(&mut self) {
        (self.retransmit, self.probe, self.reordering) = (Time::NEVER, Time::NEVER, Time::NEVER);
    }
}

/// Takes a deadline that has passed.
pub fn expired(deadline: &mut Time, now: Time) -> bool {
    let passed = *deadline <= now;
    if passed {
        *deadline = Time::NEVER;
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_expiry_doubles_up_to_a_minute_and_progress_resets() {
        let (mut backoff, second) = (Backoff::default(), Span::from_secs(1));
        let mut seconds = Vec::new();
        for _ in 0..8 {
            seconds.push(backoff.apply(second).0 / 1_000_000_000);
            backoff.back_off();
        }
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        (0..100).for_each(|_| backoff.back_off());
        assert_eq!((backoff.apply(second), backoff.timeouts()), (MAX_RTO, 108));
        backoff.limit(2);
        assert_eq!(backoff.apply(second), Span::from_secs(4));
        backoff.reset();
        assert_eq!(backoff.apply(second), second);
    }

    #[test]
    fn a_deadline_expires_once() {
        let mut deadline = Time::from_millis(5);
        assert!(!expired(&mut deadline, Time::from_millis(4)));
        assert!(expired(&mut deadline, Time::from_millis(5)));
        assert!(!expired(&mut deadline, Time(u64::MAX - 1)));
    }
}
