//! Receivers that limit their senders: rLEDBAT (RFC 9840) beside LEDBAT++ at the sender, over several paths and loss rates.
//!
//! The bounds were set after the figures of `bench/rledbat.rs`, with some room on either side.

use crate::support::*;
use afteryou_scenario::{EndRule, Flow, Outcome, Probability, Role, Scenario, Size, Traffic, Transport};

const PRESETS: [&str; 3] = ["rfc", "apple", "uc3m"];
const RTTS_MS: [u64; 4] = [5, 50, 135, 250];

/// Returns a background flow whose receiver has this preset, of a `sender` with this controller.
fn from(sender: &str, name: &str, preset: &str, rtt_ms: u64) -> Flow {
    let receiver = Some(EndRule::named("rledbat").with("preset", preset));
    Flow { role: Role::Background, receiver, ..flow(name, sender, rtt_ms) }
}

/// Returns a background flow: LEDBAT++ at the sender, or a CUBIC sender and a receiver with this preset.
fn background(name: &str, preset: &str, rtt_ms: u64) -> Flow {
    match preset {
        "sender" => flow(name, "ledbat++", rtt_ms),
        _ => from("cubic", name, preset, rtt_ms),
    }
}

/// Runs flows over 20 Mbit/s with 500 ms of buffer and random loss in per cent, measured from 60 s to 180 s.
fn on_20_mbit(flows: Vec<Flow>, loss_per_cent: f64, baseline: bool) -> Outcome {
    let mut link = link("20 Mbit/s", "500 ms");
    link.loss = format!("{loss_per_cent} %").parse::<Probability>().unwrap();
    run(&Scenario { baseline, ..scenario(link, 180.0, 60.0, flows) })
}

fn share(outcome: &Outcome, name: &str) -> f64 {
    of(outcome.window("all"), name).share_of_payload_capacity
}

fn p95_ms(outcome: &Outcome) -> f64 {
    outcome.window("all").bottleneck().unwrap().queuing_delay.expect("packets").p95_ms
}

/// Returns the share of a flow alone and the 95th percentile of the queuing delay.
fn alone(preset: &str, rtt_ms: u64, loss: f64) -> (f64, f64) {
    let outcome = on_20_mbit(vec![background("b", preset, rtt_ms)], loss, false);
    (share(&outcome, "b"), p95_ms(&outcome))
}

/// Returns what a CUBIC flow keeps beside a background flow, and the share of that.
fn beside_cubic(background: Flow, rtt_ms: u64, loss: f64) -> (f64, f64) {
    let outcome = on_20_mbit(vec![flow("f", "cubic", rtt_ms), background], loss, true);
    (outcome.comparison[0].kept.expect("a baseline"), share(&outcome, "b"))
}

/// Returns the shares of two background flows together, and their fairness.
fn two(preset: &str, rtt_ms: u64, loss: f64) -> (f64, f64) {
    let flows = ["b", "c"].map(|name| background(name, preset, rtt_ms)).to_vec();
    let outcome = on_20_mbit(flows, loss, false);
    let fairness = outcome.window("all").bottleneck().unwrap().fairness.expect("two flows");
    (share(&outcome, "b") + share(&outcome, "c"), fairness)
}

#[test]
fn a_receiver_alone_fills_the_link_and_holds_its_target_as_ledbatpp_at_the_sender_does() {
    for rtt_ms in RTTS_MS {
        let (by_sender, _) = alone("sender", rtt_ms, 0.0);
        for (preset, target_ms) in PRESETS.into_iter().zip([60.0, 40.0, 60.0]) {
            let (share, p95_ms) = alone(preset, rtt_ms, 0.0);
            println!("{preset}, {rtt_ms} ms: {share:.3} of {by_sender:.3}, {p95_ms} ms");
            assert!(share >= by_sender - 0.03, "{preset}, {rtt_ms} ms: {share} of {by_sender}");
            assert!(p95_ms <= target_ms + 4.0, "{preset}, {rtt_ms} ms: {p95_ms} ms");
        }
    }
}

#[test]
fn a_receiver_gives_way_to_cubic_on_every_path() {
    for rtt_ms in RTTS_MS {
        for preset in PRESETS {
            let (kept, taken) = beside_cubic(background("b", preset, rtt_ms), rtt_ms, 0.0);
            println!("{preset}, {rtt_ms} ms: kept {kept:.3}, {taken:.3}");
            assert!(kept >= 0.98 && taken <= 0.02, "{preset}, {rtt_ms} ms: kept {kept}, {taken}");
        }
    }
}

#[test]
fn two_receivers_share_a_link_that_they_fill() {
    for rtt_ms in RTTS_MS {
        for preset in PRESETS {
            let (both, fairness) = two(preset, rtt_ms, 0.0);
            println!("{preset}, {rtt_ms} ms: {both:.3}, fairness {fairness:.3}");
            assert!(both >= 0.9 && fairness >= 0.99, "{preset}, {rtt_ms} ms: {both}, {fairness}");
        }
    }
}

#[test]
fn random_loss_costs_a_receiver_no_less_and_not_much_more_than_a_sender() {
    for (rtt_ms, loss) in RTTS_MS.iter().flat_map(|rtt_ms| [0.1, 1.0, 5.0].map(|loss| (*rtt_ms, loss))) {
        let (by_sender, _) = alone("sender", rtt_ms, loss);
        for preset in ["rfc", "uc3m"] {
            let ratio = alone(preset, rtt_ms, loss).0 / by_sender;
            println!("{preset}, {rtt_ms} ms, {loss} %: {ratio:.3} of the sender's");
            assert!((0.6..=1.25).contains(&ratio), "{preset}, {rtt_ms} ms, {loss} %: {ratio}");
        }
    }
}

#[test]
fn a_receiver_holds_back_any_sender_and_makes_none_faster() {
    for sender in ["newreno", "cubic", "bbr", "bbr3", "ledbat++"] {
        let (kept, taken) = beside_cubic(from(sender, "b", "rfc", 50), 50, 0.0);
        println!("{sender}: kept {kept:.3}, {taken:.3}");
        assert!(kept >= 0.97, "{sender}: {kept}");
        for loss in [0.1, 1.0] {
            let alone = |flow: Flow| share(&on_20_mbit(vec![flow], loss, false), "b");
            let (by_itself, held) = (alone(flow("b", sender, 50)), alone(from(sender, "b", "rfc", 50)));
            assert!(held <= by_itself + 0.02, "{sender}, {loss} %: {held}, by itself {by_itself}");
        }
    }
}

#[test]
fn every_transfer_ends_whatever_is_lost_and_however_small_the_window_is() {
    let few = |scale: &str| EndRule::named("rledbat").with("initial_window", "1").with("window_scale", scale);
    for (loss, rtt_ms) in [(0.0, 5), (5.0, 50), (20.0, 135)] {
        for receiver in [few("0"), few("14"), few("7").with("preset", "apple")] {
            // With a receive buffer below a packet, too: a sender still sends one at a time.
            for rwnd in ["1 kB", "4 MB"] {
                let transport = Transport::tcp().with("rwnd", rwnd);
                let traffic = Traffic::Size(Size::from_bytes(100_001));
                let one = Flow {
                    transport,
                    traffic,
                    receiver: Some(receiver.clone()),
                    ..flow("b", "cubic", rtt_ms)
                };
                let mut link = link("20 Mbit/s", "500 ms");
                link.loss = format!("{loss} %").parse::<Probability>().unwrap();
                let outcome = run(&scenario(link, 600.0, 0.0, vec![one]));
                let received = outcome.totals("b").received_bytes;
                assert_eq!(received, 100_001, "{loss} %, {rtt_ms} ms, {receiver:?}, {rwnd}");
            }
        }
    }
}

#[test]
fn a_flow_whose_receiver_limits_nothing_sends_as_it_would_without_one() {
    // Apart from the window scale: the largest window is a gigabyte.
    let wide = EndRule::named("rledbat")
        .with("initial_window", "1000")
        .with("target", "100 ms")
        .with("window_scale", "14");
    let link = || link("20 Mbit/s", "20 ms");
    let by = |receiver| {
        let one =
            Flow { receiver, traffic: Traffic::Size(Size::from_bytes(400_000)), ..flow("f", "cubic", 50) };
        let outcome = run(&scenario(link(), 10.0, 0.0, vec![one]));
        let totals = outcome.totals("f").clone();
        (totals.packets, totals.retransmissions, totals.received_bytes)
    };
    assert_eq!(by(Some(wide)), by(None));
}
