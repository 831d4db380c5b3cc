use super::*;
use crate::packet::{Class, Ecn};
use rand_pcg::Pcg64;

fn red(overrides: &[(&'static str, Value)]) -> Red<u64, Pcg64> {
    let settings = Settings::new(PARAMS, overrides).unwrap().with_preset(PRESETS);
    Red::new(&settings, Site::test(Limit::Packets(500))).unwrap()
}

fn preset(name: &'static str) -> (&'static str, Value) {
    ("preset", Value::Choice(name))
}

/// Sends packets of 1500 B at `load` times 10 Mbit/s, evenly, for some seconds; returns the mean length in packets from the
/// middle on.
fn overload(queue: &mut Red<u64, Pcg64>, load: f64, ecn: Ecn, seconds: u64) -> f64 {
    let (mut next_arrival, mut next_departure) = (0u64, 0u64);
    let (mut sum, mut samples, mut dropped) = (0, 0, Vec::new());
    let packet = Packet { ecn, ..Packet::from_tos(1500, 0, 0, 0) };
    while next_departure < seconds * 1_000_000 {
        if next_arrival <= next_departure {
            queue.enqueue(Time::from_micros(next_arrival), packet, &mut dropped);
            next_arrival += (1200.0 / load) as u64;
        } else {
            queue.dequeue(Time::from_micros(next_departure), &mut dropped);
            next_departure += 1200;
            let counts = next_departure > seconds * 500_000;
            sum += if counts { queue.backlog().packets } else { 0 };
            samples += u64::from(counts);
        }
    }
    assert_eq!(queue.statistics().of(Class::BestEffort).dropped(), dropped.len() as u64);
    sum as f64 / samples as f64
}

#[test]
fn what_is_too_much_is_dropped_by_lot_and_the_queue_stays_between_the_thresholds() {
    // 5 % too much: gentle RED that drops once in 1.5/p_b packets needs p_b 0.071, an average of 12 packets.
    for name in ["automatic", "adaptive", "gentle", "classic"] {
        let mut queue = red(&[preset(name)]);
        let length = overload(&mut queue, 1.05, Ecn::NotEct, 120);
        let counters = queue.statistics().of(Class::BestEffort);
        let share = counters.dropped_early as f64 / counters.arrived() as f64;
        assert!((share - 0.0476).abs() < 0.002, "{name}: {share}");
        assert_eq!(counters.dropped_full, 0, "{name}");
        assert!((5.0..15.0).contains(&length), "{name}: {length} packets");
    }
}

#[test]
fn linux_holds_a_longer_queue() {
    let mut queue = red(&[preset("linux")]);
    let length = overload(&mut queue, 1.05, Ecn::NotEct, 120);
    // 20 to 60 packets of 1500 B; 1 to 1/p_b packets apart, so that p_b is 0.025.
    assert!((20.0..45.0).contains(&length), "{length} packets");
}

#[test]
fn beyond_what_the_lot_can_drop_all_is_dropped_for_a_while() {
    // One in 1.5/max_p packets is a fifteenth; 50 % too much needs a third.
    let mut classic = red(&[preset("classic")]);
    let length = overload(&mut classic, 1.5, Ecn::NotEct, 60);
    let counters = classic.statistics().of(Class::BestEffort);
    let share = counters.dropped_early as f64 / counters.arrived() as f64;
    assert!((share - 1.0 / 3.0).abs() < 0.01 && counters.dropped_full == 0, "{share}");
    assert!((10.0..25.0).contains(&length), "{length} packets");
}

#[test]
fn packets_that_understand_it_are_marked_by_lot_but_forced_drops_are_drops() {
    let mut little = red(&[preset("classic"), ("ecn", Value::Flag(true))]);
    let mut dropped = Vec::new();
    // Twelve packets always: an average of twelve.
    for i in 0..100_000u64 {
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::from_tos(1500, 0, 0, i) };
        little.enqueue(Time::from_micros(1200 * i), packet, &mut dropped);
        if i >= 12 {
            little.dequeue(Time::from_micros(1200 * i), &mut dropped);
        }
    }
    let counters = little.statistics().of(Class::BestEffort);
    assert!(dropped.is_empty());
    // p_b 0.07, a mark in 1.5/0.07 packets.
    let share = counters.marked as f64 / counters.arrived() as f64;
    assert!((share - 0.07 / 1.5).abs() < 0.003, "{share}");

    let mut much = red(&[preset("classic"), ("ecn", Value::Flag(true))]);
    overload(&mut much, 2.0, Ecn::Ect0, 20);
    let counters = much.statistics().of(Class::BestEffort);
    assert!(counters.marked > 100 && counters.dropped_early > 10_000, "{counters:?}");

    let mut deaf = red(&[preset("classic"), ("ecn", Value::Flag(true))]);
    overload(&mut deaf, 1.05, Ecn::NotEct, 20);
    let counters = deaf.statistics().of(Class::BestEffort);
    assert!(counters.marked == 0 && counters.dropped_early > 300, "{counters:?}");
}

#[test]
fn after_a_pause_a_burst_passes_where_it_did_not_before() {
    let drops_of_burst_after = |pause_ms: u64| {
        let mut queue = red(&[preset("classic")]);
        overload(&mut queue, 1.5, Ecn::NotEct, 20);
        let (mut dropped, mut now) = (Vec::new(), Time::from_millis(20_010));
        while queue.dequeue(now, &mut dropped).is_some() {
            now += Span::from_micros(1200);
        }
        now += Span::from_millis(pause_ms);
        (0..40).for_each(|i| queue.enqueue(now, Packet::from_tos(1500, 0, 0, i), &mut dropped));
        dropped.len()
    };
    let (soon, later) = (drops_of_burst_after(10), drops_of_burst_after(5_000));
    // An average of almost 15: a drop in ten to twenty packets.
    assert!(soon >= 2 && later == 0, "{soon} and {later}");
}

#[test]
fn a_short_buffer_overflows_before_the_average_knows() {
    let settings = Settings::defaults(PARAMS);
    let mut queue = Red::new(&settings, Site::test(Limit::Packets(10))).unwrap();
    let mut dropped = Vec::new();
    (0..30).for_each(|i| queue.enqueue(Time::ZERO, Packet::from_tos(1500, 0, 0, i), &mut dropped));
    assert_eq!(queue.statistics().of(Class::BestEffort).dropped_full, 20);
}
