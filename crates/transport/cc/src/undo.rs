//! The state before a reduction, for as long as the losses behind it may turn out to be none.
//!
//! A transport finds out within the recovery: the acks of the packets in flight come one round trip after the loss was
//! found. Those of the first retransmissions come with them. Later the state belongs to a path of long ago.
//!
//! Source: RFC 9438 §4.9.2 keeps the state of the latest reduction; RFC 4015 restores it. A mark is no loss and is not
//! taken back (RFC 3168 §6.1.2).

use crate::event::Ack;

/// Rounds that may begin before the state is forgotten: the one under way at the reduction ends early.
const ROUNDS: u8 = 2;

/// The state `S` before the latest reduction, if it may come back.
#[derive(Clone, Copy, Debug)]
pub struct Undo<S> {
    before: Option<S>,
    /// Rounds begun since.
    rounds: u8,
}

impl<S> Default for Undo<S> {
    fn default() -> Undo<S> {
        Undo { before: None, rounds: 0 }
    }
}

impl<S> Undo<S> {
    /// A loss is about to change `before`.
    pub fn keep(&mut self, before: S) {
        *self = Undo { before: Some(before), rounds: 0 };
    }

    /// The saved state is obsolete.
    pub fn forget(&mut self) {
        self.before = None;
    }

    /// Takes in an ack: marks confirm a reduction, and after a while nothing is given back.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.rounds = self.rounds.saturating_add(u8::from(ack.round_start));
        if ack.marks.any() || self.rounds > ROUNDS {
            self.forget();
        }
    }

    /// The state to return to. There is none a second time.
    pub fn take(&mut self) -> Option<S> {
        self.before.take()
    }
}
