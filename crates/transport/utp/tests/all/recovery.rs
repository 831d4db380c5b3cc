//! Loss recovery over whole paths, in virtual time.

use crate::support::{Path, Plan, Side, World};
use afteryou_base::Time;
use afteryou_utp::packet::Kind;
use afteryou_utp::Config;
use afteryou_utp::SeqNr;

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

#[test]
fn every_controller_delivers_every_byte_on_every_path() {
    for controller in ["ledbat++", "ledbat", "cubic", "newreno"] {
        for rtt_ms in RTTS_MS {
            for loss in LOSSES {
                let mut world = World::new(
                    Path::new(20, 500).lossy(loss),
                    vec![Plan::bulk(controller, rtt_ms).sending(600_000)],
                );
                let done = world.run_to_completion(300_000);
                let flow = &world.flows[0];
                let case =
                    format!("{controller}, {rtt_ms} ms, loss {loss}: {:?}", flow.client().statistics());
                assert!(done, "{case}");
                assert_eq!((flow.received, flow.corrupt), (600_000, false), "{case}");
            }
        }
    }
}

#[test]
fn a_cubic_that_overfills_a_long_buffer_recovers_its_losses_without_a_timeout() {
    for rtt_ms in RTTS_MS {
        let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("cubic", rtt_ms)]);
        world.run_until(20_000);
        let statistics = world.flows[0].client().statistics();
        assert!(statistics.losses > 500, "{rtt_ms} ms: {statistics:?}");
        assert_eq!((statistics.timeouts, statistics.spurious_losses), (0, 0), "{rtt_ms} ms: {statistics:?}");
        let share =
            world.flows[0].received_between(8_000, 20_000) as f64 / world.payload_capacity(8_000, 20_000);
        assert!(share > 0.97, "{rtt_ms} ms: {share}");
    }
}

/// Drops the first transmission of `count` packets in a row, from the `from`-th data packet on.
fn drop_once(world: &mut World, from: u64, count: u64) {
    let (mut seen, mut first) = (std::collections::HashSet::new(), None::<SeqNr>);
    world.filter = Some(Box::new(move |_, _, side, packet| {
        if side != Side::Client || packet.header.kind != Kind::Data {
            return true;
        }
        let seq_nr = packet.header.seq_nr;
        let first = *first.get_or_insert(seq_nr);
        let index = u64::from(seq_nr.since(first));
        !((from..from + count).contains(&index) && seen.insert(seq_nr))
    }));
}

#[test]
fn fifteen_hundred_losses_in_one_window_take_no_timeout() {
    for rtt_ms in RTTS_MS {
        // 400 Mbit/s and a window that slow start has opened to more than 3000 packets by then.
        let mut world =
            World::new(Path::new(400, 500), vec![Plan::bulk("cubic", rtt_ms).sending(20_000_000)]);
        drop_once(&mut world, 3000, 1500);
        assert!(world.run_to_completion(60_000), "{rtt_ms} ms");
        let statistics = world.flows[0].client().statistics();
        assert!(statistics.losses >= 1500, "{rtt_ms} ms: {statistics:?}");
        assert_eq!(statistics.timeouts, 0, "{rtt_ms} ms: {statistics:?}");
        assert!(!world.flows[0].corrupt);
    }
}

#[test]
fn a_lost_retransmission_is_found_within_round_trips_and_not_by_timeout() {
    for rtt_ms in RTTS_MS {
        let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("newreno", rtt_ms)]);
        let (mut first, mut dropped) = (None::<SeqNr>, 0);
        world.filter = Some(Box::new(move |_, _, side, packet| {
            if side != Side::Client || packet.header.kind != Kind::Data {
                return true;
            }
            let first = *first.get_or_insert(packet.header.seq_nr);
            let hit = packet.header.seq_nr.since(first) == 200 && dropped < 3;
            dropped += u32::from(hit);
            !hit
        }));
        world.run_until(10_000);
        let statistics = world.flows[0].client().statistics();
        assert!(statistics.retransmissions >= 3 && statistics.timeouts == 0, "{rtt_ms} ms: {statistics:?}");
    }
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    for rtt_ms in RTTS_MS {
        let bytes = 100 * u64::from(Config::default().payload);
        let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("newreno", rtt_ms).sending(bytes)]);
        let mut fins = 0;
        world.filter = Some(Box::new(move |_, _, side, packet| {
            let tail = side == Side::Client && packet.header.kind == Kind::Fin;
            fins += u32::from(tail);
            !(tail && fins == 1)
        }));
        assert!(world.run_to_completion(20_000));
        let statistics = world.flows[0].client().statistics();
        assert_eq!((statistics.probes, statistics.timeouts), (1, 0), "{rtt_ms} ms: {statistics:?}");
    }
}

#[test]
fn a_lost_last_data_packet_is_repaired_without_a_timeout() {
    for rtt_ms in RTTS_MS {
        let bytes = 100 * u64::from(Config::default().payload);
        let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("newreno", rtt_ms).sending(bytes)]);
        drop_once(&mut world, 99, 1);
        assert!(world.run_to_completion(20_000));
        let flow = &world.flows[0];
        let statistics = flow.client().statistics();
        assert_eq!((flow.received, flow.corrupt), (bytes, false));
        assert_eq!((statistics.timeouts, statistics.spurious_losses), (0, 0), "{rtt_ms} ms: {statistics:?}");
        assert!((1..=2).contains(&statistics.retransmissions), "{rtt_ms} ms: {statistics:?}");
    }
}

#[test]
fn after_an_outage_of_ten_seconds_the_transfer_goes_on() {
    for controller in ["ledbat++", "ledbat", "cubic", "newreno"] {
        for rtt_ms in RTTS_MS {
            let mut world = World::new(Path::new(20, 500), vec![Plan::bulk(controller, rtt_ms)]);
            let outage = Time::from_millis(8_000)..Time::from_millis(18_000);
            world.filter = Some(Box::new(move |now, _, _, _| !outage.contains(&now)));
            world.run_until(60_000);
            let flow = &world.flows[0];
            assert_eq!(flow.client().error(), None, "{controller}, {rtt_ms} ms");
            let share = flow.received_between(40_000, 60_000) as f64 / world.payload_capacity(40_000, 60_000);
            // RFC 6817's own start has no slow start: one packet per round trip, 88 of 462 packets at 250 ms.
            let least = if controller == "ledbat" { 0.2 } else { 0.5 };
            assert!(share > least, "{controller}, {rtt_ms} ms: {share}");
        }
    }
}

#[test]
fn windows_reach_4096_packets_and_4_mib_between_two_of_ours() {
    let mut world = World::new(Path::new(1000, 500), vec![Plan::bulk("cubic", 50)]);
    world.run_until(5_000);
    let statistics = world.flows[0].client().statistics();
    assert!(statistics.max_packets_outstanding >= 4096, "{statistics:?}");
    assert!(statistics.max_packets_outstanding * 1352 >= 4 << 20, "{statistics:?}");
}

#[test]
fn a_peer_that_shows_no_long_bitmap_gets_no_more_than_1023_packets() {
    let mut world = World::new(Path::new(1000, 500), vec![Plan::bulk("cubic", 50)]);
    // The first two SYNs carry the bitmap; the third does not, so it is answered without one, as by a libutp.
    world.filter = Some(Box::new(|_, _, _, packet| packet.header.kind != Kind::Syn || packet.sack.is_none()));
    world.run_until(20_000);
    let statistics = world.flows[0].client().statistics();
    assert_eq!(statistics.max_packets_outstanding, 1023, "{statistics:?}");
    assert!(!world.flows[0].corrupt);
}

#[test]
fn with_short_bitmaps_no_packet_is_resent_that_was_not_lost() {
    let mut world = World::new(Path::new(100, 500), vec![Plan::bulk("cubic", 50).sending(8_000_000)]);
    let mut dropped = std::collections::HashSet::new();
    let mut first = None::<SeqNr>;
    world.filter = Some(Box::new(move |_, _, side, packet| {
        if packet.header.kind == Kind::Syn {
            return packet.sack.is_none();
        }
        if side != Side::Client || packet.header.kind != Kind::Data {
            return true;
        }
        let first = *first.get_or_insert(packet.header.seq_nr);
        let index = packet.header.seq_nr.since(first);
        // Gaps further apart than a short bitmap reaches.
        !(index > 1000 && index.is_multiple_of(97) && dropped.insert(packet.header.seq_nr))
    }));
    assert!(world.run_to_completion(60_000));
    let (client, server) = (world.flows[0].client().statistics(), world.flows[0].server().statistics());
    assert!(client.losses >= 40, "{client:?}");
    assert!(server.duplicates_received <= client.probes, "{client:?} {server:?}");
    assert_eq!(client.timeouts, 0);
}
