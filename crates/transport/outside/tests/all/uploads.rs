//! Uploads of senders that keep to a rate.

use crate::path::Path;
use afteryou_outside::rule::Direction::Up;

const ROUND_TRIPS_MS: [u64; 4] = [5, 50, 135, 250];

/// Returns the least use. On long paths a connection that takes its turn needs seconds to fill its window, and sixteen often take turns.
fn least(base_ms: u64, connections: usize) -> f64 {
    match (base_ms, connections) {
        (135.., 16) => 0.75,
        (200.., _) => 0.85,
        _ => 0.9,
    }
}

#[test]
fn alone_they_use_the_link_and_keep_the_queue_short() {
    let mut missed = Vec::new();
    for (base_ms, connections) in
        ROUND_TRIPS_MS.into_iter().flat_map(|base_ms| [1, 4, 16].map(|n| (base_ms, n)))
    {
        let mut path = Path::new(Up, 20.0, base_ms, 500.0, connections);
        path.run(10_000);
        let (used, _) = path.run(20_000);
        if used < least(base_ms, connections) {
            missed.push(format!("{base_ms} ms, {connections} connections: {used}"));
        }
        if path.highest_ms > 80.0 + base_ms as f64 {
            missed
                .push(format!("{base_ms} ms, {connections} connections: a queue of {} ms", path.highest_ms));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn beside_reno_they_leave_it_the_link_and_come_back() {
    let mut missed = Vec::new();
    for (base_ms, connections) in
        ROUND_TRIPS_MS.into_iter().flat_map(|base_ms| [1, 4, 16].map(|n| (base_ms, n)))
    {
        let mut path = Path::new(Up, 20.0, base_ms, 500.0, connections);
        path.run(10_000);
        path.start_reno();
        path.run(5_000);
        let (group, reno) = path.run(20_000);
        if group > 0.08 {
            missed.push(format!("{base_ms} ms, {connections} connections: they take {group} beside {reno}"));
        }
        path.stop_reno();
        path.run(3_000 + 30 * base_ms);
        let (used, _) = path.run(5_000);
        if used < least(base_ms, connections) - 0.12 {
            missed.push(format!("{base_ms} ms, {connections} connections: back to {used}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
