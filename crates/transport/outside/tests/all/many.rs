//! Thousands of connections.

use afteryou_base::{Span, Time};
use afteryou_outside::rule::{Direction, Group, Id, Params, Reading};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

/// Returns the shortest time of a tick of this number of connections, each of which moves data and has a destination of its own.
fn shortest_tick(connections: u32) -> Duration {
    let mut group = Group::new(Direction::Down, Params::default());
    (0..60u64)
        .map(|tick| {
            let readings: Vec<Reading> = (0..connections)
                .map(|id| Reading {
                    id: Id(u64::from(id)),
                    peer: IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + id)),
                    least_rtt: Some(Span::from_millis(40)),
                    rtt: Some(Span::from_millis(60)),
                    bytes: tick * 20_000,
                    lost: 0,
                    mss: 1448,
                    in_flight: 0,
                })
                .collect();
            let began = Instant::now();
            group.tick(Time::from_millis(10 * tick), &readings);
            began.elapsed()
        })
        // The first ones make room.
        .skip(20)
        .min()
        .unwrap_or_default()
}

#[test]
fn the_time_of_a_tick_grows_with_the_connections_and_not_with_their_square() {
    let (few, many) = (shortest_tick(100), shortest_tick(1600));
    // The square of sixteen would be 256, and what does not fit into a cache takes a few times as long.
    assert!(many < few * 100, "100 connections: {few:?}, 1600: {many:?}");
}
