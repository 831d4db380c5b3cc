//! The restart rule (ours): a flow that yielded down to its floor comes back quickly once the others have left.
//!
//! Multiplicative decrease drives a yielding LEDBAT++ to its floor, and the next slowdown notes that floor as ssthresh.
//! From then on the draft's flow grows by GAIN packets per round trip, even on an idle path. It takes 9.5 s to 90 % of
//! 20 Mbit/s at 40 ms, and reaches 15 % after 5 s at 100 ms. The rule sees the path empty and starts again as a new
//! connection would, by slow start with the delay exit:
//!
//! ```text
//!            delay drives the window to its floor
//!   idle ───────────────────────────────────────────▶ armed ──4 rounds in a row with q < TARGET/8──▶ slow start
//!    ▲                                                │▲   │
//!    │                                                │└───┘ a round with more queue, or a loss: count again
//!    └──the window has grown past 4 floors by itself──┘
//! ```
//!
//! A window that has grown past four times its floor in congestion avoidance has recovered by itself. The cause of its
//! fall is over, and a quiet path long after that is no evidence about it. Only a count that began below may still end,
//! a few rounds later. On long paths, where GAIN is 1, five rounds are enough to get there.
//!
//! The quiet rounds and the slow start after them are a slowdown in all but name: the window was at its floor, the
//! queue empty, the base delay visible. So the next real one comes after nine times that long, not at once.
//!
//! A round counts only if *every* filtered sample in it was below the threshold, and the rounds must span at least
//! [`MIN_QUIET`]. On short paths four round trips are over within a few milliseconds, less than the gap a foreground
//! flow leaves between two bursts. Windows that losses drove down do not arm the rule, since there slow start would
//! only meet the same short buffer again.
//!
//! Source: none; our own option, off by default (the draft says nothing). Known bad case: foreground traffic that
//! pauses for longer than four rounds and comes back meets a queue of up to three quarters of TARGET.

use afteryou_base::units::{Span, Time};

/// Quiet rounds that start it.
pub const ROUNDS: u64 = 4;
/// "Quiet" is a queuing delay below TARGET divided by this.
pub const QUIET_DIVISOR: u64 = 8;
/// The least time that the quiet rounds must span.
pub const MIN_QUIET: Span = Span::from_millis(100);

/// A window of more than this many floors has recovered by itself.
pub const RECOVERED_FLOORS: u64 = 4;

/// Counts quiet rounds after the window was driven to its floor.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    rounds_needed: u64,
    threshold_us: u32,
    armed: bool,
    quiet_since: Option<Time>,
    quiet_rounds: u64,
}

impl Restart {
    /// Creates the rule for a target of `target`, which requires `rounds` quiet rounds.
    pub fn new(target: Span, rounds: u64) -> Restart {
        let threshold_us = (target.as_micros() / QUIET_DIVISOR) as u32;
        Restart { rounds_needed: rounds, threshold_us, armed: false, quiet_since: None, quiet_rounds: 0 }
    }

    /// Arms the rule: delay has driven the window to its floor.
    pub fn arm(&mut self) {
        self.armed = true;
    }

    /// Disarms the rule: the flow is in slow start again.
    pub fn disarm(&mut self) {
        self.armed = false;
        self.count_again();
    }

    /// Disarms the rule when the window is above [`RECOVERED_FLOORS`] in congestion avoidance, unless quiet rounds are being
    /// counted.
    pub fn note_recovery(&mut self) {
        if self.quiet_since.is_none() {
            self.armed = false;
        }
    }

    /// Starts the count again after a loss: whatever the delay is, the path is not free.
    pub fn count_again(&mut self) {
        self.quiet_since = None;
        self.quiet_rounds = 0;
    }

    /// Takes in the filtered queuing delay of an ack. If the flow should enter slow start now: since when the path has
    /// been quiet.
    pub fn on_ack(&mut self, now: Time, queuing_us: u32, round_start: bool) -> Option<Time> {
        if !self.armed {
            return None;
        }
        if queuing_us >= self.threshold_us {
            self.count_again();
            return None;
        }
        let since = *self.quiet_since.get_or_insert(now);
        if round_start {
            self.quiet_rounds += 1;
        }
        // The first boundary after the queue fell opens the first whole round, hence "more than".
        (self.quiet_rounds > self.rounds_needed && now.since(since) >= MIN_QUIET).then_some(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(restart: &mut Restart, from_ms: u64, rtt_ms: u64, n: u64, queuing_us: u32) -> Option<u64> {
        (0..n).find(|i| restart.on_ack(Time::from_millis(from_ms + i * rtt_ms), queuing_us, true).is_some())
    }

    #[test]
    fn four_whole_quiet_rounds_restart_an_armed_flow() {
        let mut restart = Restart::new(Span::from_millis(60), ROUNDS);
        assert_eq!(rounds(&mut restart, 0, 50, 100, 0), None, "not armed");
        restart.arm();
        assert_eq!(rounds(&mut restart, 5000, 50, 100, 7_500), None, "TARGET/8 is not quiet");
        assert_eq!(rounds(&mut restart, 10_000, 50, 100, 7_499), Some(4));
    }

    #[test]
    fn a_busy_round_or_a_loss_counts_again() {
        let mut restart = Restart::new(Span::from_millis(60), ROUNDS);
        restart.arm();
        assert_eq!(rounds(&mut restart, 0, 50, 4, 0), None);
        assert_eq!(restart.on_ack(Time::from_millis(210), 20_000, false), None);
        assert_eq!(rounds(&mut restart, 250, 50, 4, 0), None);
        restart.count_again();
        assert_eq!(rounds(&mut restart, 500, 50, 9, 0), Some(4));
    }

    #[test]
    fn a_recovery_disarms_but_lets_a_count_end() {
        let mut restart = Restart::new(Span::from_millis(60), ROUNDS);
        restart.arm();
        assert_eq!(rounds(&mut restart, 0, 50, 4, 0), None);
        restart.note_recovery();
        assert_eq!(rounds(&mut restart, 200, 50, 1, 0), Some(0));
        restart.count_again();
        restart.note_recovery();
        assert_eq!(rounds(&mut restart, 250, 50, 100, 0), None);
    }

    #[test]
    fn on_a_short_path_the_quiet_must_last() {
        let mut restart = Restart::new(Span::from_millis(60), ROUNDS);
        restart.arm();
        assert_eq!(rounds(&mut restart, 0, 5, 100, 0), Some(20));
    }
}
