//! Packets leave, for the first time or again.

use super::segment::{Segment, Transmission, DECLARED, LOST, OVERTAKEN, TIMED_OUT};
use super::Board;
use afteryou_base::Time;
use std::cmp::Reverse;

/// A packet to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The packet's number.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u16,
    /// Which transmission of it, from 1; 127 for all later ones.
    pub transmission: u8,
}

impl Board {
    /// Sends a new packet.
    #[inline]
    pub fn send_new(&mut self, now: Time, len: u16) -> Outgoing {
        let (seq, number) = (self.next_seq(), self.next_number());
        if self.segments.is_empty() {
            self.delivery.begin_flight(now);
        }
        self.outstanding += u64::from(len);
        self.in_flight += u64::from(len);
        self.segments.push_back(Segment { number: number as u32, len, state: 0, transmissions: 1 });
        self.note_transmission(now, seq);
        Outgoing { seq, len, transmission: 1 }
    }

    /// Returns whether anything is lost and not sent again.
    pub fn has_lost(&self) -> bool {
        self.lost_segments > 0
    }

    /// Returns the oldest lost packet and its length.
    pub fn next_lost(&mut self) -> Option<(u64, u16)> {
        while let Some(Reverse(seq)) = self.lost.peek().copied() {
            if let Some(segment) = self.segment(seq).filter(|segment| segment.state & LOST != 0) {
                return Some((seq, segment.len));
            }
            self.lost.pop();
        }
        None
    }

    /// Returns the newest packet that is not known to have arrived.
    pub fn newest_missing(&self) -> Option<u64> {
        let mut seq = self.next_seq().checked_sub(1).filter(|seq| *seq >= self.una)?;
        while let Some((start, _)) = self.sacked.around(seq) {
            seq = start.checked_sub(1).filter(|seq| *seq >= self.una)?;
        }
        Some(seq)
    }

    /// Returns the oldest packet below the highest that arrived that is neither known to have arrived nor lost and was sent
    /// only once (RFC 6675 §4, NextSeg rule 3).
    pub fn next_unjudged(&self) -> Option<u64> {
        let top = self.sacked.end()?;
        let is_open = |segment: &Segment| segment.is_in_flight() && segment.transmissions == 1;
        (self.una..top).find(|seq| self.segment(*seq).is_some_and(is_open))
    }

    /// Sends an outstanding packet again.
    pub fn send_again(&mut self, now: Time, seq: u64) -> Outgoing {
        let number = self.next_number();
        self.note_history();
        let segment = &mut self.segments[(seq - self.una) as usize];
        let len = u64::from(segment.len);
        if segment.state & LOST != 0 {
            segment.state &= !(LOST | TIMED_OUT);
            self.lost_segments -= 1;
            self.in_flight += len;
        } else {
            // A probe of a packet that is not lost: the arrival of the earlier transmission undoes nothing.
            if segment.state & OVERTAKEN != 0 {
                self.overtaken_segments -= 1;
                self.in_flight += len;
            }
            segment.state &= !(DECLARED | OVERTAKEN);
        }
        segment.number = number as u32;
        segment.transmissions = (segment.transmissions + 1).min(127);
        let outgoing = Outgoing { seq, len: segment.len, transmission: segment.transmissions };
        self.note_transmission(now, seq);
        outgoing
    }

    #[inline]
    fn note_transmission(&mut self, now: Time, seq: u64) {
        let app_limited = self.delivery.is_app_limited();
        self.sent.push_back(Transmission { sent_at: now, seq: seq as u32, app_limited });
        if self.keeps_stamps {
            self.stamps.push_back(self.delivery.stamp(self.in_flight));
        }
    }
}
