//! The search for the path MTU in virtual time: short paths and long ones, lossy ones, and paths that shrink.

use crate::support::{Path, Plan, World};
use afteryou_utp::config::{SEARCH_FROM, SEARCH_TO};
use afteryou_utp::Config;

/// A header, bytes.
const HEADER: usize = 20;

fn searching(rtt_ms: u64, bytes: u64) -> Plan {
    let config = Config::default().searching();
    Plan { config, ..Plan::bulk("cubic", rtt_ms).sending(bytes) }
}

#[test]
fn the_payload_grows_to_what_the_path_takes_on_every_path() {
    for rtt_ms in [5, 50, 135, 250] {
        for loss in [0.0, 0.001, 0.01, 0.05] {
            for takes in [1200, 1300, 1392, 1472] {
                let what = format!("{rtt_ms} ms, {loss}, {takes} bytes");
                let plan = Plan { bytes: None, ..searching(rtt_ms, 0) };
                let mut world = World::new(Path::new(5, 100).lossy(loss), vec![plan]);
                world.path_mtu = takes;
                world.run_until(15_000);
                let flow = &world.flows[0];
                assert!(!flow.corrupt && flow.received > 100_000, "{what}");
                let found = flow.client().statistics().payload as usize + HEADER;
                assert!((1200..=takes).contains(&found), "{what}: {found}");
                // Three losses in a row of the same probe by chance: one in a million at 1 %, one in 8000 at 5 %.
                assert!(takes - found < 32, "{what}: {found}");
                // A search sends fifteen such packets. At 5 % three timeouts in a row begin a second one, in two of sixteen runs.
                let searches = if loss < 0.05 { 1 } else { 2 };
                assert!(world.too_long <= 24 * searches, "{what}: {} packets lost", world.too_long);
            }
        }
    }
}

#[test]
fn a_lost_probe_is_no_sign_of_congestion() {
    let run = |takes| {
        let mut world = World::new(Path::new(20, 400), vec![searching(50, 5_000_000)]);
        world.path_mtu = takes;
        assert!(world.run_to_completion(60_000));
        let statistics = world.flows[0].client().statistics();
        (world.too_long, statistics.losses, statistics.timeouts, world.drops)
    };
    let (too_long, losses, timeouts, drops) = run(1300);
    assert!(too_long >= 3 && timeouts == 0, "{too_long} {timeouts}");
    assert_eq!(losses, drops, "the controller has been informed of lost probes");
}

#[test]
fn a_path_that_shrinks_and_says_nothing_stalls_the_stream_for_two_timeouts() {
    for rtt_ms in [5, 50, 135, 250] {
        for loss in [0.0, 0.001, 0.01, 0.05] {
            let what = format!("{rtt_ms} ms, {loss}");
            let mut world = World::new(Path::new(20, 100).lossy(loss), vec![searching(rtt_ms, 3_000_000)]);
            world.path_mtu = 1472;
            // No more than 875 kB are under way then.
            (0..200_000).step_by(10).find(|ms| {
                world.run_until(*ms);
                world.flows[0].received > 500_000
            });
            assert!(world.flows[0].received < 2_000_000, "{what}: it is nearly over already");
            assert_eq!(world.flows[0].client().statistics().payload, SEARCH_TO, "{what}");
            world.path_mtu = 1300;
            let shrunk_at = world.now;
            assert!(world.run_to_completion(300_000), "{what}: it does not complete");
            let flow = &world.flows[0];
            assert!(!flow.corrupt && flow.received == 3_000_000, "{what}");
            let found = flow.client().statistics().payload;
            assert!((SEARCH_FROM..=1280).contains(&found), "{what}: {found}");
            // What was under way has arrived after a round trip and the queue's 100 ms.
            let shrunk_ms = shrunk_at.as_micros() / 1000;
            let after = flow.received_between(shrunk_ms + rtt_ms + 150, shrunk_ms + 5_000);
            assert!(after > 0, "{what}: nothing for five seconds");
        }
    }
}

#[test]
fn a_routers_report_is_followed_at_once() {
    let mut world = World::new(Path::new(20, 100), vec![searching(50, 5_000_000)]);
    world.run_until(1_000);
    assert_eq!(world.flows[0].client().statistics().payload, SEARCH_TO);
    world.path_mtu = 1300;
    let now = world.now;
    if let Some(client) = &mut world.flows[0].client {
        client.datagram_too_big(now, 1300);
        assert_eq!(client.statistics().payload, 1280);
        client.datagram_too_big(now, 68);
        assert_eq!(client.statistics().payload, SEARCH_FROM, "its sender may be anybody");
    }
    assert!(world.run_to_completion(60_000));
}
