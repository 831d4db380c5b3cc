//! DropTail: first in, first out; packets that do not fit are dropped.
//!
//! # Model
//! Most bottlenecks have this queue. It signals congestion only by overflowing, so a loss-based sender keeps it full; a
//! delay-based sender measures its growth long before that.
//!
//! # Limit
//! Packets, bytes, or the time that the link needs to send the queue. A packet that would exceed the limit is dropped
//! as it arrives. The packet in transmission is no longer in the queue and does not count.
//!
//! # Known bad cases
//! Bufferbloat when the limit is long; synchronised losses when it is short. Limits in packets count small packets like
//! large ones; limits in bytes drop large packets first.

use crate::backlog::{Backlog, Limit};
use crate::dropped::{DropReason, Dropped};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::statistics::Statistics;
use afteryou_base::param::{Param, Preset};
use afteryou_base::{Span, Time};

/// Parameters: none. The limit is the link's buffer, which every discipline has.
pub const PARAMS: &[Param] = &[];

/// None.
pub const PRESETS: &[Preset] = &[];

/// A DropTail queue.
#[derive(Clone, Debug)]
pub struct DropTail<T> {
    limit: Limit,
    fifo: Fifo<T>,
    statistics: Statistics,
}

impl<T> DropTail<T> {
    /// Creates an empty queue.
    pub fn new(limit: Limit) -> DropTail<T> {
        DropTail { limit: limit.resolved(), fifo: Fifo::new(), statistics: Statistics::default() }
    }
}

impl<T: Send> Queue<T> for DropTail<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        if !self.limit.admits(self.fifo.backlog(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let (packet, sojourn) = self.fifo.pop(now)?;
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Class;
    use proptest::prelude::*;

    fn packet(size: u32) -> Packet<u32> {
        Packet::from_tos(size, 0, 0, size)
    }

    fn accepted(limit: Limit, sizes: &[u32]) -> usize {
        let mut queue = DropTail::new(limit);
        let mut dropped = Vec::new();
        sizes.iter().for_each(|size| queue.enqueue(Time::ZERO, packet(*size), &mut dropped));
        assert_eq!(
            queue.statistics().of(Class::BestEffort).enqueued + dropped.len() as u64,
            sizes.len() as u64
        );
        sizes.len() - dropped.len()
    }

    #[test]
    fn each_kind_of_limit_holds_what_it_says() {
        assert_eq!(accepted(Limit::Packets(3), &[1500; 5]), 3);
        assert_eq!(accepted(Limit::Bytes(4500), &[1500; 5]), 3);
        assert_eq!(accepted(Limit::Bytes(4499), &[1500; 5]), 2);
        // 500 ms of 20 Mbit/s are 1.25 MB.
        let limit = Limit::Time { time: Span::from_millis(500), bytes_per_second: 2_500_000 };
        assert_eq!(limit.in_bytes(), Some(1_250_000));
        assert_eq!(accepted(limit, &[1250; 1100]), 1000);
    }

    #[test]
    fn a_small_packet_fits_where_a_large_one_did_not() {
        assert_eq!(accepted(Limit::Bytes(2000), &[1500, 1500, 400]), 2);
    }

    #[test]
    fn the_sojourn_time_is_what_passed_between_arrival_and_departure() {
        let mut queue = DropTail::new(Limit::Packets(10));
        queue.enqueue(Time::from_millis(5), packet(100), &mut Vec::new());
        let (_, sojourn) = queue.dequeue(Time::from_millis(12), &mut Vec::new()).unwrap();
        assert_eq!(sojourn, Span::from_millis(7));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_reordered(sizes in prop::collection::vec(40u32..1501, 1..200), takes in prop::collection::vec(0usize..4, 1..200)) {
            let mut queue = DropTail::new(Limit::Bytes(20_000));
            let (mut dropped, mut out, mut kept) = (Vec::new(), Vec::new(), Vec::new());
            for (i, size) in sizes.iter().enumerate() {
                let before = dropped.len();
                queue.enqueue(Time(i as u64), Packet::from_tos(*size, 0, 0, i), &mut dropped);
                if dropped.len() == before {
                    kept.push(i);
                }
                prop_assert!(queue.backlog().bytes <= 20_000);
                for _ in 0..takes[i % takes.len()] {
                    out.extend(queue.dequeue(Time(i as u64), &mut dropped).map(|(packet, _)| packet.body));
                }
            }
            out.extend(std::iter::from_fn(|| queue.dequeue(Time(1000), &mut dropped)).map(|(packet, _)| packet.body));
            prop_assert_eq!(&out, &kept);
            prop_assert_eq!(out.len() + dropped.len(), sizes.len());
            prop_assert_eq!(queue.backlog(), Backlog::default());
        }
    }
}
