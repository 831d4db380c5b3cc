//! DropTail at a link of constant rate, where the departure of a packet is known when it arrives.
//!
//! # Model
//! Nothing that arrives later changes when a packet of a FIFO queue is sent. Its caller, which has the rate, need not wait
//! for that moment. It passes the packet on when it arrives, with the time at which the link will begin to send it. The
//! packet's place stays here. [`Foreseen::take_begun`] removes the places of packets whose transmission has begun meanwhile.
//! It removes many at a time, so that a simulator needs no event for each of them. A packet that finds the link free and
//! nobody's place here needs none.
//!
//! Decisions and counters are those of [`DropTail`](crate::droptail::DropTail); a property test compares the two.
//!
//! # Limit
//! As there. A packet is refused only after the places of all that have been begun were taken.
//!
//! # Known bad cases
//! None beyond DropTail's. A link whose rate changes cannot use it.

use crate::backlog::{Backlog, Limit};
use crate::dropped::{DropReason, Dropped};
use crate::packet::{Class, Packet};
use crate::statistics::{Passed, Statistics};
use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// Arrivals after which places are taken: that many packets go through the same counters while the cache holds these.
const BATCH: usize = 128;

/// A DropTail queue whose packets have gone ahead.
#[derive(Clone, Debug)]
// In this order: what an arriving packet needs comes first.
#[repr(C)]
pub struct Foreseen {
    /// There is room for a packet with which the queue holds no more than this.
    most: Backlog,
    waiting: VecDeque<QueuePlace>,
    bytes: u64,
    /// Packets that took places since places were last taken.
    arrived: usize,
    /// Packets that were sent at once since then, by class.
    at_once: [AtOnce; 2],
    /// Of packets whose places were taken, and of refused ones. Apart from what an arriving packet needs, which is small.
    statistics: Box<Statistics>,
}

/// The place of a packet in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// When it arrived.
    pub arrived: Time,
    /// When the link begins to send it.
    pub begins: Time,
    /// Size on the link, bytes.
    pub size: u32,
    /// The packet's class.
    pub class: Class,
}

/// Packets that were sent as they arrived.
#[derive(Clone, Copy, Debug, Default)]
struct AtOnce {
    packets: u64,
    bytes: u64,
}

impl AtOnce {
    fn passed(self) -> Passed {
        Passed { packets: self.packets, undelayed: self.packets, bytes: self.bytes, sojourns: Span::ZERO }
    }
}

impl QueuePlace {
    /// Returns the time in the queue.
    pub fn sojourn(&self) -> Span {
        self.begins.since(self.arrived)
    }
}

impl Foreseen {
    /// Creates an empty queue.
    pub fn new(limit: Limit) -> Foreseen {
        let none = u64::MAX;
        let most = match limit.resolved() {
            Limit::Packets(packets) => Backlog { packets, bytes: none },
            bytes => Backlog { packets: none, bytes: bytes.in_bytes().unwrap_or(none) },
        };
        Foreseen {
            most,
            waiting: VecDeque::new(),
            bytes: 0,
            arrived: 0,
            at_once: Default::default(),
            statistics: Box::default(),
        }
    }

    /// Returns whether places have to be [taken](Self::take_begun) before a packet of `size` bytes arrives. Otherwise it has room.
    #[inline]
    pub fn is_behind(&self, size: u32) -> bool {
        self.arrived >= BATCH || !self.has_room(size)
    }

    /// Returns whether there is room for a packet of `size` bytes beside those whose places were not taken.
    #[inline]
    pub fn has_room(&self, size: u32) -> bool {
        (self.waiting.len() as u64) < self.most.packets && self.bytes + u64::from(size) <= self.most.bytes
    }

    /// Takes a packet for which there is room; the link begins to send it at `begins`.
    #[inline]
    pub fn enqueue<T>(&mut self, now: Time, begins: Time, packet: &Packet<T>) {
        debug_assert!(self.has_room(packet.size));
        self.waiting.push_back(QueuePlace { arrived: now, begins, size: packet.size, class: packet.class() });
        self.bytes += u64::from(packet.size);
        self.arrived += 1;
    }

    /// Returns whether nobody has a place.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lets a packet pass for which there is room, where nobody has a place and the link is free.
    #[inline]
    pub fn pass_at_once<T>(&mut self, packet: &Packet<T>) {
        let passed = &mut self.at_once[packet.class() as usize];
        passed.packets += 1;
        passed.bytes += u64::from(packet.size);
    }

    /// Refuses a packet for which there is no room.
    pub fn refuse<T: Copy>(&mut self, packet: &Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.statistics.refuse(*packet, DropReason::Full, dropped);
    }

    /// Takes the place of the oldest packet, if the link has begun to send it by now. To be called until it returns none.
    #[inline]
    pub fn take_begun(&mut self, now: Time) -> Option<QueuePlace> {
        let Some(place) = self.waiting.front().copied().filter(|place| place.begins <= now) else {
            self.arrived = 0;
            return None;
        };
        self.waiting.pop_front();
        self.bytes -= u64::from(place.size);
        let mut passed = Passed::default();
        let waited = passed.add(place.size, place.sojourn());
        self.statistics.pass(place.class, &passed, waited);
        Some(place)
    }

    /// Takes the places of all packets that the link has begun to send by now, and calls `waited` with each that had to wait. Returns
    /// the sums of each class, packets that passed [at once](Self::pass_at_once) among them, and the last place.
    #[inline]
    pub fn take_all_begun(
        &mut self,
        now: Time,
        mut waited: impl FnMut(Class, Span),
    ) -> ([Passed; 2], Option<QueuePlace>) {
        let mut passed = [Passed::default(); 2];
        let (front, back) = self.waiting.as_slices();
        let (mut number, mut last) = (0, None);
        for place in front.iter().chain(back) {
            if place.begins > now {
                break;
            }
            if let Some(sojourn) = passed[place.class as usize].add(place.size, place.sojourn()) {
                self.statistics.count_sojourn(place.class, sojourn);
                waited(place.class, sojourn);
            }
            number += 1;
            last = Some(place);
        }
        let last = last.copied();
        self.waiting.drain(..number);
        let at_once = std::mem::take(&mut self.at_once);
        for class in Class::BOTH {
            let passed = &mut passed[class as usize];
            self.bytes -= passed.bytes;
            passed.merge(&at_once[class as usize].passed());
            self.statistics.pass(class, passed, None);
        }
        self.arrived = 0;
        (passed, last)
    }

    /// Returns the places that were not taken, the oldest packet's first.
    #[inline]
    pub fn waiting(&self) -> impl Iterator<Item = &QueuePlace> {
        self.waiting.iter()
    }

    /// Returns the queue's counters, those of the packets that wait among them.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = (*self.statistics).clone();
        Class::BOTH
            .into_iter()
            .zip(self.at_once)
            .for_each(|(class, sum)| statistics.pass(class, &sum.passed(), None));
        self.waiting.iter().for_each(|place| statistics.accept_one(place.class, place.size));
        statistics
    }

    /// Returns the packets whose places were not taken.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::droptail::DropTail;
    use crate::queue::Queue;
    use proptest::prelude::*;

    /// A DropTail queue and a link behind it that takes 1 ns for each byte; number and begin of each packet that was sent.
    struct Link {
        queue: DropTail<u32>,
        free_at: Time,
        begun: Vec<(u32, Time)>,
        dropped: Vec<Dropped<u32>>,
    }

    impl Link {
        fn run(&mut self, now: Time) {
            while self.free_at <= now {
                let Some((packet, _)) = self.queue.dequeue(self.free_at, &mut self.dropped) else { return };
                self.begun.push((packet.body, self.free_at));
                self.free_at += Span(packet.size.into());
            }
        }

        fn offer(&mut self, now: Time, packet: Packet<u32>) {
            self.run(now);
            self.free_at = self.free_at.max(now);
            self.queue.enqueue(now, packet, &mut self.dropped);
            self.run(now);
        }
    }

    proptest! {
        #[test]
        fn decisions_departures_and_counters_are_those_of_drop_tail(
            limit in prop_oneof![(1u64..80).prop_map(Limit::Packets), (40u64..60_000).prop_map(Limit::Bytes)],
            arrivals in prop::collection::vec((0u64..2000, prop_oneof![Just(40u32), Just(1500), 1u32..1501], any::<bool>()), 1..400),
        ) {
            let mut link = Link {
                queue: DropTail::new(limit),
                free_at: Time::ZERO,
                begun: Vec::new(),
                dropped: Vec::new(),
            };
            // The same places taken one by one, and all at once.
            let (mut foreseen, mut together) = (Foreseen::new(limit), Foreseen::new(limit));
            let (mut passed, mut waited, mut last) = (Vec::new(), Vec::new(), None);
            let mut take_all = |together: &mut Foreseen, now, last: &mut Option<QueuePlace>| {
                let (sums, newest) = together.take_all_begun(now, |class, sojourn| waited.push((class, sojourn)));
                passed.push(sums);
                *last = newest.or(*last);
            };
            let (mut sent_at, mut now) = (Time::ZERO, Time::ZERO);
            let (mut expected, mut dropped, mut taken) = (Vec::new(), Vec::new(), Vec::new());
            for (number, (after, size, is_lower)) in arrivals.into_iter().enumerate() {
                now += Span(after);
                let packet = Packet::from_tos(size, 0, if is_lower { 0x04 } else { 0 }, number as u32);
                link.offer(now, packet);
                if foreseen.is_behind(size) {
                    taken.extend(std::iter::from_fn(|| foreseen.take_begun(now)));
                    take_all(&mut together, now, &mut last);
                }
                let begins = sent_at.max(now);
                prop_assert_eq!(foreseen.has_room(size), together.has_room(size));
                if !foreseen.has_room(size) {
                    foreseen.refuse(&packet, &mut dropped);
                    together.refuse(&packet, &mut Vec::new());
                    continue;
                }
                foreseen.enqueue(now, begins, &packet);
                if begins == now && together.is_empty() {
                    together.pass_at_once(&packet);
                    last = Some(QueuePlace { arrived: now, begins, size, class: packet.class() });
                } else {
                    together.enqueue(now, begins, &packet);
                }
                expected.push((number as u32, begins));
                sent_at = begins + Span(size.into());
            }
            taken.extend(std::iter::from_fn(|| foreseen.take_begun(now)));
            take_all(&mut together, now, &mut last);
            prop_assert_eq!(&foreseen.statistics(), link.queue.statistics());
            prop_assert_eq!(&together.statistics(), link.queue.statistics());
            prop_assert_eq!(foreseen.backlog(), link.queue.backlog());
            link.run(Time::NEVER);
            prop_assert_eq!(&expected, &link.begun);
            let of = |dropped: &[Dropped<u32>]| dropped.iter().map(|one| one.packet.body).collect::<Vec<_>>();
            prop_assert_eq!(of(&dropped), of(&link.dropped));
            taken.extend(std::iter::from_fn(|| foreseen.take_begun(Time::NEVER)));
            take_all(&mut together, Time::NEVER, &mut last);
            prop_assert_eq!(&foreseen.statistics(), link.queue.statistics());
            prop_assert_eq!(&together.statistics(), link.queue.statistics());
            let sojourns = taken.iter().map(|place| (place.class, place.sojourn()));
            prop_assert_eq!(waited, sojourns.filter(|(_, sojourn)| *sojourn > Span::ZERO).collect::<Vec<_>>());
            prop_assert_eq!(last, taken.last().copied());
            for class in Class::BOTH {
                let sum = |of: fn(&Passed) -> u64| passed.iter().map(|sums| of(&sums[class as usize])).sum::<u64>();
                let of_class = || taken.iter().filter(|place| place.class == class);
                prop_assert_eq!(sum(|passed| passed.packets), of_class().count() as u64);
                prop_assert_eq!(sum(|passed| passed.bytes), of_class().map(|place| u64::from(place.size)).sum::<u64>());
                prop_assert_eq!(sum(|passed| passed.sojourns.0), of_class().map(|place| place.sojourn().0).sum::<u64>());
            }
            let begun: Vec<Time> = taken.iter().map(|place| place.begins).collect();
            prop_assert_eq!(begun, expected.iter().map(|(_, begins)| *begins).collect::<Vec<_>>());
        }
    }
}
