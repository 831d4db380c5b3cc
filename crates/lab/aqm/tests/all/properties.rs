//! What holds for every discipline in the list, whatever arrives.

use afteryou_aqm::list::{Entry, QUEUES};
use afteryou_aqm::{Class, Dropped, Ecn, Limit, Packet, Queue, Site, Statistics};
use afteryou_base::param::{Kind, Value};
use afteryou_base::{Span, Time};
use proptest::prelude::*;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

/// A step of traffic: some time passes, some packets arrive, some leave.
#[derive(Clone, Debug)]
struct Step {
    passes: Span,
    arrivals: Vec<(u32, u32, u8)>,
    departures: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Mostly milliseconds, at times long enough for every timer and every memory to run out.
    let passes = prop_oneof![20 => 0..3_000_000u64, 3 => 0..300_000_000u64, 1 => 0..200_000_000_000u64];
    let arrival = (40..1515u32, 0..12u32, 0..=255u8);
    let tos = |(size, flow, tos): (u32, u32, u8)| {
        // Half of the flows are lower effort; three quarters of all packets understand marks.
        (size, flow, if flow % 2 == 0 { 0x04 | tos & 3 } else { tos & 3 })
    };
    let arrivals = prop::collection::vec(arrival.prop_map(tos), 0..6);
    let step = (passes, arrivals, 0..5usize).prop_map(|(passes, arrivals, departures)| Step {
        passes: Span(passes),
        arrivals,
        departures,
    });
    prop::collection::vec(step, 1..400)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1..60u64).prop_map(Limit::Packets),
        (1514..60_000u64).prop_map(Limit::Bytes),
        (1..60u64)
            .prop_map(|ms| Limit::Time { time: Span::from_millis(2 * ms), bytes_per_second: 1_250_000 }),
    ]
}

/// Returns the defaults, each preset, each flag the other way round, and a hash that changes.
fn variants(entry: &Entry) -> Vec<Vec<(&'static str, Value)>> {
    let presets = entry.presets.iter().map(|preset| vec![("preset", Value::Choice(preset.name))]);
    let flags = entry.params.iter().filter_map(|param| match param.default {
        Value::Flag(on) => Some(vec![(param.name, Value::Flag(!on))]),
        _ => None,
    });
    let words = entry.params.iter().flat_map(|param| match param.kind {
        Kind::Choice(words) => words.iter().map(|word| vec![(param.name, Value::Choice(word))]).collect(),
        _ => Vec::new(),
    });
    // What is off by default and would never be tried otherwise.
    let perturb = entry.params.iter().filter(|param| param.name == "perturb");
    let perturb = perturb.map(|param| vec![(param.name, Value::Time(Span::from_millis(20)))]);
    std::iter::once(Vec::new()).chain(presets).chain(flags).chain(words).chain(perturb).collect()
}

/// What went in and has not come out yet, per flow in order of arrival; and what was seen of the rest.
#[derive(Default)]
struct Seen {
    waiting: BTreeMap<u32, Vec<u64>>,
    arrived: [u64; 2],
    dequeued: [u64; 2],
    dropped: [u64; 2],
    marked_before: u64,
}

impl Seen {
    /// Takes out a packet that was in the queue or just came.
    fn take(&mut self, packet: &Packet<u64>) -> Result<usize, TestCaseError> {
        let waiting = self.waiting.entry(packet.flow).or_default();
        let place = waiting.iter().position(|number| *number == packet.body);
        let Some(place) = place else {
            return Err(TestCaseError::fail(format!(
                "packet {} came out twice or never went in",
                packet.body
            )));
        };
        waiting.remove(place);
        Ok(place)
    }

    fn drops(&mut self, dropped: &mut Vec<Dropped<u64>>) -> Result<(), TestCaseError> {
        for dropped in dropped.drain(..) {
            self.take(&dropped.packet)?;
            self.dropped[dropped.packet.class() as usize] += 1;
        }
        Ok(())
    }

    fn agrees_with(&self, statistics: &Statistics) -> Result<(), TestCaseError> {
        for class in Class::BOTH {
            let (counters, i) = (statistics.of(class), class as usize);
            prop_assert_eq!(counters.arrived(), self.arrived[i]);
            prop_assert_eq!(counters.dequeued, self.dequeued[i]);
            prop_assert_eq!(counters.dropped(), self.dropped[i]);
            prop_assert_eq!(counters.sojourns.count(), self.dequeued[i]);
            let left = self.arrived[i] - self.dequeued[i] - self.dropped[i];
            prop_assert_eq!(counters.backlog.packets, left);
        }
        let waiting: usize = self.waiting.values().map(Vec::len).sum();
        prop_assert_eq!(statistics.backlog().packets, waiting as u64);
        prop_assert_eq!(statistics.backlog().packets == 0, statistics.backlog().bytes == 0);
        Ok(())
    }
}

fn may_reorder(entry: &Entry, settings: &[(&'static str, Value)]) -> bool {
    // A flow that is hashed anew continues in another queue (see its page in the book). One whose packets have different ECN
    // bits is in two queues (each keeps its order: its own test).
    entry.name == "dualpi2" || entry.name == "sfq" && settings.iter().any(|(name, _)| *name == "perturb")
}

fn check(
    entry: &Entry,
    settings: &[(&'static str, Value)],
    limit: Limit,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let site = Site { limit, bits_per_second: 10_000_000, random: Pcg64::new(7, 9) };
    let mut queue: Box<dyn Queue<u64>> = entry.build(settings, site).expect("valid parameters");
    let (mut now, mut number, mut dropped) = (Time::ZERO, 0, Vec::new());
    let mut seen = Seen::default();
    for step in steps {
        now += step.passes;
        for (size, flow, tos) in &step.arrivals {
            let packet = Packet::from_tos(*size, *flow, *tos, number);
            seen.waiting.entry(*flow).or_default().push(number);
            seen.arrived[packet.class() as usize] += 1;
            number += 1;
            queue.enqueue(now, packet, &mut dropped);
            seen.drops(&mut dropped)?;
            match limit.resolved() {
                Limit::Packets(most) => prop_assert!(queue.backlog().packets <= most),
                Limit::Bytes(most) => prop_assert!(queue.backlog().bytes <= most),
                Limit::Time { .. } => unreachable!("resolved"),
            }
        }
        for _ in 0..step.departures {
            let departure = queue.dequeue(now, &mut dropped);
            seen.drops(&mut dropped)?;
            let Some((packet, sojourn)) = departure else { break };
            let place = seen.take(&packet)?;
            prop_assert!(place == 0 || may_reorder(entry, settings), "flow {} was reordered", packet.flow);
            prop_assert!(sojourn <= now.since(Time::ZERO));
            prop_assert!(packet.ecn != Ecn::Ce || packet.tos() & 3 == 3);
            seen.dequeued[packet.class() as usize] += 1;
        }
        seen.agrees_with(queue.statistics())?;
        let marked = queue.statistics().sum(|counters| counters.marked);
        prop_assert!(marked >= seen.marked_before);
        seen.marked_before = marked;
    }
    // Whatever is left comes out, some of it perhaps as drops: a queue holds nothing back for ever.
    for _ in 0..2 * number + 2 {
        now += Span::from_millis(1);
        let Some((packet, _)) = queue.dequeue(now, &mut dropped) else { break };
        seen.take(&packet)?;
        seen.dequeued[packet.class() as usize] += 1;
    }
    seen.drops(&mut dropped)?;
    prop_assert_eq!(queue.backlog().packets, 0, "left in the queue");
    seen.agrees_with(queue.statistics())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_queue_conserves_packets_keeps_its_limit_and_the_order_of_each_flow(limit in limits(), steps in steps()) {
        for entry in QUEUES {
            for settings in variants(entry) {
                check(entry, &settings, limit, &steps)
                    .map_err(|error| TestCaseError::fail(format!("{} {settings:?}: {error}", entry.name)))?;
            }
        }
    }
}
