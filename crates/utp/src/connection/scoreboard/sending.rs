//! Packets leave, for the first time or again.

use super::{Body, Scoreboard, Transmission};
use afteryou_base::Time;

impl Scoreboard {
    /// Sends a new packet.
    pub fn send_new(&mut self, now: Time, body: Body) -> Transmission {
        let transmission = Transmission { seq_nr: self.next_seq(), body: body.clone() };
        // A payload fits into a datagram, whose length has 16 bits.
        self.board.send_new(now, body.payload_len() as u16);
        self.bodies.push_back(body);
        transmission
    }

    /// Sends the [`next_lost`](Scoreboard::next_lost) packet again.
    pub fn send_lost(&mut self, now: Time) -> Option<Transmission> {
        let index = match self.urgent.pop_first() {
            Some(index) => index,
            None => self.board.next_lost()?.0,
        };
        self.send_again(now, index)
    }

    /// Sends the newest or the oldest unacknowledged packet again, as a probe; it need not be lost.
    pub fn send_probe(&mut self, now: Time, newest: bool) -> Option<Transmission> {
        let index = match newest {
            true => self.board.newest_missing()?,
            false => (self.board.una()..self.board.next_seq()).find(|index| !self.board.is_sacked(*index))?,
        };
        self.note_probe(index);
        self.urgent.remove(&index);
        self.send_again(now, index)
    }

    fn send_again(&mut self, now: Time, index: u64) -> Option<Transmission> {
        let at = usize::try_from(index.checked_sub(self.board.una())?).ok()?;
        let body = self.bodies.get(at)?.clone();
        self.board.send_again(now, index);
        Some(Transmission { seq_nr: self.first_seq.wrapping_add(at as u16), body })
    }
}
