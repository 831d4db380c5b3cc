//! Millions of random events to both.
//!
//! Most events are those of a path, so that every phase is reached. Some have numbers from all of their range.

use crate::compiled::Compiled;
use crate::event::{Event, Kind, NUMBERS};
use crate::rules::{Carofiglio, PlusPlus, Rfc6817, Rule, MSS_MAX};
use afteryou_cc::ledbat_core::AckEvent;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;

/// Sequences of events for each rule. `PROPTEST_CASES` asks for more.
const SEQUENCES: u32 = 1000;
/// Events of a sequence at most.
const EVENTS: usize = 1500;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        80 => Just(Kind::Ack),
        4 => Just(Kind::Loss),
        1 => Just(Kind::Timeout),
        1 => Just(Kind::Idle),
        1 => Just(Kind::Mtu),
        5 => Just(Kind::Wake),
        3 => Just(Kind::Keep),
        2 => Just(Kind::Lower),
        3 => Just(Kind::Undo),
    ]
}

/// Draws the time since the event before, ns.
fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        8 => 0..5 * MILLISECOND,
        4 => 0..100 * MILLISECOND,
        1 => 0..100 * SECOND,
    ]
}

/// Draws a span of a path, ns, or any.
fn span() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 20 => 1..500 * MILLISECOND, 1 => any::<u64>()]
}

/// Draws the bytes of a few packets, of a long path, or any.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..5000u64, 5 => any::<u32>().prop_map(u64::from), 1 => any::<u64>()]
}

/// Draws a queuing delay, or any delay, µs.
fn delay() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0..150_000u32, 1 => any::<u32>()]
}

/// Draws an event. Its `now` is the time since the one before, and its `sent_at` the time since that packet was sent.
fn step() -> impl Strategy<Value = Event> {
    let numbers = (gap(), span(), span(), bytes(), bytes(), delay(), 0..16u32);
    (kind(), numbers).prop_map(
        |(kind, (now, sent_at, smoothed_rtt, delivered, flightsize, delay_us, flags))| Event {
            kind,
            ack: AckEvent { now, sent_at, smoothed_rtt, delivered, flightsize, delay_us, flags },
        },
    )
}

/// Draws the events of a connection. The offset between the clocks of the two hosts is random.
fn events() -> impl Strategy<Value = Vec<Event>> {
    (any::<u32>(), prop::collection::vec(step(), 1..EVENTS)).prop_map(|(offset_us, mut events)| {
        let mut now = 0u64;
        for Event { kind, ack } in &mut events {
            now = now.saturating_add(ack.now);
            (ack.now, ack.sent_at) = (now, now.saturating_sub(ack.sent_at));
            ack.delay_us = ack.delay_us.wrapping_add(offset_us);
            if *kind == Kind::Mtu {
                ack.delivered = ack.delivered % MSS_MAX + 1;
            }
        }
        events
    })
}

/// Compares both after each event of this many sequences. Returns the number of events, and how often each value was in column
/// `counted`.
fn compare<R: Rule>(
    sequences: u32,
    counted: usize,
    replay: impl Fn(&[u64], &[[u64; NUMBERS]]) -> Vec<Vec<u64>>,
) -> (usize, [usize; 6]) {
    let params: Vec<_> = R::PARAMS.iter().map(|(_, values)| values.clone()).collect();
    let seen = RefCell::new((0, [0; 6]));
    let config = Config { cases: sequences, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&(params, events()), |(params, events)| {
        let numbers: Vec<_> = events.iter().map(Event::numbers).collect();
        let in_c = replay(&params, &numbers);
        let mut rule = R::new(&params);
        let mut seen = seen.borrow_mut();
        for (i, (event, in_c)) in events.iter().zip(&in_c).enumerate() {
            let in_rust = rule.columns_after(event);
            prop_assert_eq!(&in_rust, in_c, "event {}: {:?}", i, event);
            if let Some(times) = seen.1.get_mut(in_rust[counted] as usize) {
                *times += 1;
            }
        }
        seen.0 += events.len();
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{}: {error}", R::NAME));
    seen.into_inner()
}

/// Compares with the C compiled for this machine.
fn compare_compiled<R: Rule>(counted: usize) -> Option<(usize, [usize; 6])> {
    let compiled = Compiled::new(R::NAME)?;
    let sequences = Config::default().cases.max(SEQUENCES);
    Some(compare::<R>(sequences, counted, |params, events| compiled.replay(R::NAME, params, events)))
}

#[test]
fn ledbat_has_the_same_state_after_any_events() {
    let Some((events, _)) = compare_compiled::<Rfc6817>(0) else { return };
    assert!(events >= 500_000, "{events}");
}

#[test]
fn fledbat_has_the_same_state_after_any_events() {
    let Some((events, _)) = compare_compiled::<Carofiglio>(0) else { return };
    assert!(events >= 500_000, "{events}");
}

#[test]
fn ledbat_plus_plus_has_the_same_state_after_any_events_in_every_phase() {
    let Some((events, phases)) = compare_compiled::<PlusPlus>(PlusPlus::PHASE) else { return };
    assert!(events >= 500_000, "{events}");
    // Slow start, climb, avoidance, freeze, ramp; the restart is an option of others.
    assert!(phases[..5].iter().all(|times| *times >= 1000), "{phases:?}");
}

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
#[test]
fn each_rule_has_the_same_state_as_ebpf() {
    // A call of the kernel for each event: a fiftieth of the others' events.
    const FEW: u32 = SEQUENCES / 50;
    let Some(ebpf) = crate::in_ebpf::InEbpf::new().map(RefCell::new) else { return };
    let replay =
        |rule, params: &[u64], events: &[[u64; NUMBERS]]| ebpf.borrow_mut().replay(rule, params, events);
    let ledbat = compare::<Rfc6817>(FEW, 0, |params, events| replay(Rfc6817::NAME, params, events));
    let fledbat = compare::<Carofiglio>(FEW, 0, |params, events| replay(Carofiglio::NAME, params, events));
    let ledbatpp = compare::<PlusPlus>(FEW, 0, |params, events| replay(PlusPlus::NAME, params, events));
    assert!([ledbat.0, fledbat.0, ledbatpp.0].iter().all(|events| *events >= 5000));
}
