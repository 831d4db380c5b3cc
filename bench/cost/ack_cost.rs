//! Measures the cost of one acknowledgement in each controller, in nanoseconds of one core.
//!
//! `cargo run --release --example ack_cost [RUNS] [--check]`
//!
//! The acks come from a path of 40 ms whose queue swings around each controller's target, so that both branches of its rule
//! are taken. A round trip has 100 packets. Each figure is the best of RUNS (5). The cost of a loop that only makes the acks
//! is taken off. The LEDBAT family and ebb shall need at most 40 ns, or 60 iterations of a loop of arithmetic that is timed in
//! the same way, whichever is more. On a slow machine everything is slow. Ebb shall need at most three times as much as LEDBAT++,
//! too. `--check` fails beyond that.

use afteryou_base::{Span, Time};
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_cc::{Ack, Controller, DeliveryRate, Setup};
use std::hint::black_box;
use std::time::Instant;

const ACKS: u64 = 4_000_000;
const MSS: u64 = 1448;
/// Acks in a round trip of 40 ms.
const ACKS_IN_ROUND: u64 = 100;
/// Most nanoseconds for an ack in the LEDBAT family and in ebb.
const BOUND_NS: f64 = 40.0;
/// The same in iterations of [`reference`].
const BOUND_ITERATIONS: f64 = 60.0;
/// The same for ebb, in acks of LEDBAT++.
const EBB_BOUND: f64 = 3.0;
/// How often a slow controller is measured again before it is reported.
const TRIES: u32 = 4;

/// Returns the `i`-th ack: the queue swings between 0 and 160 ms within 4096 acks.
fn ack(i: u64) -> Ack {
    let queue_us = ((i % 4096).abs_diff(2048) * 78) as u32;
    let rtt = Span::from_micros(40_000 + u64::from(queue_us));
    let now = Time::from_micros(1_000_000 + i * 400);
    Ack {
        now,
        newly_acked: MSS,
        flightsize: ACKS_IN_ROUND * MSS,
        in_flight: ACKS_IN_ROUND * MSS,
        sent_at: Time(now.0 - rtt.0),
        packet_number: i,
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        one_way_delay: Some(20_000 + queue_us),
        reverse_delay: Some(20_000),
        delivery: Some(DeliveryRate {
            delivered: ACKS_IN_ROUND * MSS,
            interval: rtt,
            in_flight_at_send: ACKS_IN_ROUND * MSS,
            app_limited: false,
        }),
        round_start: i.is_multiple_of(ACKS_IN_ROUND),
        ..Ack::default()
    }
}

/// Returns the time of each call of `work`, ns.
fn time(mut work: impl FnMut(u64)) -> f64 {
    let started = Instant::now();
    (0..ACKS).for_each(&mut work);
    started.elapsed().as_nanos() as f64 / ACKS as f64
}

fn cost(entry: &Entry) -> Result<f64, Box<dyn std::error::Error>> {
    let mut controller: Box<dyn Controller> = entry.build(&[], Setup::of(MSS as u32))?;
    // Slow start is over after a loss.
    controller.on_loss(&afteryou_cc::Loss { now: Time::from_millis(900), ..Default::default() });
    Ok(time(|i| {
        controller.on_ack(&black_box(ack(i)));
        _ = black_box(controller.directive());
    }))
}

/// Returns the time of an iteration of a loop that touches no memory, ns.
fn reference() -> f64 {
    let mut x = 1u64;
    let ns = time(|_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    });
    black_box(x);
    ns
}

fn best(runs: u32, mut measure: impl FnMut() -> f64) -> f64 {
    (0..runs).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().any(|word| word == "--check");
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(5);
    let iteration = best(runs, reference);
    let nothing = best(runs, || time(|i| _ = black_box(ack(i))));
    println!(
        "{:<12} {:>7} {:>9}   (an iteration of the reference loop: {iteration:.2} ns)",
        "controller", "ns/ack", "ledbat++"
    );
    let (mut too_slow, mut ledbatpp) = (Vec::new(), f64::NAN);
    for entry in CONTROLLERS {
        cost(entry)?;
        let ns = best(runs, || cost(entry).unwrap_or(f64::INFINITY)) - nothing;
        if entry.name == "ledbat++" {
            ledbatpp = ns;
        }
        println!("{:<12} {ns:>7.1} {:>9.2}", entry.name, ns / ledbatpp);
        let is_family = entry.name.contains("ledbat") || entry.name.starts_with("libutp");
        let is_ebb = entry.name == "ebb";
        let most = BOUND_NS.max(BOUND_ITERATIONS * iteration);
        let most = if is_ebb { most.min(EBB_BOUND * ledbatpp) } else { most };
        let again = || best(runs, || cost(entry).unwrap_or(f64::INFINITY)) - nothing;
        if (is_family || is_ebb) && ns > most && (0..TRIES).all(|_| again() > most) {
            too_slow.push(entry.name);
        }
    }
    if check && !too_slow.is_empty() {
        return Err(format!(
            "more than {BOUND_NS} ns for an ack, or than {EBB_BOUND} of ledbat++ for ebb: {}",
            too_slow.join(", ")
        )
        .into());
    }
    Ok(())
}
