//! DRR: classes take turns of a quantum of bytes, and keep the unused part for the next turn.
//!
//! # Model
//! A hash spreads the flows over classes, each first in, first out. In its turn a class sends packets as long as they
//! fit into its *deficit*. The deficit grows by the quantum at each turn; a class that runs empty loses the rest of it.
//! So backlogged classes get the same number of bytes whatever the size of their packets, to within a quantum and a
//! packet.
//!
//! If there is no room in the buffer, the class that holds most bytes loses a packet: its newest one, or its oldest. A
//! class may also have its own limit, at which arriving packets are dropped.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | quantum | 1500 B | a full packet: with less, it takes several turns to send one |
//! | classes | 1024 | as in FQ-CoDel: collisions of flows are rare |
//! | depth | 1000 packets | Linux: the limit of the class's own queue, which is the interface's queue length |
//!
//! # Source
//! Linux' `sch_drr.c`. For the preset `ns2`, ns-2's `drr.cc`: quantum 250 B, 10 classes without limits of their own,
//! and the oldest packet of the fattest class is dropped. Linux leaves it to filters which packet goes into which
//! class, and has no limit for all classes together. Both are those of the other fair queues here.
//!
//! # Not implemented
//! Quanta that differ by class. ns-2's `mask_`, which hashes hosts instead of flows.
//!
//! # Known bad cases
//! Only the buffer limits the delay: a class's delay is its own backlog. Quanta below a packet cost a turn of all
//! classes for each missing quantum. A low-priority flow gets the same share as all others.

use crate::backlog::{Backlog, Limit};
use crate::buckets::Buckets;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use crate::turns::Turns;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters.
    pub table PARAMS;

    const PRESET: Key<&'static str> = Key::word("preset", &["linux", "ns2"])
        .explained("whose values", "Linux sch_drr.c; ns-2 drr.cc");
    const QUANTUM: Key<u64> = Key::bytes("quantum", 1500, (40, 1 << 20))
        .explained("bytes in a turn", "Linux sch_drr.c: the MTU");
    const CLASSES: Key<u64> = Key::count("classes", "classes", 1024, (1, 65_536))
        .explained("classes that the flows are spread over", "as FQ-CoDel, RFC 8290 §5.2");
    const DEPTH: Key<u64> = Key::count("depth", "packets", 1000, (0, 1_000_000))
        .explained("packets that a class may hold; 0 for any number", "Linux: the interface's queue length");
    const HEAD_DROP: Key<bool> = Key::flag("head_drop", false)
        .explained("without room the fattest class loses its oldest packet, not its newest", "ns-2 drr.cc");
}

/// Presets.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux", help: "the kernel's, with a class for each bucket of a hash", rows: &[] },
    Preset {
        name: "ns2",
        help: "the defaults of the simulator ns-2",
        rows: &[
            ("quantum", Value::Bytes(250)),
            ("classes", Value::Count(10)),
            ("depth", Value::Count(0)),
            ("head_drop", Value::Flag(true)),
        ],
    },
];

/// A DRR queue.
#[derive(Clone, Debug)]
pub struct Drr<T> {
    limit: Limit,
    depth: u64,
    quantum: i64,
    drops_oldest: bool,
    buckets: Buckets,
    classes: Turns<T>,
    statistics: Statistics,
}

impl<T> Drr<T> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// None so far.
    pub fn new(settings: &Settings<'_>, mut site: Site<impl Rng>) -> Result<Drr<T>, Error> {
        let classes = settings.get(&CLASSES) as usize;
        Ok(Drr {
            limit: site.limit.resolved(),
            depth: Some(settings.get(&DEPTH)).filter(|depth| *depth > 0).unwrap_or(u64::MAX),
            quantum: settings.get(&QUANTUM) as i64,
            drops_oldest: settings.get(&HEAD_DROP),
            buckets: Buckets::new(classes as u32, &mut site.random),
            classes: Turns::new(classes, classes),
            statistics: Statistics::default(),
        })
    }

    /// Drops a packet of the fattest class. Returns `false` if there is none.
    fn drop_fattest(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> bool {
        let Some(class) = self.classes.store.fattest(self.classes.active(), |backlog| backlog.bytes) else {
            return false;
        };
        if let Some(packet) = self.classes.lose(now, class, self.drops_oldest) {
            self.statistics.remove(packet, DropReason::Full, dropped);
        }
        true
    }
}

impl<T: Send> Queue<T> for Drr<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let class = self.buckets.of(packet.flow);
        if self.classes.held(class) >= self.depth || !self.limit.admits(Backlog::default(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        self.classes.push(now, class, packet, self.quantum);
        while !self.limit.holds(self.classes.store.backlog()) && self.drop_fattest(now, dropped) {}
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        loop {
            let class = self.classes.first()?;
            let size = i64::from(self.classes.store.front(class)?.size);
            let deficit = self.classes.credit(class);
            if size > *deficit {
                *deficit += self.quantum;
                self.classes.pass();
                continue;
            }
            *deficit -= size;
            let (packet, sojourn) = self.classes.pop(now)?;
            self.statistics.deliver(&packet, sojourn);
            return Some((packet, sojourn));
        }
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn bucket(&self, flow: u32) -> Option<usize> {
        Some(self.buckets.of(flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(limit: Limit, overrides: &[(&'static str, Value)]) -> Drr<u32> {
        let settings = Settings::new(PARAMS, overrides).unwrap().with_preset(PRESETS);
        Drr::new(&settings, Site::test(limit)).unwrap()
    }

    /// Lets `n` packets of a flow arrive; returns which were dropped, flow and number.
    fn arrive(queue: &mut Drr<u32>, flow: u32, n: u32, size: u32) -> Vec<(u32, u32)> {
        let mut dropped = Vec::new();
        (0..n).for_each(|i| queue.enqueue(Time::ZERO, Packet::from_tos(size, flow, 0, i), &mut dropped));
        dropped.iter().map(|dropped| (dropped.packet.flow, dropped.packet.body)).collect()
    }

    fn order(queue: &mut Drr<u32>) -> String {
        let next = || queue.dequeue(Time::ZERO, &mut Vec::new());
        std::iter::from_fn(next).map(|(packet, _)| (b'A' + packet.flow as u8) as char).collect()
    }

    #[test]
    fn classes_get_the_same_bytes_whatever_the_size_of_their_packets() {
        for (quantum, a, b, expected) in [
            (1500, (4, 1500), (8, 500), "ABBBABBBABBA"),
            (1000, (3, 1000), (4, 700), "ABABABB"),
            // A packet of 1500 B takes six turns to save up for, one of 750 B three.
            (250, (2, 1500), (4, 750), "BABBAB"),
        ] {
            let mut queue = queue(Limit::Packets(100), &[("quantum", Value::Bytes(quantum))]);
            arrive(&mut queue, 0, a.0, a.1);
            arrive(&mut queue, 1, b.0, b.1);
            assert_eq!(order(&mut queue), expected, "quantum {quantum}");
        }
    }

    #[test]
    fn a_class_that_ran_empty_begins_with_a_quantum_and_not_with_what_was_left() {
        let mut queue = queue(Limit::Packets(100), &[]);
        arrive(&mut queue, 0, 1, 100);
        assert_eq!(order(&mut queue), "A");
        arrive(&mut queue, 0, 3, 1000);
        arrive(&mut queue, 1, 3, 1000);
        assert_eq!(order(&mut queue), "ABAABB");
    }

    #[test]
    fn without_room_the_fattest_class_loses_its_newest_packet_or_by_ns2_its_oldest() {
        for (preset, lost) in [("linux", 2), ("ns2", 0)] {
            let mut queue = queue(Limit::Bytes(4000), &[("preset", Value::Choice(preset))]);
            assert!(arrive(&mut queue, 0, 3, 1000).is_empty());
            assert_eq!(arrive(&mut queue, 1, 2, 1000), [(0, lost)], "{preset}");
            assert_eq!(queue.backlog(), Backlog { packets: 4, bytes: 4000 });
        }
    }

    #[test]
    fn a_class_that_loses_its_only_packet_has_no_turn_any_more() {
        let mut queue = queue(Limit::Bytes(2000), &[]);
        arrive(&mut queue, 0, 1, 1500);
        assert_eq!(arrive(&mut queue, 1, 3, 400), [(0, 0)]);
        assert_eq!(queue.classes.active().len(), 1);
        assert_eq!(order(&mut queue), "BBB");
    }

    #[test]
    fn a_class_has_a_limit_of_its_own() {
        let mut queue = queue(Limit::Packets(100), &[("depth", Value::Count(3))]);
        assert_eq!(arrive(&mut queue, 0, 5, 100), [(0, 3), (0, 4)]);
        assert!(arrive(&mut queue, 1, 3, 100).is_empty());
    }

    #[test]
    fn a_turn_or_a_buffer_of_nothing_is_refused() {
        for (name, value) in [("quantum", Value::Bytes(0)), ("classes", Value::Count(0))] {
            let error = Settings::new(PARAMS, &[(name, value)]).unwrap_err().to_string();
            assert!(error.contains("outside its range"), "{error}");
        }
    }
}
