//! Which packets are lost.
//!
//! To look at every packet upon each acknowledgement would cost a window's length each time. Instead the transmissions
//! queue in their [`Order`](super::order::Order), and each leaves the queue once three later ones have shown what has
//! become of it, or that nobody can tell yet.

use super::segment::Status;
use super::{LostPacket, Scoreboard, PACKET_THRESHOLD};
use afteryou_cc::{Span, Time};

impl Scoreboard {
    /// Finds what is lost by now among the packets that the newest bitmap speaks of; `reordering` is how long after its
    /// sending a packet may still come. Adds what probes have repaired. Also returns when to look again.
    pub fn detect_losses(&mut self, now: Time, reordering: Span) -> (Vec<LostPacket>, Option<Time>) {
        if self.scan.is_some() {
            return (self.scan_losses(), None);
        }
        let Some(largest) = self.largest_delivered else {
            return (Vec::new(), None);
        };
        let mut lost = Vec::new();
        self.judge_set_aside(&mut lost);
        self.judge_overtaken((largest + 1).saturating_sub(PACKET_THRESHOLD), &mut lost);
        let look_again = self.judge_late(now, reordering, largest, &mut lost);
        lost.sort_unstable(); // in the packets' own order
        let mut lost: Vec<LostPacket> =
            lost.into_iter().map(|index| self.declare_lost(index, true)).collect();
        lost.extend(self.take_repaired(largest));
        (lost, look_again)
    }

    /// What could not be seen when it was overtaken can be seen now.
    fn judge_set_aside(&mut self, lost: &mut Vec<u64>) {
        while let Some(index) = self.set_aside.first().copied().filter(|index| *index < self.visible_until) {
            self.set_aside.pop_first();
            if self.segment(index).is_some_and(|segment| segment.status == Status::Overtaken) {
                lost.push(index);
            }
        }
    }

    /// What has been overtaken by enough others, packet numbers less than `end`, is lost.
    ///
    /// What the bitmap does not speak of does not fill the window either then. Else a burst of losses before many such
    /// packets would be repaired by one packet in each round trip.
    fn judge_overtaken(&mut self, end: u64, lost: &mut Vec<u64>) {
        while let Some((packet_number, index)) = self.order.pop_before(end) {
            if !self.is_in_flight(index, packet_number) {
                continue;
            }
            if index < self.visible_until {
                lost.push(index);
                continue;
            }
            self.leave_flight(index, Status::Overtaken);
            self.set_aside.insert(index);
        }
    }

    /// What has been overtaken by few is lost once it is late. Returns when the next one will be.
    fn judge_late(&mut self, now: Time, reordering: Span, largest: u64, lost: &mut Vec<u64>) -> Option<Time> {
        let mut look_again = None::<Time>;
        for (packet_number, index) in self.order.before(largest) {
            if index >= self.visible_until || !self.is_in_flight(index, packet_number) {
                continue;
            }
            let Some(segment) = self.segment(index) else { continue };
            let due = segment.newest.sent_at + reordering;
            if due <= now {
                lost.push(index);
            } else {
                look_again = Some(look_again.map_or(due, |other| other.min(due)));
            }
        }
        look_again
    }

    /// Is this the newest transmission of packet `index`, and nothing known of it?
    fn is_in_flight(&self, index: u64, packet_number: u64) -> bool {
        self.segment(index).is_some_and(|segment| {
            segment.newest.packet_number == packet_number && segment.status == Status::InFlight
        })
    }

    /// Declares everything in flight lost: the retransmission timer expired. What had been overtaken unseen is sent again,
    /// too, but it was never known to be missing: its arrival proves nothing wrong. A scan passes over what it does not see.
    pub fn declare_all_lost(&mut self) {
        for at in 0..self.segments.len() {
            if self.segments[at].is_missing() {
                let index = self.popped + at as u64;
                let is_seen = self.scan.is_none() || index < self.visible_until;
                let known_missing = is_seen && self.segments[at].status == Status::InFlight;
                self.declare_lost(index, known_missing);
            }
        }
        self.order.clear();
        self.set_aside.clear();
        if let Some(scan) = &mut self.scan {
            scan.timed_out();
        }
    }

    pub(super) fn declare_lost(&mut self, index: u64, known_missing: bool) -> LostPacket {
        self.leave_flight(index, Status::Lost);
        self.lost.insert(index);
        let segment = &mut self.segments[(index - self.popped) as usize];
        segment.declared_lost = known_missing;
        let lost = LostPacket::from(&*segment);
        self.take_probe(lost.packet_number); // reported now
        lost
    }

    /// A missing packet no longer counts as being in the network.
    fn leave_flight(&mut self, index: u64, status: Status) {
        let segment = &mut self.segments[(index - self.popped) as usize];
        if segment.status == Status::InFlight {
            self.in_flight -= segment.body.payload_len();
            self.in_flight_packets -= 1;
        }
        segment.status = status;
    }
}

#[cfg(test)]
mod tests;
