//! What a background flow does to a foreground flow, over whole paths in virtual time: the demo's time table.

use crate::support::{Path, Plan, World};
use afteryou_base::param::Value;

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];

fn restart() -> (&'static str, Value) {
    ("restart", Value::Flag(true))
}

/// Builds a world with background from 0 to the end, and a CUBIC foreground from 12 to 22 s.
fn demo(rtt_ms: u64, background: Option<(&'static str, bool)>, mbit: u64) -> World {
    let foreground = Plan::bulk("cubic", rtt_ms).active(12_000, 22_000);
    let mut plans = vec![foreground];
    if let Some((controller, with_restart)) = background {
        let mut plan = Plan::bulk(controller, rtt_ms);
        if with_restart {
            plan.overrides.push(restart());
        }
        plans.push(plan);
    }
    let mut world = World::new(Path::new(mbit, 500), plans);
    world.run_until(30_000);
    world
}

fn share(world: &World, flow: usize, from_ms: u64, to_ms: u64) -> f64 {
    world.flows[flow].received_between(from_ms, to_ms) as f64 / world.payload_capacity(from_ms, to_ms)
}

fn kept(with: &World, without: &World, from_ms: u64) -> f64 {
    with.flows[0].received_between(from_ms, 22_000) as f64
        / without.flows[0].received_between(from_ms, 22_000) as f64
}

#[test]
fn the_demos_background_fills_the_link_alone_and_steps_aside_at_once() {
    let alone = demo(40, None, 20);
    for (with_restart, least_at_the_end) in [(true, 0.85), (false, 0.5)] {
        let world = demo(40, Some(("ledbat++", with_restart)), 20);
        assert!(share(&world, 1, 3_000, 10_000) >= 0.88);
        assert!(kept(&world, &alone, 12_000) >= 0.92, "{}", kept(&world, &alone, 12_000));
        assert!(kept(&world, &alone, 14_000) >= 0.98, "{}", kept(&world, &alone, 14_000));
        assert!(world.sojourn_percentile(95, 3_000, 10_000) <= 75.0);
        assert!(share(&world, 1, 25_000, 30_000) >= least_at_the_end, "{}", share(&world, 1, 25_000, 30_000));
    }
}

#[test]
fn a_cubic_in_its_place_does_the_harm() {
    let alone = demo(40, None, 20);
    let world = demo(40, Some(("cubic", false)), 20);
    assert!(kept(&world, &alone, 12_000) <= 0.5);
    assert!(world.sojourn_percentile(95, 3_000, 10_000) >= 300.0);
}

#[test]
fn on_paths_short_and_long_the_foreground_is_unharmed_with_restart_as_without() {
    for rtt_ms in RTTS_MS {
        let alone = demo(rtt_ms, None, 20);
        for with_restart in [true, false] {
            let world = demo(rtt_ms, Some(("ledbat++", with_restart)), 20);
            let kept = (kept(&world, &alone, 12_000), kept(&world, &alone, 14_000));
            assert!(kept.0 >= 0.92 && kept.1 >= 0.95, "{rtt_ms} ms, restart {with_restart}: {kept:?}");
        }
    }
}

#[test]
fn with_restart_the_link_is_filled_again_within_seconds_of_the_foregrounds_leaving() {
    // From 22 s on: half a second of queue, four quiet rounds, slow start by (1 + GAIN) per round trip.
    // On long paths slow start overshoots TARGET, and the decrease that follows leaves some room.
    let paths = [(5, 23_500, 0.85), (50, 24_000, 0.85), (135, 25_000, 0.75), (250, 27_000, 0.6)];
    for (rtt_ms, filled_by_ms, least) in paths {
        let with = demo(rtt_ms, Some(("ledbat++", true)), 20);
        let without = demo(rtt_ms, Some(("ledbat++", false)), 20);
        let end = filled_by_ms + 2_000;
        let shares = (share(&with, 1, filled_by_ms, end), share(&without, 1, filled_by_ms, end));
        assert!(shares.0 >= least, "{rtt_ms} ms: {shares:?}");
        assert!(shares.0 >= shares.1, "{rtt_ms} ms: {shares:?}");
    }
}

#[test]
fn restart_changes_nothing_for_a_flow_that_nobody_disturbs() {
    for rtt_ms in RTTS_MS {
        let run = |with_restart: bool| {
            let mut plan = Plan::bulk("ledbat++", rtt_ms);
            plan.overrides.extend(with_restart.then(restart));
            let mut world = World::new(Path::new(20, 500), vec![plan]);
            world.run_until(20_000);
            world.flows[0].received
        };
        assert_eq!(run(true), run(false), "{rtt_ms} ms");
    }
}
