//! Acks that come in batches: how many bytes arrive at once beyond what the bottleneck's rate explains.
//!
//! Wi-Fi, cable modems and receivers' offloads hold acks back and release them together. A window of exactly the path's product then runs
//! empty during the silence. It needs room for the largest batch:
//!
//! ```text
//!   epoch: begins at an ack, and anew once the acks fall behind the rate
//!   excess = bytes acknowledged in the epoch − rate · time since it began        at most a window
//!   extra = largest excess of the latest rounds                                  at most what the rate carries in 100 ms
//! ```
//! Without the last bound, a rule that lowers its rate while a queue stands would take the queue for a batch: the acks come at the link's
//! rate for as long as the queue lasts, and the window would rise with it.
//!
//! # Source
//! draft-ietf-ccwg-bbr §5.5.9; Linux `tcp_bbr.c` (read for facts), which keeps two halves of five rounds instead of a filter over ten. The
//! bound of 100 ms is that of Linux; the draft has a window's as the only one.

use crate::windowed_max::WindowedMax;
use afteryou_base::units::Time;

/// Rounds for which a batch is remembered (draft-ietf-ccwg-bbr, ExtraAckedFilterLen).
const ROUNDS: u64 = 10;
/// An epoch ends after this number of bytes in any case: 2^20 packets in Linux, which nobody sends in one.
const EPOCH_BYTES: f64 = 1e9;

/// Longest silence of acks for which batches get room, s (bbr_extra_acked_max_us).
const LONGEST_BATCH_S: f64 = 0.1;

/// Measures batches of acks.
#[derive(Clone, Copy, Debug)]
pub struct AckAggregation {
    began: Time,
    acked: f64,
    extra: WindowedMax,
}

impl Default for AckAggregation {
    fn default() -> AckAggregation {
        AckAggregation { began: Time::ZERO, acked: 0.0, extra: WindowedMax::new(ROUNDS) }
    }
}

impl AckAggregation {
    /// Takes in an ack of `acked` bytes in this round, at a bottleneck of `rate` bytes per second; `cwnd`: the window, bytes.
    pub fn on_ack(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64, round: u64) {
        let mut expected = rate * now.since(self.began).as_secs_f64();
        if self.acked <= expected || self.acked + acked >= EPOCH_BYTES {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += acked;
        self.extra.update(round, (self.acked - expected).clamp(0.0, cwnd));
    }

    /// Begins an epoch: data leaves after a silence.
    pub fn restart(&mut self, now: Time) {
        (self.began, self.acked) = (now, 0.0);
    }

    /// Returns the room that batches need, bytes, at a bottleneck of `rate` bytes per second.
    pub fn extra(&self, rate: f64) -> f64 {
        self.extra.get().min(LONGEST_BATCH_S * rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 1e6;

    /// Returns the room after a second of acks in batches of `batch` packets of 1000 B, at exactly the rate.
    fn room(batch: u64) -> f64 {
        let mut aggregation = AckAggregation::default();
        for i in 0..1000 / batch {
            let now = Time::from_millis(1000 + i * batch);
            aggregation.on_ack(now, 1000.0 * batch as f64, RATE, 1e6, i * batch / 50);
        }
        aggregation.extra(RATE)
    }

    #[test]
    fn a_batch_needs_room_for_itself() {
        for batch in [1, 2, 10, 40] {
            let packets = room(batch) / 1000.0;
            assert!((packets - batch as f64).abs() <= 1e-6, "{packets} packets for batches of {batch}");
        }
    }

    #[test]
    fn acks_of_a_queue_that_come_faster_than_the_rule_sends_get_room_for_100_ms_at_most() {
        let mut aggregation = AckAggregation::default();
        for ms in 0..1000 {
            aggregation.on_ack(Time::from_millis(1000 + ms), 1250.0, RATE, 1e6, ms / 50);
        }
        assert_eq!(aggregation.extra(RATE), 0.1 * RATE);
    }

    #[test]
    fn a_batch_is_forgotten_after_ten_rounds_and_never_exceeds_the_window() {
        let mut aggregation = AckAggregation::default();
        aggregation.on_ack(Time::from_millis(1000), 80_000.0, RATE, 60_000.0, 1);
        assert_eq!(aggregation.extra(RATE), 60_000.0);
        for round in 2..=13 {
            aggregation.on_ack(Time::from_millis(2000 + 50 * round), 1000.0, RATE, 60_000.0, round);
        }
        assert_eq!(aggregation.extra(RATE), 1000.0);
    }
}
