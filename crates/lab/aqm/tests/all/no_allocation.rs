//! A queue allocates until it has held what it may hold, and never again: it is in the path of every packet.

use afteryou_aqm::list::{Entry, QUEUES};
use afteryou_aqm::{Dropped, Limit, Packet, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::Dscp;
use afteryou_base::{Span, Time};
use rand_pcg::Pcg64;

const LIMIT: u64 = 200;

/// Sends `rounds` bursts from 60 flows of both classes, each twice what the queue holds, and takes what leaves between them.
fn traffic(queue: &mut dyn Queue<u64>, now: &mut Time, rounds: u64, dropped: &mut Vec<Dropped<u64>>) {
    for round in 0..rounds {
        for i in 0..2 * LIMIT {
            let flow = (i * i + round) as u32 % 60;
            let dscp = if flow.is_multiple_of(3) { Dscp::LE } else { Dscp::DEFAULT };
            let tos = dscp.tos((flow % 4) as u8);
            queue.enqueue(*now, Packet::from_tos(1500, flow, tos, i), dropped);
            dropped.clear();
            *now += Span::from_micros(200);
            if i % 3 == 0 {
                queue.dequeue(*now, dropped);
            }
            dropped.clear();
        }
        for _ in 0..(round % 4) * LIMIT {
            *now += Span::from_micros(1200);
            queue.dequeue(*now, dropped);
            dropped.clear();
        }
    }
}

/// Returns the defaults, each preset, and a hash that changes every 20 ms.
fn variants(entry: &Entry) -> Vec<Vec<(&'static str, Value)>> {
    let presets = entry.presets.iter().map(|preset| vec![("preset", Value::Choice(preset.name))]);
    let perturb = entry.params.iter().filter(|param| param.name == "perturb");
    let perturb = perturb.map(|param| vec![(param.name, Value::Time(Span::from_millis(20)))]);
    std::iter::once(Vec::new()).chain(presets).chain(perturb).collect()
}

#[test]
fn nothing_is_allocated_once_the_queue_has_been_full() {
    for (entry, settings) in
        QUEUES.iter().flat_map(|entry| variants(entry).into_iter().map(move |v| (entry, v)))
    {
        let site =
            Site { limit: Limit::Packets(LIMIT), bits_per_second: 10_000_000, random: Pcg64::new(1, 2) };
        let mut queue = entry.build(&settings, site).expect("valid parameters");
        let (mut now, mut dropped) = (Time::ZERO, Vec::with_capacity(4 * LIMIT as usize));
        traffic(&mut *queue, &mut now, 20, &mut dropped);
        let allocations = allocation_counter::measure(|| traffic(&mut *queue, &mut now, 60, &mut dropped));
        assert_eq!(allocations.count_total, 0, "{} {settings:?}", entry.name);
    }
}

#[test]
fn the_counter_counts() {
    let allocations = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1))));
    assert_eq!(allocations.count_total, 1);
}
