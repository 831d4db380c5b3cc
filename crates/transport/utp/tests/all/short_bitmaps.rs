//! Loss recovery towards peers like libutp, whose bitmaps speak of the next 31 packets only, in virtual time.

use crate::support::{Path, Plan, Side, World};
use afteryou_utp::packet::Kind;
use afteryou_utp::SeqNr;

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];

/// Builds a transfer between ends that both write short bitmaps. `drops` decides on a data packet, by its place in the
/// stream and how often it was sent before, whether it gets lost.
fn world(rtt_ms: u64, bytes: u64, mut drops: impl FnMut(u64, u32) -> bool + 'static) -> World {
    let mut world = World::new(Path::new(100, 500), vec![Plan::bulk("cubic", rtt_ms).sending(bytes)]);
    let mut sent = std::collections::HashMap::<SeqNr, u32>::new();
    let mut first = None::<SeqNr>;
    world.filter = Some(Box::new(move |_, _, side, packet| {
        if packet.header.kind == Kind::Syn {
            return packet.sack.is_none(); // the third one, which is answered as by a libutp
        }
        if side != Side::Client || packet.header.kind != Kind::Data {
            return true;
        }
        let first = *first.get_or_insert(packet.header.seq_nr);
        let before = sent.entry(packet.header.seq_nr).or_default();
        *before += 1;
        !drops(u64::from(packet.header.seq_nr.since(first)), *before - 1)
    }));
    world
}

#[test]
fn a_burst_of_losses_longer_than_the_bitmap_takes_no_timeout() {
    for rtt_ms in RTTS_MS {
        for count in [31, 40, 100, 400] {
            let mut world =
                world(rtt_ms, 4_000_000, move |at, before| (600..600 + count).contains(&at) && before == 0);
            assert!(world.run_to_completion(60_000));
            let (client, server) =
                (world.flows[0].client().statistics(), world.flows[0].server().statistics());
            println!("{rtt_ms} ms, {count}: {:?} {client:?} {}", world.now, server.duplicates_received);
            assert_eq!(client.timeouts, 0, "{rtt_ms} ms, {count} lost: {client:?}");
            assert!(
                server.duplicates_received <= client.probes,
                "{rtt_ms} ms, {count} lost: {client:?} {server:?}"
            );
            assert!(!world.flows[0].corrupt);
        }
    }
}

#[test]
fn a_retransmission_lost_again_and_again_takes_no_timeout() {
    for rtt_ms in RTTS_MS {
        let mut world = world(rtt_ms, 8_000_000, |at, before| at == 600 && before < 2);
        assert!(world.run_to_completion(60_000));
        let client = world.flows[0].client().statistics();
        println!("{rtt_ms} ms: {:?} {client:?}", world.now);
        assert_eq!(client.timeouts, 0, "{rtt_ms} ms: {client:?}");
        assert!(!world.flows[0].corrupt);
    }
}
