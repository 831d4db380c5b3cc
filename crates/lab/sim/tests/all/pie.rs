//! PIE, LE-PIE, FQ-PIE and DualPI2 as a bottleneck's queue.

use crate::support::*;
use afteryou_scenario::Transport;

/// Runs CUBIC over a queue on 10 Mbit/s and 60 ms for `seconds`, of which the first 20 are its start. Returns the mean delay
/// in ms, the share of the link, and the packets lost in all.
fn cubic_over(queue: &str, ecn: &str, seconds: f64) -> (f64, f64, u64) {
    let mut link = link("10 Mbit/s", "1000 packets");
    link.queue = queue.parse().unwrap();
    let transport = Transport::tcp().with("ecn", ecn);
    let flow = afteryou_scenario::Flow { transport, ..flow("one", "cubic", 60) };
    let outcome = run(&scenario(link, seconds, 20.0, vec![flow]));
    let delays = outcome.curve("link", "queuing_delay");
    let settled: Vec<f64> = delays.iter().filter(|(at, _)| *at > 20.0).map(|(_, ms)| *ms).collect();
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    let share = of(outcome.window("all"), "one").share_of_payload_capacity;
    let losses = outcome.totals("one").losses;
    println!("{queue}, ecn {ecn}, {seconds} s: {mean:.1} ms, {share:.3}, {losses} losses");
    (mean, share, losses)
}

const QUEUES: [&str; 7] = [
    "pie",
    "pie,preset=linux",
    "pie,preset=linux-3.17",
    "pie,preset=freebsd",
    "fq_pie",
    "fq_pie,preset=freebsd",
    "dualpi2",
];

#[test]
fn a_loss_based_flow_has_its_queue_around_the_target() {
    for queue in QUEUES {
        let (ms, share, losses) = cubic_over(queue, "false", 120.0);
        // Between its drops the flow's window falls by 30 %, which empties a queue of 15 ms: the mean is below the target.
        assert!((8.0..20.0).contains(&ms), "{queue}: {ms} ms");
        assert!(share > 0.95 && losses > 0, "{queue}: {share}, {losses} losses");
    }
    let (droptail_ms, ..) = cubic_over("droptail", "false", 120.0);
    assert!(droptail_ms > 200.0, "{droptail_ms} ms with droptail");
}

#[test]
fn once_the_flow_has_started_marks_are_enough() {
    // Slow start overruns 10 %, from which on all of them drop: what is lost is lost in the first 20 s.
    for queue in QUEUES {
        let ecn = if queue == "dualpi2" { "dualpi2".to_owned() } else { format!("{queue},ecn=true") };
        let (.., lost_at_the_start) = cubic_over(&ecn, "true", 21.0);
        let (ms, share, losses) = cubic_over(&ecn, "true", 120.0);
        assert!((8.0..20.0).contains(&ms) && share > 0.95, "{queue}: {ms} ms, {share}");
        assert_eq!(losses, lost_at_the_start, "{queue}");
    }
}

/// Returns the shares of two NewReno flows with the same round trip, the second one as lower effort.
fn best_and_lower_effort(queue: &str) -> (f64, f64) {
    let mut link = link("10 Mbit/s", "1000 packets");
    link.queue = queue.parse().unwrap();
    let lower =
        afteryou_scenario::Flow { role: afteryou_scenario::Role::Background, ..flow("lower", "newreno", 60) };
    let outcome = run(&scenario(link, 300.0, 20.0, vec![flow("best", "newreno", 60), lower]));
    let share = |name| of(outcome.window("all"), name).share_of_payload_capacity;
    let shares = (share("best"), share("lower"));
    println!("{queue}: {shares:.3?}");
    shares
}

#[test]
fn lower_effort_has_one_over_the_root_of_its_weight_and_no_less() {
    let (best, lower) = best_and_lower_effort("pie");
    assert!((0.8..1.25).contains(&(lower / best)), "PIE itself knows no difference");
    for (queue, weight) in [("le_pie,weight=4", 4.0f64), ("le_pie", 16.0), ("le_pie,weight=64", 64.0)] {
        let (best, lower) = best_and_lower_effort(queue);
        let (ratio, law) = (lower / best, 1.0 / weight.sqrt());
        assert!((0.75..1.3).contains(&(ratio / law)), "{queue}: {ratio} for {law}");
        assert!(best + lower > 0.9, "{queue}");
    }
}
