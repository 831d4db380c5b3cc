//! Marks of Congestion Experienced, in virtual time and on loopback.

use crate::support::{Path, Plan, Side, World};
use afteryou_base::param::Value;
use afteryou_base::Time;
use afteryou_utp::packet::Kind;
use afteryou_utp::{Config, Connection};

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];

fn ecn() -> Config {
    Config { ecn: true, ..Config::default() }
}

/// Builds a transfer over CoDel that marks what it can.
fn world(controller: &'static str, rtt_ms: u64, loss: f64, ends: [Config; 2]) -> World {
    let [client, server] = ends;
    let plan =
        Plan { config: client, server: Some(server), ..Plan::bulk(controller, rtt_ms).sending(8_000_000) };
    World::new(Path::new(10, 500).lossy(loss), vec![plan]).queued_with("codel", &[("ecn", Value::Flag(true))])
}

fn client(world: &World) -> &Connection {
    world.flows[0].client()
}

#[test]
fn every_mark_is_counted_and_nothing_is_lost_to_a_queue_that_marks() {
    for rtt_ms in RTTS_MS {
        let mut world = world("cubic", rtt_ms, 0.0, [ecn(), ecn()]);
        assert!(world.run_to_completion(120_000));
        let statistics = client(&world).statistics();
        assert!(statistics.sends_ecn && world.marks > 0, "{rtt_ms} ms: {statistics:?}");
        assert_eq!((statistics.marks, statistics.losses, world.drops), (world.marks, 0, 0), "{rtt_ms} ms");
        assert!(!world.flows[0].corrupt);
    }
}

#[test]
fn marks_keep_the_queue_as_short_as_losses_do() {
    for rtt_ms in RTTS_MS {
        let queue_ms = |ends| {
            let mut world = world("cubic", rtt_ms, 0.0, ends);
            assert!(world.run_to_completion(120_000));
            world.sojourn_percentile(50, 2_000, 120_000)
        };
        let [marks, losses] = [[ecn(), ecn()], [Config::default(), Config::default()]].map(queue_ms);
        assert!(marks <= losses + 5.0, "{rtt_ms} ms: {marks} ms with marks, {losses} ms with losses");
    }
}

#[test]
fn marks_survive_lost_acknowledgements() {
    for rtt_ms in RTTS_MS {
        for loss in [0.001, 0.01, 0.05] {
            let mut world = world("cubic", rtt_ms, loss, [ecn(), ecn()]);
            assert!(world.run_to_completion(600_000), "{rtt_ms} ms, {loss}");
            let statistics = client(&world).statistics();
            // The last acknowledgement may be lost, and so may a handshake's part, which turns ECN off.
            assert!(statistics.marks <= world.marks, "{rtt_ms} ms, {loss}");
            assert!(statistics.marks + 2 >= world.marks, "{rtt_ms} ms, {loss}: {statistics:?}");
            assert!(!world.flows[0].corrupt);
        }
    }
}

#[test]
fn a_peer_that_does_not_count_marks_gets_no_ecn_capable_packet() {
    for ends in [[ecn(), Config::default()], [Config::default(), ecn()]] {
        let mut world = world("cubic", 50, 0.0, ends);
        assert!(world.run_to_completion(120_000));
        let statistics = client(&world).statistics();
        assert!(!statistics.sends_ecn && statistics.marks == 0 && world.marks == 0);
    }
}

#[test]
fn a_handshake_without_long_bitmaps_turns_ecn_off() {
    let mut world = world("cubic", 50, 0.0, [ecn(), ecn()]);
    // Only the third SYN gets through, which is a libutp's.
    world.filter = Some(Box::new(|_, _, _, packet| packet.header.kind != Kind::Syn || packet.sack.is_none()));
    assert!(world.run_to_completion(120_000));
    assert!(!client(&world).sends_ecn() && world.marks == 0);
}

#[test]
fn a_path_that_drops_ecn_capable_packets_costs_one_timeout() {
    let mut world = world("cubic", 50, 0.0, [ecn(), ecn()]);
    // The client's data is lost for as long as it is ECN-capable, which it is until the first timeout, after half a second.
    world.filter = Some(Box::new(|now, _, side, packet| {
        side == Side::Server || packet.header.kind != Kind::Data || now > Time::from_millis(500)
    }));
    assert!(world.run_to_completion(120_000));
    assert!(!client(&world).sends_ecn() && !world.flows[0].corrupt);
}

#[cfg(target_os = "linux")]
mod on_sockets {
    use crate::support::relay::{Manner, Relay};
    use afteryou_utp::{Endpoint, EndpointConfig, Statistics};
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Sends `bytes` to an endpoint, over a relay if `marks` is given; returns the sender's statistics at the end.
    async fn transfer(bytes: usize, marks: Option<bool>) -> Statistics {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let receiver = Endpoint::bind(any, EndpointConfig::foreground()).unwrap();
        let sender = Endpoint::bind(any, EndpointConfig::foreground()).unwrap();
        let direct = receiver.local_addr().unwrap();
        let relay = marks.map(|marks| Relay::new(direct, Manner { marks, ..Manner::default() }));
        let to = relay.as_ref().map_or(direct, |relay| relay.addr);
        let receiving = tokio::spawn(async move {
            let mut received = Vec::new();
            receiver.accept().await.unwrap().read_to_end(&mut received).await.unwrap();
            received.len()
        });
        let mut stream = sender.connect(to).await.unwrap();
        let monitor = stream.monitor();
        stream.write_all(&vec![7; bytes]).await.unwrap();
        stream.flush().await.unwrap();
        let statistics = stream.statistics();
        stream.shutdown().await.unwrap();
        assert_eq!(receiving.await.unwrap(), bytes);
        monitor.statistics().unwrap_or(statistics)
    }

    #[tokio::test]
    async fn endpoints_agree_on_ecn_and_count_the_marks_of_each_datagram() {
        let plain = transfer(1_000_000, None).await;
        assert_eq!((plain.sends_ecn, plain.marks), (true, 0));
        let marked = transfer(60_000, Some(true)).await;
        assert!(
            marked.sends_ecn && marked.marks > 20 && marked.marks <= marked.data_packets_sent + 1,
            "{marked:?}"
        );
        assert_eq!(marked.losses, 0);
        let cleared = transfer(60_000, Some(false)).await;
        assert_eq!((cleared.sends_ecn, cleared.marks), (true, 0));
    }
}
