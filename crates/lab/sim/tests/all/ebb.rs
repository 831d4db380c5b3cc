//! Ebb in whole runs, over both transports: alone, beside CUBIC and after it, on a route that changes, beside a loaded reverse path, and with
//! clocks that disagree.
//!
//! Bounds are those of measured runs, with some room. Where a path is a bad case of the rule, its bound is low and a comment says why.

use crate::support::*;
use afteryou_scenario::scenario::Reverse;
use afteryou_scenario::{
    Direction, Flow, Link, Outcome, Probability, Rate, Role, RouteChange, Scenario, Traffic, Transport,
};

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

/// Returns both transports with ebb.
fn ebbs(rtt_ms: u64) -> [Flow; 2] {
    let background = |flow: Flow| Flow { role: Role::Background, ..flow };
    [flow("ebb", "ebb", rtt_ms), utp("ebb", "ebb", rtt_ms)].map(background)
}

/// Returns every path: a round-trip time, ms, a part of the packets that is lost, and a flow with a transport.
fn paths() -> Vec<(u64, f64, Flow)> {
    let paths = RTTS_MS.iter().flat_map(|rtt_ms| LOSSES.map(|loss| (*rtt_ms, loss)));
    paths.flat_map(|(rtt_ms, loss)| ebbs(rtt_ms).map(|flow| (rtt_ms, loss, flow))).collect()
}

fn lossy(buffer_ms: f64, loss: f64) -> Link {
    Link { loss: Probability::from_ratio(loss).unwrap(), ..link("20 Mbit/s", &format!("{buffer_ms} ms")) }
}

/// Returns whether a flow is one over uTP, whatever its clock does.
fn is_utp(flow: &Flow) -> bool {
    flow.transport.kind == Transport::utp().kind
}

fn what(flow: &Flow, loss: f64) -> String {
    format!("{}, {}, {} %", flow.transport, flow.rtt, 100.0 * loss)
}

fn share(outcome: &Outcome) -> f64 {
    of(outcome.window("all"), "ebb").share_of_payload_capacity
}

/// Returns the least share that it takes where nobody else has packets in its queue. Over uTP a lost retransmission stalls the sender: losses of 5 % cost
/// a quarter of the link beyond a few milliseconds, and up to a half of the longest path.
fn least_share(flow: &Flow, rtt_ms: u64, loss: f64) -> f64 {
    if is_utp(flow) && loss > 0.01 {
        return if rtt_ms == 5 { 0.8 } else { 0.5 };
    }
    0.9
}

#[test]
fn it_fills_every_path_whatever_is_lost() {
    for (rtt_ms, loss, flow) in paths() {
        let (what, least) = (what(&flow, loss), least_share(&flow, rtt_ms, loss));
        let share = share(&run(&scenario(lossy(500.0, loss), 90.0, 30.0, vec![flow])));
        println!("{what}: {share:.3}");
        assert!(share >= least, "{what}: {share:.3}");
    }
}

fn queue_ms(outcome: &Outcome) -> (f64, f64) {
    let queue = outcome.window("all").bottleneck().unwrap().queuing_delay.expect("packets");
    (queue.mean_ms, queue.p99_ms)
}

#[test]
fn alone_its_queue_is_a_few_milliseconds() {
    for flow in RTTS_MS.into_iter().flat_map(ebbs) {
        let what = what(&flow, 0.0);
        // On a short path the target is a part of the round-trip time.
        let [mean, p99] = if flow.rtt <= ms(8) { [2.8, 4.0] } else { [5.0, 7.0] };
        let (mean_ms, p99_ms) = queue_ms(&run(&scenario(lossy(500.0, 0.0), 90.0, 30.0, vec![flow])));
        println!("{what}: {mean_ms:.1} ms, 99 % below {p99_ms:.1} ms");
        assert!(mean_ms <= mean && p99_ms <= p99, "{what}: {mean_ms:.1} ms, 99 % below {p99_ms:.1} ms");
    }
}

/// Returns what CUBIC keeps of the goodput that it has alone, and ebb's share, with a buffer of `bdps` BDP.
fn beside_cubic(ebb: &Flow, rtt_ms: u64, loss: f64, bdps: f64) -> [f64; 2] {
    let cubic = Flow { start: seconds(10.0), ..flow("cubic", "cubic", rtt_ms) };
    let link = lossy(bdps * rtt_ms as f64, loss);
    let both = scenario(link, 100.0, 30.0, vec![cubic, ebb.clone()]);
    let outcome = run(&Scenario { baseline: true, ..both });
    [outcome.comparison[0].kept.expect("a baseline"), share(&outcome)]
}

#[test]
fn without_losses_cubic_keeps_its_goodput_behind_one_to_four_bdp() {
    for (rtt_ms, ebb) in RTTS_MS.into_iter().flat_map(|rtt_ms| ebbs(rtt_ms).map(|ebb| (rtt_ms, ebb))) {
        for bdps in [1.0, 2.0, 4.0] {
            let [kept, taken] = beside_cubic(&ebb, rtt_ms, 0.0, bdps);
            let what = what(&ebb, 0.0);
            println!("{what}, {bdps} BDP: kept {kept:.3}, ebb {taken:.3}");
            // One BDP of 5 ms is eight packets.
            let least = if rtt_ms == 5 && bdps == 1.0 { 0.85 } else { 0.96 };
            assert!(
                kept >= least && taken <= 1.05 - least,
                "{what}, {bdps} BDP: kept {kept:.3}, ebb {taken:.3}"
            );
        }
    }
}

/// Half a BDP of 5 ms is four packets. CUBIC fills them within a round trip, and its queue is gone before ebb has seen it obey or not.
#[test]
fn behind_half_a_bdp_cubic_keeps_its_goodput_unless_that_is_a_buffer_of_a_few_packets() {
    for (rtt_ms, ebb) in RTTS_MS.into_iter().flat_map(|rtt_ms| ebbs(rtt_ms).map(|ebb| (rtt_ms, ebb))) {
        let ([kept, taken], what) = (beside_cubic(&ebb, rtt_ms, 0.0, 0.5), what(&ebb, 0.0));
        println!("{what}: kept {kept:.3}, ebb {taken:.3}");
        assert!(kept >= if rtt_ms == 5 { 0.65 } else { 0.95 }, "{what}: kept {kept:.3}, ebb {taken:.3}");
    }
}

/// CUBIC leaves much of a lossy path unused. There ebb looks for a queue and finds none, also while CUBIC grows: in single runs CUBIC keeps
/// four tenths, and eight to nine tenths of the mean. That is a bad case, and the worst one is that of the few packets.
#[test]
fn on_lossy_paths_cubic_keeps_four_tenths_of_its_goodput_and_most_of_it_on_average() {
    for bdps in [0.5, 1.0, 4.0] {
        let lossy = paths().into_iter().filter(|(_, loss, _)| *loss > 0.0);
        let all = lossy.map(|(rtt_ms, loss, ebb)| {
            let [kept, taken] = beside_cubic(&ebb, rtt_ms, loss, bdps);
            println!("{}, {bdps} BDP: kept {kept:.3}, ebb {taken:.3}", what(&ebb, loss));
            assert!(kept >= 0.4, "{}, {bdps} BDP: kept {kept:.3}, ebb {taken:.3}", what(&ebb, loss));
            kept
        });
        let all: Vec<f64> = all.collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        println!("{bdps} BDP: {mean:.3}");
        assert!(mean >= 0.8, "{bdps} BDP: {mean:.3}");
    }
}

/// At 250 ms it takes three times as long, which is a bad case. A second in the buffer may break the pairs of the floor: the receiver delays the
/// acks of lone packets, each of them looks like a queue, and only the train ends that, after 20 s.
#[test]
fn after_cubic_and_its_queue_it_is_back_within_three_seconds_or_eight_round_trips() {
    for (rtt_ms, loss, ebb) in paths() {
        for bdps in [1.0, 4.0] {
            let rtt_s = rtt_ms as f64 / 1e3;
            let cubic =
                Flow { start: seconds(10.0), stop: Some(seconds(40.0)), ..flow("cubic", "cubic", rtt_ms) };
            let rounds = match (rtt_ms, bdps == 1.0) {
                (250, true) => 24.0,
                (250, false) => 80.0,
                _ => 8.0,
            };
            let from = 40.0 + bdps * rtt_s + f64::max(3.0, rounds * rtt_s);
            let link = lossy(bdps * 1e3 * rtt_s, loss);
            let share = share(&run(&scenario(link, from + 5.0, from, vec![cubic, ebb.clone()])));
            let what = what(&ebb, loss);
            println!("{what}, {bdps} BDP: {share:.3}");
            let least = match is_utp(&ebb) {
                true if loss > 0.01 && rtt_ms == 250 => 0.1,
                _ if rtt_ms == 250 => 0.5,
                _ => 0.6,
            };
            assert!(share >= least, "{what}, {bdps} BDP: {share:.3}");
        }
    }
}

#[test]
fn it_fills_a_route_that_is_70_ms_longer() {
    for (rtt_ms, loss, flow) in paths() {
        let longer = RouteChange { at: seconds(20.0), rtt: Some(ms(rtt_ms + 70)), ..RouteChange::default() };
        let what = what(&flow, loss);
        let least = match is_utp(&flow) {
            true if loss > 0.01 => 0.5,
            _ => 0.65,
        };
        let before = scenario(lossy(500.0, loss), 70.0, 40.0, vec![flow]);
        let share = share(&run(&Scenario { route_change: vec![longer], ..before }));
        println!("{what}: {share:.3}");
        assert!(share >= least, "{what}: {share:.3}");
    }
}

/// Returns ebb's share of the forward path while a download fills the reverse path, over that many seeds.
fn beside_download(ebb: &Flow, rtt_ms: u64, loss: f64, traffic: Traffic, seeds: u64) -> f64 {
    let lossless = Some(Probability::from_ratio(0.0).unwrap());
    let reverse = Reverse { rate: Some(Rate::from_mbit(50)), loss: lossless, ..Reverse::default() };
    let link = Link { reverse: Some(reverse), ..lossy(200.0, loss) };
    let download = flow("download", "cubic", rtt_ms);
    let download = Flow { direction: Direction::Down, start: seconds(5.0), traffic, ..download };
    let scenario = scenario(link, 125.0, 25.0, vec![download, ebb.clone()]);
    let shares = (1..=seeds).map(|seed| share(&run(&Scenario { seed, ..scenario.clone() })));
    shares.sum::<f64>() / seeds as f64
}

/// On a path of eight packets and losses of 5 %, one loss in a round is congestion, and the growth after it slow: a bad case, in which one seed
/// has half of the link and another one three quarters.
#[test]
fn a_download_that_pauses_now_and_then_leaves_it_most_of_what_the_acks_do_not_take() {
    for (rtt_ms, loss, ebb) in paths() {
        let what = what(&ebb, loss);
        let least = match is_utp(&ebb) {
            true if loss > 0.01 => 0.4,
            _ if loss > 0.001 => 0.5,
            _ => 0.6,
        };
        let traffic = Traffic::OnOff { on: ms(8000), off: ms(4000) };
        let seeds = if loss > 0.01 { 4 } else { 1 };
        let share = beside_download(&ebb, rtt_ms, loss, traffic, seeds);
        println!("{what}: {share:.3}");
        assert!(share >= least, "{what}: {share:.3}");
    }
}

/// CUBIC's queue on the reverse path is never empty, and becomes the base after half a minute. What it adds to that then looks like a queue of
/// the forward path. That is a bad case: on the longest path ebb lies at its floor for most of the time.
#[test]
fn a_download_that_never_pauses_costs_it_a_part_of_its_share_and_most_of_it_on_the_longest_path() {
    for (rtt_ms, ebb) in RTTS_MS.into_iter().flat_map(|rtt_ms| ebbs(rtt_ms).map(|ebb| (rtt_ms, ebb))) {
        let what = what(&ebb, 0.0);
        let share = beside_download(&ebb, rtt_ms, 0.0, Traffic::Bulk, 1);
        println!("{what}: {share:.3}");
        assert!(share >= if rtt_ms == 250 { 0.04 } else { 0.55 }, "{what}: {share:.3}");
    }
}

#[test]
fn clocks_that_differ_by_100_ppm_cost_no_share_and_move_the_queue_by_three_milliseconds() {
    for (rtt_ms, loss, ebb) in paths() {
        for skew in ["-100", "100"] {
            let ebb = Flow { transport: ebb.transport.clone().with("skew", skew), ..ebb.clone() };
            let (what, least) = (what(&ebb, loss), least_share(&ebb, rtt_ms, loss));
            let outcome = run(&scenario(lossy(500.0, loss), 300.0, 100.0, vec![ebb]));
            let (share, (mean_ms, p99_ms)) = (share(&outcome), queue_ms(&outcome));
            println!("{what}: {share:.3}, {mean_ms:.1} ms, 99 % below {p99_ms:.1} ms");
            assert!(share >= least, "{what}: {share:.3}");
            let is_short = loss > 0.0 || (mean_ms <= 7.5 && p99_ms <= 9.5);
            assert!(is_short, "{what}: {mean_ms:.1} ms, 99 % below {p99_ms:.1} ms");
        }
    }
}

/// CUBIC comes when ebb has seen all of the link. On long paths ebb finds out late, and is back early: a bad case.
#[test]
fn behind_a_fair_queue_it_leaves_cubic_most_of_the_link() {
    for (rtt_ms, ebb) in RTTS_MS.into_iter().flat_map(|rtt_ms| ebbs(rtt_ms).map(|ebb| (rtt_ms, ebb))) {
        let cubic = Flow { start: seconds(20.0), ..flow("cubic", "cubic", rtt_ms) };
        let link = Link { queue: "fq_codel".parse().unwrap(), ..lossy(1000.0, 0.0) };
        let outcome = run(&scenario(link, 90.0, 30.0, vec![cubic, ebb.clone()]));
        let share = of(outcome.window("all"), "cubic").share_of_payload_capacity;
        let what = what(&ebb, 0.0);
        println!("{what}: {share:.3}");
        let least = [(5, 0.9), (50, 0.75)]
            .into_iter()
            .find(|(rtt, _)| *rtt == rtt_ms)
            .map_or(0.4, |(_, least)| least);
        assert!(share >= least, "{what}: {share:.3}");
    }
}
