//! PIE as a queue.

use super::*;
use crate::list;
use crate::packet::{Class, Ecn};
use afteryou_base::param::Value;
use rand_pcg::Pcg64;

fn packet(size: u32, ecn: Ecn) -> Packet<u32> {
    Packet { ecn, ..Packet::from_tos(size, 0, 0, 0) }
}

fn queue(rows: &[(&'static str, Value)]) -> Pie<u32, Pcg64> {
    let settings = Settings::new(PARAMS, rows).unwrap().with_preset(PRESETS);
    Pie::new(&settings, Site::test(Limit::Packets(1000))).unwrap()
}

fn preset(name: &'static str) -> Pie<u32, Pcg64> {
    queue(&[("preset", Value::Choice(name))])
}

/// Applies a load for `ms` milliseconds: `arrive` packets per millisecond come, and `leave` go.
fn load(
    queue: &mut Pie<u32, Pcg64>,
    from_ms: u64,
    ms: u64,
    arrive: u64,
    leave: u64,
    ecn: Ecn,
) -> Vec<Dropped<u32>> {
    let mut dropped = Vec::new();
    for now in (from_ms..from_ms + ms).map(Time::from_millis) {
        (0..arrive).for_each(|_| queue.enqueue(now, packet(1500, ecn), &mut dropped));
        (0..leave).for_each(|_| _ = queue.dequeue(now, &mut dropped));
    }
    dropped
}

#[test]
fn bursts_pass_for_150_ms_and_then_the_probability_bites() {
    let mut queue = queue(&[]);
    // A packet per millisecond too many: 15 ms of delay after 15 ms or so.
    let burst = load(&mut queue, 0, 150, 2, 1, Ecn::NotEct);
    assert!(burst.is_empty() && queue.state.probability() > 0.0);
    let after = load(&mut queue, 150, 850, 2, 1, Ecn::NotEct);
    assert!(after.iter().all(|dropped| dropped.reason == DropReason::Early) && after.len() > 10);
}

#[test]
fn marks_replace_drops_up_to_the_threshold() {
    let mut queue = queue(&[("ecn", Value::Flag(true))]);
    let dropped = load(&mut queue, 0, 600, 2, 1, Ecn::Ect0);
    let marked = queue.statistics().of(Class::BestEffort).marked;
    assert!(marked > 0 && queue.state.probability() > 0.1, "{marked} marks");
    // Dropping began with 10 %, not before.
    assert!(!dropped.is_empty());
    let mut gentle = self::queue(&[("ecn", Value::Flag(true)), ("ecn_threshold", Value::Number(1.0))]);
    assert!(load(&mut gentle, 0, 400, 2, 1, Ecn::Ect0).is_empty());
    assert!(!load(&mut gentle, 400, 200, 2, 1, Ecn::NotEct).is_empty());
}

#[test]
fn a_drop_for_want_of_room_puts_off_the_next_one_by_lot() {
    let settings = Settings::new(PARAMS, &[]).unwrap();
    let mut queue = Pie::new(&settings, Site::test(Limit::Packets(300))).unwrap();
    load(&mut queue, 0, 400, 2, 1, Ecn::NotEct);
    // All in one moment, so that the probability does not change.
    let (now, p) = (Time::from_millis(399), queue.state.probability());
    let (mut after_full, mut dropped) = (0, Vec::new());
    for _ in 0..200 {
        while dropped.pop().is_none_or(|dropped: Dropped<u32>| dropped.reason != DropReason::Full) {
            queue.enqueue(now, packet(1500, Ecn::NotEct), &mut dropped);
        }
        (0..100).for_each(|_| _ = queue.dequeue(now, &mut dropped));
        let spared = (0..100).position(|_| {
            queue.enqueue(now, packet(1500, Ecn::NotEct), &mut dropped);
            !dropped.is_empty()
        });
        after_full += u32::from(dropped.drain(..).any(|dropped| dropped.reason == DropReason::Early));
        assert!(spared.is_none_or(|spared| (spared + 1) as f64 * p > 0.849), "{spared:?} with {p}");
    }
    assert!(p < 0.4 && after_full > 100, "{after_full} with {p}");
}

#[test]
fn old_linux_drops_nothing_as_long_as_it_has_measured_nothing() {
    // Six packets never leave: 9 kB, less than the 10 kB that a measurement takes. The delay is 60 ms and more.
    let mut old = preset("linux-3.17");
    let mut now = Time::ZERO;
    let mut dropped = Vec::new();
    (0..6).for_each(|_| old.enqueue(now, packet(1500, Ecn::NotEct), &mut dropped));
    for _ in 0..500 {
        now += Span::from_millis(10);
        old.dequeue(now, &mut dropped);
        old.enqueue(now, packet(1500, Ecn::NotEct), &mut dropped);
    }
    assert!(dropped.is_empty() && old.state.probability() == 0.0);
}

#[test]
fn asleep_it_is_a_plain_queue_until_a_third_of_the_buffer_is_full() {
    let rows = [("on_off", Value::Flag(true))];
    let settings = Settings::new(PARAMS, &rows).unwrap().with_preset(PRESETS);
    let mut queue = Pie::new(&settings, Site::test(Limit::Packets(600))).unwrap();
    // 150 packets wait for 150 ms, ten times the target.
    load(&mut queue, 0, 150, 2, 1, Ecn::NotEct);
    let dropped = load(&mut queue, 150, 3000, 1, 1, Ecn::NotEct);
    assert!(dropped.is_empty() && !queue.state.is_awake(), "{}", dropped.len());
    load(&mut queue, 3150, 60, 2, 1, Ecn::NotEct);
    assert!(queue.state.is_awake());
    assert!(!load(&mut queue, 3210, 1000, 2, 1, Ecn::NotEct).is_empty());
    // Empty for a while, it falls asleep again.
    load(&mut queue, 4210, 10_000, 0, 1, Ecn::NotEct);
    assert!(!queue.state.is_awake());
}

#[test]
fn awake_it_waits_for_a_departure_rate_before_it_sleeps_again() {
    let rows = [("on_off", Value::Flag(true)), ("delay", Value::Choice("departure-rate"))];
    let settings = Settings::new(PARAMS, &rows).unwrap().with_preset(PRESETS);
    let mut queue = Pie::new(&settings, Site::test(Limit::Packets(60))).unwrap();
    let mut dropped = Vec::new();
    for ms in 0..4000 {
        let now = Time::from_millis(ms);
        queue.enqueue(now, packet(1500, Ecn::NotEct), &mut dropped);
        if ms % 12 == 0 {
            queue.dequeue(now, &mut dropped);
        }
    }
    // 16 KiB take 132 ms, nine updates: until then the delay looks like nothing.
    assert!(queue.state.is_awake() && queue.state.probability() > 0.0);
}

#[test]
fn values_that_make_no_sense_are_refused_with_the_range() {
    let entry = list::find("pie").unwrap();
    let refused = |rows: &[(&'static str, Value)]| {
        entry.build::<()>(rows, Site::test(Limit::Packets(10))).err().unwrap().to_string()
    };
    let ms = |ms| Value::Time(Span::from_millis(ms));
    for (name, value, range) in [
        ("target", ms(0), "1 ms to 1000 ms"),
        ("tupdate", ms(0), "1 ms to 1000 ms"),
        ("burst", ms(10_001), "0 ms to 10000 ms"),
        ("alpha", Value::Number(0.0), "0.001 to 100"),
        ("beta", Value::Number(-1.0), "0 to 100"),
        ("decay", Value::Number(1.1), "0.5 to 1"),
        ("ecn_threshold", Value::Number(f64::NAN), "0 to 1"),
        ("mean_packet", Value::Bytes(0), "1 B to 65535 B"),
        ("dq_threshold", Value::Bytes(0), "1 B to 16777216 B"),
        ("dq_weight", Value::Number(0.0), "0.001 to 1"),
    ] {
        let error = refused(&[(name, value)]);
        assert!(error.contains(name) && error.contains(range), "{error}");
    }
    let error = refused(&[("high_delay", ms(15))]);
    let expected =
        "high_delay = 15 ms does not go with target = 15 ms: use 0 ms, or more than 15 ms up to 10000 ms";
    assert_eq!(error, expected);
}
