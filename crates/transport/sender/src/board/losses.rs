//! Which packets are lost.

use super::segment::{Transmission, DECLARED, LOST, OVERTAKEN, SACKED, TIMED_OUT};
use super::{Board, Flight};
use crate::expand;
use afteryou_base::{Span, Time};
use std::cmp::Reverse;

/// Packets that may overtake one another before one counts as lost (RFC 5681 §3.2, RFC 6675 §2).
pub const DUP_THRESH: u64 = 3;

/// The state before an ack, or before a timer expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// FlightSize, bytes.
    pub flightsize: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// RFC 9937's RecoverFS: bytes outstanding less what SACK had reported.
    pub recover_fs: u64,
}

impl Board {
    /// Returns the state now.
    #[inline]
    pub fn before(&self) -> Before {
        let (flightsize, in_flight) = (self.outstanding, self.in_flight);
        Before { flightsize, in_flight, recover_fs: flightsize - self.sacked_bytes }
    }

    /// Returns whether any transmission in flight is older than one that has arrived. Without one there is no loss to find.
    #[inline]
    pub fn is_any_overtaken(&self) -> bool {
        self.rack.is_some_and(|(newest, _)| self.judged.max(self.first_number) < newest)
    }

    /// Detects losses by RACK (RFC 8985 §6.2, step 5). A packet is lost if it was sent before one that has arrived and more
    /// than that one's round-trip time and `reordering` ago. Returns when to look again.
    pub fn detect_by_time(&mut self, now: Time, reordering: Span, lost: &mut Vec<Flight>) -> Option<Time> {
        let (newest, rtt) = self.rack?;
        let mut number = self.judged.max(self.first_number);
        let mut look_again = None;
        while number < newest.min(self.next_number()) {
            let index = (number - self.first_number) as usize;
            if self.is_open(index) {
                let due = self.sent[index].sent_at + rtt + reordering;
                if due > now {
                    look_again = Some(due);
                    break;
                }
                lost.push(self.lose_at(index, true));
            }
            number += 1;
        }
        self.judged = number;
        look_again
    }

    /// Detects losses by IsLost (RFC 6675 §4): three packets beyond it have arrived. Packets that were sent again are not
    /// judged.
    pub fn detect_by_count(&mut self, lost: &mut Vec<Flight>) {
        let Some(third) = self.sacked.nth_highest(DUP_THRESH) else { return };
        for seq in self.counted.max(self.una)..third {
            let Some(segment) = self.segment(seq) else { break };
            if segment.is_in_flight() && segment.transmissions == 1 {
                lost.extend(self.lose(seq, true));
            }
        }
        self.counted = self.counted.max(third);
    }

    /// Takes everything that has not arrived for lost: the retransmission timer expired. Returns what was not lost before.
    pub fn lose_everything(&mut self) -> Vec<Flight> {
        self.lose_where(|_, _| true)
    }

    /// Takes the first packet for lost, and what was sent `patience` ago or earlier, since the retransmission timer expired
    /// (RFC 8985 §6.3). The rest may still be in flight. Returns what was not lost before.
    pub fn lose_first_and_old(&mut self, now: Time, patience: Span) -> Vec<Flight> {
        let first = self.una as u32;
        self.lose_where(|seq, sent_at| seq == first || sent_at + patience <= now)
    }

    fn lose_where(&mut self, is_lost: impl Fn(u32, Time) -> bool) -> Vec<Flight> {
        let mut lost = Vec::new();
        for index in 0..self.sent.len() {
            let Transmission { sent_at, seq, .. } = self.sent[index];
            if !is_lost(seq, sent_at) {
                continue;
            }
            let Some(segment) = self.newest_of(index).filter(|segment| segment.state & LOST == 0) else {
                continue;
            };
            // What was set aside was never known to be missing: its arrival proves nothing wrong.
            let known = segment.state & OVERTAKEN == 0;
            let flight = self.lose_at(index, known);
            self.segments[(flight.seq - self.una) as usize].state |= TIMED_OUT;
            lost.push(flight);
        }
        lost
    }

    /// Takes back a needless timeout: what it took for lost is in flight, unless it was sent again (RFC 4015 §3.2, step 5).
    pub fn take_back_timeout(&mut self) {
        for index in 0..self.sent.len() {
            let number = self.first_number + index as u64;
            let seq = expand(self.una, self.sent[index].seq);
            let Some(segment) = self.newest_of(index).filter(|segment| segment.state & TIMED_OUT != 0) else {
                continue;
            };
            let len = u64::from(segment.len);
            self.segments[(seq - self.una) as usize].state &= !(LOST | DECLARED | TIMED_OUT);
            self.lost_segments -= 1;
            self.in_flight += len;
            self.delivery.find(len);
            self.judged = self.judged.min(number);
        }
    }

    /// Takes packet `seq` for lost, if it is outstanding and not reported by SACK, and returns its newest transmission; it may
    /// be lost already. `known`: it is known to be missing, so its arrival proves the loss wrong.
    pub fn lose(&mut self, seq: u64, known: bool) -> Option<Flight> {
        let at = usize::try_from(seq.checked_sub(self.una)?).ok()?;
        let segment = self.segments.get_mut(at).filter(|segment| segment.state & SACKED == 0)?;
        let (number, len) = (expand(self.first_number, segment.number), segment.len);
        let index = number.checked_sub(self.first_number)? as usize;
        if segment.state & LOST != 0 {
            segment.state &= !TIMED_OUT;
            segment.state |= if known { DECLARED } else { 0 };
            return self.flight_at(index, len);
        }
        (index < self.sent.len()).then(|| self.lose_at(index, known))
    }

    /// Takes back a needless expiry of the retransmission timer: what only it took for lost, and was not sent again, is in
    /// flight again.
    pub fn find_unjudged(&mut self) {
        for index in self.judged.saturating_sub(self.first_number) as usize..self.sent.len() {
            if self.newest_of(index).is_some_and(|segment| segment.state & LOST != 0) {
                let seq = expand(self.una, self.sent[index].seq);
                let segment = &mut self.segments[(seq - self.una) as usize];
                segment.state &= !(LOST | DECLARED);
                self.in_flight += u64::from(segment.len);
                self.lost_segments -= 1;
            }
        }
    }

    /// Counts a loss that a probe has repaired, so that it was never waiting to be sent again.
    pub fn count_repaired(&mut self, flight: &Flight) {
        self.delivery.lose(flight.bytes);
    }

    /// Returns whether packet `seq` is lost and not sent again.
    pub fn is_lost(&self, seq: u64) -> bool {
        self.segment(seq).is_some_and(|segment| segment.state & LOST != 0)
    }

    /// Takes the transmission at `index` for lost: the newest one of its packet, which has neither arrived nor is lost.
    pub(super) fn lose_at(&mut self, index: usize, known: bool) -> Flight {
        self.note_history();
        let seq = expand(self.una, self.sent[index].seq);
        let segment = &mut self.segments[(seq - self.una) as usize];
        let len = segment.len;
        match segment.state & OVERTAKEN {
            0 => self.in_flight -= u64::from(len),
            _ => self.overtaken_segments -= 1,
        }
        segment.state &= !(OVERTAKEN | DECLARED);
        segment.state |= if known { LOST | DECLARED } else { LOST };
        self.lost_segments += 1;
        self.lost.push(Reverse(seq));
        self.delivery.lose(u64::from(len));
        self.flight_at(index, len).unwrap_or_default()
    }
}
