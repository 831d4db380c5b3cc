//! PCC Proteus in whole runs: alone on each path, beside its own kind, the scavenger beside CUBIC and beside the primary.
//!
//! The paper's figures are not at hand; bounds follow from the rule. Alone, the rate settles where the upper one of a pair of rates just fits
//! the link: 1/1.05 of it for the primary, and one step less for the scavenger. An interval at 5 % too much lengthens the queue by 5 % of a
//! round trip, and three of them may follow each other. Beside others the scavenger is left with its least rate, 500 kbit/s.

use crate::support::*;
use afteryou_scenario::{Flow, Outcome, Probability};

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

/// A buffer so short that the delay deviates by less than the millisecond that the scavenger takes for noise.
const FEW_PACKETS_MS: u64 = 10;

/// Smallest parts of the payload capacity that a kind takes alone.
struct Bounds {
    controller: &'static str,
    up_to_a_thousandth: f64,
    at_one_percent: f64,
    /// On the shortest path: on longer ones the noise of 5 % hides the slope for minutes.
    at_five_percent: f64,
}

const PRIMARY: Bounds =
    Bounds { controller: "proteus-p", up_to_a_thousandth: 0.94, at_one_percent: 0.9, at_five_percent: 0.8 };
const SCAVENGER: Bounds =
    Bounds { controller: "proteus-s", up_to_a_thousandth: 0.88, at_one_percent: 0.8, at_five_percent: 0.75 };

fn alone(flow: Flow, loss: f64) -> Outcome {
    let mut link = link("50 Mbit/s", "200 ms");
    link.loss = Probability::from_ratio(loss).unwrap();
    run(&scenario(link, 75.0, 25.0, vec![flow]))
}

/// Returns the smallest part that a flow may take, if the path is one that has a bound.
fn least_share(bounds: &Bounds, rtt_ms: u64, loss: f64) -> Option<f64> {
    match loss {
        _ if loss > 0.01 => (rtt_ms == 5).then_some(bounds.at_five_percent),
        _ if loss > 0.001 => Some(bounds.at_one_percent),
        _ => Some(bounds.up_to_a_thousandth),
    }
}

fn assert_fills_the_path(bounds: &Bounds) {
    for rtt_ms in RTTS_MS {
        for loss in LOSSES {
            for flow in [flow("one", bounds.controller, rtt_ms), utp("one", bounds.controller, rtt_ms)] {
                let what =
                    format!("{} over {}, {rtt_ms} ms, {} %", bounds.controller, flow.transport, loss * 100.0);
                let outcome = alone(flow, loss);
                let window = outcome.window("all");
                let share = of(window, "one").share_of_payload_capacity;
                let queue = window.bottleneck().unwrap().queuing_delay.expect("packets");
                let (least, longest) = (least_share(bounds, rtt_ms, loss), 1.0 + 0.15 * rtt_ms as f64);
                println!("{what}: {share:.3} of {least:?}; queue {queue:?} of {longest:.1} ms");
                assert!(least.is_none_or(|least| share >= least), "{what}: {share:.3} of {least:?}");
                assert!(queue.p99_ms <= longest, "{what}: {queue:?}, not {longest:.1} ms");
            }
        }
    }
}

#[test]
fn the_primary_fills_every_path_with_three_steps_of_probing_in_the_queue() {
    assert_fills_the_path(&PRIMARY);
}

#[test]
fn the_scavenger_alone_fills_every_path_but_for_two_steps_of_probing() {
    assert_fills_the_path(&SCAVENGER);
}

/// Returns the parts of a link of 20 Mbit/s that flows take after a minute, with `buffer` for a queue.
fn shares(buffer: &str, flows: Vec<Flow>) -> Vec<f64> {
    let outcome = run(&scenario(link("20 Mbit/s", buffer), 180.0, 60.0, flows));
    outcome.window("all").flows.iter().map(|flow| flow.share_of_payload_capacity).collect()
}

#[test]
fn cubic_keeps_nearly_everything_beside_the_scavenger_in_any_buffer() {
    for rtt_ms in [10, 40, 135] {
        for halves_of_a_bdp in [1, 2, 8] {
            let buffer = format!("{} ms", rtt_ms * halves_of_a_bdp / 2);
            let cubic = || flow("cubic", "cubic", rtt_ms);
            let alone = shares(&buffer, vec![cubic()])[0];
            for start in [0.0, 10.0] {
                let late = Flow { start: seconds(start), ..flow("late", "proteus-s", rtt_ms) };
                let both = shares(&buffer, vec![cubic(), late]);
                let kept = both[0] / alone;
                let least = if rtt_ms * halves_of_a_bdp / 2 <= FEW_PACKETS_MS { 0.8 } else { 0.95 };
                println!("{rtt_ms} ms, {buffer}, {start} s later: CUBIC keeps {kept:.3} of {alone:.3}, {:.3} for the scavenger", both[1]);
                assert!(kept >= least, "{rtt_ms} ms, {buffer}: {both:?} of {alone}");
            }
        }
    }
}

#[test]
fn the_scavenger_takes_the_link_back_within_ten_seconds() {
    for rtt_ms in RTTS_MS {
        let cubic = Flow { stop: Some(seconds(60.0)), ..flow("cubic", "cubic", rtt_ms) };
        let scavenger = flow("scavenger", "proteus-s", rtt_ms);
        let outcome = run(&scenario(link("20 Mbit/s", "80 ms"), 120.0, 70.0, vec![cubic, scavenger]));
        let share = of(outcome.window("all"), "scavenger").share_of_payload_capacity;
        println!("{rtt_ms} ms: {share:.3}");
        assert!(share >= 0.85, "{rtt_ms} ms: {share:.3}");
    }
}

#[test]
fn the_primary_has_four_times_the_scavengers_share() {
    for buffer in ["20 ms", "160 ms"] {
        let late = Flow { start: seconds(10.0), ..flow("late", "proteus-s", 40) };
        let shares = shares(buffer, vec![flow("early", "proteus-p", 40), late]);
        println!("{buffer}: {shares:?}");
        assert!(shares[0] >= 0.75 && shares[0] >= 4.0 * shares[1], "{buffer}: {shares:?}");
    }
}

#[test]
fn two_of_a_kind_share_the_link() {
    for (controller, least) in [("proteus-p", 0.4), ("proteus-s", 0.25)] {
        for rtt_ms in [40, 135] {
            let late = Flow { start: seconds(10.0), ..flow("late", controller, rtt_ms) };
            let shares = shares("160 ms", vec![flow("early", controller, rtt_ms), late]);
            println!("{controller}, {rtt_ms} ms: {shares:?}");
            assert!(shares.iter().all(|share| *share >= least), "{controller}, {rtt_ms} ms: {shares:?}");
        }
    }
}
