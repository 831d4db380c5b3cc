//! CoDel: drop from the head once packets have waited too long for too long.
//!
//! # Model
//! A good queue absorbs a burst and empties within a round trip; a bad one stands. What tells them apart is the *smallest*
//! time that packets spend in it over a round trip. Once that has stayed above TARGET for INTERVAL, the packet at the head
//! is dropped, and the next ones ever sooner, until the smallest time is below TARGET again:
//!
//! ```text
//!   next drop = last drop + INTERVAL / √count
//! ```
//! The square root makes a Reno sender's rate fall in proportion to time, since its rate goes with 1/√(drop rate).
//!
//! # States
//! ```text
//!            sojourn ≥ TARGET for INTERVAL, and more than a packet left: drop, count = 1
//!   waiting ──────────────────────────────────────────────────────────────────────────────▶ dropping ──due: drop, count += 1
//!      ▲                                                                                       │
//!      └──────────────────── sojourn < TARGET, or at most a packet left ───────────────────────┘
//! ```
//! Who comes back to dropping within sixteen intervals goes on from where the count stood, less what it began with.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | TARGET | 5 ms | §4.4: 5 to 10 % of INTERVAL |
//! | INTERVAL | 100 ms | §4.3: a round trip of most paths, so that a sender can react before the next drop |
//! | MTU | 1514 B | §5.4: with a packet or less left there is no queue worth a drop |
//!
//! # Source
//! RFC 8289 (January 2018) §4, §5. Packets that understand ECN are marked instead if `ecn` is on; a mark delivers the packet.
//!
//! # Not implemented
//! Linux's `ce_threshold`. Linux drops strictly after the interval, the RFC at its end, as here.
//!
//! # Known bad cases
//! Senders that do not react: the drop rate rises slowly. Rates at which a packet takes longer than TARGET: TARGET must be
//! raised to a packet's time there.

use crate::packet::{Ecn, Packet};
use crate::queue::{Backlog, DropReason, Dropped, Fifo, Limit, Queue, Statistics};
use afteryou_cc::param::{Param, Settings};
use afteryou_cc::{Span, Time};

/// Coming back to dropping within so many intervals goes on with the old count (§5.5).
const REMEMBERED_INTERVALS: u64 = 16;

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::millis("target", 5, (1, 1000)).explained("time in the queue that may stand", "RFC 8289 §4.4"),
    Param::millis("interval", 100, (1, 10_000))
        .explained("for how long it must have been exceeded", "RFC 8289 §4.3"),
    Param::bytes("mtu", 1514, (1, 65_535))
        .explained("with so little left nothing is dropped", "RFC 8289 §5.4"),
    Param::flag("ecn", false)
        .explained("mark packets that understand ECN instead of dropping them", "RFC 8289 §5.4"),
];

/// The control law and its state.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    target: Span,
    interval: Span,
    mtu: u64,
    ecn: bool,
    /// When the sojourn time will have been too long for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u64,
    /// The count when dropping last began.
    last_count: u64,
}

impl Law {
    /// By the rows of [`PARAMS`].
    pub fn new(settings: &Settings<'_>) -> Law {
        Law {
            target: settings.time("target"),
            interval: settings.time("interval"),
            mtu: settings.bytes("mtu"),
            ecn: settings.flag("ecn"),
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// §5.3: when the drop after one at `at` is due.
    fn next_drop(&self, at: Time) -> Time {
        at + Span((self.interval.0 as f64 / (self.count.max(1) as f64).sqrt()) as u64)
    }

    /// §5.6: takes a packet from `fifo`; the flag says that it may be dropped.
    fn pop<T>(&mut self, now: Time, fifo: &mut Fifo<T>) -> Option<(Packet<T>, Span, bool)> {
        let Some((packet, sojourn)) = fifo.pop(now) else {
            self.first_above = None;
            return None;
        };
        if sojourn < self.target || fifo.backlog().bytes <= self.mtu {
            self.first_above = None;
            return Some((packet, sojourn, false));
        }
        let due = *self.first_above.get_or_insert(now + self.interval);
        Some((packet, sojourn, now >= due))
    }

    /// §5.5: the next packet of `fifo`; what must go goes to `dropped` or is marked.
    pub fn dequeue<T>(
        &mut self,
        now: Time,
        fifo: &mut Fifo<T>,
        statistics: &mut Statistics,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        let Some((mut packet, mut sojourn, may_drop)) = self.pop(now, fifo) else {
            self.dropping = false;
            return None;
        };
        self.dropping &= may_drop;
        if !self.dropping && may_drop {
            self.enter(now);
            if self.mark(&mut packet, statistics) {
                return Some((packet, sojourn));
            }
            statistics.dropped_head += 1;
            dropped.push(Dropped { packet, reason: DropReason::Head });
            // What follows the first drop is delivered in any case.
            return self.pop(now, fifo).map(|(packet, sojourn, _)| (packet, sojourn));
        }
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if self.mark(&mut packet, statistics) {
                self.drop_next = self.next_drop(self.drop_next);
                break;
            }
            statistics.dropped_head += 1;
            dropped.push(Dropped { packet, reason: DropReason::Head });
            let Some(next) = self.pop(now, fifo) else {
                self.dropping = false;
                return None;
            };
            (packet, sojourn, self.dropping) = next;
            if self.dropping {
                self.drop_next = self.next_drop(self.drop_next);
            }
        }
        Some((packet, sojourn))
    }

    /// §5.5: dropping begins.
    fn enter(&mut self, now: Time) {
        self.dropping = true;
        let went_on_for = self.count.saturating_sub(self.last_count);
        let is_recent = now.since(self.drop_next) < self.interval * REMEMBERED_INTERVALS;
        self.count = if went_on_for > 1 && is_recent { went_on_for } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.next_drop(now);
    }

    /// Marks the packet instead, if both sides understand it.
    fn mark<T>(&self, packet: &mut Packet<T>, statistics: &mut Statistics) -> bool {
        let marks = self.ecn && packet.ecn != Ecn::NotEct;
        if marks {
            packet.ecn = Ecn::Ce;
            statistics.marked += 1;
        }
        marks
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct Codel<T> {
    limit: Limit,
    fifo: Fifo<T>,
    law: Law,
    statistics: Statistics,
}

impl<T> Codel<T> {
    /// An empty queue.
    pub fn new(settings: &Settings<'_>, limit: Limit) -> Codel<T> {
        let limit = limit.in_bytes().map_or(limit, Limit::Bytes);
        Codel { limit, fifo: Fifo::new(), law: Law::new(settings), statistics: Statistics::default() }
    }
}

impl<T: Send> Queue<T> for Codel<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        if !self.limit.admits(self.fifo.backlog(), packet.size) {
            self.statistics.dropped_full += 1;
            dropped.push(Dropped { packet, reason: DropReason::Full });
            return;
        }
        self.statistics.enqueued += 1;
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let departure = self.law.dequeue(now, &mut self.fifo, &mut self.statistics, dropped)?;
        self.statistics.dequeued += 1;
        Some(departure)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_cc::param::Value;

    fn law() -> Law {
        Law::new(&Settings::defaults(PARAMS))
    }

    fn micros(us: u64) -> Time {
        Time::from_micros(us)
    }

    /// A queue of `n` packets of 1000 B that arrived at time zero.
    fn standing(n: usize, ecn: Ecn) -> Fifo<()> {
        let mut fifo = Fifo::new();
        let packet = Packet { ecn, ..Packet::from_tos(1000, 0, 0, ()) };
        (0..n).for_each(|_| fifo.push(Time::ZERO, packet));
        fifo
    }

    #[test]
    fn drops_follow_the_square_root_of_their_count() {
        let (mut law, mut statistics, mut dropped) = (law(), Statistics::default(), Vec::new());
        let mut fifo = standing(200_000, Ecn::NotEct);
        let mut drops_ms = Vec::new();
        // A dequeue every 10 µs from 5 ms of waiting on: the first sees 5 ms, so that 100 ms later are 105.
        for us in (5_000..610_000).step_by(10) {
            law.dequeue(micros(us), &mut fifo, &mut statistics, &mut dropped);
            drops_ms.extend(dropped.drain(..).map(|_| us as f64 / 1000.0 - 5.0));
        }
        let expected = [100.0, 200.0, 270.711, 328.446, 378.446, 423.167, 463.992, 501.788];
        for (drop, expected) in drops_ms.iter().zip(expected) {
            assert!((0.0..0.011).contains(&(drop - expected)), "{drop} for {expected}");
        }
        assert!(drops_ms.len() >= expected.len());
    }

    #[test]
    fn one_short_wait_or_a_last_packet_starts_the_interval_anew() {
        let (mut law, mut statistics, mut dropped) = (law(), Statistics::default(), Vec::new());
        let mut fifo = standing(10, Ecn::NotEct);
        law.dequeue(micros(5_000), &mut fifo, &mut statistics, &mut dropped);
        assert!(law.first_above.is_some());
        let mut fresh = Fifo::new();
        (0..10).for_each(|_| fresh.push(micros(95_100), Packet::from_tos(1000, 0, 0, ())));
        law.dequeue(micros(100_000), &mut fresh, &mut statistics, &mut dropped);
        assert_eq!((law.first_above, dropped.len()), (None, 0), "4.9 ms");
        // 50 ms in the queue, but at most a packet is left behind it.
        let mut short = standing(2, Ecn::NotEct);
        for us in [50_000, 250_000] {
            law.dequeue(micros(us), &mut short, &mut statistics, &mut dropped);
            assert_eq!((law.first_above, dropped.len()), (None, 0));
        }
    }

    #[test]
    fn dropping_again_soon_goes_on_with_the_old_count() {
        for (since_ms, expected) in [(300, 5), (1700, 1)] {
            let now = Time::from_millis(5000);
            let drop_next = Time::from_millis(5000 - since_ms);
            let mut law = Law { count: 8, last_count: 3, drop_next, ..law() };
            law.enter(now);
            assert_eq!(law.count, expected, "{since_ms} ms");
        }
    }

    #[test]
    fn packets_that_understand_it_are_marked_instead_and_delivered() {
        let settings = [("ecn", Value::Flag(true))];
        let mut law = Law::new(&Settings::new(PARAMS, &settings).unwrap());
        let (mut statistics, mut dropped) = (Statistics::default(), Vec::new());
        let mut fifo = standing(100_000, Ecn::Ect0);
        let mut marks = 0;
        for us in (5_000..610_000).step_by(10) {
            let departure = law.dequeue(micros(us), &mut fifo, &mut statistics, &mut dropped);
            marks += u64::from(departure.unwrap().0.ecn == Ecn::Ce);
        }
        assert!(dropped.is_empty() && marks == statistics.marked && marks >= 8, "{marks}");
    }

    #[test]
    fn what_is_dropped_delivered_and_left_is_what_came() {
        let mut queue = Codel::new(&Settings::defaults(PARAMS), Limit::Packets(100));
        let (mut dropped, mut delivered) = (Vec::new(), 0u64);
        for ms in 0..3000u64 {
            queue.enqueue(Time::from_millis(ms), Packet::from_tos(1000, 0, 0, ms), &mut dropped);
            if ms % 2 == 0 {
                delivered += u64::from(queue.dequeue(Time::from_millis(ms), &mut dropped).is_some());
            }
            assert!(queue.backlog().packets <= 100);
        }
        assert_eq!(delivered + dropped.len() as u64 + queue.backlog().packets, 3000);
        let statistics = queue.statistics();
        assert_eq!(statistics.dropped_full + statistics.dropped_head, dropped.len() as u64);
        assert!(statistics.dropped_head > 10);
    }
}
