//! The sender's scoreboard: every packet sent and not yet acknowledged in order, and which of them are lost.
//!
//! Losses are found in the order of *transmissions*, not of sequence numbers: each transmission has a packet number
//! of its own, and a packet is lost once one sent [`PACKET_THRESHOLD`] transmissions later has arrived, or one sent
//! later at all and enough time has passed. A retransmission that is lost is found the same way one round trip
//! later, so a window with 1 500 losses needs no timeout (RFC 9002 §6.1, RFC 8985; seed of the idea for uTP: the
//! "maxTA" rule of libutp-mod). A packet is judged only if the bitmap speaks of it: what lies beyond a short bitmap
//! may well have arrived.
//!
//! That is [`Recovery::Modern`]. The other ways of recovery find losses by a scan of each bitmap, see `libutp_scan.rs`.

mod libutp_scan;
mod losses;
mod order;
mod probes;
mod segment;
mod sending;

use super::bit_ring::BitRing;
use crate::recovery::Recovery;
use crate::sack::Sack;
use afteryou_cc::{DeliveryRate, Span, Time};
use bytes::Bytes;
use libutp_scan::Scan;
use order::Order;
use probes::Probe;
use segment::{Delivered, Flight, Segment, Status};
use std::collections::{BTreeSet, VecDeque};

/// Transmissions that may overtake one another before a packet counts as lost (RFC 9002 §6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;

/// Places for packets that stay when nothing is outstanding.
const SPARE_SEGMENTS: usize = 64;
/// Memory of a packet in the list of transmissions, and the overhead of its payload, bytes.
const ORDER: usize = 64;

/// What a packet carries.
#[derive(Clone, Debug)]
pub enum Body {
    /// Payload.
    Data(Bytes),
    /// Payload of this many zeros.
    Zeros(u32),
    /// The end of the direction.
    Fin,
}

/// Something to put on the wire.
#[derive(Clone, Debug)]
pub struct Transmission {
    /// Its sequence number.
    pub seq_nr: u16,
    /// What it carries.
    pub body: Body,
}

/// A packet found lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// Payload, bytes.
    pub bytes: u64,
    /// When the lost transmission left.
    pub sent_at: Time,
    /// Its number.
    pub packet_number: u64,
    /// The controller is to take it for a sign of congestion.
    pub is_signal: bool,
}

/// The next packet to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextLost {
    /// Payload, bytes.
    pub bytes: u64,
    /// What it waits for.
    pub release: Release,
}

/// What a packet waits for before it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Room in the window, and its turn.
    Window,
    /// Its turn, when packets are spread over the round trip.
    Pacing,
    /// Nothing.
    Now,
}

/// What an acknowledgement changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes acknowledged in order and not reported by SACK before.
    pub newly_acked: u64,
    /// Bytes reported by SACK for the first time.
    pub newly_sacked: u64,
    /// Packets that were new in either way.
    pub packets: u64,
    /// Newest transmission among them: number and time.
    pub newest: Option<(u64, Time)>,
    /// Round-trip time of that transmission, unless a retransmission among the acknowledged makes it ambiguous.
    pub rtt: Option<Span>,
    /// Delivery rate over that transmission's flight.
    pub delivery: Option<DeliveryRate>,
    /// The newest of them was sent while the application limited the sender.
    pub app_limited: bool,
    /// Packets that had been declared lost and arrived without being sent again.
    pub spurious: u64,
}

/// Packets from the oldest unacknowledged one on.
#[derive(Debug)]
pub struct Scoreboard {
    segments: VecDeque<Segment>,
    /// Sequence number of the front.
    first_seq: u16,
    /// How many packets have left at the front: index of the front in the connection's life.
    popped: u64,
    /// Packets to send again, by their index.
    lost: BTreeSet<u64>,
    /// Those of them that go at once.
    urgent: BTreeSet<u64>,
    /// Packets that were overtaken and of which the bitmap does not speak (and some that have left since).
    set_aside: BTreeSet<u64>,
    /// Packets that were acknowledged out of order.
    sacked: BitRing,
    order: Order,
    /// Probes of which it is not known yet whether they repaired a loss.
    probes: Vec<Probe>,
    /// How losses are found, if not by the order of transmissions.
    scan: Option<Scan>,
    in_flight: u64,
    in_flight_packets: usize,
    /// Bytes in all segments: what the peer's buffer must be able to hold.
    outstanding: u64,
    next_packet_number: u64,
    largest_delivered: Option<u64>,
    delivered: u64,
    delivered_at: Time,
    latest_sent_at: Time,
    /// The newest bitmap speaks of packets below this index.
    visible_until: u64,
}

impl Body {
    /// Payload, bytes.
    pub fn payload_len(&self) -> u64 {
        match self {
            Body::Data(payload) => payload.len() as u64,
            Body::Zeros(len) => u64::from(*len),
            Body::Fin => 0,
        }
    }
}

impl Scoreboard {
    /// An empty scoreboard whose first packet will have number `first_seq`.
    pub fn new(first_seq: u16, recovery: Recovery) -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            first_seq,
            popped: 0,
            lost: BTreeSet::new(),
            urgent: BTreeSet::new(),
            set_aside: BTreeSet::new(),
            sacked: BitRing::default(),
            order: Order::default(),
            probes: Vec::new(),
            scan: Scan::of(recovery),
            in_flight: 0,
            in_flight_packets: 0,
            outstanding: 0,
            next_packet_number: 0,
            largest_delivered: None,
            delivered: 0,
            delivered_at: Time::ZERO,
            latest_sent_at: Time::ZERO,
            visible_until: 0,
        }
    }

    /// Number of the next new packet.
    pub fn next_seq(&self) -> u16 {
        self.first_seq.wrapping_add(self.segments.len() as u16)
    }

    /// Number of the next transmission.
    pub fn next_packet_number(&self) -> u64 {
        self.next_packet_number
    }

    /// Packets sent and not acknowledged in order.
    pub fn packets(&self) -> usize {
        self.segments.len()
    }

    /// Nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes believed to be in the network.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Is any packet believed to be in the network? (A FIN is in flight without bytes.)
    pub fn anything_in_flight(&self) -> bool {
        self.in_flight_packets > 0
    }

    /// Bytes from the oldest unacknowledged packet on: FlightSize.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Memory in use, bytes, as far as it grows with what is outstanding.
    pub fn memory(&self) -> u64 {
        self.outstanding + (self.segments.capacity() * (size_of::<Segment>() + ORDER)) as u64
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When the newest transmission left.
    pub fn latest_sent_at(&self) -> Time {
        self.latest_sent_at
    }

    /// The packet to send next if anything is lost.
    pub fn next_lost(&self) -> Option<NextLost> {
        let index = *self.urgent.first().or(self.lost.first())?;
        let release = match &self.scan {
            _ if self.urgent.contains(&index) => Release::Now,
            // RFC 9937 §6.2 forces the first retransmission: with a short bitmap much of what seems to be in flight has
            // long arrived, and only the oldest packet can show it.
            None if index == self.popped => Release::Pacing,
            _ => Release::Window,
        };
        self.segment(index).map(|segment| NextLost { bytes: segment.body.payload_len(), release })
    }

    /// Is `ack_nr` one that the peer could have sent, with `slack` packets of reordering?
    pub fn accepts(&self, ack_nr: u16, slack: u16) -> bool {
        let newest = self.next_seq().wrapping_sub(1);
        let behind = newest.wrapping_sub(ack_nr);
        behind <= (self.segments.len() as u16).saturating_add(slack)
    }

    /// Does `ack_nr` end right before the oldest unacknowledged packet?
    pub fn is_newest_ack(&self, ack_nr: u16) -> bool {
        ack_nr == self.first_seq.wrapping_sub(1)
    }

    /// Takes in an acknowledgement that [`accepts`](Self::accepts) has let through.
    ///
    /// `covers` is of how many packets beyond `ack_nr` it tells whether they arrived, none if it does not tell.
    pub fn acknowledge(
        &mut self,
        now: Time,
        ack_nr: u16,
        sack: Option<Sack<'_>>,
        covers: Option<usize>,
        min_rtt: Option<Span>,
    ) -> Progress {
        let mut taken = Taken::default();
        let in_order = usize::from(ack_nr.wrapping_sub(self.first_seq).wrapping_add(1));
        let in_order = if in_order <= self.segments.len() { in_order } else { 0 };
        // A bitmap counts from its own ack_nr, which is older than ours if the packet was overtaken.
        let newest_ack = self.first_seq.wrapping_add(in_order as u16).wrapping_sub(1);
        for _ in 0..in_order {
            self.take_oldest(now, min_rtt, &mut taken);
        }
        let overtaken = newest_ack.wrapping_sub(ack_nr);
        if let (0, Some(covers)) = (overtaken, covers) {
            self.visible_until = self.popped.saturating_add(covers as u64);
        }
        let mut first = self.popped.wrapping_add(1).wrapping_sub(u64::from(overtaken));
        for word in sack.iter().flat_map(Sack::words) {
            let mut new = word & !self.sacked.word(first);
            while new != 0 {
                self.take_sacked(
                    now,
                    first.wrapping_add(u64::from(new.trailing_zeros())),
                    min_rtt,
                    &mut taken,
                );
                new &= new - 1;
            }
            first = first.wrapping_add(64);
        }
        self.read_bitmap(overtaken, sack);
        self.progress(now, &taken)
    }

    fn take_oldest(&mut self, now: Time, min_rtt: Option<Span>, taken: &mut Taken) {
        let Some(segment) = self.segments.pop_front() else { return };
        if self.segments.is_empty() {
            self.segments.shrink_to(SPARE_SEGMENTS);
        }
        match segment.status {
            Status::Lost => self.forget_lost(self.popped),
            Status::Sacked => self.sacked.remove(self.popped),
            Status::InFlight | Status::Overtaken => {}
        }
        self.popped += 1;
        self.first_seq = self.first_seq.wrapping_add(1);
        let bytes = segment.body.payload_len();
        self.outstanding -= bytes;
        if segment.status != Status::Sacked {
            taken.acked += bytes;
            self.deliver(now, &Delivered::from(&segment), min_rtt, taken);
        }
    }

    /// The bitmap shows packet `index` for the first time, if it is one of ours at all.
    fn take_sacked(&mut self, now: Time, index: u64, min_rtt: Option<Span>, taken: &mut Taken) {
        let at = usize::try_from(index.wrapping_sub(self.popped)).unwrap_or(usize::MAX);
        let Some(segment) = self.segments.get_mut(at) else { return };
        let delivered = Delivered::from(&*segment);
        segment.status = Status::Sacked;
        self.sacked.insert(index);
        if delivered.status == Status::Lost {
            self.forget_lost(index);
        }
        taken.sacked += delivered.bytes;
        self.deliver(now, &delivered, min_rtt, taken);
    }

    /// Packet `index` need not be sent again.
    fn forget_lost(&mut self, index: u64) {
        self.lost.remove(&index);
        self.urgent.remove(&index);
    }

    /// Books a packet as delivered.
    fn deliver(&mut self, now: Time, segment: &Delivered, min_rtt: Option<Span>, taken: &mut Taken) {
        self.delivered += segment.bytes;
        taken.packets += 1;
        if segment.status == Status::InFlight {
            self.in_flight -= segment.bytes;
            self.in_flight_packets -= 1;
        }
        let elapsed = now.since(segment.newest.sent_at);
        // Faster than the path allows: it was an earlier transmission that arrived (RFC 8985 §6.2 step 2). By half, since
        // a lone retransmission easily beats the packets that were acknowledged in pairs or stood in a queue.
        let earlier = segment.transmissions > 1 && min_rtt.is_some_and(|min_rtt| elapsed * 2 < min_rtt);
        taken.spurious += u64::from(segment.declared_lost && (segment.status == Status::Lost || earlier));
        taken.ambiguous |= segment.transmissions > 1;
        self.note_arrival(segment.newest.packet_number, earlier);
        if earlier || segment.status == Status::Lost {
            return; // it says nothing about when its newest transmission arrived
        }
        if taken.newest.is_none_or(|newest| newest.packet_number < segment.newest.packet_number) {
            taken.newest = Some(segment.newest);
        }
    }

    fn progress(&mut self, now: Time, taken: &Taken) -> Progress {
        if taken.packets > 0 {
            self.delivered_at = now;
        }
        if let Some(newest) = &taken.newest {
            self.largest_delivered = self.largest_delivered.max(Some(newest.packet_number));
        }
        let newest = taken.newest.as_ref();
        Progress {
            newly_acked: taken.acked,
            newly_sacked: taken.sacked,
            packets: taken.packets,
            newest: newest.map(|flight| (flight.packet_number, flight.sent_at)),
            rtt: newest.filter(|_| !taken.ambiguous).map(|flight| now.since(flight.sent_at)),
            delivery: newest.map(|flight| self.delivery_rate(now, flight)),
            app_limited: newest.is_some_and(|flight| flight.app_limited),
            spurious: taken.spurious,
        }
    }

    /// What was delivered while `newest` was in flight. The interval since the delivery before its sending covers
    /// both the sending and the acknowledging of that data.
    fn delivery_rate(&self, now: Time, newest: &Flight) -> DeliveryRate {
        DeliveryRate {
            delivered: self.delivered - newest.delivered,
            interval: now.since(newest.delivered_at).max(now.since(newest.sent_at)),
            in_flight_at_send: newest.in_flight,
            app_limited: newest.app_limited,
        }
    }

    /// Packet `index`, if it is still on the scoreboard.
    fn segment(&self, index: u64) -> Option<&Segment> {
        self.segments.get(index.checked_sub(self.popped)? as usize)
    }
}

/// What one acknowledgement took off the scoreboard.
#[derive(Default)]
struct Taken {
    acked: u64,
    sacked: u64,
    packets: u64,
    newest: Option<Flight>,
    ambiguous: bool,
    spurious: u64,
}

#[cfg(test)]
mod tests;
