//! COBALT, the law of CAKE's queues: CoDel and BLUE side by side.
//!
//! # Model
//! CoDel's half acts on senders that react. While packets wait for longer than TARGET, one is dropped or marked, after
//! an interval first and then ever sooner, as the [control law](crate::codel) has it. Its count is not forgotten when
//! the queue becomes short: it falls as it rose, one by one, at the times at which drops would have been due.
//!
//! BLUE's half acts on senders that do not react. Each time that the buffer overflows at the cost of this queue, the
//! probability that any packet is dropped rises by 1/256, at most once in TARGET. Each time that the queue is found
//! empty, it falls by 1/4096.
//!
//! # States
//! ```text
//!            sojourn > TARGET: count ≥ 1, next drop in INTERVAL / √count
//!   waiting ─────────────────────────────────────────────────────────────▶ dropping ──due: drop or mark, count += 1
//!      ▲  due: count -= 1                                                      │
//!      └────────────────────── sojourn ≤ TARGET, or empty ─────────────────────┘
//! ```
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | increment | 1/256 | some 50 overflows, 0.25 s at 5 ms, until a fifth of the packets are dropped |
//! | decrement | 1/4096 | a sixteenth: an unresponsive sender does not get rid of it by short pauses |
//! | packets over TARGET | 4 | a queue of four packets is none, however long they take |
//!
//! # Source
//! Linux `sch_cake.c` of 6.1; Høiland-Jørgensen, Täht and Morton 2018 §III.C. In Linux a queue's 1/√count is zero until its
//! count first changes. So the first drop of all in a queue follows at once, and not after an interval. This is so here.
//!
//! # Not implemented
//! Linux' approximation of 1/√count by one step of Newton's method from a count of 16 on; the root is exact here.

use crate::codel::on_slow_link;
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// Raises BLUE's probability, of which 2³² is one.
const INCREMENT: u32 = 1 << 24;
/// Lowers it.
const DECREMENT: u32 = 1 << 20;
/// Packets that take this number of packet times are no standing queue.
const PACKETS: u64 = 4;
/// A full packet with its frame, bytes.
const MTU: u64 = 1514;
/// The part of a round trip that may be spent in the queue.
const PART: u64 = 20;

/// Times of the law, the same for all queues of a tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub(crate) target: Span,
    pub(crate) interval: Span,
    /// A full packet at the tin's rate.
    packet: Span,
}

impl Times {
    /// Returns the times for round trips of `rtt` and a tin of that rate; none if the rate is not known.
    pub fn new(rtt: Span, bits_per_second: Option<u64>) -> Times {
        let target = rtt / PART;
        let Some(rate) = bits_per_second else {
            return Times { target, interval: rtt, packet: Span::ZERO };
        };
        let (target, interval) = on_slow_link(target, rtt, MTU, rate);
        Times { target, interval, packet: Span::of_bytes(8 * MTU, rate) }
    }

    /// Returns whether a packet has waited for too long, in a tin where `bulk` queues count their drops against the shaper.
    fn are_exceeded(&self, sojourn: Span, bulk: u64) -> bool {
        sojourn > self.target && sojourn > self.packet * PACKETS.max(2 * bulk)
    }
}

/// The state of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Cobalt {
    count: u32,
    /// 1/√count; of a queue that has never counted it is zero.
    inverse_root: f64,
    drop_next: Time,
    dropping: bool,
    /// BLUE's probability, and when it changed.
    probability: u32,
    changed: Time,
}

impl Cobalt {
    /// Creates the state of a queue that has held nothing.
    pub fn new() -> Cobalt {
        Cobalt {
            count: 0,
            inverse_root: 0.0,
            drop_next: Time::ZERO,
            dropping: false,
            probability: 0,
            changed: Time::ZERO,
        }
    }

    /// Returns the queue's count: how many drops ahead CoDel is.
    #[cfg(test)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns BLUE's probability that a packet is dropped.
    #[cfg(test)]
    pub fn probability(&self) -> f64 {
        f64::from(self.probability) / 4_294_967_296.0
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inverse_root = 1.0 / f64::from(count.max(1)).sqrt();
    }

    /// Moves the next drop from `at` by what the control law says.
    fn put_off(&mut self, at: Time, times: &Times) {
        self.drop_next = at + Span((times.interval.0 as f64 * self.inverse_root) as u64);
    }

    /// Returns whether BLUE may change its probability.
    fn may_change(&self, now: Time, times: &Times) -> bool {
        now.since(self.changed) > times.target
    }

    /// Notes that a packet of this queue was dropped because the buffer was full.
    pub fn overflowed(&mut self, now: Time, times: &Times) {
        if self.may_change(now, times) {
            self.probability = self.probability.saturating_add(INCREMENT);
            self.changed = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    /// Notes that it was this queue's turn and it was empty.
    pub fn emptied(&mut self, now: Time, times: &Times) {
        if self.probability > 0 && self.may_change(now, times) {
            self.probability = self.probability.saturating_sub(DECREMENT);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.set_count(self.count - 1);
            self.put_off(self.drop_next, times);
        }
    }

    /// Returns whether an empty queue's state has decayed, so that the queue may be another flow's.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Returns whether to drop a packet that leaves the queue and has waited for `sojourn`. `marks` marks it and returns whether it
    /// could; `bulk` is as in [`Times`].
    pub fn drops(
        &mut self,
        now: Time,
        sojourn: Span,
        (times, bulk): (&Times, u64),
        marks: impl FnOnce() -> bool,
        random: &mut impl Rng,
    ) -> bool {
        let mut is_late = now > self.drop_next;
        let mut is_due = self.count > 0 && now >= self.drop_next;
        self.enter_or_leave(now, times.are_exceeded(sojourn, bulk), times);
        let mut drops = false;
        if is_due && self.dropping {
            drops = !marks();
            self.set_count(self.count.saturating_add(1));
            self.put_off(self.drop_next, times);
            is_late = now > self.drop_next;
        } else {
            while is_due {
                self.set_count(self.count - 1);
                self.put_off(self.drop_next, times);
                is_late = now > self.drop_next;
                is_due = self.count > 0 && now >= self.drop_next;
            }
        }
        drops |= self.probability > 0 && random.next_u32() < self.probability;
        // What is due next also is the time until which the state has not decayed.
        if self.count == 0 {
            self.drop_next = now + times.interval;
        } else if is_late && !drops {
            self.drop_next = now;
        }
        drops
    }

    fn enter_or_leave(&mut self, now: Time, is_exceeded: bool, times: &Times) {
        if is_exceeded && !self.dropping {
            self.put_off(now, times);
        }
        self.dropping = is_exceeded;
        if is_exceeded {
            self.count = self.count.max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64;

    /// A law at 10 Mbit/s, whose packets of an unmarked flow have all waited for 20 ms.
    struct Bench {
        law: Cobalt,
        times: Times,
        random: Pcg64,
    }

    impl Bench {
        fn new() -> Bench {
            let times = Times::new(Span::from_millis(100), Some(10_000_000));
            Bench { law: Cobalt::new(), times, random: Pcg64::new(1, 2) }
        }

        /// Returns one whose count has changed before, and whose last packet was not late.
        fn counted() -> Bench {
            let mut bench = Bench::new();
            bench.law.set_count(0);
            bench.drops([999, 1000], 1);
            bench
        }

        /// Returns the times, ms, at which packets that have waited for `waited` ms are dropped; one leaves each 0.1 ms.
        fn drops(&mut self, [from, to]: [u64; 2], waited: u64) -> Vec<f64> {
            let mut drops = Vec::new();
            for tick in 10 * from..10 * to {
                let now = Time::from_micros(100 * tick);
                let Bench { law, times, random } = self;
                if law.drops(now, Span::from_millis(waited), (times, 0), || false, random) {
                    drops.push(tick as f64 / 10.0);
                }
            }
            drops
        }
    }

    #[test]
    fn target_and_interval_are_those_of_linux_for_each_tin() {
        let micros = |rate: Option<u64>| {
            let Times { target, interval, packet } = Times::new(Span::from_millis(100), rate);
            [target, interval, packet].map(|span| span.as_micros())
        };
        // As `tc -s qdisc` shows them for `bandwidth 10mbit`: Bulk 29.1 and 124.1 ms, best effort 5 and 100 ms.
        assert_eq!(micros(Some(625_000)), [29_068, 124_068, 19_379]);
        assert_eq!(micros(Some(10_000_000)), [5000, 100_000, 1211]);
        assert_eq!(micros(None), [5000, 100_000, 0]);
    }

    #[test]
    fn drops_follow_the_control_law_once_a_queue_has_counted() {
        let mut bench = Bench::counted();
        let drops = bench.drops([1000, 1500], 20);
        // An interval after the first packet, and then by the count: 100 / √2, 100 / √3 …
        let mut due = 1100.0;
        assert!(drops.len() >= 7, "{drops:?}");
        for (i, drop) in drops.iter().enumerate() {
            assert!((0.0..0.25).contains(&(drop - due)), "drop {i}: {drop} for {due}");
            due += 100.0 / (2.0 + i as f64).sqrt();
        }
    }

    #[test]
    fn the_first_drop_of_all_follows_at_once_as_in_linux() {
        let mut bench = Bench::new();
        assert!(bench.drops([1000, 1050], 1).is_empty());
        let drops = bench.drops([1050, 1200], 20);
        assert!(drops[0] < 1050.3, "{drops:?}");
        let second = drops[1] - drops[0];
        assert!((second - 100.0 / 2f64.sqrt()).abs() < 0.3, "{drops:?}");
    }

    #[test]
    fn a_short_queue_lets_the_count_fall_as_it_rose() {
        let mut bench = Bench::counted();
        bench.drops([1000, 1500], 20);
        let count = bench.law.count();
        assert!(count >= 7 && bench.drops([1500, 1600], 1).is_empty());
        let fallen = count - bench.law.count();
        assert!((2..=4).contains(&fallen), "{count} by {fallen}");
        bench.drops([1600, 2500], 1);
        assert_eq!(bench.law.count(), 0);
    }

    #[test]
    fn four_packets_times_are_no_standing_queue_and_on_ingress_two_for_each_bulk_queue() {
        let times = Times::new(Span::from_millis(100), Some(1_000_000));
        // A packet takes 12.1 ms.
        for (waited, bulk, exceeded) in [(48, 0, false), (49, 0, true), (49, 4, false), (97, 4, true)] {
            assert_eq!(times.are_exceeded(Span::from_millis(waited), bulk), exceeded, "{waited} ms, {bulk}");
        }
    }

    #[test]
    fn overflows_raise_the_probability_and_an_empty_queue_lowers_it_by_less() {
        let mut bench = Bench::new();
        for ms in 0..60 {
            bench.law.overflowed(Time::from_millis(100 + ms), &bench.times);
        }
        // At most once in more than 5 ms: after 100, 106, 112 …
        assert!((bench.law.probability() - 10.0 / 256.0).abs() < 1e-9, "{}", bench.law.probability());
        assert!(!bench.law.is_at_rest(Time::from_millis(9000)));
        for tick in 0..160 {
            bench.law.emptied(Time::from_millis(1000 + 6 * tick), &bench.times);
        }
        assert!(bench.law.probability() == 0.0);
    }
}
