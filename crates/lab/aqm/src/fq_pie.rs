//! FQ-PIE: a PIE for every flow, and turns among the flows in which sparse flows go first.
//!
//! # Model
//! A hash spreads the flows over many queues, each with its own [PIE](crate::pie). A flow's delay and losses then
//! depend only on itself. The queues take turns of a quantum of bytes by the scheduler with [two
//! lists](crate::two_lists). PIE drops on arrival, so the signal travels through the flow's own queue first, and
//! de-randomisation separates two drops of a flow. Stalls are rare; FQ-CoDel drops at the head and ever faster.
//!
//! # Time
//! Each flow's probability is updated when one of its packets arrives or leaves, on a common time grid. An idle flow
//! costs nothing.
//!
//! # Constants
//! | name | linux | freebsd | why |
//! |---|---|---|---|
//! | flows, quantum | 1024, 1500 B | the same | as FQ-CoDel |
//! | target, tupdate, burst | 15, 15, 150 ms | the same | RFC 8033 |
//! | mean packet | 1514 B | 800 B | two of them waiting are no queue |
//! | without room | the arriving packet is dropped | one at the head of the flow with most packets | `overflow` |
//! | a flow that becomes active | keeps its probability | begins anew, with its burst allowance | `fresh` |
//! | a turn ends | at 0 credits | below 0 | `lists` |
//!
//! # Source
//! Linux `sch_fq_pie.c`, FreeBSD `dn_sched_fq_pie.c`, both with timestamps and de-randomisation. The buffer is 10 240 packets in
//! both; here it is the link's. FreeBSD keeps the last delay of a flow that has emptied; here it is 0, as in its plain PIE.
//!
//! # Not implemented
//! Linux updates at most 2048 flows at a time, and its limit of 32 MiB of memory is counted but drops nothing. FreeBSD's timers
//! begin as a flow becomes active; its PIE sleeps until a flow has three bytes. `on_off` is a third of the whole buffer here,
//! so that a flow among many hardly ever wakes up.
//!
//! # Known bad cases
//! Flows that share a queue share its drops. A low-priority sender measures only its own delay and gets the same share
//! as all others. With `fresh` a flow that pauses often lives on its burst allowance.

use crate::backlog::{Backlog, Limit};
use crate::buckets::Buckets;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fq_codel::{FLOWS, LISTS, QUANTUM};
use crate::packet::Packet;
use crate::pie::law::{Law, PieState};
use crate::pie::params::COMMON;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use crate::store::Store;
use crate::two_lists::TwoLists;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters: those of PIE and those of its flows.
    pub table PARAMS;

    const PRESET: Key<&'static str> = Key::word("preset", &["linux", "freebsd"])
        .explained("whose values", "sch_fq_pie.c; dn_sched_fq_pie.c");
    use FLOWS, QUANTUM, LISTS;
    const DROPS_FATTEST: Key<bool> = Key::choice("overflow", &["arriving", "fattest"], &[false, true])
        .explained("what is dropped without room: the arriving packet, or the fattest flow's oldest", "both");
    const FRESH: Key<bool> = Key::flag("fresh", false)
        .explained("a flow that becomes active begins anew", "FreeBSD dn_sched_fq_pie.c");
    use all COMMON;
}

/// Whose values there are.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux", help: "Linux since 5.6", rows: crate::pie::params::LINUX },
    Preset {
        name: "freebsd",
        help: "FreeBSD's dummynet with its default options",
        rows: &[
            ("form", Value::Choice("freebsd")),
            ("decay", Value::Number(1.0 - 1.0 / 64.0)),
            ("mean_packet", Value::Bytes(800)),
            ("lists", Value::Choice("rfc8290")),
            ("overflow", Value::Choice("fattest")),
            ("fresh", Value::Flag(true)),
        ],
    },
];

/// An FQ-PIE queue.
#[derive(Clone, Debug)]
pub struct FqPie<T, R> {
    limit: Limit,
    buckets: Buckets,
    store: Store<T>,
    lists: TwoLists,
    law: Law,
    states: Vec<PieState>,
    drops_fattest: bool,
    restarts: bool,
    random: R,
    statistics: Statistics,
}

impl<T, R: Rng> FqPie<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// As [`Law::new`].
    pub fn new(settings: &Settings<'_>, mut site: Site<R>) -> Result<FqPie<T, R>, Error> {
        let law = Law::new(settings, site.limit)?;
        let flows = settings.get(&FLOWS) as u32;
        Ok(FqPie {
            limit: site.limit.resolved(),
            buckets: Buckets::new(flows, &mut site.random),
            store: Store::new(flows as usize),
            lists: TwoLists::new(flows as usize, settings.get(&QUANTUM), settings.get(&LISTS)),
            law,
            states: vec![law.start(); flows as usize],
            drops_fattest: settings.get(&DROPS_FATTEST),
            restarts: settings.get(&FRESH),
            random: site.random,
            statistics: Statistics::default(),
        })
    }

    /// Returns whether the arriving packet is to be dropped because the buffer is full. Where the fattest flow pays,
    /// only one that never fits.
    fn is_full_for(&self, packet: &Packet<T>) -> bool {
        let backlog = if self.drops_fattest { Backlog::default() } else { self.store.backlog() };
        !self.limit.admits(backlog, packet.size)
    }

    /// Drops the oldest packet of the flow that holds most packets until all fit.
    fn make_room(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) {
        while !self.limit.holds(self.store.backlog()) {
            let fattest = self.store.fattest(self.lists.listed(), |backlog| backlog.packets);
            let Some(flow) = fattest else { return };
            let Some((packet, _)) = self.store.pop_front(now, flow) else { return };
            self.statistics.remove(packet, DropReason::Full, dropped);
            self.states[flow].dropped_full();
            if self.store.backlog_of(flow).packets == 0 {
                self.states[flow].emptied();
            }
        }
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for FqPie<T, R> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let flow = self.buckets.of(packet.flow);
        let (state, backlog) = (&mut self.states[flow], self.store.backlog_of(flow));
        self.law.catch_up(state, now, backlog);
        if self.is_full_for(&packet) {
            self.states[flow].dropped_full();
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        let state = &mut self.states[flow];
        if self.law.signals(state, now, backlog, &mut self.random) {
            let marked = self.law.marks(state) && self.statistics.mark(&mut packet);
            if !marked {
                self.statistics.refuse(packet, DropReason::Early, dropped);
                return;
            }
        }
        self.statistics.accept(&packet);
        self.store.push(now, flow, packet);
        if self.lists.activate(flow) && self.restarts {
            self.states[flow].restart(&self.law);
        }
        self.make_room(now, dropped);
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        loop {
            let flow = self.lists.turn()?;
            let state = &mut self.states[flow];
            self.law.catch_up(state, now, self.store.backlog_of(flow));
            let Some((packet, sojourn)) = self.store.pop_front(now, flow) else {
                self.lists.emptied();
                continue;
            };
            self.lists.charge(flow, packet.size);
            self.law.departed(state, now, packet.size, sojourn, self.store.backlog_of(flow));
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
    use crate::list;
    use crate::packet::{Class, Ecn};
    use rand_pcg::Pcg64;

    fn queue(limit: Limit, preset: &'static str) -> FqPie<u32, Pcg64> {
        let rows = [("preset", Value::Choice(preset))];
        FqPie::new(&Settings::new(PARAMS, &rows).unwrap().with_preset(PRESETS), Site::test(limit)).unwrap()
    }

    /// Lets `n` packets of one flow arrive.
    fn arrive(queue: &mut FqPie<u32, Pcg64>, flow: u32, n: u32, size: u32) -> Vec<Dropped<u32>> {
        let mut dropped = Vec::new();
        (0..n).for_each(|i| queue.enqueue(Time::ZERO, Packet::from_tos(size, flow, 0, i), &mut dropped));
        dropped
    }

    #[test]
    fn a_flow_with_one_packet_goes_first_and_turns_end_as_in_the_source() {
        for (preset, order) in [("linux", [0, 1, 0, 0, 0]), ("freebsd", [0, 0, 1, 0, 0])] {
            let mut queue = queue(Limit::Packets(100), preset);
            arrive(&mut queue, 0, 4, 1500);
            let next = |queue: &mut FqPie<u32, Pcg64>| queue.dequeue(Time::ZERO, &mut Vec::new());
            let mut sent = vec![next(&mut queue).unwrap().0.flow];
            arrive(&mut queue, 1, 1, 100);
            sent.extend(std::iter::from_fn(|| next(&mut queue)).map(|(packet, _)| packet.flow));
            assert_eq!(sent, order, "{preset}");
        }
    }

    #[test]
    fn without_room_linux_drops_what_arrives_and_freebsd_the_oldest_of_the_fattest() {
        for (preset, lost) in [("linux", (2, 1)), ("freebsd", (1, 0))] {
            let mut queue = queue(Limit::Packets(10), preset);
            arrive(&mut queue, 1, 9, 1000);
            let dropped = arrive(&mut queue, 2, 2, 1000);
            let of: Vec<_> = dropped.iter().map(|d| (d.packet.flow, d.packet.body, d.reason)).collect();
            assert_eq!(of, [(lost.0, lost.1, DropReason::Full)], "{preset}");
            assert_eq!(queue.backlog(), Backlog { packets: 10, bytes: 10_000 });
        }
        let mut queue = queue(Limit::Bytes(5000), "freebsd");
        arrive(&mut queue, 1, 5, 1000);
        assert_eq!(arrive(&mut queue, 2, 1, 5001).len(), 1, "never fits");
        assert_eq!(queue.backlog().packets, 5);
    }

    /// Runs `ms` milliseconds, in each of which two packets leave; flow 1 sends two, flow 2 one in four milliseconds.
    fn mixed(
        preset: &'static str,
        tos: u8,
        ms: u64,
        rows: &[(&'static str, Value)],
    ) -> (Vec<Dropped<u32>>, Statistics) {
        let rows: Vec<_> =
            [("preset", Value::Choice(preset))].into_iter().chain(rows.iter().copied()).collect();
        let mut queue =
            list::find("fq_pie").unwrap().build(&rows, Site::test(Limit::Packets(10_000))).unwrap();
        let mut dropped = Vec::new();
        for ms in 0..ms {
            let now = Time::from_millis(ms);
            (0..2).for_each(|_| queue.enqueue(now, Packet::from_tos(1000, 1, tos, 0), &mut dropped));
            if ms % 4 == 0 {
                queue.enqueue(now, Packet::from_tos(1000, 2, tos, 0), &mut dropped);
            }
            for _ in 0..2 {
                let (packet, sojourn) = queue.dequeue(now, &mut dropped).unwrap();
                assert!(packet.flow == 1 || sojourn <= Span::from_millis(1), "{sojourn:?}");
                assert!(packet.flow == 1 || packet.ecn == Ecn::from_bits(tos));
            }
        }
        (dropped, queue.statistics().clone())
    }

    #[test]
    fn the_flow_that_stands_is_dropped_or_marked_and_the_other_one_is_not() {
        for preset in ["linux", "freebsd"] {
            let (dropped, _) = mixed(preset, 0, 6000, &[]);
            assert!(dropped.len() > 20 && dropped.iter().all(|d| d.packet.flow == 1), "{}", dropped.len());
            let all = [("ecn", Value::Flag(true)), ("ecn_threshold", Value::Number(1.0))];
            let (dropped, statistics) = mixed(preset, 2, 1500, &all);
            let marked = statistics.of(Class::BestEffort).marked;
            assert!(dropped.is_empty() && marked > 20, "{} drops, {marked} marks", dropped.len());
        }
    }

    #[test]
    fn a_drop_for_want_of_room_puts_off_the_flows_next_one_by_lot() {
        let packet = || Packet::from_tos(1500, 1, 0, 0);
        for preset in ["linux", "freebsd"] {
            let mut queue = queue(Limit::Packets(300), preset);
            let mut dropped = Vec::new();
            for ms in 0..400 {
                let now = Time::from_millis(ms);
                (0..2).for_each(|_| queue.enqueue(now, packet(), &mut dropped));
                queue.dequeue(now, &mut dropped);
            }
            // All in one moment, so that the probability does not change.
            let (now, p) = (Time::from_millis(399), queue.states[queue.buckets.of(1)].probability());
            let mut after_full = 0;
            for _ in 0..200 {
                dropped.clear();
                while dropped.pop().is_none_or(|dropped| dropped.reason != DropReason::Full) {
                    queue.enqueue(now, packet(), &mut dropped);
                }
                (0..100).for_each(|_| _ = queue.dequeue(now, &mut dropped));
                let spared = (0..100).position(|_| {
                    queue.enqueue(now, packet(), &mut dropped);
                    !dropped.is_empty()
                });
                after_full += u32::from(dropped.iter().any(|dropped| dropped.reason == DropReason::Early));
                assert!(
                    spared.is_none_or(|spared| (spared + 1) as f64 * p > 0.849),
                    "{preset}: {spared:?}, {p}"
                );
            }
            assert!(p < 0.4 && after_full > 100, "{preset}: {after_full} with {p}");
        }
    }

    #[test]
    fn a_flow_whose_last_packet_was_dropped_has_no_delay_any_more() {
        let rows = [("overflow", Value::Choice("fattest")), ("form", Value::Choice("rfc8033"))];
        let settings = Settings::new(PARAMS, &rows).unwrap().with_preset(PRESETS);
        let mut queue = FqPie::new(&settings, Site::test(Limit::Packets(10))).unwrap();
        // Of flows with a packet each the one in the first bucket loses it.
        let first = (0..11).min_by_key(|flow| queue.buckets.of(*flow)).unwrap();
        arrive(&mut queue, first, 2, 1000);
        let mut dropped = Vec::new();
        let (_, sojourn) = queue.dequeue(Time::from_millis(100), &mut dropped).unwrap();
        assert_eq!(sojourn, Span::from_millis(100));
        let now = Time::from_millis(100);
        for flow in (0..11).filter(|flow| *flow != first) {
            queue.enqueue(now, Packet::from_tos(1000, flow, 0, 0), &mut dropped);
        }
        assert_eq!(dropped.iter().map(|dropped| dropped.packet.flow).collect::<Vec<_>>(), [first]);
        while queue.dequeue(now, &mut dropped).is_some() {}
        // Ten minutes with a delay of 100 ms would bring the probability to 1.
        let later = now + Span::from_secs(600);
        dropped.clear();
        (0..10).for_each(|i| queue.enqueue(later, Packet::from_tos(1000, first, 0, i), &mut dropped));
        assert!(dropped.is_empty(), "{} of 10", dropped.len());
    }

    #[test]
    fn a_flow_that_becomes_active_again_begins_anew_with_freebsd_only() {
        for (preset, keeps) in [("linux", true), ("freebsd", false)] {
            let mut queue = queue(Limit::Packets(10_000), preset);
            let mut dropped = Vec::new();
            for ms in 0..2000 {
                let now = Time::from_millis(ms);
                (0..2).for_each(|i| queue.enqueue(now, Packet::from_tos(1000, 1, 0, i), &mut dropped));
                queue.dequeue(now, &mut dropped);
            }
            let now = Time::from_millis(2000);
            while queue.dequeue(now, &mut dropped).is_some() {}
            let flow = queue.buckets.of(1);
            assert!(queue.states[flow].probability() > 0.0);
            let next = now + Span::from_millis(1);
            queue.enqueue(next, Packet::from_tos(1000, 1, 0, 0), &mut dropped);
            assert_eq!(queue.states[flow].probability() > 0.0, keeps, "{preset}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        let refused = |name, value| {
            let site = Site::test(Limit::Packets(10));
            list::find("fq_pie").unwrap().build::<()>(&[(name, value)], site).err().unwrap().to_string()
        };
        for (name, value, range) in [
            ("flows", Value::Count(0), "1 to 65536"),
            ("quantum", Value::Bytes(0), "256 B to"),
            ("target", Value::Time(Span::ZERO), "1 ms to 1000 ms"),
            (
                "target",
                Value::Time(Span::from_millis(250)),
                "high_delay = 250 ms does not go with target = 250 ms",
            ),
        ] {
            let error = refused(name, value);
            assert!(error.contains(name) && error.contains(range), "{error}");
        }
    }
}
