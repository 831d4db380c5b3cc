//! A train of own packets, and by how much the queue grows in it.
//!
//! ```text
//!   route test, while it yields:  16 to 64 packets at C/8.   The queue of nobody does not grow:  a new base.
//!   share test, in cruise:        12 to 100 packets at C.    q grows per packet by (1 − f) in a FIFO, by (1/f − 1) in a fair queue;
//!                                                            f: own part of C
//! ```
//! The growth is the least queue of the last 30 % of the packets less that of the first 30 %: 0.7 of the train is in between.

use super::units::{part, ratio, saturated, Ratio16};

const ONE: Ratio16 = 1 << 16;
/// Part of a train whose least queue counts.
const END: Ratio16 = ratio(0.3);
/// Distance of the two ends.
const BETWEEN: Ratio16 = ratio(0.7);
/// A route train's part of C. The link may have become slower since C was seen, and a train above its rate would make a queue of its own.
const ROUTE_PART: u64 = 8;
/// Growth per packet of nobody's queue, at most.
const NOBODY: Ratio16 = ratio(0.35);

/// The question of a train.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Question {
    /// There is no train.
    #[default]
    None,
    /// A standing queue: others', or a longer route.
    Route,
    /// A queue at the target: a FIFO, or one that serves flows in turns.
    Share,
}

impl Question {
    /// Returns the rate of its train on a link of that capacity, bytes per second.
    pub fn rate(self, capacity: u64) -> u64 {
        match self {
            Question::Share => capacity,
            Question::Route | Question::None => (capacity / ROUTE_PART).max(1),
        }
    }
}

/// A train that is sent or awaited.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Number of its first packet.
    first: u64,
    /// When it is given up.
    until: u64,
    /// The question that it answers.
    pub question: Question,
    packets: u16,
    sent: u16,
    /// The last packet of its beginning, the first of its end, and its last one: how far their numbers are from the first one's. Numbers of
    /// one sender follow one another; those of a group of senders only rise.
    early_to: u32,
    late_from: u32,
    last: u32,
    early_us: u32,
    late_us: u32,
    /// Least round-trip time of the late packets.
    late_rtt_us: u32,
}

impl Burst {
    /// No train.
    pub const NONE: Burst = Burst {
        first: 0,
        until: 0,
        question: Question::None,
        packets: 0,
        sent: 0,
        early_to: 0,
        late_from: u32::MAX,
        last: u32::MAX,
        early_us: u32::MAX,
        late_us: u32::MAX,
        late_rtt_us: u32::MAX,
    };

    /// Returns a train of this many packets. Where acks come in batches there may be no sample of its beginning; `standing_us` is the
    /// queue before it.
    pub fn new(question: Question, packets: u64, until: u64, standing_us: Option<u64>) -> Burst {
        let packets = packets.min(u16::MAX.into()) as u16;
        Burst { question, packets, until, early_us: standing_us.map_or(u32::MAX, saturated), ..Burst::NONE }
    }

    /// Returns whether there is a train.
    pub fn is_on(&self) -> bool {
        self.question != Question::None
    }

    /// Returns whether packets of it have to leave.
    pub fn leaves(&self) -> bool {
        self.is_on() && self.sent < self.packets
    }

    /// Returns its packets.
    pub fn packets(&self) -> u64 {
        self.packets.into()
    }

    /// Returns whether it takes too long: the application has nothing to send, or its end is lost.
    pub fn is_late(&self, now: u64) -> bool {
        self.is_on() && now >= self.until
    }

    /// Takes note of a packet that left.
    pub fn sent(&mut self, number: u64) {
        if !self.leaves() {
            return;
        }
        self.sent += 1;
        if self.sent == 1 {
            self.first = number;
        }
        let number = self.distance(number);
        if self.sent <= self.end() {
            self.early_to = number;
        }
        if self.sent == self.packets - self.end() + 1 {
            self.late_from = number;
        }
        if self.sent == self.packets {
            self.last = number;
        }
    }

    /// Returns how far a number is from the first one.
    fn distance(&self, number: u64) -> u32 {
        number.saturating_sub(self.first).min(u32::MAX.into()) as u32
    }

    /// Returns the packets at each end whose least queue counts.
    fn end(&self) -> u16 {
        part(self.packets.into(), END).max(1) as u16
    }

    /// Takes in the queue that a packet met. Returns whether the train's last packet has arrived.
    pub fn sample(&mut self, number: u64, queue_us: u64, rtt_us: u32) -> bool {
        if !self.is_on() || self.sent == 0 || number < self.first {
            return false;
        }
        let (number, queue) = (self.distance(number), saturated(queue_us));
        if number <= self.early_to {
            self.early_us = self.early_us.min(queue);
        } else if (self.late_from..=self.last).contains(&number) {
            self.late_us = self.late_us.min(queue);
            self.late_rtt_us = self.late_rtt_us.min(rtt_us);
        }
        !self.leaves() && number >= self.last
    }

    /// Returns the growth of the queue per packet, in times of a packet; none without samples of both ends.
    pub fn growth(&self, packet_us: u64) -> Option<Ratio16> {
        if self.early_us == u32::MAX || self.late_us == u32::MAX {
            return None;
        }
        let grown = u64::from(self.late_us.saturating_sub(self.early_us)) << 16;
        grown.checked_div(self.between_us(packet_us))
    }

    /// Returns the time between its two ends at the link's rate, µs.
    fn between_us(&self, packet_us: u64) -> u64 {
        part(u64::from(self.packets) * packet_us, BETWEEN)
    }

    /// Returns the base of a new route, µs, if the train has met nobody. A queue that shrinks meanwhile is somebody's.
    pub fn new_base(&self, packet_us: u64) -> Option<u32> {
        let growth = self.growth(packet_us)?;
        let most = part(self.between_us(packet_us), NOBODY);
        let shrinks = u64::from(self.early_us.saturating_sub(self.late_us)) >= most.max(1);
        (growth < NOBODY && !shrinks).then_some(self.late_rtt_us)
    }
}

/// Returns whether a growth per packet is that of a fair queue in which the flow has this part of C: a half or a third.
pub fn is_fair_queue(growth: Ratio16, share: Ratio16) -> bool {
    let inverse = inverse(share);
    let between = part(inverse.saturating_sub(ONE), ratio(0.6)) + part(ONE.saturating_sub(share), ratio(0.4));
    may_be_fair(share) && growth > between
}

/// Returns whether this part of C is a half or a third: that of one flow of two or three in a fair queue.
pub fn may_be_fair(share: Ratio16) -> bool {
    const NEAR: Ratio16 = ratio(0.06);
    [2, 3].into_iter().any(|flows| inverse(share).abs_diff(flows * ONE) <= part(flows * ONE, NEAR))
}

fn inverse(share: Ratio16) -> Ratio16 {
    (ONE << 16) / share.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_third_of_a_fair_queue_are_told_from_a_fifo() {
        for share in [0.5, 0.333, 0.48, 0.35] {
            assert!(is_fair_queue(ratio(0.95 * (1.0 / share - 1.0)), ratio(share)), "fair {share}");
            assert!(!is_fair_queue(ratio(1.0 - share), ratio(share)), "fifo {share}");
        }
        for share in [0.2, 0.4, 0.7] {
            assert!(!is_fair_queue(ratio(1.0 / share - 1.0), ratio(share)), "{share}");
        }
    }

    #[test]
    fn a_train_that_meets_nobody_gives_the_new_base() {
        for (slope, base) in
            [(0.0, Some(120_000)), (0.2, Some(120_280)), (0.5, None), (1.0, None), (-0.5, None)]
        {
            let mut burst = Burst::new(Question::Route, 20, 1 << 40, None);
            let mut is_over = false;
            for number in 0..20u64 {
                burst.sent(100 + number);
                let queue = (70_000.0 + number as f64 * slope * 100.0) as u64;
                is_over = burst.sample(100 + number, queue, 50_000 + queue as u32);
            }
            assert!(is_over);
            assert_eq!(burst.new_base(100), base, "{slope}");
        }
    }

    #[test]
    fn where_acks_come_in_batches_the_queue_before_it_stands_for_its_beginning() {
        let train = |standing| {
            let mut burst = Burst::new(Question::Route, 16, 1 << 40, standing);
            (0..16).for_each(|number| burst.sent(number));
            assert!(burst.sample(15, 71_000, 121_000));
            burst.new_base(200)
        };
        assert_eq!(train(None), None, "no evidence");
        assert_eq!(train(Some(70_800)), Some(121_000));
        assert_eq!(train(Some(60_000)), None);
    }
}
