//! Downloads from servers that send what the window allows.

use crate::path::Path;
use afteryou_outside::rule::Direction::Down;

#[test]
fn none_of_sixteen_is_without_a_byte_for_eight_seconds() {
    let mut path = Path::new(Down, 20.0, 40, 500.0, 16);
    path.run(5_000);
    path.start_reno();
    for _ in 0..8 {
        let before = path.moved();
        path.run(8_000);
        for (index, (before, after)) in before.into_iter().zip(path.moved()).enumerate() {
            assert!(after > before, "connection {index} has not moved");
        }
    }
}

#[test]
fn at_most_two_are_active_while_somebody_else_is_there() {
    let mut path = Path::new(Down, 20.0, 40, 500.0, 16);
    path.run(8_000);
    path.start_reno();
    path.run(2_000);
    for _ in 0..100 {
        path.run(100);
        assert!(path.group.places().0 <= 3, "two, and one that takes over");
    }
}

#[test]
fn where_each_server_is_slow_more_are_active() {
    let mut path = Path::new(Down, 20.0, 40, 500.0, 8);
    for connection in 0..8 {
        path.limit(connection, 300_000.0);
    }
    path.run(20_000);
    let (used, _) = path.run(10_000);
    assert!(used >= 0.85, "eight servers of 2.4 Mbit/s each use {used} of 20 Mbit/s");
}

#[test]
fn a_connection_that_does_not_fill_its_window_is_left_alone() {
    let mut path = Path::new(Down, 20.0, 40, 500.0, 2);
    path.limit(1, 20_000.0);
    path.run(5_000);
    path.start_reno();
    path.run(5_000);
    let before = path.moved()[1];
    path.run(10_000);
    let per_s = (path.moved()[1] - before) as f64 / 10.0;
    assert!(per_s >= 0.9 * 20_000.0, "a stream of 20 kB/s has {per_s}");
}

#[test]
fn random_losses_do_not_take_the_link_away() {
    for (lose_every, least) in [(1000, 0.75), (100, 0.4)] {
        let mut path = Path::new(Down, 20.0, 50, 500.0, 4);
        path.lose_every = lose_every;
        path.run(10_000);
        let (used, _) = path.run(20_000);
        assert!(used >= least, "one of {lose_every} lost: {used}");
    }
}

#[test]
fn files_that_end_leave_the_link_to_those_that_remain() {
    const ALL: u64 = 30_000_000;
    for (base_ms, connections) in [(5, 4), (40, 4), (40, 16)] {
        let mut path = Path::new(Down, 20.0, base_ms, 500.0, connections);
        path.set_size(ALL / connections as u64);
        let took_ms = path.run_to_the_end() as f64;
        let least_ms = ALL as f64 / (20.0 * 125.0 * 1448.0 / 1500.0);
        assert!(took_ms <= 1.05 * least_ms, "{base_ms} ms, {connections} files: {took_ms} of {least_ms} ms");
    }
}
