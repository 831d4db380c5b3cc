//! A round: a round trip, at least 8 ms and four samples (eight on a noisy path), summed up in one queue.
//!
//! The queue of a round is the least one of its second half, among packets that left after the last reduction. What the reduction did is
//! not seen earlier.

/// Shortest round, µs.
const LEAST_US: u64 = 8_000;
const LEAST_SAMPLES: u32 = 4;
/// Samples whose least ends a round early.
pub const LATEST: usize = 6;

/// What a round that is over showed.
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
    /// Only packets that left from then on count.
    judged_from: u64,
    /// Latest queues, the newest first.
    latest: [u32; LATEST],
    least_first_half: u32,
    least: u32,
    sum: u64,
    most: u32,
    rtt: u32,
    samples: u32,
    packets: u32,
    lost: u32,
    app_limited: u32,
}

impl Round {
    /// Returns a round that begins now.
    pub fn begins(now: u64, judged_from: u64, latest: [u32; LATEST]) -> Round {
        Round {
            began: now,
            judged_from,
            latest,
            least_first_half: u32::MAX,
            least: u32::MAX,
            sum: 0,
            most: 0,
            rtt: u32::MAX,
            samples: 0,
            packets: 0,
            lost: 0,
            app_limited: 0,
        }
    }

    /// Returns the round after a reduction: packets that are on their way do not count.
    pub fn after_reduction(now: u64) -> Round {
        Round::begins(now, now, [0; LATEST])
    }

    /// Returns the round after this one.
    pub fn next(&self, now: u64) -> Round {
        Round::begins(now, self.judged_from, self.latest)
    }

    /// Takes in a sample of a packet that left at `sent_at`; or, if its ack came together with the one before, what became of that one.
    pub fn sample(&mut self, now: u64, sent_at: u64, queue_us: u64, rtt_us: u32, is_first: bool) {
        if sent_at < self.judged_from {
            return;
        }
        let queue = queue_us.min(u32::MAX.into()) as u32;
        self.rtt = self.rtt.min(rtt_us);
        let half = u64::from(self.rtt).max(LEAST_US) / 2;
        let least = if now < self.began + half { &mut self.least_first_half } else { &mut self.least };
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
        sent_at >= self.began && now >= self.began + LEAST_US && self.samples >= least
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
        let mut round = Round::begins(0, 0, [0; LATEST]);
        for (now, queue) in [(5_000, 1), (15_000, 2), (30_000, 9_000), (35_000, 7_000), (39_000, 8_000)] {
            round.sample(now, 0, queue, 40_000, true);
        }
        let seen = round.seen();
        assert_eq!((seen.queue_us, seen.most_us, seen.rtt_us), (7_000, 9_000, 40_000));
        assert!(!round.is_over(40_000, 0, 1) && round.is_over(40_000, 0, 0));
    }

    #[test]
    fn packets_that_left_before_the_reduction_do_not_count() {
        let mut round = Round::after_reduction(100_000);
        (0..10).for_each(|i| round.sample(101_000 + i, 99_999, 50_000, 90_000, true));
        assert_eq!((round.stands_at(), round.seen().most_us), (None, 0));
        (0..6).for_each(|i| round.sample(141_000 + i, 100_000, 3_000 + i, 90_000, true));
        assert_eq!(round.stands_at(), Some(3_000));
    }
}
