//! Losses by the order of transmissions (RFC 9002 §6.1). A packet is lost once one sent `packets` transmissions later
//! has arrived (§6.1.1), or one sent later at all and `patience` after its sending (§6.1.2).
//!
//! The receiver's report may end before the packet (uTP's short bitmaps). A packet that the report does not reach is
//! not judged. Overtaken by enough others, or for long enough, it has left the network all the same, by arriving or by getting lost, and is
//! set aside. Otherwise a burst of losses before many such packets would be repaired by one packet in each round trip.
//! Once the report reaches it, a packet that was set aside and is still missing is lost.

use super::segment::OVERTAKEN;
use super::{Board, Flight};
use afteryou_base::{Span, Time};

/// Thresholds of the order of transmissions.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Transmissions that may overtake one another (RFC 9002 §6.1.1: 3); `u64::MAX`: any number, only time counts (RFC 8985).
    pub packets: u64,
    /// Time after its sending for which an overtaken packet may still arrive.
    pub patience: Span,
    /// The receiver's report reaches packets below this.
    pub visible_until: u64,
}

impl Board {
    /// Returns whether there is a packet that the order of transmissions could show to be lost. With most acks there is none.
    #[inline]
    pub fn has_overtaken(&self) -> bool {
        self.is_any_overtaken() || !self.aside.is_empty()
    }

    /// Finds the packets lost by the order of transmissions, sorted by packets. Returns when to look again.
    #[inline]
    pub fn detect_by_order(&mut self, now: Time, order: &Order, lost: &mut Vec<Flight>) -> Option<Time> {
        let (newest, _) = self.rack?;
        self.judge_aside(order.visible_until, lost);
        let look_again = self.judge_overtaken(now, newest, order, lost);
        lost.sort_unstable_by_key(|flight| flight.seq);
        look_again
    }

    /// Judges the packets that were set aside and are reached now.
    fn judge_aside(&mut self, visible_until: u64, lost: &mut Vec<Flight>) {
        while let Some(seq) = self.aside.first().copied().filter(|seq| *seq < visible_until) {
            self.aside.pop_first();
            if self.is_set_aside(seq) {
                lost.extend(self.lose(seq, true));
            }
        }
    }

    /// Judges transmissions up to number `newest`, which are overtaken, from the oldest on: by how many, and for how long. Returns when
    /// the next one will be late.
    fn judge_overtaken(
        &mut self,
        now: Time,
        newest: u64,
        order: &Order,
        lost: &mut Vec<Flight>,
    ) -> Option<Time> {
        let mut number = self.judged.max(self.first_number);
        let mut look_again = None;
        while number < newest {
            let index = (number - self.first_number) as usize;
            if let Some(seq) = self.open_packet(index) {
                let due = self.sent[index].sent_at + order.patience;
                // A packet that left later is neither overtaken by more packets nor due earlier.
                if newest - number < order.packets && due > now {
                    look_again = Some(due);
                    break;
                }
                match seq < order.visible_until {
                    true => lost.push(self.lose_at(index, true)),
                    false => self.set_aside(seq),
                }
            }
            number += 1;
        }
        self.judged = number;
        look_again
    }

    /// Returns whether packet `seq` was overtaken beyond the reach of the receiver's report.
    pub fn is_set_aside(&self, seq: u64) -> bool {
        self.segment(seq).is_some_and(|segment| segment.state & OVERTAKEN != 0)
    }

    /// Notes that packet `seq` has left the network, by arriving or by getting lost.
    pub(super) fn set_aside(&mut self, seq: u64) {
        self.note_history();
        let at = seq.wrapping_sub(self.una) as usize;
        let Some(segment) = self.segments.get_mut(at).filter(|segment| segment.is_in_flight()) else {
            return;
        };
        segment.state |= OVERTAKEN;
        self.in_flight -= u64::from(segment.len);
        self.overtaken_segments += 1;
        self.aside.insert(seq);
    }
}
