//! The sender's scoreboard: every packet sent and not yet acknowledged in order, and which of them are lost.
//!
//! Losses are found in the order of *transmissions*, not of sequence numbers: each transmission has a packet number
//! of its own, and a packet is lost once one sent [`PACKET_THRESHOLD`] transmissions later has arrived, or one sent
//! later at all and enough time has passed. A retransmission that is lost is found the same way one round trip
//! later, so a window with 1 500 losses needs no timeout (RFC 9002 §6.1, RFC 8985; seed of the idea for uTP: the
//! "maxTA" rule of libutp-mod). A packet is judged only if the bitmap speaks of it: what lies beyond a short bitmap
//! may well have arrived.

use crate::sack::Sack;
use afteryou_cc::{DeliveryRate, Span, Time};
use bytes::Bytes;
use std::collections::{BTreeSet, VecDeque};

/// Transmissions that may overtake one another before a packet counts as lost (RFC 9002 §6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    InFlight,
    /// Overtaken, but too far ahead for the bitmap to tell: it has left the network, by arriving or by getting lost.
    Overtaken,
    Lost,
    Sacked,
}

/// One packet.
#[derive(Clone, Debug)]
struct Segment {
    body: Body,
    status: Status,
    /// Its newest transmission, or the one before, was known to be missing and taken for lost.
    declared_lost: bool,
    transmissions: u32,
    packet_number: u64,
    sent_at: Time,
    app_limited: bool,
    delivered: u64,
    delivered_at: Time,
    in_flight: u64,
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
    /// A packet that had been declared lost arrived without being sent again.
    pub spurious: bool,
}

/// Packets from the oldest unacknowledged one on.
#[derive(Debug)]
pub struct Scoreboard {
    segments: VecDeque<Segment>,
    /// Sequence number of the front.
    first_seq: u16,
    /// How many packets have left at the front: index of the front in the connection's life.
    popped: u64,
    lost: BTreeSet<u64>,
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

impl Segment {
    /// Neither acknowledged nor declared lost.
    fn is_missing(&self) -> bool {
        matches!(self.status, Status::InFlight | Status::Overtaken)
    }
}

impl Scoreboard {
    /// An empty scoreboard whose first packet will have number `first_seq`.
    pub fn new(first_seq: u16) -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            first_seq,
            popped: 0,
            lost: BTreeSet::new(),
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

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When the newest transmission left.
    pub fn latest_sent_at(&self) -> Time {
        self.latest_sent_at
    }

    /// Payload of the oldest lost packet, bytes: what is sent next if anything is lost.
    pub fn next_lost_len(&self) -> Option<u64> {
        let index = *self.lost.first()?;
        Some(self.segment(index).body.payload_len())
    }

    /// Is the oldest unacknowledged packet lost (and not sent again yet)?
    pub fn is_oldest_lost(&self) -> bool {
        self.lost.first() == Some(&self.popped)
    }

    /// Sends a new packet.
    pub fn send_new(&mut self, now: Time, body: Body, app_limited: bool) -> Transmission {
        let seq_nr = self.next_seq();
        self.outstanding += body.payload_len();
        self.segments.push_back(Segment {
            body,
            status: Status::Lost, // until transmitted, on the next line
            declared_lost: false,
            transmissions: 0,
            packet_number: 0,
            sent_at: now,
            app_limited,
            delivered: 0,
            delivered_at: now,
            in_flight: 0,
        });
        self.transmit(now, self.segments.len() - 1, app_limited);
        Transmission { seq_nr, body: self.segments[self.segments.len() - 1].body.clone() }
    }

    /// Sends the oldest lost packet again.
    pub fn send_lost(&mut self, now: Time) -> Option<Transmission> {
        let index = self.lost.pop_first()?;
        Some(self.send_again(now, (index - self.popped) as usize))
    }

    /// Sends the newest or the oldest unacknowledged packet again, as a probe; it need not be lost.
    pub fn send_probe(&mut self, now: Time, newest: bool) -> Option<Transmission> {
        let missing = |segment: &Segment| segment.status != Status::Sacked;
        let at = match newest {
            true => self.segments.iter().rposition(missing)?,
            false => self.segments.iter().position(missing)?,
        };
        self.lost.remove(&(self.popped + at as u64));
        Some(self.send_again(now, at))
    }

    fn send_again(&mut self, now: Time, at: usize) -> Transmission {
        self.transmit(now, at, false);
        Transmission { seq_nr: self.first_seq.wrapping_add(at as u16), body: self.segments[at].body.clone() }
    }

    fn transmit(&mut self, now: Time, at: usize, app_limited: bool) {
        if self.in_flight_packets == 0 {
            self.delivered_at = now; // a rate sample must not span the idle time before it
        }
        let segment = &mut self.segments[at];
        if segment.status != Status::InFlight {
            self.in_flight += segment.body.payload_len();
            self.in_flight_packets += 1;
        }
        // A probe of what is not lost takes nothing back when the earlier transmission arrives.
        segment.declared_lost &= segment.status == Status::Lost;
        segment.status = Status::InFlight;
        segment.transmissions += 1;
        segment.packet_number = self.next_packet_number;
        segment.sent_at = now;
        segment.app_limited = app_limited;
        segment.delivered = self.delivered;
        segment.delivered_at = self.delivered_at;
        segment.in_flight = self.in_flight;
        self.next_packet_number += 1;
        self.latest_sent_at = now;
    }

    /// Is `ack_nr` one that the peer could have sent, with `slack` packets of reordering?
    pub fn accepts(&self, ack_nr: u16, slack: u16) -> bool {
        let newest = self.next_seq().wrapping_sub(1);
        let behind = newest.wrapping_sub(ack_nr);
        behind <= (self.segments.len() as u16).saturating_add(slack)
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
            let Some(segment) = self.segments.pop_front() else { break };
            self.lost.remove(&self.popped);
            self.popped += 1;
            self.first_seq = self.first_seq.wrapping_add(1);
            self.outstanding -= segment.body.payload_len();
            if segment.status != Status::Sacked {
                taken.acked += segment.body.payload_len();
                self.deliver(now, &segment, min_rtt, &mut taken);
            }
        }
        let overtaken = usize::from(newest_ack.wrapping_sub(ack_nr));
        if let (0, Some(covers)) = (overtaken, covers) {
            self.visible_until = self.popped.saturating_add(covers as u64);
        }
        for offset in sack.iter().flat_map(Sack::received) {
            let Some(at) = offset.checked_sub(overtaken).filter(|at| *at < self.segments.len()) else {
                continue;
            };
            if self.segments[at].status == Status::Sacked {
                continue;
            }
            let segment = self.segments[at].clone();
            self.segments[at].status = Status::Sacked;
            self.lost.remove(&(self.popped + at as u64));
            taken.sacked += segment.body.payload_len();
            self.deliver(now, &segment, min_rtt, &mut taken);
        }
        self.progress(now, &taken)
    }

    /// Books `segment` as delivered.
    fn deliver(&mut self, now: Time, segment: &Segment, min_rtt: Option<Span>, taken: &mut Taken) {
        let bytes = segment.body.payload_len();
        self.delivered += bytes;
        taken.packets += 1;
        if segment.status == Status::InFlight {
            self.in_flight -= bytes;
            self.in_flight_packets -= 1;
        }
        let elapsed = now.since(segment.sent_at);
        // Faster than the path allows: it was an earlier transmission that arrived (RFC 8985 §6.2 step 2). By half, since
        // a lone retransmission easily beats the packets that were acknowledged in pairs or stood in a queue.
        let earlier = segment.transmissions > 1 && min_rtt.is_some_and(|min_rtt| elapsed * 2 < min_rtt);
        taken.spurious |= segment.declared_lost && (segment.status == Status::Lost || earlier);
        taken.ambiguous |= segment.transmissions > 1;
        if earlier || segment.status == Status::Lost {
            return; // it says nothing about when its newest transmission arrived
        }
        if taken.newest.as_ref().is_none_or(|newest| newest.packet_number < segment.packet_number) {
            taken.newest = Some(segment.clone());
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
            newest: newest.map(|segment| (segment.packet_number, segment.sent_at)),
            rtt: newest.filter(|_| !taken.ambiguous).map(|segment| now.since(segment.sent_at)),
            delivery: newest.map(|segment| self.delivery_rate(now, segment)),
            app_limited: newest.is_some_and(|segment| segment.app_limited),
            spurious: taken.spurious,
        }
    }

    /// What was delivered while `newest` was in flight. The interval since the delivery before its sending covers
    /// both the sending and the acknowledging of that data.
    fn delivery_rate(&self, now: Time, newest: &Segment) -> DeliveryRate {
        DeliveryRate {
            delivered: self.delivered - newest.delivered,
            interval: now.since(newest.delivered_at).max(now.since(newest.sent_at)),
            in_flight_at_send: newest.in_flight,
            app_limited: newest.app_limited,
        }
    }

    /// Finds what is lost by now among the packets that the newest bitmap speaks of; `reordering` is how long after its
    /// sending a packet may still come. Also returns when to look again.
    pub fn detect_losses(&mut self, now: Time, reordering: Span) -> (Vec<LostPacket>, Option<Time>) {
        let (mut lost, mut look_again) = (Vec::new(), None::<Time>);
        let Some(largest) = self.largest_delivered else {
            return (lost, look_again);
        };
        let visible = self.visible_until.saturating_sub(self.popped).min(self.segments.len() as u64) as usize;
        for at in 0..visible {
            let segment = &self.segments[at];
            if !segment.is_missing() || segment.packet_number >= largest {
                continue;
            }
            let due = segment.sent_at + reordering;
            if largest - segment.packet_number >= PACKET_THRESHOLD || due <= now {
                lost.push(self.declare_lost(at, true));
            } else {
                look_again = Some(look_again.map_or(due, |other| other.min(due)));
            }
        }
        self.set_aside_overtaken(visible, largest);
        (lost, look_again)
    }

    /// What the bitmap does not speak of does not fill the window either once it has been overtaken. Else a burst of
    /// losses before many such packets would be repaired by one packet in each round trip.
    fn set_aside_overtaken(&mut self, visible: usize, largest: u64) {
        for segment in self.segments.range_mut(visible..) {
            let overtaken = segment.packet_number.saturating_add(PACKET_THRESHOLD) <= largest;
            if segment.status == Status::InFlight && overtaken {
                segment.status = Status::Overtaken;
                self.in_flight -= segment.body.payload_len();
                self.in_flight_packets -= 1;
            }
        }
    }

    /// Declares everything in flight lost: the retransmission timer expired. What had been overtaken unseen is sent again,
    /// too, but it was never known to be missing: its arrival proves nothing wrong.
    pub fn declare_all_lost(&mut self) {
        for at in 0..self.segments.len() {
            if self.segments[at].is_missing() {
                self.declare_lost(at, self.segments[at].status == Status::InFlight);
            }
        }
    }

    fn declare_lost(&mut self, at: usize, known_missing: bool) -> LostPacket {
        let segment = &mut self.segments[at];
        let was_in_flight = segment.status == Status::InFlight;
        segment.status = Status::Lost;
        segment.declared_lost = known_missing;
        let lost = LostPacket {
            bytes: segment.body.payload_len(),
            sent_at: segment.sent_at,
            packet_number: segment.packet_number,
        };
        if was_in_flight {
            self.in_flight -= lost.bytes;
            self.in_flight_packets -= 1;
        }
        self.lost.insert(self.popped + at as u64);
        lost
    }

    fn segment(&self, index: u64) -> &Segment {
        &self.segments[(index - self.popped) as usize]
    }
}

/// What one acknowledgement took off the scoreboard.
#[derive(Default)]
struct Taken {
    acked: u64,
    sacked: u64,
    packets: u64,
    newest: Option<Segment>,
    ambiguous: bool,
    spurious: bool,
}

#[cfg(test)]
mod tests;
