//! CDG in whole runs, over both transports: alone on each path, beside its own kind, beside CUBIC.

use crate::support::*;
use afteryou_scenario::{Flow, Outcome, Probability};

const RATE_BIT_S: f64 = 20e6;
const PACKET_BITS: f64 = 12_000.0;
const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];
/// Part of the window that a backoff leaves.
const BETA: f64 = 0.707;
/// Rounds of a queue that grows by a packet each until 99 of 100 flows have backed off. The probability not to is e^(−42/s · g) in a round
/// with a sum of g, and g is 0.6 ms in the first round of growth, 1.2 ms in the second, 4.8 ms from the eighth on:
/// 42/s · 0.6 ms · (36 + 8 (n − 8)) = ln 100.
const RISE_PACKETS: f64 = 26.3;

fn flows(controller: &str, rtt_ms: u64) -> [Flow; 2] {
    [flow("one", controller, rtt_ms), utp("one", controller, rtt_ms)]
}

fn alone(flow: Flow, loss: f64) -> Outcome {
    let mut link = link("20 Mbit/s", "500 ms");
    link.loss = Probability::from_ratio(loss).unwrap();
    run(&scenario(link, 300.0, 30.0, vec![flow]))
}

fn share(outcome: &Outcome) -> f64 {
    of(outcome.window("all"), "one").share_of_payload_capacity
}

/// Returns the longest queue, ms: the rise until a backoff, over the level that backoffs leave. On a path that holds less than such a rise
/// does a backoff does not empty the queue.
fn longest_queue_ms(rtt_ms: u64) -> f64 {
    let bdp_packets = RATE_BIT_S * rtt_ms as f64 / 1e3 / PACKET_BITS;
    let left = (BETA * (bdp_packets + RISE_PACKETS) - bdp_packets) / (1.0 - BETA);
    (left.max(0.0) + RISE_PACKETS) * PACKET_BITS / RATE_BIT_S * 1e3
}

#[test]
fn without_losses_it_keeps_what_a_backoff_leaves_of_the_link_and_a_short_queue() {
    for rtt_ms in RTTS_MS {
        for flow in flows("cdg", rtt_ms) {
            let what = format!("{}, {rtt_ms} ms", flow.transport);
            let outcome = alone(flow, 0.0);
            let queue = outcome.window("all").bottleneck().unwrap().queuing_delay.expect("packets");
            let (share, longest) = (share(&outcome), longest_queue_ms(rtt_ms));
            println!("{what}: {share:.3}; queue {queue:?} of {longest:.1} ms");
            assert!(share >= BETA, "{what}: {share:.3}");
            assert!(queue.p99_ms <= longest, "{what}: {queue:?}, not {longest:.1} ms");
        }
    }
}

#[test]
fn with_random_losses_it_is_as_fast_as_newreno() {
    // At 250 ms and 1 % about 120 losses decide, which is a tenth of uncertainty for each of the two.
    for (rtt_ms, loss) in RTTS_MS.iter().flat_map(|rtt_ms| LOSSES[1..].iter().map(|loss| (*rtt_ms, *loss))) {
        for (cdg, newreno) in flows("cdg", rtt_ms).into_iter().zip(flows("newreno", rtt_ms)) {
            let what = format!("{}, {rtt_ms} ms, {} %", cdg.transport, loss * 100.0);
            let [cdg, newreno] = [cdg, newreno].map(|flow| share(&alone(flow, loss)));
            println!("{what}: {cdg:.3}, NewReno {newreno:.3}");
            assert!((0.7..1.4).contains(&(cdg / newreno)), "{what}: {cdg:.3}, NewReno {newreno:.3}");
        }
    }
}

#[test]
fn tolerance_of_losses_while_the_queue_is_not_full_makes_it_half_as_fast_again_or_more() {
    for (rtt_ms, loss) in [(50, 0.001), (50, 0.01), (135, 0.001), (135, 0.01)] {
        let share_of = |controller| share(&alone(flow("one", controller, rtt_ms), loss));
        let [without, with] = ["cdg", "cdg,tolerance=true"].map(share_of);
        println!("{rtt_ms} ms, {} %: {without:.3}, {with:.3} with tolerance", loss * 100.0);
        assert!(with >= 1.5 * without, "{rtt_ms} ms, {loss}: {without:.3}, {with:.3} with tolerance");
    }
}

#[test]
fn two_flows_share_the_link() {
    for both in [|name: &str| flow(name, "cdg", 40), |name: &str| utp(name, "cdg", 40)] {
        let late = Flow { start: seconds(5.0), ..both("late") };
        let shares = shares_on_20_mbit("160 ms", vec![both("early"), late]);
        println!("{shares:?}");
        assert!(shares.iter().all(|share| *share >= 0.45), "{shares:?}");
    }
}

/// Returns the share of a flow beside one with another controller, by buffer: half a product of rate and round-trip time, one, four, and
/// sixteen.
fn shares_beside(rival: &str, controller: &str) -> [f64; 4] {
    let share =
        |buffer| shares_on_20_mbit(buffer, vec![flow("cdg", controller, 40), flow("rival", rival, 40)])[0];
    let shares = ["20 ms", "40 ms", "160 ms", "640 ms"].map(share);
    println!("{controller} beside {rival}: {shares:.3?}");
    shares
}

#[test]
fn beside_cubic_it_keeps_a_part_of_a_short_buffer_and_next_to_nothing_of_a_deep_one() {
    let shares = shares_beside("cubic", "cdg");
    assert!(shares[0] >= 0.15 && shares[1] >= 0.1, "{shares:?}");
    assert!(shares.is_sorted_by(|shorter, deeper| shorter > deeper) && shares[3] <= 0.02, "{shares:?}");
}

#[test]
fn beside_newreno_in_a_deep_buffer_the_rules_of_coexistence_keep_a_tenth_that_it_does_not_have_without_them()
{
    let with = shares_beside("newreno", "cdg");
    let without = shares_beside("newreno", "cdg,shadow=false,ineffectual=0");
    assert!(with[3] >= 0.1 && without[3] <= 0.03, "{with:?}, {without:?} without");
    assert!(
        with.iter().zip(without).all(|(with, without)| *with >= without),
        "{with:?}, {without:?} without"
    );
}
