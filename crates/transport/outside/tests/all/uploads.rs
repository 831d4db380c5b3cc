//! Uploads of senders that keep to a rate.

use crate::path::Path;
use afteryou_outside::rule::Direction::Up;

const ROUND_TRIPS_MS: [u64; 4] = [5, 50, 135, 250];

/// On long paths a connection that takes its turn needs seconds to fill its window.
fn least(base_ms: u64) -> f64 {
    if base_ms > 200 {
        0.8
    } else {
        0.9
    }
}

#[test]
fn alone_they_use_the_link_and_keep_the_queue_short() {
    let mut missed = Vec::new();
    for (base_ms, connections) in ROUND_TRIPS_MS.into_iter().flat_map(|base_ms| [1, 4, 16].map(|n| (base_ms, n))) {
        let mut path = Path::new(Up, 20.0, base_ms, 500.0, connections);
        path.run(10_000);
        let (used, _) = path.run(20_000);
        if used < least(base_ms) {
            missed.push(format!("{base_ms} ms, {connections} connections: {used}"));
        }
        if path.highest_ms > 80.0 + base_ms as f64 / 2.0 {
            missed.push(format!("{base_ms} ms, {connections} connections: a queue of {} ms", path.highest_ms));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn beside_reno_they_leave_it_the_link_and_come_back() {
    let mut missed = Vec::new();
    for (base_ms, connections) in ROUND_TRIPS_MS.into_iter().flat_map(|base_ms| [1, 4, 16].map(|n| (base_ms, n))) {
        let mut path = Path::new(Up, 20.0, base_ms, 500.0, connections);
        path.run(10_000);
        path.start_reno();
        path.run(5_000);
        let (group, reno) = path.run(20_000);
        if group > 0.08 {
            missed.push(format!("{base_ms} ms, {connections} connections: they take {group} beside {reno}"));
        }
        path.stop_reno();
        path.run(3_000 + 10 * base_ms);
        let (used, _) = path.run(5_000);
        let enough = if base_ms > 100 { 0.65 } else { 0.8 };
        if used < enough {
            missed.push(format!("{base_ms} ms, {connections} connections: back to {used}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
