//! A round: a round trip, at least 8 ms and four samples (eight on a noisy path), summed up in one queue.
//!
//! The queue of a round is the least one of its second half, among packets that left after the last reduction. The effect of the reduction
//! is not seen earlier.

use super::units::saturated;

/// Shortest round, µs.
const LEAST_US: u64 = 8_000;
const LEAST_SAMPLES: u32 = 4;
/// Samples whose least ends a round early.
pub const LATEST: usize = 6;

/// The signs of a round that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Least queue of the second half, µs.
    pub queue_us: u64,
    /// Least queue, µs.
    pub least_us: u64,
    /// Largest queue, µs.
    pub most_us: u64,
    /// Mean queue, µs.
    pub mean_us: u64,
    /// Least round-trip time, µs.
    pub rtt_us: u64,
    /// Packets delivered.
    pub packets: u32,
    /// Packets lost.
    pub lost: u32,
    /// The application limited the sender.
    pub app_limited: bool,
}

/// The round that is on. Queues are in µs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// When it began.
    pub began: u64,
    sum: u64,
    /// Only packets count that left so long before it began, or later.
    judged_us: u32,
    /// Round trip of the round before, without the queue ahead.
    pub trip_before_us: u32,
    /// Latest queues, the newest first.
    latest: [u32; LATEST],
    least_first_half: u32,
    least: u32,
    most: u32,
    rtt: u32,
    samples: u32,
    packets: u32,
    lost: u32,
    app_limited: u32,
}

impl Round {
    /// Returns the first round.
    pub fn begins(now: u64) -> Round {
        Round {
            began: now,
            sum: 0,
            judged_us: 0,
            trip_before_us: 0,
            latest: [0; LATEST],
            least_first_half: u32::MAX,
            least: u32::MAX,
            most: 0,
            rtt: u32::MAX,
            samples: 0,
            packets: 0,
            lost: 0,
            app_limited: 0,
        }
    }

    /// Returns the round after a reduction: packets that are on their way do not count.
    pub fn after_reduction(&self, now: u64) -> Round {
        Round { trip_before_us: self.trip_before_us, ..Round::begins(now) }
    }

    /// Returns the round after this one.
    pub fn next(&self, now: u64) -> Round {
        let judged_us = saturated(now.saturating_sub(self.judged_from()));
        Round { judged_us, ..self.after_reduction(now) }
    }

    fn judged_from(&self) -> u64 {
        self.began.saturating_sub(self.judged_us.into())
    }

    /// Returns whether a packet that left at `sent_at` counts.
    pub fn counts(&self, sent_at: u64) -> bool {
        sent_at >= self.judged_from()
    }

    /// Takes in a sample of a packet that left at `sent_at`; or, if its ack came together with the one before, what became of that one.
    pub fn sample(&mut self, now: u64, sent_at: u64, queue: u32, rtt_us: u32, is_first: bool) {
        if !self.counts(sent_at) {
            return;
        }
        self.rtt = self.rtt.min(rtt_us);
        let half = u64::from(self.rtt).max(LEAST_US) / 2;
        let least =
            if now < self.began.saturating_add(half) { &mut self.least_first_half } else { &mut self.least };
        *least = (*least).min(queue);
        if is_first || self.samples == 0 {
            self.latest.copy_within(..LATEST - 1, 1);
            self.samples = self.samples.saturating_add(1);
        } else {
            self.sum = self.sum.saturating_sub(self.latest[0].into());
        }
        self.latest[0] = queue;
        self.sum += u64::from(queue);
        self.most = self.most.max(queue);
    }

    /// Takes in delivered packets.
    pub fn delivered(&mut self, packets: u32, app_limited: bool) {
        self.packets = self.packets.saturating_add(packets);
        self.app_limited |= u32::from(app_limited);
    }

    /// Takes in a lost packet.
    pub fn lost(&mut self) {
        self.lost = self.lost.saturating_add(1);
    }

    /// Returns the least of the latest queues, with `LATEST` samples of packets that count.
    pub fn stands_at(&self) -> Option<u64> {
        self.least_of_latest(LATEST)
    }

    /// Returns the least of the last `count` queues, with that many samples of packets that count.
    pub fn least_of_latest(&self, count: usize) -> Option<u64> {
        if (self.samples as usize) < count {
            return None;
        }
        self.latest[..count].iter().min().map(|queue| (*queue).into())
    }

    /// Returns the largest queue so far.
    pub fn most_us(&self) -> u64 {
        self.most.into()
    }

    /// Returns whether it is over with the ack of a packet that left at `sent_at`.
    pub fn is_over(&self, now: u64, sent_at: u64, noise: u64) -> bool {
        let least = if noise > 0 { 2 * LEAST_SAMPLES } else { LEAST_SAMPLES };
        sent_at >= self.began && now.saturating_sub(self.began) >= LEAST_US && self.samples >= least
    }

    /// Returns what it showed.
    pub fn seen(&self) -> Seen {
        let least = if self.least == u32::MAX { self.least_first_half } else { self.least };
        Seen {
            queue_us: least.into(),
            least_us: least.min(self.least_first_half).into(),
            most_us: self.most.into(),
            mean_us: self.sum / u64::from(self.samples.max(1)),
            rtt_us: self.rtt.into(),
            packets: self.packets,
            lost: self.lost,
            app_limited: self.app_limited != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_of_a_round_is_the_least_of_its_second_half() {
        let mut round = Round::begins(0);
        for (now, queue) in [(5_000, 1), (15_000, 2), (30_000, 9_000), (35_000, 7_000), (39_000, 8_000)] {
            round.sample(now, 0, queue, 40_000, true);
        }
        let seen = round.seen();
        assert_eq!((seen.queue_us, seen.most_us, seen.rtt_us), (7_000, 9_000, 40_000));
        assert!(!round.is_over(40_000, 0, 1) && round.is_over(40_000, 0, 0));
    }

    #[test]
    fn packets_that_left_before_the_reduction_do_not_count() {
        let mut round = Round::begins(0).after_reduction(100_000);
        (0..10).for_each(|i| round.sample(101_000 + i, 99_999, 50_000, 90_000, true));
        assert_eq!((round.stands_at(), round.seen().most_us), (None, 0));
        (0..6u32).for_each(|i| round.sample(141_000 + u64::from(i), 100_000, 3_000 + i, 90_000, true));
        assert_eq!(round.stands_at(), Some(3_000));
    }
}
