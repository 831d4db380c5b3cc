//! What libutp's data packets look like and how it reads selective acks.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use afteryou_interop::packet::{Kind, Packet};
use afteryou_interop::{Finish, Handle, Job, LibutpPeer};
use support::{pattern, Hand, PATIENCE};

const SEQ: u16 = 7000;
/// Nothing new within this time means that libutp's window is full. Shorter
/// than its shortest retransmission timeout, 1 second.
const QUIET: Duration = Duration::from_millis(150);

struct Receiver {
    hand: Hand,
    peer: Handle,
    id: u16,
    /// The last sequence number received in order.
    ack: u16,
    sizes: BTreeSet<usize>,
}

impl Receiver {
    /// Lets libutp connect and send `len` bytes, in packets of at most `mtu`.
    fn new(len: usize, mtu: Option<u16>) -> Self {
        let mut hand = Hand::new();
        let mut job = Job { send: pattern(len), finish: Finish::Close, ..Job::default() };
        job.options.udp_mtu = mtu;
        let peer = LibutpPeer::connect(hand.addr(), job).unwrap();
        let syn = hand.expect(Kind::Syn);
        hand.send(&Packet::new(Kind::State, syn.conn_id, SEQ, syn.seq_nr));
        Receiver { hand, peer, id: syn.conn_id, ack: syn.seq_nr, sizes: BTreeSet::new() }
    }

    fn state(&self) -> Packet {
        Packet::new(Kind::State, self.id, SEQ, self.ack)
    }

    /// Acknowledges `count` data packets in order, packet by packet.
    fn ack_in_order(&mut self, count: usize) {
        for _ in 0..count {
            let packet = self.hand.expect(Kind::Data);
            assert_eq!(packet.seq_nr, self.ack.wrapping_add(1));
            self.sizes.insert(self.hand.last_size);
            self.ack = packet.seq_nr;
            self.hand.send(&self.state());
        }
    }

    /// Returns how far ahead of the ack each arriving packet is, until libutp pauses.
    fn distances(&mut self) -> Vec<u16> {
        let packets = self.hand.recv_until_quiet(QUIET);
        let ahead = |p: &Packet| p.seq_nr.wrapping_sub(self.ack);
        packets.iter().map(ahead).collect()
    }
}

#[test]
fn data_packets_are_1402_bytes_of_udp_payload_on_ipv4() {
    let mut receiver = Receiver::new(1382 * 50, None);
    receiver.ack_in_order(50);
    assert_eq!(receiver.sizes, BTreeSet::from([1402]));
    let fin = receiver.hand.expect(Kind::Fin);
    receiver.ack = fin.seq_nr;
    receiver.hand.send(&receiver.state());
    assert!(receiver.peer.join(PATIENCE).unwrap().closed);
}

#[test]
fn libutp_reads_selective_acks_of_32_bytes() {
    // The window grows by 3000 bytes per round trip only. With small packets
    // these are more, and a whole flight fits into the socket's buffer.
    let mut receiver = Receiver::new(2 << 20, Some(576));
    receiver.ack_in_order(1000);
    let flight = receiver.distances();
    let last = *flight.last().unwrap();
    assert_eq!(flight, (1..=last).collect::<Vec<_>>());
    assert!((80..150).contains(&last), "{last} packets in flight");

    // All received but the first and one that is beyond 64 bits.
    let hole = 70;
    let mut mask = [0; 32];
    for distance in (2..=last).filter(|d| *d != hole) {
        let bit = usize::from(distance - 2);
        mask[bit / 8] |= 1 << (bit % 8);
    }
    receiver.hand.send(&receiver.state().with_sack(&mask));
    let after = receiver.distances();
    let repeated: Vec<_> = after.iter().copied().filter(|d| *d <= last).collect();
    assert_eq!(repeated, [1, hole], "only the two missing ones come again");
    assert!(after.len() > 2, "the acked ones make room for new data");

    // Also after the timeout, at which everything unacked is sent again, the
    // selectively acked ones stay acked.
    let later = receiver.hand.try_recv(PATIENCE).unwrap();
    let distance = later.seq_nr.wrapping_sub(receiver.ack);
    assert!(distance == 1 || distance > last, "{distance} came again");
    drop(receiver.peer);
}
