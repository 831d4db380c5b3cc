//! Acks that arrive together have waited for each other: in a busy host, in a frame of a wireless link. The last one has waited least.
//!
//! They count as one sample, with the least of their delays. No link delivers packets faster than a quarter of a packet's time apart.

use super::units::saturated;

/// Part of a packet's time in which acks are together, and the most of it, µs.
const DIVISOR: u64 = 4;
const MOST_US: u64 = 1_000;

/// Acks that have arrived together.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    began: u64,
    /// Latest delivery rate, and the last one of the acks before these; zero if that was a single one. Bytes per second.
    rate: u64,
    rate_before: u64,
    /// Least queue, µs.
    least_us: u32,
    acks: u32,
}

impl Together {
    /// No ack so far.
    pub const NONE: Together = Together { began: 0, rate: 0, rate_before: 0, least_us: u32::MAX, acks: 0 };

    /// Takes in an ack on a link on which a packet takes `packet_us`. Returns whether it is the first one.
    pub fn ack(&mut self, now: u64, packet_us: u64) -> bool {
        if now.saturating_sub(self.began) <= (packet_us / DIVISOR).min(MOST_US) {
            self.acks = self.acks.saturating_add(1);
            return false;
        }
        let rate_before = if self.acks > 1 { self.rate } else { 0 };
        *self = Together { began: now, rate: 0, rate_before, least_us: u32::MAX, acks: 1 };
        true
    }

    /// Takes in the queue that an ack shows, µs. Returns the least one.
    pub fn queue(&mut self, queue_us: u64) -> u32 {
        self.least_us = self.least_us.min(saturated(queue_us));
        self.least_us
    }

    /// Takes in a delivery rate, bytes per second. Returns the one that counts: the first ack reports what has come in all the time that it
    /// has waited without the packets that came with it.
    pub fn rate(&mut self, rate: u64) -> u64 {
        self.rate = rate;
        rate.max(self.rate_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_acks_that_arrive_at_once_the_least_delay_counts() {
        let mut together = Together::NONE;
        let mut sample = |now, queue_us| (together.ack(now, 400), together.queue(queue_us));
        assert_eq!(sample(1_000, 9_000), (true, 9_000));
        assert_eq!(sample(1_000, 8_800), (false, 8_800));
        assert_eq!(sample(1_100, 8_900), (false, 8_800));
        assert_eq!(sample(1_101, 8_900), (true, 8_900));
    }

    #[test]
    fn the_rate_is_that_of_whole_batches_and_of_single_acks_the_latest() {
        let mut together = Together::NONE;
        let mut rates = |now, rates: [u64; 3]| {
            rates.map(|rate| {
                together.ack(now, 400);
                together.rate(rate)
            })
        };
        assert_eq!(rates(1_000, [5, 7, 10]), [5, 7, 10]);
        assert_eq!(rates(2_000, [4, 6, 9]), [10, 10, 10]);
        assert_eq!(rates(3_000, [4, 6, 8]), [9, 9, 9]);
        for (now, rate) in [(4_000, 3), (5_000, 2), (6_000, 4)] {
            together.ack(now, 400);
            let held = if now == 4_000 { 8 } else { 0 };
            assert_eq!(together.rate(rate), rate.max(held));
        }
    }

    #[test]
    fn a_link_that_became_faster_gives_more_samples_and_not_fewer() {
        let (mut together, mut samples) = (Together::NONE, 0);
        (1..=1000).for_each(|i| samples += u32::from(together.ack(i * 10, 400)));
        assert_eq!(samples, 1000 / 11);
    }
}
