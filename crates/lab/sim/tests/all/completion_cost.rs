//! The cost of the background to flows that end and to applications that make transfers: their completion times with it and without.

use crate::support::{flow, link, ms, run, scenario, Look};
use afteryou_scenario::law::Drawn;
use afteryou_scenario::outcome::Comparison;
use afteryou_scenario::traffic::Web;
use afteryou_scenario::{Duration, Flow, Law, Outcome, Role, Size, Traffic, Window};

fn size(bytes: u64) -> Size {
    Size::from_bytes(bytes)
}

fn web() -> Traffic {
    Traffic::Web(Web {
        users: 5,
        think: Law::Drawn(Drawn::Exponential(ms(4000))),
        objects: 10,
        size: Law::Fixed(size(20_000)),
        connections: 6,
    })
}

/// Runs a foreground beside CUBIC from `from_s` on, over 10 Mbit/s and 40 s, with a run without the background.
fn beside(traffic: Traffic, from_s: f64) -> Outcome {
    let front = Flow { traffic, ..flow("front", "cubic", 40) };
    let bulk = Flow {
        role: Role::Background,
        start: Duration::from_secs_f64(from_s),
        ..flow("backup", "cubic", 40)
    };
    let mut scenario = scenario(link("10 Mbit/s", "100 packets"), 40.0, 0.0, vec![front, bulk]);
    let window = |name: &str, from, to| Window { name: name.to_owned(), from: ms(from), to: ms(to) };
    scenario.measure = vec![window("before", 0, 20_000), window("during", 20_000, 40_000)];
    scenario.baseline = true;
    run(&scenario)
}

fn compared<'a>(outcome: &'a Outcome, window: &str) -> &'a Comparison {
    outcome.comparison.iter().find(|compared| compared.window == window).expect("compared")
}

#[test]
fn pages_that_keep_their_goodput_and_take_longer_show_it_in_the_window_in_which_they_do() {
    let outcome = beside(web(), 20.0);
    let (before, during) = (compared(&outcome, "before").completion, compared(&outcome, "during"));
    // Until the background comes the two runs are the same.
    assert!(before.completion_mean_ratio.is_some_and(|ratio| (ratio - 1.0).abs() < 0.02), "{before:?}");
    let cost = during.completion;
    assert!(cost.completion_mean_ratio.is_some_and(|ratio| ratio > 1.3), "{cost:?}");
    assert!(cost.completion_p95_ratio.is_some_and(|ratio| ratio > 1.2), "{cost:?}");
    // Goodput hides it: users think as long as before.
    assert!(during.kept.is_some_and(|kept| kept > 0.75), "{during:?}");
    assert!(cost.transfers >= cost.transfers_completed && cost.transfers > Some(10), "{cost:?}");
}

#[test]
fn every_kind_of_traffic_with_transfers_has_its_cost() {
    let every = |ms: u64| Law::Fixed(Duration::from_millis(ms));
    let kinds = [
        web(),
        Traffic::Size(size(15_000_000)),
        Traffic::Chunk(size(500_000)),
        Traffic::Arrivals { arrivals: every(1000), size: Law::Fixed(size(500_000)) },
        Traffic::Bursts { every: ms(4000), size: size(1_500_000) },
        Traffic::Peers { chunk: size(500_000), pause: ms(500), persist: "50 %".parse().unwrap() },
    ];
    for traffic in kinds {
        let outcome = beside(traffic.clone(), 0.0);
        let cost = compared(&outcome, "before").completion;
        assert!(cost.completion_mean_ratio.is_some_and(|ratio| ratio > 1.1), "{traffic:?}: {cost:?}");
        let [with, without] = cost.times().map(|times| times.expect("counted"));
        assert!(with.mean_s > without.mean_s && with.transfers > 0, "{traffic:?}: {cost:?}");
    }
    let bulk = beside(Traffic::Bulk, 0.0);
    assert!(compared(&bulk, "before").completion.is_empty());
}

#[test]
fn a_file_that_does_not_end_beside_the_background_has_a_time_without_it_alone() {
    let outcome = beside(Traffic::Size(size(45_000_000)), 0.0);
    let cost = compared(&outcome, "during").completion;
    assert_eq!((cost.transfers_completed, cost.baseline_transfers_completed), (Some(0), Some(1)), "{cost:?}");
    assert!(cost.completion_mean_s.is_none() && cost.completion_mean_ratio.is_none(), "{cost:?}");
    assert!(cost.baseline_completion_mean_s.is_some_and(|took_s| (36.0..40.0).contains(&took_s)), "{cost:?}");
}

#[test]
fn chunks_over_one_connection_follow_each_other_and_a_pause_gives_the_rest_up() {
    let chunks = Flow {
        traffic: Traffic::Chunk(size(1_000_000)),
        active: vec![[ms(0), ms(10_500)], [ms(20_000), ms(30_500)]],
        ..flow("front", "cubic", 40)
    };
    let outcome = run(&scenario(link("10 Mbit/s", "100 packets"), 40.0, 0.0, vec![chunks]));
    let done = outcome.totals("front").completions.clone().expect("chunks");
    // 1 MB takes 0.83 s at least: twelve fit into 10.5 s.
    assert!((18..=24).contains(&done.completed), "{done:?}");
    assert_eq!(done.begun, done.completed + 2, "{done:?}");
    assert!(done.bytes.balances() && done.bytes.closed > 0, "{:?}", done.bytes);
}
