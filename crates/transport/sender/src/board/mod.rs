//! The scoreboard: packets sent and not acknowledged, in order of packets and in order of transmissions.
//!
//! A packet has a number (`seq`: TCP's segment, uTP's place in the connection), and each transmission of it a number of its
//! own. A packet takes eight bytes, a transmission sixteen (and thirty-two more for delivery-rate samples). Transmissions are
//! kept from the oldest one whose packet has not arrived. Losses are looked for from a cursor on, so that each transmission is
//! looked at a constant number of times.
//!
//! Ways to find losses, of which a transport chooses one: [`Board::detect_by_time`] (RACK), [`Board::detect_by_count`]
//! (RFC 6675), [`Board::detect_by_order`] (RFC 9002), or rules of its own through [`Board::lose`].

mod losses;
#[cfg(test)]
mod model;
mod order;
mod plain;
mod segment;
mod sending;
mod taken;
#[cfg(test)]
mod tests;

pub use losses::{Before, DUP_THRESH};
pub use order::Order;
pub use segment::Flight;
pub use sending::Outgoing;
pub use taken::{Taken, Timing};

use crate::delivery::{Delivery, Stamp};
use crate::expand;
use crate::ranges::Ranges;
use afteryou_base::{Span, Time};
use afteryou_cc::{DeliveryRate, Needs};
use segment::{Segment, Transmission, DECLARED, LOST, SACKED};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use taken::Arrived;

/// Places for packets that stay when nothing is outstanding.
const SPARE: usize = 64;

/// Changes that an acknowledgement made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckProgress {
    /// Bytes acknowledged in order that no SACK had reported.
    pub newly_acked: u64,
    /// Bytes reported by SACK for the first time.
    pub newly_sacked: u64,
    /// Packets that were new in either way.
    pub packets: u64,
    /// The cumulative acknowledgement moved.
    pub advanced: bool,
    /// Newest transmission that was delivered: its number and time, if any packet was.
    pub newest: (u64, Time),
    /// Its round-trip time, unless the acknowledgement delivers a packet that was sent more than once (RFC 6298 §3): behind a
    /// filled gap the newest packet has waited in the receiver.
    pub rtt: Option<Span>,
    /// Delivery rate over its flight.
    pub delivery: Option<DeliveryRate>,
    /// It was sent while the application limited the sender.
    pub app_limited: bool,
    /// Transmissions that were taken for lost and have arrived: [`Board::late`] names them.
    pub spurious: u64,
    /// A packet that was sent once arrived after later ones (RFC 8985 §6.2, step 3).
    pub reordered: bool,
}

/// A packet that an acknowledgement delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivered {
    /// The transmission that arrived.
    pub flight: Flight,
    /// Its round-trip time, unless it was sent more than once.
    pub rtt: Option<Span>,
    /// Bytes delivered in the connection's life, this packet and earlier transmissions of the same ack included.
    pub delivered: u64,
}

/// The scoreboard.
#[derive(Debug, Default)]
pub struct Board {
    segments: VecDeque<Segment>,
    una: u64,
    sent: VecDeque<Transmission>,
    /// One for each of `sent`, if stamps are kept.
    stamps: VecDeque<Stamp>,
    keeps_stamps: bool,
    /// Lists the packets of each acknowledgement.
    lists: bool,
    /// Number of the front of `sent`.
    first_number: u64,
    /// Transmissions before this number have been judged: none of them is in flight.
    judged: u64,
    sacked: Ranges,
    sacked_bytes: u64,
    lost: BinaryHeap<Reverse<u64>>,
    lost_segments: u64,
    overtaken_segments: u64,
    /// Packets that were set aside, and some that have left since.
    aside: BTreeSet<u64>,
    in_flight: u64,
    outstanding: u64,
    /// Packets from this one on have no history: they were sent once, in order, and are in flight.
    plain_from: u64,
    delivery: Delivery,
    /// One beyond the highest packet known to have arrived (RACK.fack).
    highest: u64,
    /// Newest transmission known to have arrived, and its round-trip time (RACK.segment, RACK.rtt).
    rack: Option<(u64, Span)>,
    /// Packets below this were looked at by the duplicate-threshold rule.
    counted: u64,
    /// Of the latest acknowledgement.
    late: Vec<u64>,
    repaired: Vec<(u64, u64)>,
    delivered_now: Vec<Delivered>,
}

impl Board {
    /// Creates an empty scoreboard, which computes delivery rates and lists the packets that each ack delivers if they are needed.
    pub fn new(needs: Needs) -> Board {
        Board { keeps_stamps: needs.stamps(), lists: needs.per_packet, ..Board::default() }
    }

    /// Returns the oldest packet not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the next new packet.
    pub fn next_seq(&self) -> u64 {
        self.una + self.segments.len() as u64
    }

    /// Returns the number of packets sent and not acknowledged in order.
    pub fn packets(&self) -> usize {
        self.segments.len()
    }

    /// Returns whether nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the bytes believed to be in the network (RFC 6675's pipe).
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the number of packets believed to be in the network, those without payload included.
    #[inline]
    pub fn packets_in_flight(&self) -> u64 {
        self.segments.len() as u64 - self.sacked.count() - self.lost_segments - self.overtaken_segments
    }

    /// Returns whether any packet is counted as in the network.
    pub fn anything_in_flight(&self) -> bool {
        self.packets_in_flight() > 0
    }

    /// Returns the bytes beyond the cumulative acknowledgement (FlightSize).
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Returns the bytes that SACK has reported.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Returns the number of packets that SACK has reported.
    pub fn sacked_segments(&self) -> u64 {
        self.sacked.count()
    }

    /// Returns whether SACK has reported packet `seq`.
    pub fn is_sacked(&self, seq: u64) -> bool {
        self.segment(seq).is_some_and(|segment| segment.state & SACKED != 0)
    }

    /// Returns the bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivery.delivered()
    }

    /// Returns when the latest of them were delivered.
    pub fn delivered_at(&self) -> Time {
        self.delivery.delivered_at()
    }

    /// Returns whether the sender is application-limited, so that packets sent now may not widen the window.
    pub fn is_app_limited(&self) -> bool {
        self.delivery.is_app_limited()
    }

    /// Notes that the window has room that is not used.
    pub fn note_unused_window(&mut self) {
        self.delivery.note_unused_window(self.in_flight);
    }

    /// Returns the number of the oldest transmission that is kept.
    pub fn oldest_number(&self) -> u64 {
        self.first_number
    }

    /// Returns the number of the next transmission.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.first_number + self.sent.len() as u64
    }

    /// Returns the newest transmission known to have arrived.
    pub fn newest_delivered(&self) -> Option<u64> {
        self.rack.map(|(number, _)| number)
    }

    /// Returns the round-trip time of that transmission (RACK.rtt).
    pub fn newest_rtt(&self) -> Option<Span> {
        self.rack.map(|(_, rtt)| rtt)
    }

    /// Returns the sender's state when the newest transmission left; zeros unless stamps are kept.
    pub fn newest_stamp(&self) -> Stamp {
        self.stamps.back().copied().unwrap_or_default()
    }

    /// Returns the packet that the newest transmission carries.
    pub fn newest_seq(&self) -> Option<u64> {
        self.sent.back().map(|newest| expand(self.una, newest.seq))
    }

    /// Returns the numbers of the transmissions that were taken for lost and have arrived by the latest acknowledgement.
    pub fn late(&self) -> &[u64] {
        &self.late
    }

    /// Returns the packets that were sent more than once and have arrived by the latest acknowledgement, with the number of
    /// the transmission whose sending time it echoes. Earlier ones had not arrived (RFC 3522 §3.2).
    pub fn repaired(&self) -> &[(u64, u64)] {
        &self.repaired
    }

    /// Returns the packets that the latest acknowledgement delivered, in order of transmission, if they are needed one by one.
    pub fn delivered_now(&self) -> &[Delivered] {
        &self.delivered_now
    }

    /// Returns the memory in use, bytes, as far as it grows with the packets outstanding.
    pub fn memory(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>()
            + self.sent.capacity() * size_of::<Transmission>()
            + self.stamps.capacity() * size_of::<Stamp>()
    }

    /// Gives back what is kept for packets to come, if nothing is outstanding.
    pub fn release_memory(&mut self) {
        if !self.is_empty() {
            return;
        }
        self.segments = VecDeque::new();
        self.sent.shrink_to_fit();
        self.stamps.shrink_to_fit();
        self.sacked.release_memory();
        self.lost.shrink_to_fit();
        (self.late, self.repaired, self.delivered_now) = (Vec::new(), Vec::new(), Vec::new());
    }

    fn segment(&self, seq: u64) -> Option<&Segment> {
        self.segments.get(seq.checked_sub(self.una)? as usize)
    }

    /// Returns the number of transmissions of packet `seq`, at most 127; 0 if it is not outstanding.
    pub fn transmissions(&self, seq: u64) -> u8 {
        self.segment(seq).map_or(0, |segment| segment.transmissions)
    }

    /// Returns the newest transmission of packet `seq`, if it is outstanding and was not reported by SACK.
    pub fn flight(&self, seq: u64) -> Option<Flight> {
        let segment = self.segment(seq).filter(|segment| segment.state & SACKED == 0)?;
        let number = expand(self.first_number, segment.number);
        self.flight_at(number.checked_sub(self.first_number)? as usize, segment.len)
    }

    /// Returns the transmission at `index` of `sent`.
    fn flight_at(&self, index: usize, len: u16) -> Option<Flight> {
        let Transmission { sent_at, seq, app_limited } = *self.sent.get(index)?;
        Some(Flight {
            number: self.first_number + index as u64,
            seq: expand(self.una, seq),
            bytes: u64::from(len),
            sent_at,
            app_limited,
            stamp: self.stamps.get(index).copied().unwrap_or_default(),
        })
    }

    /// Takes in an acknowledgement; `sacks` ascend.
    #[cfg(test)]
    fn acknowledge(&mut self, cumulative: u64, sacks: &[(u64, u64)], timing: Timing) -> AckProgress {
        if let Some(progress) =
            sacks.is_empty().then(|| self.acknowledge_plain(cumulative, &timing)).flatten()
        {
            return progress;
        }
        let mut taken = self.begin_ack(timing);
        self.advance(cumulative, &mut taken);
        for (start, end) in sacks {
            self.sack(*start, *end, &mut taken);
        }
        self.finish_ack(&mut taken);
        taken.progress
    }

    /// Begins to take in an acknowledgement: [`advance`](Board::advance), then [`sack`](Board::sack) as often as needed, then
    /// [`finish_ack`](Board::finish_ack).
    #[inline]
    pub fn begin_ack(&mut self, timing: Timing) -> Taken {
        self.late.clear();
        self.repaired.clear();
        self.delivered_now.clear();
        Taken { timing, ..Taken::default() }
    }

    /// Takes in that everything below `cumulative` has arrived.
    #[inline]
    pub fn advance(&mut self, cumulative: u64, taken: &mut Taken) {
        let cumulative = cumulative.min(self.next_seq());
        if cumulative <= self.una {
            return;
        }
        taken.progress.advanced = true;
        let had_sacked = !self.sacked.is_empty();
        // RFC 3522: an ack that echoes a time before the retransmission is the first transmission's.
        let first = self.segments.front().filter(|segment| segment.transmissions > 1).copied();
        if let (Some(segment), Some(_)) = (first, taken.timing.echoed) {
            let resent_at = self.transmission(segment.number).map(|(_, sent)| sent.sent_at);
            taken.first_is_original = resent_at.is_some_and(|at| !taken.timing.echoes(at));
        }
        self.deliver_plain(cumulative, taken);
        while self.una < cumulative {
            let Some(segment) = self.segments.pop_front() else { break };
            let seq = self.una;
            self.una += 1;
            self.outstanding -= u64::from(segment.len);
            if segment.state & SACKED == 0 {
                taken.progress.newly_acked += u64::from(segment.len);
                self.deliver(seq, segment, taken);
            } else {
                self.sacked_bytes -= u64::from(segment.len);
            }
        }
        if had_sacked {
            self.sacked.remove_below(cumulative);
        }
        if self.segments.is_empty() {
            self.segments.shrink_to(SPARE);
        }
    }

    /// Takes in SACK's report of the packets `start..end`.
    pub fn sack(&mut self, start: u64, end: u64, taken: &mut Taken) {
        let (start, end) = (start.max(self.una), end.min(self.next_seq()));
        let mut sacked = std::mem::take(&mut self.sacked);
        sacked.insert(start, end, &mut |start, end| {
            for seq in start..end {
                self.take_sacked(seq, taken);
            }
        });
        self.sacked = sacked;
    }

    /// Takes in SACK's first report of packet `seq`.
    fn take_sacked(&mut self, seq: u64, taken: &mut Taken) {
        self.note_history();
        let segment = &mut self.segments[(seq - self.una) as usize];
        let before = *segment;
        segment.state = SACKED;
        self.sacked_bytes += u64::from(before.len);
        taken.progress.newly_sacked += u64::from(before.len);
        self.deliver(seq, before, taken);
    }

    /// Books a packet as delivered.
    #[inline]
    fn deliver(&mut self, seq: u64, segment: Segment, taken: &mut Taken) {
        let bytes = u64::from(segment.len);
        self.delivery.deliver(bytes);
        taken.progress.packets += 1;
        let mut is_late = false;
        if segment.is_in_flight() {
            self.in_flight -= bytes;
        } else if segment.state & LOST != 0 {
            self.lost_segments -= 1;
            is_late = true; // not sent again, and here it is
        } else {
            self.overtaken_segments -= 1;
        }
        if seq + 1 > self.highest {
            self.highest = seq + 1;
        } else {
            taken.progress.reordered |= segment.transmissions == 1;
        }
        let Some((number, sent)) = self.transmission(segment.number) else { return };
        let (mut arrived, mut newest) = (Arrived::of(number, &sent), &mut taken.newest);
        if segment.transmissions > 1 {
            taken.ambiguous = true;
            let is_first = seq + 1 == self.una && std::mem::take(&mut taken.first_is_original);
            let is_original = is_first || taken.timing.is_after_answered(arrived.sent_at);
            let earlier = self.earlier_arrived(arrived, &taken.timing, is_original);
            if let Some((earlier, is_proof)) = earlier {
                (arrived, newest) = (earlier, &mut taken.newest_earlier);
                is_late |= is_proof;
            }
            if is_original || (earlier.is_none() && taken.timing.echoes(arrived.sent_at)) {
                self.repaired.push((seq, arrived.number));
            }
        }
        if is_late && segment.state & DECLARED != 0 {
            taken.progress.spurious += 1;
            self.late.push(arrived.number);
        }
        if newest.is_none_or(|newest| newest.number < arrived.number) {
            *newest = Some(arrived);
        }
        if self.lists {
            self.list_delivered(arrived.number, segment, taken.timing.now);
        }
    }

    /// Returns the earlier transmission by which a packet has arrived whose newest transmission is `newest`, if it was one,
    /// and whether that is beyond doubt.
    #[cold]
    fn earlier_arrived(
        &self,
        newest: Arrived,
        timing: &Timing,
        is_original: bool,
    ) -> Option<(Arrived, bool)> {
        let is_proof = is_original || timing.is_sooner(newest.sent_at, timing.undo_within);
        // RFC 8985 §6.2, step 2: faster than the path allows.
        if !is_proof && !timing.is_sooner(newest.sent_at, timing.min_rtt) {
            return None;
        }
        let newest_index = (newest.number - self.first_number) as usize;
        let seq = self.sent[newest_index].seq;
        let until = timing.echoed.filter(|_| is_original).or(timing.answered_until);
        let until = until.unwrap_or(Time::NEVER).as_micros();
        let mut earlier = self.sent.range(..newest_index).enumerate().rev();
        let found = earlier.find(|(_, sent)| sent.seq == seq && sent.sent_at.as_micros() <= until);
        let arrived = match found {
            Some((index, sent)) => Arrived::of(self.first_number + index as u64, sent),
            None => newest,
        };
        Some((arrived, is_proof))
    }

    #[cold]
    fn list_delivered(&mut self, number: u64, segment: Segment, now: Time) {
        let Some(flight) = self.flight_at((number - self.first_number) as usize, segment.len) else { return };
        let rtt = (segment.transmissions == 1).then(|| now.since(flight.sent_at));
        self.delivered_now.push(Delivered { flight, rtt, delivered: 0 });
    }

    /// Brings the packets of an ack into the order of their transmissions.
    #[cold]
    fn order_delivered(&mut self) {
        self.delivered_now.sort_unstable_by_key(|packet| packet.flight.number);
        let mut delivered = self.delivery.delivered();
        for packet in self.delivered_now.iter_mut().rev() {
            packet.delivered = delivered;
            delivered -= packet.flight.bytes;
        }
    }

    /// Returns the transmission with these low bits, if it is still held.
    #[inline]
    fn transmission(&self, low: u32) -> Option<(u64, Transmission)> {
        let number = expand(self.first_number, low);
        let index = number.checked_sub(self.first_number)?;
        Some((number, *self.sent.get(index as usize)?))
    }

    /// Completes the acknowledgement's [progress](Taken::progress), once everything that it reports has been taken in. That
    /// stays where it is, since a copy would wait for the parts that were written a moment ago.
    #[inline]
    pub fn finish_ack(&mut self, taken: &mut Taken) {
        let Taken { timing, progress, newest, newest_earlier, ambiguous, .. } = taken;
        if progress.packets == 0 {
            return;
        }
        self.delivery.finish_ack(timing.now, newest.map(|newest| newest.sent_at));
        if !self.delivered_now.is_empty() {
            self.order_delivered();
        }
        if let Some(Arrived { number, sent_at, .. }) = *newest {
            let rtt = timing.now.since(sent_at);
            progress.rtt = (!*ambiguous).then_some(rtt);
            if self.keeps_stamps {
                let stamp = self.stamps.get((number - self.first_number) as usize).copied();
                progress.delivery =
                    stamp.and_then(|stamp| self.delivery.rate(sent_at, &stamp, timing.min_rtt));
            }
            if self.rack.is_none_or(|(newest, _)| newest < number) {
                self.rack = Some((number, rtt));
            }
        }
        if let Some(Arrived { number, sent_at, app_limited }) = newest.or(*newest_earlier) {
            progress.newest = (number, sent_at);
            progress.app_limited = app_limited;
        }
        self.forget_settled();
    }

    /// Returns the outstanding packet of the transmission at `index`.
    #[inline]
    fn segment_of(&self, index: usize) -> Option<&Segment> {
        // Below una the subtraction wraps around, to beyond the end.
        self.segments.get(self.sent[index].seq.wrapping_sub(self.una as u32) as usize)
    }

    /// Returns whether the packet of the transmission at `index` has arrived.
    #[inline]
    fn is_settled(&self, index: usize) -> bool {
        self.segment_of(index).is_none_or(|segment| segment.state & SACKED != 0)
    }

    /// Returns the packet of the transmission at `index`, if that is its newest one and it has not arrived.
    fn newest_of(&self, index: usize) -> Option<&Segment> {
        let number = (self.first_number + index as u64) as u32;
        self.segment_of(index).filter(|segment| segment.number == number && segment.state & SACKED == 0)
    }

    /// Returns whether the transmission at `index` is in flight.
    fn is_open(&self, index: usize) -> bool {
        self.newest_of(index).is_some_and(Segment::is_in_flight)
    }

    /// Returns the packet of the transmission at `index`, if that is in flight.
    fn open_packet(&self, index: usize) -> Option<u64> {
        self.is_open(index).then(|| expand(self.una, self.sent[index].seq))
    }

    /// Forgets transmissions whose packets have arrived, from the oldest on.
    #[inline]
    fn forget_settled(&mut self) {
        while !self.sent.is_empty() && self.is_settled(0) {
            self.sent.pop_front();
            self.first_number += 1;
            if self.keeps_stamps {
                self.stamps.pop_front();
            }
        }
        if self.sent.is_empty() {
            self.sent.shrink_to(SPARE);
            self.stamps.shrink_to(SPARE);
        }
    }
}
