//! The sender's scoreboard: what was sent and not acknowledged, in order of segments and in order of transmissions.
//!
//! A segment has eight bytes, a transmission sixteen (and twenty-four more for delivery-rate samples), so that a thousand
//! flows with large windows stay small. Transmissions are kept from the oldest one whose fate is open; losses are looked
//! for from there, so that each is looked at a constant number of times.

use crate::packet::expand;
use crate::ranges::Ranges;
use afteryou_cc::{DeliveryRate, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Segments that may overtake one another before one counts as lost (RFC 5681 §3.2, RFC 6675 §2).
pub const DUP_THRESH: u64 = 3;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A transmission of it was taken for lost; stays when it is sent again.
const DECLARED: u8 = 4;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Low bits of the number of its newest transmission.
    number: u32,
    /// Payload, bytes.
    len: u16,
    /// [`SACKED`], [`LOST`], neither: in flight; [`DECLARED`].
    state: u8,
    /// Transmissions so far, at most 127.
    transmissions: u8,
}

impl Segment {
    fn is_in_flight(&self) -> bool {
        self.state & (SACKED | LOST) == 0
    }
}

/// A transmission whose fate is open, or a later one.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    sent_at: Time,
    seq: u32,
    app_limited: bool,
}

/// What the delivery rate is computed from, as it was when a packet was sent.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    delivered: u64,
    delivered_at: Time,
    in_flight: u64,
}

const _: () = assert!(std::mem::size_of::<Segment>() == 8 && std::mem::size_of::<Transmission>() == 16);

/// A segment found lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostSegment {
    /// Payload, bytes.
    pub len: u16,
    /// When the lost transmission left.
    pub sent_at: Time,
    /// Its number.
    pub number: u64,
}

/// Something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Which segment.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u16,
    /// Which transmission of it, from 1.
    pub transmission: u8,
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes acknowledged in order that no SACK had reported.
    pub newly_acked: u64,
    /// Bytes reported by SACK for the first time.
    pub newly_sacked: u64,
    /// Segments that were new in either way.
    pub segments: u64,
    /// The cumulative acknowledgement moved.
    pub advanced: bool,
    /// Newest transmission that was delivered: its number and time.
    pub newest: Option<(u64, Time)>,
    /// Its round-trip time, unless it might be an earlier transmission's.
    pub rtt: Option<Span>,
    /// Delivery rate over its flight.
    pub delivery: Option<DeliveryRate>,
    /// It was sent while the application limited the sender.
    pub app_limited: bool,
    /// Segments whose transmission was taken for lost and has arrived.
    pub spurious: u64,
    /// A segment that was sent once arrived after later ones (RFC 8985 §6.2, step 3).
    pub reordered: bool,
}

/// The scoreboard.
#[derive(Debug, Default)]
pub struct Board {
    segments: VecDeque<Segment>,
    una: u64,
    sent: VecDeque<Transmission>,
    /// One for each of `sent`, if the controller wants rates.
    stamps: VecDeque<Stamp>,
    takes_rates: bool,
    /// Number of the front of `sent`.
    first_number: u64,
    sacked: Ranges,
    sacked_bytes: u64,
    lost: BinaryHeap<Reverse<u64>>,
    lost_segments: u64,
    in_flight: u64,
    outstanding: u64,
    delivered: u64,
    delivered_at: Time,
    /// One beyond the highest segment known to have arrived (RACK.fack).
    highest: u64,
    /// Newest transmission known to have arrived, and its round-trip time (RACK.segment, RACK.rtt).
    rack: Option<(u64, Span)>,
    /// Segments below this were looked at by the duplicate-threshold rule.
    judged: u64,
}

impl Board {
    /// An empty one; `takes_rates` says whether anybody wants delivery rates.
    pub fn new(takes_rates: bool) -> Board {
        Board { takes_rates, ..Board::default() }
    }

    /// Oldest segment not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Next new segment.
    pub fn next_seq(&self) -> u64 {
        self.una + self.segments.len() as u64
    }

    /// Nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes believed to be in the network (RFC 6675's pipe).
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes beyond the cumulative acknowledgement (FlightSize).
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Bytes that SACK has reported.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Segments that SACK has reported.
    pub fn sacked_segments(&self) -> u64 {
        self.sacked.count()
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Number of the oldest transmission whose fate may be open.
    pub fn oldest_number(&self) -> u64 {
        self.first_number
    }

    /// Number of the next transmission.
    pub fn next_number(&self) -> u64 {
        self.first_number + self.sent.len() as u64
    }

    /// Is anything lost and not sent again?
    pub fn has_lost(&self) -> bool {
        self.lost_segments > 0
    }

    /// Sends a new segment.
    pub fn send_new(&mut self, now: Time, len: u16, app_limited: bool) -> Outgoing {
        let seq = self.next_seq();
        self.outstanding += u64::from(len);
        self.segments.push_back(Segment { number: 0, len, state: LOST, transmissions: 0 });
        self.lost_segments += 1; // until it is sent, on the next line
        self.transmit(now, seq, app_limited)
    }

    /// The oldest lost segment and its length.
    pub fn next_lost(&mut self) -> Option<(u64, u16)> {
        while let Some(Reverse(seq)) = self.lost.peek().copied() {
            if let Some(segment) = self.segment(seq).filter(|segment| segment.state & LOST != 0) {
                return Some((seq, segment.len));
            }
            self.lost.pop();
        }
        None
    }

    /// The newest segment that is not known to have arrived.
    pub fn newest_missing(&self) -> Option<u64> {
        let mut seq = self.next_seq().checked_sub(1).filter(|seq| *seq >= self.una)?;
        while let Some((start, _)) = self.sacked.around(seq) {
            seq = start.checked_sub(1).filter(|seq| *seq >= self.una)?;
        }
        Some(seq)
    }

    /// The oldest segment below the highest that arrived that is neither known to have arrived nor lost and was sent only
    /// once (RFC 6675 §4, NextSeg rule 3).
    pub fn next_unjudged(&self) -> Option<u64> {
        let top = self.sacked.end()?;
        let is_open = |segment: &Segment| segment.is_in_flight() && segment.transmissions == 1;
        (self.una..top).find(|seq| self.segment(*seq).is_some_and(is_open))
    }

    /// Sends a segment again.
    pub fn send_again(&mut self, now: Time, seq: u64) -> Outgoing {
        self.transmit(now, seq, false)
    }

    fn transmit(&mut self, now: Time, seq: u64, app_limited: bool) -> Outgoing {
        if self.in_flight == 0 {
            self.delivered_at = now; // a rate sample must not span the idle time before it
        }
        let number = self.next_number();
        let segment = &mut self.segments[(seq - self.una) as usize];
        if segment.state & LOST != 0 {
            segment.state &= !LOST;
            self.lost_segments -= 1;
            self.in_flight += u64::from(segment.len);
        }
        segment.number = number as u32;
        segment.transmissions = (segment.transmissions + 1).min(127);
        self.sent.push_back(Transmission { sent_at: now, seq: seq as u32, app_limited });
        if self.takes_rates {
            let (delivered, delivered_at, in_flight) = (self.delivered, self.delivered_at, self.in_flight);
            self.stamps.push_back(Stamp { delivered, delivered_at, in_flight });
        }
        Outgoing { seq, len: segment.len, transmission: segment.transmissions }
    }

    fn segment(&self, seq: u64) -> Option<&Segment> {
        self.segments.get(seq.checked_sub(self.una)? as usize)
    }

    /// Takes in an acknowledgement; `sacks` ascend. `echoed` is the sending time that it echoes, `min_rtt` the smallest round-trip time
    /// so far.
    pub fn acknowledge(
        &mut self,
        now: Time,
        cumulative: u64,
        sacks: &[(u64, u64)],
        echoed: Option<Time>,
        min_rtt: Option<Span>,
    ) -> Progress {
        let mut taken = Taken { now, min_rtt, ..Taken::default() };
        let cumulative = cumulative.min(self.next_seq());
        if cumulative > self.una {
            taken.progress.advanced = true;
            self.advance(cumulative, echoed, &mut taken);
        }
        for (start, end) in sacks {
            self.sack((*start).max(self.una), (*end).min(self.next_seq()), &mut taken);
        }
        if taken.progress.segments > 0 {
            self.delivered_at = now;
            self.finish(&mut taken);
        }
        taken.progress
    }

    fn advance(&mut self, cumulative: u64, echoed: Option<Time>, taken: &mut Taken) {
        let had_sacked = !self.sacked.is_empty();
        // RFC 3522: an ack that echoes a time before the retransmission is the first transmission's.
        let first = self.segments.front().filter(|segment| segment.transmissions > 1).copied();
        if let (Some(segment), Some(echoed)) = (first, echoed) {
            let resent_at = self.transmission(segment.number).map(|(_, sent)| sent.sent_at);
            taken.first_is_original = resent_at.is_some_and(|at| echoed.as_micros() < at.as_micros());
        }
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
    }

    fn sack(&mut self, start: u64, end: u64, taken: &mut Taken) {
        let mut new = [(0, 0); 8];
        let mut parts = 0;
        let mut more = Vec::new();
        self.sacked.insert(start, end, &mut |a, b| match new.get_mut(parts) {
            Some(place) => (*place, parts) = ((a, b), parts + 1),
            None => more.push((a, b)),
        });
        for (a, b) in new[..parts].iter().copied().chain(more) {
            for seq in a..b {
                let index = (seq - self.una) as usize;
                let segment = self.segments[index];
                self.segments[index].state = SACKED;
                self.sacked_bytes += u64::from(segment.len);
                taken.progress.newly_sacked += u64::from(segment.len);
                self.deliver(seq, segment, taken);
            }
        }
    }

    /// Books a segment as delivered.
    fn deliver(&mut self, seq: u64, segment: Segment, taken: &mut Taken) {
        let bytes = u64::from(segment.len);
        self.delivered += bytes;
        taken.progress.segments += 1;
        let is_original = seq + 1 == self.una && std::mem::take(&mut taken.first_is_original);
        if segment.state & LOST == 0 {
            self.in_flight -= bytes;
            // A segment that was only probed was never taken for lost.
            taken.progress.spurious += u64::from(is_original && segment.state & DECLARED != 0);
        } else {
            self.lost_segments -= 1;
            taken.progress.spurious += 1; // not sent again, and here it is
        }
        if seq + 1 > self.highest {
            self.highest = seq + 1;
        } else {
            taken.progress.reordered |= segment.transmissions == 1;
        }
        let Some((number, sent)) = self.transmission(segment.number) else { return };
        let elapsed = taken.now.since(sent.sent_at);
        // RFC 8985 §6.2, step 2: faster than the path allows, so it was an earlier transmission that arrived.
        let again = segment.transmissions > 1;
        if again && (is_original || taken.min_rtt.is_some_and(|min| elapsed < min)) {
            return;
        }
        if taken.newest.is_none_or(|newest| newest.number < number) {
            taken.newest = Some(Newest { number, sent_at: sent.sent_at, once: !again });
        }
    }

    /// The transmission with these low bits, if it is still held.
    fn transmission(&self, low: u32) -> Option<(u64, Transmission)> {
        let number = expand(self.first_number, low);
        let index = number.checked_sub(self.first_number)?;
        Some((number, *self.sent.get(index as usize)?))
    }

    fn finish(&mut self, taken: &mut Taken) {
        if let Some(Newest { number, sent_at, once }) = taken.newest {
            let rtt = taken.now.since(sent_at);
            let index = (number - self.first_number) as usize;
            let app_limited = self.sent[index].app_limited;
            taken.progress.newest = Some((number, sent_at));
            taken.progress.rtt = once.then_some(rtt);
            taken.progress.app_limited = app_limited;
            taken.progress.delivery = self.stamps.get(index).map(|stamp| DeliveryRate {
                delivered: self.delivered - stamp.delivered,
                // Since the delivery before its sending: covers both the sending and the acknowledging of that data.
                interval: taken.now.since(stamp.delivered_at).max(rtt),
                in_flight_at_send: stamp.in_flight,
                app_limited,
            });
            if self.rack.is_none_or(|(newest, _)| newest < number) {
                self.rack = Some((number, rtt));
            }
        }
        self.forget_settled();
    }

    /// Is the fate of the transmission at `index` known?
    fn is_settled(&self, index: usize) -> bool {
        // Below una the subtraction wraps around, to beyond the end.
        let at = self.sent[index].seq.wrapping_sub(self.una as u32) as usize;
        let number = (self.first_number + index as u64) as u32;
        self.segments.get(at).is_none_or(|segment| !segment.is_in_flight() || segment.number != number)
    }

    /// Forgets transmissions whose fate is known, from the oldest on.
    fn forget_settled(&mut self) {
        while !self.sent.is_empty() && self.is_settled(0) {
            self.sent.pop_front();
            self.first_number += 1;
            if self.takes_rates {
                self.stamps.pop_front();
            }
        }
    }

    /// Is any open transmission older than one that has arrived? Without one there is no loss to find.
    pub fn is_any_overtaken(&self) -> bool {
        self.rack.is_some_and(|(newest, _)| self.first_number < newest)
    }

    /// RACK (RFC 8985 §6.2, step 5): a segment is lost if it was sent before one that has arrived and more than that
    /// one's round-trip time and `reordering` ago. Returns when to look again.
    pub fn detect_by_time(
        &mut self,
        now: Time,
        reordering: Span,
        lost: &mut Vec<LostSegment>,
    ) -> Option<Time> {
        let (newest, rtt) = self.rack?;
        let mut index = 0;
        let mut look_again = None;
        while index < self.sent.len() && self.first_number + (index as u64) < newest {
            if !self.is_settled(index) {
                let due = self.sent[index].sent_at + rtt + reordering;
                if due > now {
                    look_again = Some(due);
                    break;
                }
                lost.push(self.lose(index));
            }
            index += 1;
        }
        self.forget_settled();
        look_again
    }

    /// RFC 6675 §4, IsLost: three segments beyond it have arrived. Segments that were sent again are not judged.
    pub fn detect_by_count(&mut self, lost: &mut Vec<LostSegment>) {
        let Some(third) = self.sacked.nth_highest(DUP_THRESH) else { return };
        for seq in self.judged.max(self.una)..third {
            let Some(segment) = self.segment(seq) else { break };
            if !segment.is_in_flight() || segment.transmissions > 1 {
                continue;
            }
            let number = expand(self.first_number, segment.number);
            if let Some(index) = number.checked_sub(self.first_number) {
                lost.push(self.lose(index as usize));
            }
        }
        self.judged = self.judged.max(third);
        self.forget_settled();
    }

    /// Takes everything in flight for lost: the retransmission timer expired.
    pub fn lose_everything(&mut self) {
        self.lose_where(|_, _| true);
    }

    /// RFC 8985 §6.3: the retransmission timer expired, so the first segment is lost, and what was sent longer ago than the
    /// round-trip time of the newest transmission that has arrived and `reordering`. The rest may still be in flight.
    pub fn lose_first_and_old(&mut self, now: Time, reordering: Span) {
        let patience = self.rack.map_or(Span::ZERO, |(_, rtt)| rtt) + reordering;
        let first = self.una as u32;
        self.lose_where(|seq, sent_at| seq == first || sent_at + patience <= now);
    }

    fn lose_where(&mut self, is_lost: impl Fn(u32, Time) -> bool) {
        for index in 0..self.sent.len() {
            let Transmission { sent_at, seq, .. } = self.sent[index];
            if !self.is_settled(index) && is_lost(seq, sent_at) {
                self.lose(index);
            }
        }
        self.forget_settled();
    }

    fn lose(&mut self, index: usize) -> LostSegment {
        let Transmission { sent_at, seq, .. } = self.sent[index];
        let seq = expand(self.una, seq);
        let segment = &mut self.segments[(seq - self.una) as usize];
        segment.state |= LOST | DECLARED;
        self.in_flight -= u64::from(segment.len);
        self.lost_segments += 1;
        self.lost.push(Reverse(seq));
        LostSegment { len: segment.len, sent_at, number: self.first_number + index as u64 }
    }
}

/// The newest transmission that an acknowledgement delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u64,
    sent_at: Time,
    /// Its segment was sent only once.
    once: bool,
}

/// What one acknowledgement took off the scoreboard.
#[derive(Debug, Default)]
struct Taken {
    now: Time,
    min_rtt: Option<Span>,
    progress: Progress,
    newest: Option<Newest>,
    /// The first segment acknowledged in order is known to be its first transmission.
    first_is_original: bool,
}
