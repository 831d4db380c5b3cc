//! Gaps between acks: which of them show a network that held acks back and released them together.
//!
//! # Model
//! Wi-Fi and cable modems deliver acks in bursts. Round-trip times of a burst are those of the waiting, not of the queue. A burst shows as a
//! gap that is far longer, or far shorter, than the one before it:
//!
//! ```text
//!   ratio = longer / shorter of two gaps in a row            average: EWMA with weight 0.1
//!   ratio > 50 · average:   samples do not count until one is no longer than the smoothed round-trip time
//! ```
//! Acks at the same instant have a gap of nothing. They do not count either, and the next gap is measured from the first of them.
//!
//! # Source
//! Meng et al., "PCC Proteus" (2020), by its code: `pcc_monitor_interval_queue.cpp` of PCC-Uspace (read for facts).

use afteryou_base::units::{Span, Time};

/// Ratio of two gaps over its average from which on a burst is assumed.
const LONG: f64 = 50.0;
/// Weight of a new ratio in the average.
const WEIGHT: f64 = 0.1;
/// Distance from the smoothed time within which a sample is no longer than it: the smoothed one only approaches a constant.
const SAME: Span = Span::from_micros(1);

/// Judges round-trip times by the gaps between their acks.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckGaps {
    last: Option<Time>,
    gap: Option<Span>,
    average: Option<f64>,
    in_burst: bool,
}

impl AckGaps {
    /// Takes in an ack with a round-trip time. Returns whether that counts; `smoothed` is the smoothed one.
    pub fn admit(&mut self, now: Time, rtt: Span, smoothed: Span) -> bool {
        let Some(last) = self.last.replace(now) else { return true };
        let gap = now.since(last);
        if gap == Span::ZERO {
            return false;
        }
        if let Some(before) = self.gap.replace(gap) {
            self.take_ratio(gap.as_secs_f64() / before.as_secs_f64());
        }
        if self.in_burst && rtt <= smoothed + SAME {
            self.in_burst = false;
        }
        !self.in_burst
    }

    fn take_ratio(&mut self, ratio: f64) {
        let ratio = ratio.max(1.0 / ratio);
        let average = *self.average.get_or_insert(ratio);
        self.in_burst |= ratio > LONG * average;
        self.average = Some(average + WEIGHT * (ratio - average));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_millis(1);

    /// Returns which of these acks, (time in µs, round-trip time in ms), count with a smoothed time of 50 ms.
    fn admitted(acks: &[(u64, u64)]) -> Vec<bool> {
        let mut gaps = AckGaps::default();
        let admit = |(us, rtt): &(u64, u64)| gaps.admit(Time::from_micros(*us), MS * *rtt, MS * 50);
        acks.iter().map(admit).collect()
    }

    #[test]
    fn even_acks_count_and_so_do_those_of_a_slower_path() {
        let even: Vec<_> =
            (1..50).map(|i| (1000 * i, 60)).chain((1..50).map(|i| (49_000 + 9000 * i, 60))).collect();
        assert!(admitted(&even).iter().all(|counts| *counts));
    }

    #[test]
    fn a_burst_does_not_count_until_the_delay_is_back() {
        let even = (1..20).map(|i| (1000 * i, 50));
        let burst = [(120_000, 151), (120_010, 150), (121_000, 52), (122_000, 50), (123_000, 60)];
        let acks: Vec<_> = even.chain(burst).collect();
        assert_eq!(admitted(&acks)[19..], [false, false, false, true, true]);
    }

    #[test]
    fn acks_at_one_instant_count_once() {
        assert_eq!(admitted(&[(1000, 50), (2000, 50), (2000, 50), (3000, 50)]), [true, true, false, true]);
    }
}
