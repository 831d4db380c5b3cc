//! Fair queues: flows that always have something to send get the same service.

use afteryou_aqm::list::find;
use afteryou_aqm::{Limit, Packet, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::Dscp;
use afteryou_base::Time;
use proptest::prelude::*;
use rand_pcg::Pcg64;

/// Largest packet, a multiple of 8 as all are: SFQ counts in units of 8 B.
const MTU: u32 = 1512;
/// Flows that always wait.
const BACKLOGGED: u32 = 2;

/// Creates a discipline with enough buckets that the few flows here have one each.
fn queue(name: &str, quantum: u64, preset: Option<&'static str>) -> Box<dyn Queue<()>> {
    let (buckets, count) = match name {
        "cake" => return build(name, &[]),
        "drr" => ("classes", 65_536),
        "sfq" => ("divisor", 65_536),
        _ => ("flows", 65_536),
    };
    let mut settings = vec![("quantum", Value::Bytes(quantum)), (buckets, Value::Count(count))];
    settings.extend(preset.map(|preset| ("preset", Value::Choice(preset))));
    build(name, &settings)
}

fn build(name: &str, settings: &[(&'static str, Value)]) -> Box<dyn Queue<()>> {
    let site = Site { limit: Limit::Packets(1000), bits_per_second: 10_000_000, random: Pcg64::new(7, 9) };
    find(name).unwrap().build(settings, site).unwrap()
}

/// Returns the largest difference of the bytes that the first two flows have got, at any time, while others come and go; all
/// of `dscp`.
fn unfairness(queue: &mut dyn Queue<()>, dscp: Dscp, sizes: &[(u32, u32)], others: &[(u32, u32)]) -> u64 {
    let (mut dropped, mut served, mut waiting) = (Vec::new(), [0u64; 2], [0; 2]);
    let mut worst = 0;
    for (i, (first, second)) in sizes.iter().enumerate() {
        let mut arrive = |flow, size| {
            queue.enqueue(Time::ZERO, Packet::from_tos(size * 8, flow, dscp.tos(0), ()), &mut dropped);
        };
        for (flow, size) in [(0, first), (1, second)] {
            // Two packets in reserve: whatever is sent now, both flows still have one.
            while waiting[flow] < 3 {
                arrive(flow as u32, *size);
                waiting[flow] += 1;
            }
        }
        if let Some((flow, size)) = others.get(i) {
            arrive(BACKLOGGED + flow, *size);
        }
        let (packet, _) = queue.dequeue(Time::ZERO, &mut dropped).expect("two flows wait");
        if packet.flow < BACKLOGGED {
            served[packet.flow as usize] += u64::from(packet.size);
            waiting[packet.flow as usize] -= 1;
            worst = worst.max(served[0].abs_diff(served[1]));
        }
    }
    assert!(dropped.is_empty());
    worst
}

proptest! {
    #[test]
    fn two_backlogged_flows_never_differ_by_more_than_a_quantum_and_a_packet(
        quantum in 256..6000u64,
        sizes in prop::collection::vec((5..=MTU / 8, 5..=MTU / 8), 1..400),
        others in prop::collection::vec((0..6u32, 5..=MTU / 8), 0..200),
    ) {
        for (name, preset, dscp) in [
            ("drr", None, Dscp::DEFAULT),
            ("sfq", None, Dscp::DEFAULT),
            ("fq_codel", None, Dscp::DEFAULT),
            ("fq_codel", Some("rfc8290"), Dscp::DEFAULT),
            ("fq_pie", Some("linux"), Dscp::DEFAULT),
            ("fq_pie", Some("freebsd"), Dscp::DEFAULT),
            ("le_fq_codel", None, Dscp::DEFAULT),
            ("le_fq_codel", None, Dscp::LE),
            ("cake", None, Dscp::DEFAULT),
            ("cake", None, Dscp::LE),
        ] {
            let worst = unfairness(&mut *queue(name, quantum, preset), dscp, &sizes, &others);
            // CAKE's quantum follows from the rate.
            let quantum = if name == "cake" { 305 } else { quantum };
            // SFQ rounds the quantum up.
            let bound = quantum.next_multiple_of(8) + u64::from(MTU);
            prop_assert!(worst <= bound, "{name} {preset:?}, {dscp:?}: {worst} B for quantum {quantum}");
        }
    }
}

#[test]
fn without_fair_queueing_they_differ_by_much_more() {
    // The test above can fail: one flow sends packets thirty times as large.
    let sizes = vec![(MTU / 8, 5); 3000];
    let site = Site { limit: Limit::Packets(1000), bits_per_second: 10_000_000, random: Pcg64::new(7, 9) };
    let mut plain = find("droptail").unwrap().build(&[], site).unwrap();
    assert!(unfairness(&mut *plain, Dscp::DEFAULT, &sizes, &[]) > 1_000_000);
    assert!(unfairness(&mut *queue("drr", 1514, None), Dscp::DEFAULT, &sizes, &[]) < 3100);
}
