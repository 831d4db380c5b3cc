//! What background controllers owe everybody else: with a queue of twice their target and more, no window grows. A rule that yields to
//! changes of a queue has no target; it is held to that in the simulator.

use crate::driver::Driver;
use afteryou_base::param::Value;
use afteryou_base::Span;
use afteryou_cc::list::{Class, Entry, CONTROLLERS};
use proptest::prelude::*;

/// Rounds until filters, smoothed delays and the round in progress know of a queue.
const SETTLING_ROUNDS: u32 = 3;
const MEASURED_ROUNDS: u32 = 6;

/// Returns the window, in packets, from which on `name` must not grow with a queue of `queue` over `base`: four for those
/// that steer by a target; for the others what their own rule says.
fn must_not_grow_from(name: &str, queue: Span, base: Span) -> f64 {
    let (q, base) = (queue.as_secs_f64(), base.as_secs_f64());
    match name {
        // α = ζ · W · (q − τ)/τ, with α = 1, ζ = 0.1, τ = 25 ms.
        "fledbat" => 4f64.max(0.025 / (0.1 * (q - 0.025))),
        // Diff = W · q/(base + q) > β, which is 4 packets.
        "vegas" => 4.0 * (base + q) / q,
        // cwnd/RTT > 1/(δ · q), with δ = 0.5 per packet; and what an ack or two add on the way there.
        "copa" => 2.0 * (base + q) / q + 4.0,
        // Target and slack are five times of a packet on a slow link, and the path is as slow as the window; a train adds twelve.
        "ebb" => 5.0 * (base + q) / q + 12.0,
        _ => 4.0,
    }
}

/// Returns the delay that a controller steers to: its target, or a delay that it must take for congestion.
fn target(name: &str) -> Span {
    match name {
        "ledbat" | "libutp" | "libutp-mod" => Span::from_millis(100),
        "ledbat++" => Span::from_millis(60),
        _ => Span::from_millis(25),
    }
}

/// Returns for how long a queue is not taken for the path, with this round-trip time.
fn memory(name: &str, rtt: Span) -> Span {
    match name {
        // The queue is constant for that long, and then a train finds that nobody else fills it.
        "ebb" => Span::from_secs(3).max(Span(10 * rtt.0)),
        "copa" => Span::from_secs(9),
        _ => Span::from_secs(300),
    }
}

fn overrides(name: &str) -> Vec<(&'static str, Value)> {
    match name {
        // A slowdown's ramp is not congestion avoidance.
        "ledbat++" => vec![("slowdowns", Value::Flag(false))],
        _ => Vec::new(),
    }
}

/// Returns the background controllers that yield to the length of a queue. Proteus-S yields to its changes: a standing queue still is
/// none of its signals, which its page names among the bad cases.
fn yielding_to_length() -> impl Iterator<Item = &'static Entry> {
    CONTROLLERS.iter().filter(|entry| entry.class == Class::Background && entry.name != "proteus-s")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_background_window_grows_over_a_round_at_twice_the_target(
        mss in 500..9000u32,
        base_ms in 2..300u64,
        packets in 8.0..300.0f64,
        times_target in 2.0..8.0f64,
        per_ack in 1..=2u64,
    ) {
        for entry in yielding_to_length() {
            let base = Span::from_millis(base_ms);
            let mut driver = Driver::new(entry.name, &overrides(entry.name), mss, base);
            driver.per_ack = per_ack;
            driver.reach_avoidance(packets);
            let queue = Span((target(entry.name).0 as f64 * times_target) as u64);
            (0..SETTLING_ROUNDS).for_each(|_| driver.round(queue));
            let enough = must_not_grow_from(entry.name, queue, base);
            for round in 0..MEASURED_ROUNDS {
                let before = driver.packets();
                let slow_start = driver.controller.directive().is_growing();
                driver.round(queue);
                let after = driver.packets();
                prop_assert!(
                    slow_start || before < enough || after <= before,
                    "{}: {before} to {after} packets in round {round}, queue {queue:?} over {base:?}",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn they_shrink_to_a_few_packets_if_the_queue_stays(
        base_ms in 2..300u64,
        packets in 8.0..200.0f64,
        times_target in 2.0..8.0f64,
    ) {
        for entry in yielding_to_length() {
            let base = Span::from_millis(base_ms);
            let mut driver = Driver::new(entry.name, &overrides(entry.name), 1500, base);
            driver.reach_avoidance(packets);
            let queue = Span((target(entry.name).0 as f64 * times_target) as u64);
            // Not for as long as base histories last: then the queue would be the base.
            let until = driver.now + memory(entry.name, base + queue);
            (0..600).take_while(|_| { driver.round(queue); driver.now < until }).for_each(drop);
            let few = must_not_grow_from(entry.name, queue, base) + 1.0;
            prop_assert!(driver.packets() <= few, "{}: {} packets", entry.name, driver.packets());
        }
    }

    #[test]
    fn the_far_clocks_offset_and_its_wrap_change_nothing(
        queues_ms in proptest::collection::vec(0..200u64, 1..120),
        offset: u32,
        base_ms in 2..300u64,
    ) {
        for entry in CONTROLLERS {
            let run = |offset_us: u32| {
                let mut driver = Driver::new(entry.name, &[], 1448, Span::from_millis(base_ms));
                driver.offset_us = offset_us;
                queues_ms.iter().map(|queue_ms| {
                    driver.round(Span::from_millis(*queue_ms));
                    driver.controller.directive().cwnd
                }).collect::<Vec<_>>()
            };
            let plain = run(0);
            prop_assert_eq!(&plain, &run(offset), "{}", entry.name);
            // Delays on both sides of the wrap of 2^32 µs.
            prop_assert_eq!(&plain, &run(0u32.wrapping_sub(base_ms as u32 * 500 + 100_000)), "{}", entry.name);
        }
    }
}

#[test]
fn after_an_hour_of_silence_or_a_jump_of_the_clock_every_controller_grows_again() {
    for entry in CONTROLLERS {
        let mut driver = Driver::new(entry.name, &[], 1448, Span::from_millis(50));
        driver.reach_avoidance(40.0);
        driver.now += Span::from_secs(3600);
        (0..4).for_each(|_| driver.round(Span::ZERO));
        let before = driver.packets();
        (0..200).for_each(|_| driver.round(Span::ZERO));
        assert!(driver.packets() > before + 5.0, "{}: {before} to {}", entry.name, driver.packets());
    }
}
