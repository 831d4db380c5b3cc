//! BBR in whole runs, over both transports: alone on each path, beside its own kind, beside CUBIC.

use crate::support::*;
use afteryou_scenario::outcome::Quantiles;
use afteryou_scenario::{Flow, Outcome, Probability};

const RATE_BIT_S: f64 = 50e6;
const PACKET_BITS: f64 = 12_000.0;
const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

/// What a version of BBR owes alone.
struct Bounds {
    controller: &'static str,
    /// Smallest part of the payload capacity on paths of at most 100 ms: without loss, and at 0.1 %.
    on_short_paths: [f64; 2],
    /// The same at 1 % loss, where the path holds at least 100 packets.
    at_one_percent: f64,
    /// The queue that is judged, ms, and its largest length in products of rate and round-trip time.
    queue_ms: fn(&Quantiles) -> f64,
    queue_bdp: f64,
}

const V1: Bounds = Bounds {
    controller: "bbr",
    on_short_paths: [0.95, 0.95],
    at_one_percent: 0.92,
    queue_ms: |queue| queue.p99_ms,
    queue_bdp: 1.5,
};
/// Each round with a loss takes at least the pacing margin from its rate until the next probe. While it probes, for three rounds, its queue
/// grows by three quarters of a BDP, so the mean is judged.
const V3: Bounds = Bounds {
    controller: "bbr3",
    on_short_paths: [0.95, 0.9],
    at_one_percent: 0.8,
    queue_ms: |queue| queue.mean_ms,
    queue_bdp: 0.5,
};

fn alone(flow: Flow, loss: f64) -> Outcome {
    let mut link = link("50 Mbit/s", "1 s");
    link.loss = Probability::from_ratio(loss).unwrap();
    run(&scenario(link, 75.0, 15.0, vec![flow]))
}

/// Returns the smallest part of the payload capacity that a flow may take, if the path is one that has a bound.
fn least_share(bounds: &Bounds, rtt_ms: u64, loss: f64) -> Option<f64> {
    let bdp_packets = RATE_BIT_S * rtt_ms as f64 / 1e3 / PACKET_BITS;
    match loss {
        _ if loss > 0.01 => None,
        _ if loss > 0.001 => (bdp_packets >= 100.0).then_some(bounds.at_one_percent),
        _ => Some(if rtt_ms <= 100 { bounds.on_short_paths[usize::from(loss > 0.0)] } else { 0.92 }),
    }
}

/// Returns the longest queue, in ms: a number of products of rate and round-trip time, or 4 packets and 3 quanta of a millisecond.
fn longest_queue_ms(bounds: &Bounds, rtt_ms: u64) -> f64 {
    let few_packets_ms = 4.0 * PACKET_BITS / RATE_BIT_S * 1e3 + 3.0;
    few_packets_ms.max(bounds.queue_bdp * rtt_ms as f64)
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
                let (least, longest) = (least_share(bounds, rtt_ms, loss), longest_queue_ms(bounds, rtt_ms));
                println!("{what}: {share:.3} of {least:?}; queue {queue:?} of {longest:.1} ms");
                assert!(least.is_none_or(|least| share >= least), "{what}: {share:.3} of {least:?}");
                assert!((bounds.queue_ms)(&queue) <= longest, "{what}: {queue:?}, not {longest:.1} ms");
            }
        }
    }
}

#[test]
fn version_1_fills_every_path_and_holds_its_queue_below_one_and_a_half_of_what_the_path_holds() {
    assert_fills_the_path(&V1);
}

#[test]
fn version_3_fills_paths_with_little_loss_and_its_mean_queue_is_below_half_of_what_the_path_holds() {
    assert_fills_the_path(&V3);
}

#[test]
fn two_flows_of_version_1_share_the_link() {
    for both in [|name: &str| flow(name, "bbr", 40), |name: &str| utp(name, "bbr", 40)] {
        let late = Flow { start: seconds(5.0), ..both("late") };
        let shares = shares_on_20_mbit("160 ms", vec![both("early"), late]);
        println!("{shares:?}");
        assert!(shares.iter().all(|share| *share >= 0.35), "{shares:?}");
    }
}

#[test]
fn version_3_shares_the_link_with_its_own_kind_and_leaves_cubic_a_third_in_short_buffers_and_half_in_deep_ones(
) {
    let late = Flow { start: seconds(5.0), ..flow("late", "bbr3", 40) };
    let own = shares_on_20_mbit("160 ms", vec![flow("early", "bbr3", 40), late]);
    println!("{own:?}");
    assert!(own.iter().all(|share| *share >= 0.35), "{own:?}");
    let share = |buffer: &str| {
        shares_on_20_mbit(buffer, vec![flow("bbr3", "bbr3", 40), flow("cubic", "cubic", 40)])[0]
    };
    let [short, one, four] = ["20 ms", "40 ms", "160 ms"].map(share);
    println!("half a BDP {short:.2}, one {one:.2}, four {four:.2}");
    assert!(short <= 0.75 && one <= 0.75 && (0.4..0.65).contains(&four), "{short}, {one}, {four}");
}

#[test]
fn version_1_takes_a_short_buffer_from_cubic_and_little_of_a_deep_one() {
    let share =
        |buffer: &str| shares_on_20_mbit(buffer, vec![flow("bbr", "bbr", 40), flow("cubic", "cubic", 40)])[0];
    let [short, one, deep] = ["20 ms", "40 ms", "640 ms"].map(share);
    println!("half a BDP {short:.2}, one {one:.2}, sixteen {deep:.2}");
    assert!(short >= 0.8 && deep <= 0.45 && short > one && one > deep, "{short}, {one}, {deep}");
}
