//! FQ-CoDel: a CoDel for every flow, and turns among the flows in which sparse flows go first.
//!
//! # Model
//! A hash spreads the flows over many queues, each with its own CoDel. A flow's delay and losses then depend only on
//! itself. The queues take turns of a quantum of bytes by the scheduler with [two lists](crate::two_lists): a queue
//! that has just become active is served first. If there is no room, the queue that holds most bytes loses half of
//! them, but at most a batch of packets. They are dropped from its head, so that the sender is notified earliest.
//!
//! For a low-priority sender such a queue is a problem. It measures only its own delay, does not yield, and gets the
//! same share as all others (§6.3). [`le_fq_codel`](crate::le_fq_codel) is a remedy.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | flows | 1024 | §5.3: one flow among a hundred shares its queue with a probability of 9 % |
//! | quantum | 1500 B | §5.2: a full Ethernet frame (1514 B), so that each turn sends one; links here count packets without frames |
//! | TARGET, INTERVAL | 5, 100 ms | those of [CoDel](crate::codel) |
//! | drop batch | 64 packets | Linux: spreads the cost of finding the fattest queue |
//!
//! # Source
//! RFC 8290 (January 2018) §4, §5, and Linux' `sch_fq_codel.c`. Presets: `linux` ends a turn when the credits are
//! zero. It lets an emptied new queue leave at once if no old one waits. It counts packets that it drops because the
//! buffer is full in that queue's CoDel. Its CoDel drops a queue's last packet if all queues together hold more than a
//! frame. An empty queue does not reset the time above TARGET. `rfc8290` follows the document.
//!
//! # Not implemented
//! Linux' limit of 32 MiB of memory and its `ce_threshold`. Half of the fattest queue: Linux'
//! rule (bytes, at least half), since the RFC does not say whether packets or bytes.
//!
//! # Slow links
//! Below 2.4 Mbit/s a packet of 1500 B takes longer than the TARGET of 5 ms. A queue is then above TARGET as soon as a
//! packet waits for the one in transmission, and the SYN of a new connection may be the packet that is dropped: that
//! connection begins a second late. `handshake_timeouts` counts those. sqm-scripts raise TARGET to the time of one packet
//! and CAKE to one and a half, and INTERVAL by as much: at 2 Mbit/s `target = "9 ms"`.
//!
//! # Known bad cases
//! Flows that share a queue share its turns and its drops. Rates at which a packet takes longer than TARGET. Many
//! flows, each with few packets: a quantum for each of them is the delay of all (with 1000 flows, 1.2 s at 10 Mbit/s).

use crate::backlog::{Backlog, Limit};
use crate::buckets::Buckets;
use crate::codel::{self, check_times, Law};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use crate::store::Store;
use crate::two_lists::{Rules, TwoLists};
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters.
    pub table PARAMS;

    const PRESET: Key<&'static str> = Key::word("preset", &["linux", "rfc8290"])
        .explained("whose rules", "Linux sch_fq_codel.c; RFC 8290");
    pub const FLOWS: Key<u64> = Key::count("flows", "queues", 1024, (1, 65_536))
        .explained("queues that the flows are spread over", "RFC 8290 §5.2");
    pub const QUANTUM: Key<u64> = Key::bytes("quantum", 1500, (256, 1 << 20)).explained(
        "bytes in a turn: a full packet, without the 14 B that its frame adds",
        "RFC 8290 §5.2; Linux: at least 256",
    );
    const TARGET: Key<Span> = codel::TARGET.explained("acceptable standing delay of each queue", "RFC 8290 §5.2");
    const INTERVAL: Key<Span> =
        codel::INTERVAL.explained("for how long it must have been exceeded", "RFC 8290 §5.2");
    pub(crate) const MTU: Key<u64> =
        codel::MTU.explained("with so little left in a queue nothing is dropped", "RFC 8289 §5.4");
    pub const ECN: Key<bool> = Key::flag("ecn", true)
        .explained("mark packets that understand ECN instead of dropping them", "RFC 8290 §5.2");
    pub const DROP_BATCH: Key<u64> = Key::count("drop_batch", "packets", 64, (1, 65_535))
        .explained("most packets that the fattest queue loses at once", "Linux sch_fq_codel.c");
    pub(crate) const LISTS: Key<Rules> =
        Key::choice("lists", &["linux", "rfc8290"], &[Rules::LINUX, Rules::RFC8290])
            .explained("when a turn ends, and where an emptied new queue goes", "RFC 8290 §4.2; Linux");
    pub(crate) const COUNT_DROPS: Key<bool> = Key::flag("count_drops", true)
        .explained("packets dropped from a full buffer count for the queue's CoDel", "Linux sch_fq_codel.c");
    const CODEL_OF_LINUX: Key<bool> = Key::choice("codel", &["linux", "rfc8289"], &[true, false])
        .explained(
            "what must exceed the mtu: the bytes of all queues, or of the packet's own; linux keeps the time of an empty queue",
            "Linux sch_fq_codel.c, codel_impl.h; RFC 8289 §5.6",
        );
}

/// Presets.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux", help: "the kernel's queue", rows: &[] },
    Preset {
        name: "rfc8290",
        help: "the document to the letter",
        rows: &[
            ("lists", Value::Choice("rfc8290")),
            ("count_drops", Value::Flag(false)),
            ("codel", Value::Choice("rfc8289")),
        ],
    },
];

/// The queues of an FQ-CoDel: all but a limit and statistics.
#[derive(Clone, Debug)]
pub struct Flows<T> {
    buckets: Buckets,
    store: Store<T>,
    lists: TwoLists,
    laws: Vec<Law>,
    drop_batch: u64,
    counts_drops: bool,
    /// CoDel's rule of the last packet is about all queues.
    counts_all: bool,
}

impl<T> Flows<T> {
    /// Creates the queues from the rows of [`PARAMS`], with their hash salted by `random` and each queue under `law`.
    pub fn new(settings: &Settings<'_>, law: Law, random: &mut impl Rng) -> Flows<T> {
        let flows = settings.get(&FLOWS) as u32;
        let is_linux = settings.get(&CODEL_OF_LINUX);
        let law = if is_linux { law.keeping_time_when_empty() } else { law };
        Flows {
            buckets: Buckets::new(flows, random),
            store: Store::new(flows as usize),
            lists: TwoLists::new(flows as usize, settings.get(&QUANTUM), settings.get(&LISTS)),
            laws: vec![law; flows as usize],
            drop_batch: settings.get(&DROP_BATCH),
            counts_drops: settings.get(&COUNT_DROPS),
            counts_all: is_linux,
        }
    }

    /// Returns the contents of all queues.
    pub fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    /// Appends a packet to its flow's queue (§4.1).
    // As calls, these two would copy the packet once more: with the same in CoDel, a packet costs a seventh less.
    #[inline(always)]
    pub fn push(&mut self, now: Time, packet: Packet<T>) {
        let flow = self.buckets.of(packet.flow);
        self.store.push(now, flow, packet);
        self.lists.activate(flow);
    }

    /// Drops half of the fattest queue's bytes from its head, or a batch of packets if that is less (§4.1, by Linux' rule).
    /// Returns `false` if there is nothing to drop.
    pub fn drop_fattest(
        &mut self,
        now: Time,
        statistics: &mut Statistics,
        dropped: &mut Vec<Dropped<T>>,
    ) -> bool {
        let Some(flow) = self.store.fattest(self.lists.listed(), |backlog| backlog.bytes) else {
            return false;
        };
        let half = self.store.backlog_of(flow).bytes / 2;
        let (mut packets, mut bytes) = (0, 0);
        while packets == 0 || (packets < self.drop_batch && bytes < half) {
            let Some((packet, _)) = self.store.pop_front(now, flow) else { break };
            packets += 1;
            bytes += u64::from(packet.size);
            statistics.remove(packet, DropReason::Full, dropped);
        }
        if self.counts_drops {
            self.laws[flow].count_drops(packets);
        }
        true
    }

    /// Returns the next packet of the queue whose turn it is (§4.2).
    #[inline(always)]
    pub fn dequeue(
        &mut self,
        now: Time,
        statistics: &mut Statistics,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        loop {
            let flow = self.lists.turn()?;
            let mut source = match self.counts_all {
                true => self.store.flow_among_all(flow),
                false => self.store.flow(flow),
            };
            let next = self.laws[flow].dequeue(now, &mut source, statistics, dropped);
            if let Some((packet, sojourn)) = next {
                self.lists.charge(flow, packet.size);
                return Some((packet, sojourn));
            }
            self.lists.emptied();
        }
    }
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCodel<T> {
    limit: Limit,
    flows: Flows<T>,
    statistics: Statistics,
}

impl<T> FqCodel<T> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// A target longer than the interval.
    pub fn new(settings: &Settings<'_>, mut site: Site<impl Rng>) -> Result<FqCodel<T>, Error> {
        check_times(settings, &TARGET, &INTERVAL)?;
        let flows = Flows::new(settings, Law::new(settings), &mut site.random);
        Ok(FqCodel { limit: site.limit.resolved(), flows, statistics: Statistics::default() })
    }
}

impl<T: Send> Queue<T> for FqCodel<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        // What does not fit even into the empty buffer must not push all others out.
        if !self.limit.admits(Backlog::default(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        self.flows.push(now, packet);
        while !self.limit.holds(self.flows.backlog())
            && self.flows.drop_fattest(now, &mut self.statistics, dropped)
        {}
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let (packet, sojourn) = self.flows.dequeue(now, &mut self.statistics, dropped)?;
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn bucket(&self, flow: u32) -> Option<usize> {
        Some(self.flows.buckets.of(flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Class, Ecn};

    /// A full packet.
    const FULL: u32 = 1500;

    fn queue(limit: Limit, overrides: &[(&'static str, Value)]) -> FqCodel<u32> {
        let settings = Settings::new(PARAMS, overrides).unwrap().with_preset(PRESETS);
        FqCodel::new(&settings, Site::test(limit)).unwrap()
    }

    /// Lets `n` packets of one flow arrive.
    fn arrive(queue: &mut FqCodel<u32>, flow: u32, n: u32, size: u32) -> Vec<Dropped<u32>> {
        let mut dropped = Vec::new();
        (0..n).for_each(|i| queue.enqueue(Time::ZERO, Packet::from_tos(size, flow, 0, i), &mut dropped));
        dropped
    }

    /// Returns which flows the next packets are of.
    fn send(queue: &mut FqCodel<u32>, n: usize) -> Vec<u32> {
        let next = || queue.dequeue(Time::ZERO, &mut Vec::new()).map(|(packet, _)| packet.flow);
        std::iter::from_fn(next).take(n).collect()
    }

    #[test]
    fn a_flow_with_one_packet_goes_first_and_the_presets_end_turns_as_their_sources_do() {
        for (preset, order) in [("linux", [0, 1, 0, 0, 0]), ("rfc8290", [0, 0, 1, 0, 0])] {
            let mut queue = queue(Limit::Packets(100), &[("preset", Value::Choice(preset))]);
            arrive(&mut queue, 0, 4, FULL);
            let mut sent = send(&mut queue, 1);
            arrive(&mut queue, 1, 1, 100);
            sent.extend(send(&mut queue, 10));
            assert_eq!(sent, order, "{preset}");
        }
    }

    #[test]
    fn a_turn_is_one_full_packet_as_it_is_of_frames_in_linux() {
        let mut queue = queue(Limit::Packets(100), &[]);
        (0..3).for_each(|flow| _ = arrive(&mut queue, flow, 2, FULL));
        assert_eq!(send(&mut queue, 6), [0, 1, 2, 0, 1, 2]);
    }

    /// Returns how many packets are dropped when flow 1 sends its last one, which has waited for too long, while flow 2 holds four full ones.
    fn dropped_of_a_last_packet(overrides: &[(&'static str, Value)]) -> usize {
        let mut queue = queue(Limit::Packets(100), overrides);
        let mut dropped = Vec::new();
        // Flow 1 always has one packet, flow 2 five: each waits for 12 ms, and nothing is ever empty.
        for ms in 0..300 {
            let now = Time::from_millis(12 * ms);
            let missing = |queue: &FqCodel<u32>, flow: u32, most: u64| {
                most - queue.flows.store.backlog_of(queue.flows.buckets.of(flow)).packets
            };
            for (flow, most) in [(1, 1), (2, 5)] {
                (0..missing(&queue, flow, most))
                    .for_each(|_| queue.enqueue(now, Packet::from_tos(FULL, flow, 0, 0), &mut dropped));
            }
            queue.dequeue(now + Span::from_millis(6), &mut dropped);
            queue.dequeue(now + Span::from_millis(11), &mut dropped);
        }
        dropped.iter().filter(|dropped| dropped.packet.flow == 1).count()
    }

    #[test]
    fn the_last_packet_of_a_queue_may_go_in_linux_if_all_queues_hold_more_than_a_frame() {
        assert!(dropped_of_a_last_packet(&[]) > 5);
        assert_eq!(dropped_of_a_last_packet(&[("preset", Value::Choice("rfc8290"))]), 0);
        assert_eq!(dropped_of_a_last_packet(&[("codel", Value::Choice("rfc8289"))]), 0);
    }

    #[test]
    fn without_room_the_fattest_queue_loses_half_of_its_bytes_from_its_head() {
        let mut queue = queue(Limit::Packets(10), &[]);
        assert!(arrive(&mut queue, 1, 9, 1000).is_empty());
        let dropped = arrive(&mut queue, 2, 2, 1000);
        let lost: Vec<_> = dropped.iter().map(|dropped| (dropped.packet.flow, dropped.packet.body)).collect();
        assert_eq!(lost, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]);
        assert!(dropped.iter().all(|dropped| dropped.reason == DropReason::Full));
        assert_eq!(queue.backlog(), Backlog { packets: 6, bytes: 6000 });
    }

    #[test]
    fn it_loses_a_batch_at_most_and_its_codel_counts_them() {
        for (preset, count) in [("linux", 64), ("rfc8290", 0)] {
            let mut queue = queue(Limit::Packets(300), &[("preset", Value::Choice(preset))]);
            arrive(&mut queue, 1, 300, 1000);
            assert_eq!(arrive(&mut queue, 2, 1, 1000).len(), 64);
            let flow = queue.flows.buckets.of(1);
            assert_eq!(queue.flows.laws[flow].count, count, "{preset}");
        }
    }

    #[test]
    fn a_packet_larger_than_the_buffer_pushes_nobody_out() {
        let mut queue = queue(Limit::Bytes(5000), &[]);
        arrive(&mut queue, 1, 5, 1000);
        assert_eq!(arrive(&mut queue, 2, 1, 5001).len(), 1);
        assert_eq!(queue.backlog().packets, 5);
        // One that would fit takes room from the fattest, which after three drops is itself.
        assert_eq!(arrive(&mut queue, 2, 1, 4900).len(), 4);
        assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 2000 });
    }

    #[test]
    fn a_flow_that_stands_too_long_is_dropped_or_marked_and_the_others_are_not() {
        for (tos, ecn) in [(0, Ecn::NotEct), (2, Ecn::Ect0)] {
            let mut queue = queue(Limit::Packets(10_000), &[]);
            let mut dropped = Vec::new();
            for ms in 0..4000u64 {
                let now = Time::from_millis(ms);
                // Two packets leave each time; flow 1 sends two, flow 2 one in four times.
                (0..2).for_each(|_| queue.enqueue(now, Packet::from_tos(1000, 1, tos, 0), &mut dropped));
                if ms % 4 == 0 {
                    queue.enqueue(now, Packet::from_tos(1000, 2, tos, 0), &mut dropped);
                }
                for _ in 0..2 {
                    let (packet, sojourn) = queue.dequeue(now, &mut dropped).unwrap();
                    assert!(packet.flow == 1 || sojourn <= Span::from_millis(1), "{sojourn:?}");
                    assert!(packet.flow == 1 || packet.ecn == ecn);
                }
            }
            let statistics = queue.statistics().of(Class::BestEffort);
            assert!(dropped.iter().all(|dropped| dropped.packet.flow == 1));
            assert_eq!(statistics.dropped_head > 20, ecn == Ecn::NotEct, "{statistics:?}");
            assert_eq!(statistics.marked > 20, ecn == Ecn::Ect0, "{statistics:?}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        let refused = |name, value| {
            let overrides = [(name, value)];
            let settings = Settings::new(PARAMS, &overrides).map_err(Error::from);
            let built =
                settings.and_then(|settings| FqCodel::<()>::new(&settings, Site::test(Limit::Packets(1))));
            built.err().map(|error| error.to_string()).unwrap_or_default()
        };
        for (name, value) in [
            ("flows", Value::Count(0)),
            ("quantum", Value::Bytes(0)),
            ("drop_batch", Value::Count(0)),
            ("target", Value::Time(Span::ZERO)),
        ] {
            assert!(refused(name, value).contains("outside its range"), "{name}");
        }
        assert_eq!(
            refused("target", Value::Time(Span::from_millis(200))),
            "target = 200 ms does not go with interval = 100 ms: use at most 100 ms"
        );
    }
}
