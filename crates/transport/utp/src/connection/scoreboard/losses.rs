//! Which packets are lost.

use super::{LostPacket, Scoreboard};
use afteryou_base::{Span, Time};
use afteryou_sender::board::Order;
use afteryou_sender::Flight;

impl Scoreboard {
    /// Returns the packets lost by now among those that the newest bitmap reaches: overtaken by `packets` transmissions, or by any and
    /// sent `patience` ago. Adds what probes have repaired. Also returns when to look again.
    pub fn detect_losses(
        &mut self,
        now: Time,
        packets: u64,
        patience: Span,
    ) -> (Vec<LostPacket>, Option<Time>) {
        if self.scan.is_some() {
            return (self.scan_losses(), None);
        }
        if !self.board.has_overtaken() && self.probes.is_empty() {
            return (Vec::new(), None);
        }
        let Some(newest) = self.board.newest_delivered() else {
            return (Vec::new(), None);
        };
        let order = Order { packets, patience, visible_until: self.visible_until };
        let mut found = std::mem::take(&mut self.found);
        let look_again = self.board.detect_by_order(now, &order, &mut found);
        let mut lost = Vec::new();
        for flight in found.drain(..) {
            self.take_probe(flight.number); // reported now
            lost.push(LostPacket { flight, is_signal: true });
        }
        self.found = found;
        if !self.probes.is_empty() {
            let repaired = self.take_repaired(newest);
            repaired.iter().for_each(|packet| self.board.count_repaired(&packet.flight));
            lost.extend(repaired);
        }
        (lost, look_again)
    }

    /// Takes the first packet for lost, and what was sent `patience` ago or earlier, since the retransmission timer expired
    /// (RFC 8985 §6.3). With a scan everything is; what the newest bitmap did not show was never known to be missing.
    pub fn time_out(&mut self, now: Time, patience: Span) {
        let lost = match self.scan {
            None => self.board.lose_first_and_old(now, patience),
            Some(_) => self.lose_all_missing(),
        };
        lost.iter().for_each(|flight| _ = self.take_probe(flight.number));
        if let Some(scan) = &mut self.scan {
            scan.timed_out(self.board.next_seq());
        }
    }

    /// Takes back a timeout whose packet has arrived by its earlier transmission. Packets that only the timer took for lost,
    /// and that were not sent again, are still in flight (RFC 4015 §3.2, step 6).
    pub fn time_out_was_needless(&mut self) {
        match &mut self.scan {
            None => self.board.take_back_timeout(),
            Some(scan) => {
                scan.timed_out_for_nothing();
                self.board.find_unjudged();
            }
        }
        let board = &self.board;
        self.urgent.retain(|index| board.is_lost(*index));
    }

    fn lose_all_missing(&mut self) -> Vec<Flight> {
        let missing = (self.board.una()..self.board.next_seq()).filter(|index| !self.board.is_lost(*index));
        let missing: Vec<u64> = missing.collect();
        missing.into_iter().filter_map(|index| self.board.lose(index, index < self.visible_until)).collect()
    }
}

#[cfg(test)]
mod tests;
