//! When libutp-mod sends a lost retransmission again, packet by packet in virtual time.

use crate::support::{Path, Plan, Side, World};
use afteryou_base::Time;
use afteryou_utp::packet::Kind;
use afteryou_utp::{Config, Recovery, SeqNr};
use std::cell::RefCell;
use std::rc::Rc;

/// The packet that is dropped, by its place in the stream. It is in the first window, so that libutp's short bitmap still
/// shows what is sent a round trip later.
const PACKET: u16 = 3;

/// What was seen.
#[derive(Default)]
struct Seen {
    /// Transmissions of the packet.
    sent: Vec<Time>,
    /// The newest packet sent before each of them.
    newest: Vec<u16>,
    /// Since its latest transmission, the first bitmap that shows a packet sent later left the receiver.
    shown: Vec<Time>,
}

/// Loses the packet's first `lost` transmissions; round-trip time and what was seen.
fn lose(rtt_ms: u64, lost: usize) -> (World, Rc<RefCell<Seen>>) {
    let config = Config::recovering(Recovery::LibutpMod);
    let plan = Plan { config, ..Plan::bulk("newreno", rtt_ms).sending(100_000) };
    let mut world = World::new(Path::new(100, 500), vec![plan]);
    let seen = Rc::new(RefCell::new(Seen::default()));
    let notes = seen.clone();
    let (mut first, mut newest) = (None::<SeqNr>, 0);
    world.filter = Some(Box::new(move |now, _, side, packet| {
        let mut seen = notes.borrow_mut();
        if side == Side::Client && packet.header.kind == Kind::Data {
            let number = packet.header.seq_nr.since(*first.get_or_insert(packet.header.seq_nr));
            newest = newest.max(number);
            if number == PACKET {
                seen.sent.push(now);
                seen.newest.push(newest);
                return seen.sent.len() > lost;
            }
        }
        let (Some(sack), Some(first)) = (packet.sack, first) else { return true };
        let base = usize::from(packet.header.ack_nr.since(first)) + 1;
        let shows_later = sack.received().any(|offset| base + offset > usize::from(newest_of(&seen)));
        if side == Side::Server && shows_later && seen.shown.len() + 1 < seen.sent.len() {
            seen.shown.push(now);
        }
        true
    }));
    (world, seen)
}

fn newest_of(seen: &Seen) -> u16 {
    seen.newest.last().copied().unwrap_or(u16::MAX)
}

#[test]
fn a_lost_retransmission_goes_again_as_soon_as_a_packet_sent_after_it_is_known_to_have_arrived() {
    for rtt_ms in [5, 50, 135, 250] {
        let (mut world, seen) = lose(rtt_ms, 2);
        assert!(world.run_to_completion(60_000));
        let statistics = world.flows[0].client().statistics();
        assert_eq!((statistics.losses, statistics.retransmissions, statistics.timeouts), (2, 2, 0));
        let seen = seen.borrow();
        let (sent, shown) = (seen.sent[2], seen.shown[0]);
        println!("{rtt_ms} ms: sent {:?}, shown {shown:?}", seen.sent);
        let rtt = afteryou_base::Span::from_millis(rtt_ms);
        assert!(sent > shown && sent.since(shown) <= rtt, "{rtt_ms} ms: shown {shown:?}, sent {sent:?}");
        assert!(sent.since(seen.sent[1]) <= rtt * 5 / 2, "{rtt_ms} ms: {:?}", seen.sent);
    }
}
