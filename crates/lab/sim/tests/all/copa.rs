//! Copa without its competitive mode in whole runs, over both transports: alone on each path, beside its own kind, beside CUBIC.

use crate::support::*;
use afteryou_scenario::outcome::WindowFigures;
use afteryou_scenario::{Flow, Outcome, Probability, Transport};

/// Time of a packet on the link, ms.
const PACKET_MS: f64 = 0.6;
/// Largest queue of a flow with δ = 0.5 in equilibrium: 2.5/δ (§3 of the paper), and the packet that is being sent.
const QUEUE_PACKETS: f64 = 6.0;
const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

fn alone(flow: Flow, loss: f64) -> Outcome {
    let mut link = link("20 Mbit/s", "500 ms");
    link.loss = Probability::from_ratio(loss).unwrap();
    run(&scenario(link, 90.0, 30.0, vec![flow]))
}

/// Returns the smallest part of the payload capacity that a flow may take. Losses do not count. With many of them uTP stops now and then,
/// without a timeout and with the window at a BDP: that is the transport's.
fn least_share(transport: &Transport, loss: f64) -> f64 {
    match *transport == Transport::utp() {
        true if loss > 0.01 => 0.65,
        true if loss > 0.001 => 0.9,
        _ => 0.96,
    }
}

#[test]
fn it_fills_every_path_whatever_is_lost() {
    for (rtt_ms, loss) in RTTS_MS.iter().flat_map(|rtt_ms| LOSSES.map(|loss| (*rtt_ms, loss))) {
        for flow in [flow("one", "copa", rtt_ms), utp("one", "copa", rtt_ms)] {
            let what = format!("{}, {rtt_ms} ms, {} %", flow.transport, loss * 100.0);
            let least = least_share(&flow.transport, loss);
            let share = of(alone(flow, loss).window("all"), "one").share_of_payload_capacity;
            println!("{what}: {share:.3}");
            assert!(share >= least, "{what}: {share:.3}");
        }
    }
}

/// Returns mean and 99th percentile of the queue, packets.
fn queue(window: &WindowFigures) -> (f64, f64) {
    let delay = window.bottleneck().unwrap().queuing_delay.expect("packets");
    (delay.mean_ms / PACKET_MS, delay.p99_ms / PACKET_MS)
}

#[test]
fn its_queue_is_half_of_five_packets_on_average_and_all_of_them_at_most() {
    for rtt_ms in RTTS_MS {
        let outcome = alone(flow("one", "copa", rtt_ms), 0.0);
        let (mean, p99) = queue(outcome.window("all"));
        println!("{rtt_ms} ms: {mean:.1} packets, 99 % below {p99:.1}");
        assert!(
            (0.25 * QUEUE_PACKETS..0.75 * QUEUE_PACKETS).contains(&mean),
            "{rtt_ms} ms: {mean:.1} packets"
        );
        assert!(p99 <= QUEUE_PACKETS, "{rtt_ms} ms: {p99:.1} packets");
    }
}

#[test]
fn a_velocity_that_ends_with_the_round_swings_on_a_long_path() {
    let share = |controller: &str| {
        of(alone(utp("one", controller, 250), 0.0).window("all"), "one").share_of_payload_capacity
    };
    let [at_once, round] = ["copa", "copa,reversal=round"].map(share);
    println!("{at_once:.3}, {round:.3} by the round");
    assert!(round <= 0.8 && at_once >= 0.96, "{at_once:.3}, {round:.3} by the round");
}

fn together(buffer: &str, flows: Vec<Flow>) -> Outcome {
    run(&scenario(link("20 Mbit/s", buffer), 180.0, 60.0, flows))
}

#[test]
fn two_flows_share_the_link_and_their_queue_is_twice_as_long() {
    for both in [|name: &str| flow(name, "copa", 40), |name: &str| utp(name, "copa", 40)] {
        let late = Flow { start: seconds(5.0), ..both("late") };
        let outcome = together("160 ms", vec![both("early"), late]);
        let (shares, (_, p99)) = (shares_of(&outcome), queue(outcome.window("all")));
        println!("{shares:.3?}, 99 % below {p99:.1} packets");
        assert!(shares.iter().all(|share| *share >= 0.45), "{shares:?}");
        assert!(p99 <= 2.0 * QUEUE_PACKETS, "{p99:.1} packets");
    }
}

#[test]
fn beside_cubic_it_keeps_a_tenth_of_a_short_buffer_and_next_to_nothing_of_a_deep_one() {
    let share =
        |buffer| shares_of(&together(buffer, vec![flow("copa", "copa", 40), flow("cubic", "cubic", 40)]))[0];
    let shares = ["20 ms", "40 ms", "160 ms", "640 ms"].map(share);
    println!("{shares:.3?}");
    assert!((0.07..0.13).contains(&shares[0]) && shares[3] <= 0.02, "{shares:?}");
    assert!(shares.is_sorted_by(|shorter, deeper| shorter > deeper), "{shares:?}");
}
