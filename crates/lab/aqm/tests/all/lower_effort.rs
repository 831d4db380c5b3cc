//! Queues that know lower effort: best effort must not notice it.

use afteryou_aqm::list::find;
use afteryou_aqm::{Class, Dropped, Limit, Packet, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::Dscp;
use afteryou_base::{Span, Time};
use proptest::prelude::*;
use rand_pcg::Pcg64;

type Settings = [(&'static str, Value)];

/// Guards off.
const STRICT: [(&str, Value); 2] =
    [("guard_packets", Value::Count(0)), ("guard_time", Value::Time(Span::ZERO))];
/// Packets of best effort between two that the guard lets pass.
const BETWEEN: u64 = 19;
const BOTH: [&str; 2] = ["le_two_queues", "le_fq_codel"];

fn queue(name: &str, limit: Limit, settings: &Settings) -> Box<dyn Queue<u64>> {
    let site = Site { limit, bits_per_second: 10_000_000, random: Pcg64::new(7, 9) };
    find(name).unwrap().build(settings, site).unwrap()
}

fn packet(class: Class, size: u32, flow: u32, number: u64) -> Packet<u64> {
    let dscp = if class == Class::LowerEffort { Dscp::LE } else { Dscp::DEFAULT };
    Packet { dscp, ..Packet::from_tos(size, flow, 2 * (flow as u8 & 1), number) }
}

/// Returns the best-effort packets that were dropped.
fn best_effort(dropped: &mut Vec<Dropped<u64>>) -> Vec<Dropped<u64>> {
    dropped.drain(..).filter(|dropped| dropped.packet.class() == Class::BestEffort).collect()
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..60u64).prop_map(Limit::Packets), (1514..60_000u64).prop_map(Limit::Bytes)]
}

/// Time that passes (ms), packets that arrive (lower effort or not, size, flow), packets that leave.
type Step = (u64, Vec<(bool, u32, u32)>, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrivals = prop::collection::vec((any::<bool>(), 40..1515u32, 0..6u32), 0..6);
    prop::collection::vec((0..20u64, arrivals, 0..4usize), 1..400)
}

proptest! {
    #[test]
    fn best_effort_leaves_and_is_dropped_as_if_lower_effort_did_not_exist(limit in limits(), steps in steps()) {
        let plain = [("best_effort", Value::Choice("droptail"))];
        let with = |settings: &Settings| [&STRICT, settings].concat();
        let ecn = [("ecn", Value::Flag(true))];
        let own = [("codel", Value::Choice("rfc8289")), ("quantum", Value::Bytes(1514))];
        let pairs: [(&str, Vec<_>, &str, &Settings); 3] = [
            ("le_two_queues", with(&[]), "codel", &ecn),
            ("le_two_queues", with(&plain), "droptail", &[]),
            ("le_fq_codel", with(&[]), "fq_codel", &own),
        ];
        for (name, settings, alone, alone_settings) in pairs {
            let mut both = queue(name, limit, &settings);
            let mut alone = queue(alone, limit, alone_settings);
            let (mut now, mut number) = (Time::ZERO, 0);
            let (mut dropped, mut dropped_alone) = (Vec::new(), Vec::new());
            for (passes_ms, arrivals, departures) in &steps {
                now += Span::from_millis(*passes_ms);
                for (is_le, size, flow) in arrivals {
                    let class = if *is_le { Class::LowerEffort } else { Class::BestEffort };
                    number += 1;
                    both.enqueue(now, packet(class, *size, *flow, number), &mut dropped);
                    if !is_le {
                        alone.enqueue(now, packet(class, *size, *flow, number), &mut dropped_alone);
                    }
                    prop_assert_eq!(best_effort(&mut dropped), best_effort(&mut dropped_alone));
                }
                for _ in 0..*departures {
                    let of_both = both.dequeue(now, &mut dropped);
                    let of_alone = alone.dequeue(now, &mut dropped_alone);
                    prop_assert_eq!(best_effort(&mut dropped), best_effort(&mut dropped_alone));
                    let other = of_both.filter(|(packet, _)| packet.class() == Class::BestEffort);
                    prop_assert_eq!(other, of_alone, "{}", name);
                }
                let ours = both.statistics().of(Class::BestEffort);
                prop_assert_eq!(ours, alone.statistics().of(Class::BestEffort));
            }
        }
    }

    #[test]
    fn with_the_guard_it_gives_away_the_guards_share_at_most(
        packets in 0..50u64,
        time_ms in 0..100u64,
        gaps_us in prop::collection::vec(0..3000u64, 100..2000),
    ) {
        for name in BOTH {
            let settings = [
                ("guard_packets", Value::Count(packets)),
                ("guard_time", Value::Time(Span::from_millis(time_ms))),
            ];
            let mut queue = queue(name, Limit::Packets(1000), &settings);
            let (mut now, mut dropped, mut sent) = (Time::ZERO, Vec::new(), [0u64; 2]);
            for gap_us in &gaps_us {
                now += Span::from_micros(*gap_us);
                // Both classes always have packets waiting.
                for class in Class::BOTH {
                    while queue.statistics().of(class).backlog.packets < 3 {
                        queue.enqueue(now, packet(class, 1000, class as u32, 0), &mut dropped);
                    }
                }
                let (packet, _) = queue.dequeue(now, &mut dropped).unwrap();
                sent[packet.class() as usize] += 1;
            }
            let [others, ours] = sent;
            let elapsed_ms = now.since(Time::ZERO).0 / 1_000_000;
            let by_packets = others.checked_div(packets).unwrap_or(0);
            let by_time = elapsed_ms.checked_div(time_ms).unwrap_or(0);
            prop_assert!(ours <= by_packets + by_time + 1, "{name}: {ours} of {others}, {elapsed_ms} ms");
            // Best effort is not starved, however short the time is.
            prop_assert!(ours <= by_packets + others / BETWEEN + 1, "{name}: {ours} of {others}");
            // Nor is lower effort: each of the two lets it pass as often as its rule has it; a departure may be 3 ms late,
            // and 19 others take up to 57 ms.
            if time_ms > 0 {
                prop_assert!(ours + 1 >= elapsed_ms / (time_ms.max(57) + 3), "{name}: {ours} in {elapsed_ms} ms");
            }
            prop_assert!(ours >= by_packets.max(1) - 1, "{name}: {ours} of {others}");
        }
    }
}

#[test]
fn lower_effort_is_pushed_out_first_and_never_pushes() {
    for name in BOTH {
        let mut queue = queue(name, Limit::Packets(10), &[]);
        let mut dropped = Vec::new();
        let mut arrive = |class, n: u64| {
            (0..n).for_each(|i| queue.enqueue(Time::ZERO, packet(class, 1000, 0, i), &mut dropped));
            let lost: Vec<_> = dropped.drain(..).map(|dropped| dropped.packet.class()).collect();
            let held = Class::BOTH.map(|class| queue.statistics().of(class).backlog.packets);
            (lost.len(), lost.contains(&Class::BestEffort), held)
        };
        assert_eq!(arrive(Class::BestEffort, 4), (0, false, [4, 0]), "{name}");
        assert_eq!(arrive(Class::LowerEffort, 6), (0, false, [4, 6]), "{name}");
        let (lost, lost_others, held) = arrive(Class::LowerEffort, 1);
        assert!(lost > 0 && !lost_others && held[0] == 4, "{name}: {held:?}");
        let (lost, lost_others, held) = arrive(Class::BestEffort, 6);
        assert!(lost > 0 && !lost_others && held == [10, 0], "{name}: {held:?}");
        assert_eq!(arrive(Class::LowerEffort, 3), (3, false, [10, 0]), "{name}");
    }
}

#[test]
fn a_starved_class_goes_on_when_the_other_has_nothing_to_send() {
    for name in BOTH {
        let mut queue = queue(name, Limit::Packets(100), &STRICT);
        let mut dropped = Vec::new();
        (0..20).for_each(|i| queue.enqueue(Time::ZERO, packet(Class::LowerEffort, 1000, 0, i), &mut dropped));
        for ms in 0..10_000 {
            queue.enqueue(Time::from_millis(ms), packet(Class::BestEffort, 1000, 1, 0), &mut dropped);
            let (packet, _) = queue.dequeue(Time::from_millis(ms), &mut dropped).unwrap();
            assert_eq!(packet.class(), Class::BestEffort, "{name}");
        }
        let later = Time::from_millis(10_000);
        let left: Vec<_> = std::iter::from_fn(|| queue.dequeue(later, &mut dropped)).collect();
        assert_eq!(left.len(), 20, "{name}: CoDel needs an interval of bad delays before it drops");
    }
}

#[test]
fn lower_efforts_queue_stays_near_its_own_target() {
    for (name, ecn) in [("le_two_queues", true), ("le_fq_codel", true), ("le_fq_codel", false)] {
        let mut queue = queue(name, Limit::Packets(10_000), &[("ecn", Value::Flag(ecn))]);
        let mut dropped = Vec::new();
        // One packet leaves per ms; 10 % too many arrive for five seconds.
        for tenth_ms in 0..50_000u64 {
            let now = Time::from_micros(100 * tenth_ms);
            if tenth_ms % 9 == 0 {
                queue.enqueue(now, packet(Class::LowerEffort, 1000, 1, 0), &mut dropped);
            }
            if tenth_ms % 10 == 0 {
                queue.dequeue(now, &mut dropped);
            }
        }
        let counters = queue.statistics().of(Class::LowerEffort);
        let acted = counters.marked + counters.dropped_head;
        assert!(acted > 10 && (counters.marked > 0) == ecn, "{name}: {counters:?}");
        assert_eq!(counters.backlog.packets <= 250, name == "le_two_queues", "250 kB are 200 ms: {name}");
    }
}

#[test]
fn a_flow_with_both_classes_keeps_its_order_in_each() {
    for name in BOTH {
        let mut queue = queue(name, Limit::Packets(1000), &[]);
        let (mut dropped, mut last) = (Vec::new(), [0; 2]);
        for number in 1..2000u64 {
            let now = Time::from_millis(number);
            let class = Class::BOTH[(number % 3 / 2) as usize];
            queue.enqueue(now, packet(class, 1000, 5, number), &mut dropped);
            for _ in 0..number % 2 * 2 {
                let Some((packet, _)) = queue.dequeue(now, &mut dropped) else { break };
                let last = &mut last[packet.class() as usize];
                assert!(packet.body > *last, "{name}");
                *last = packet.body;
            }
        }
        assert!(last[1] > 1000, "{name}: {last:?}");
    }
}

#[test]
fn targets_longer_than_their_intervals_are_refused() {
    let site = || Site { limit: Limit::Packets(1), bits_per_second: 1_000_000, random: Pcg64::new(7, 9) };
    for (name, target) in BOTH.iter().flat_map(|name| [(name, "target"), (name, "le_target")]) {
        let settings = [(target, Value::Time(Span::from_millis(300)))];
        let error = find(name).unwrap().build::<()>(&settings, site()).err().unwrap().to_string();
        assert!(error.starts_with(&format!("{target} = 300 ms does not go with")), "{name}: {error}");
        let zero =
            [("flows", Value::Count(0)), ("quantum", Value::Bytes(0)), ("le_limit", Value::Time(Span::ZERO))];
        for (param, value) in zero {
            let entry = find(name).unwrap();
            if entry.params.iter().any(|row| row.name == param) {
                let error = entry.build::<()>(&[(param, value)], site()).err().unwrap().to_string();
                assert!(error.contains("outside its range"), "{name}: {error}");
            }
        }
    }
}

/// Returns the packets sent of best effort and of lower effort, of `sends` over `link`, with both always waiting.
fn sent_over(name: &str, settings: &Settings, bits_per_second: u64, sends: u64) -> [u64; 2] {
    let site = Site { limit: Limit::Packets(1000), bits_per_second, random: Pcg64::new(7, 9) };
    let mut queue: Box<dyn Queue<u64>> = find(name).unwrap().build(settings, site).unwrap();
    let (mut now, mut dropped, mut sent) = (Time::ZERO, Vec::new(), [0; 2]);
    for _ in 0..sends {
        for class in Class::BOTH {
            if queue.statistics().of(class).backlog.packets < 2 {
                queue.enqueue(now, packet(class, 1500, class as u32, 0), &mut dropped);
            }
        }
        let (packet, _) = queue.dequeue(now, &mut dropped).unwrap();
        sent[packet.class() as usize] += 1;
        now += Span(12_000_000_000_000 / bits_per_second);
    }
    sent
}

#[test]
fn on_a_slow_link_the_guard_takes_a_twentieth_and_no_more() {
    let short = [("guard_time", Value::Time(Span::from_millis(1)))];
    for (settings, bits_per_second) in [(&[][..], 64_000), (&[], 250_000), (&short, 10_000_000)] {
        for name in BOTH {
            let [best, lower] = sent_over(name, settings, bits_per_second, 1000);
            assert!((48..=51).contains(&lower), "{name} at {bits_per_second} bit/s: {best} and {lower}");
        }
    }
}

#[test]
fn a_guard_that_waited_for_nobody_begins_anew() {
    let settings = [("guard_packets", Value::Count(10)), ("guard_time", Value::Time(Span::from_millis(50)))];
    for name in BOTH {
        let mut queue = queue(name, Limit::Packets(1000), &settings);
        let (mut now, mut dropped) = (Time::ZERO, Vec::new());
        let mut next = |queue: &mut dyn Queue<u64>, with_lower: bool| {
            now += Span::from_millis(5);
            queue.enqueue(now, packet(Class::BestEffort, 1500, 0, 0), &mut dropped);
            if with_lower {
                queue.enqueue(now, packet(Class::LowerEffort, 1500, 1, 0), &mut dropped);
            }
            queue.dequeue(now, &mut dropped).unwrap().0.class()
        };
        // A hundred packets and half a second with nobody to let pass are no claim of whoever comes then.
        (0..100).for_each(|_| assert_eq!(next(&mut *queue, false), Class::BestEffort));
        let first = (0..100).position(|_| next(&mut *queue, true) == Class::LowerEffort);
        assert_eq!(first, Some(10), "{name}");
    }
}

#[test]
fn on_a_link_too_slow_for_its_limit_lower_effort_still_has_room_for_a_packet() {
    let settings =
        [("le_target", Value::Time(Span::from_millis(1))), ("le_limit", Value::Time(Span::from_millis(1)))];
    let mut queue = queue("le_two_queues", Limit::Packets(1000), &settings);
    let mut dropped = Vec::new();
    (0..3).for_each(|_| queue.enqueue(Time::ZERO, packet(Class::LowerEffort, 1500, 0, 0), &mut dropped));
    assert_eq!((queue.backlog().packets, dropped.len()), (1, 2), "1 ms is less than a packet");
}
