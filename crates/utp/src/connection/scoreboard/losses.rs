//! Which packets are lost.

use super::{LostPacket, Scoreboard, PACKET_THRESHOLD};
use afteryou_base::{Span, Time};
use afteryou_sender::board::Order;

impl Scoreboard {
    /// Finds what is lost by now among the packets that the newest bitmap reaches; `patience` is how long after its
    /// sending a packet may still come. Adds what probes have repaired. Also returns when to look again.
    pub fn detect_losses(&mut self, now: Time, patience: Span) -> (Vec<LostPacket>, Option<Time>) {
        if self.scan.is_some() {
            return (self.scan_losses(), None);
        }
        let Some(newest) = self.board.newest_delivered() else {
            return (Vec::new(), None);
        };
        let order = Order { packets: PACKET_THRESHOLD, patience, visible_until: self.visible_until };
        let mut found = std::mem::take(&mut self.found);
        let look_again = self.board.detect_by_order(now, &order, &mut found);
        let mut lost = Vec::new();
        for flight in found.drain(..) {
            self.take_probe(flight.number); // reported now
            lost.push(LostPacket { flight, is_signal: true });
        }
        self.found = found;
        if !self.probes.is_empty() {
            lost.extend(self.take_repaired(newest));
        }
        (lost, look_again)
    }

    /// Declares everything in flight lost: the retransmission timer expired. What had been overtaken unseen is sent again,
    /// too, but it was never known to be missing: its arrival proves nothing wrong. A scan skips what it does not see.
    pub fn declare_all_lost(&mut self) {
        for index in self.board.una()..self.board.next_seq() {
            if self.board.is_lost(index) {
                continue;
            }
            let is_seen = self.scan.is_none() || index < self.visible_until;
            let known_missing = is_seen && !self.board.is_set_aside(index);
            if let Some(flight) = self.board.lose(index, known_missing) {
                self.take_probe(flight.number);
            }
        }
        if let Some(scan) = &mut self.scan {
            scan.timed_out();
        }
    }
}

#[cfg(test)]
mod tests;
