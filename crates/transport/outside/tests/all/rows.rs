//! Both directions, alone and beside Reno, over four round trips and three numbers of connections.

use crate::path::Path;
use afteryou_outside::rule::Direction::{self, Down, Up};

/// Bounds of a direction: a rate is coarser than a window.
struct Bounds {
    direction: Direction,
    /// Least use of the link alone, at round trips that are not long.
    alone: f64,
    /// Largest queue alone beyond a round trip, ms.
    queue_ms: f64,
    /// Largest share beside Reno.
    beside: f64,
}

const BOUNDS: [Bounds; 2] = [
    Bounds { direction: Down, alone: 0.93, queue_ms: 60.0, beside: 0.05 },
    Bounds { direction: Up, alone: 0.9, queue_ms: 80.0, beside: 0.08 },
];

impl Bounds {
    /// Returns the least use. On long paths a connection that gets a place needs seconds to fill its window, and of sixteen one begins after the other.
    fn least(&self, base_ms: u64, connections: usize) -> f64 {
        match (base_ms, connections) {
            (135.., 16) => 0.75,
            (200.., _) => 0.85,
            _ => self.alone,
        }
    }
}

/// Asserts that `misses` finds none on any path.
fn assert_none(misses: impl Fn(&Bounds, u64, usize, &mut Path) -> Vec<String>) {
    let mut all = Vec::new();
    for bounds in &BOUNDS {
        for (base_ms, connections) in
            [5, 50, 135, 250].into_iter().flat_map(|base_ms| [1, 4, 16].map(|n| (base_ms, n)))
        {
            let mut path = Path::new(bounds.direction, 20.0, base_ms, 500.0, connections);
            path.run(10_000);
            let found = misses(bounds, base_ms, connections, &mut path);
            all.extend(found.into_iter().map(|miss| {
                format!("{:?}, {base_ms} ms, {connections} connections: {miss}", bounds.direction)
            }));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn alone_they_use_the_link_and_keep_the_queue_short() {
    assert_none(|bounds, base_ms, connections, path| {
        let (used, _) = path.run(20_000);
        let is_used = used >= bounds.least(base_ms, connections);
        let is_short = path.highest_ms <= bounds.queue_ms + base_ms as f64;
        match is_used && is_short {
            true => Vec::new(),
            false => vec![format!("{used}, a queue of {} ms", path.highest_ms)],
        }
    });
}

#[test]
fn beside_reno_they_leave_it_the_link_and_come_back() {
    assert_none(|bounds, base_ms, connections, path| {
        path.start_reno();
        path.run(5_000);
        let (beside, reno) = path.run(20_000);
        path.stop_reno();
        path.run(3_000 + 30 * base_ms);
        let (back, _) = path.run(5_000);
        match beside <= bounds.beside && back >= bounds.least(base_ms, connections) - 0.12 {
            true => Vec::new(),
            false => vec![format!("{beside} beside {reno}, back to {back}")],
        }
    });
}
