//! Packets leave, for the first time or again.

use super::{Body, Scoreboard};
use crate::numbers::SeqNr;
use afteryou_base::Time;

impl Scoreboard {
    /// Sends a new packet and returns its sequence number.
    pub fn send_new(&mut self, now: Time, body: Body) -> SeqNr {
        let seq_nr = self.next_seq();
        // A payload fits into a datagram, whose length has 16 bits.
        self.board.send_new(now, body.payload_len() as u16);
        self.bodies.push_back(body);
        seq_nr
    }

    /// Sends the [`next_lost`](Scoreboard::next_lost) packet again and returns its sequence number.
    pub fn send_lost(&mut self, now: Time) -> Option<SeqNr> {
        let index = match self.urgent.pop_first() {
            Some(index) => index,
            None => self.board.next_lost()?.0,
        };
        self.send_again(now, index)
    }

    /// Sends the newest or the oldest unacknowledged packet again, as a probe; it need not be lost. Returns its
    /// sequence number.
    pub fn send_probe(&mut self, now: Time, newest: bool) -> Option<SeqNr> {
        let index = match newest {
            true => self.board.newest_missing()?,
            false => (self.board.una()..self.board.next_seq()).find(|index| !self.board.is_sacked(*index))?,
        };
        self.note_probe(index);
        self.urgent.remove(&index);
        self.send_again(now, index)
    }

    fn send_again(&mut self, now: Time, index: u64) -> Option<SeqNr> {
        let at = index.checked_sub(self.board.una()).filter(|at| *at < self.bodies.len() as u64)?;
        self.board.send_again(now, index);
        Some(self.first_seq.plus(at as u16))
    }
}
