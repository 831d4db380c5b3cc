//! Doubts about a recovery: the losses it was begun for, by name, until they turn out to be real.
//!
//! A recovery is undone once **every** packet that was taken for lost has arrived after all: real congestion behind one
//! of them was congestion. Evidence is the late packet itself (RFC 3522: the ack echoes a time before the
//! retransmission). A retransmission of each of them that the receiver reports as a duplicate is evidence, too (RFC
//! 3708; Linux' `undo_retrans`). A recovery that a timeout began is not undone.

use crate::board::Flight;

/// The losses of a recovery.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// Transmissions taken for lost that have not arrived.
    lost: Vec<Flight>,
    /// Some of the transmissions taken for lost have arrived, or there are some.
    any: bool,
    /// Retransmissions.
    resent: u64,
    /// Retransmissions that the receiver had no need of.
    needless: u64,
}

impl Doubts {
    /// A transmission is taken for lost.
    pub fn lose(&mut self, flight: Flight) {
        self.any = true;
        self.lost.push(flight);
    }

    /// A packet is sent again.
    pub fn resend(&mut self) {
        self.resent += 1;
    }

    /// A transmission has arrived. Returns it if it was taken for lost in this recovery.
    pub fn arrive(&mut self, number: u64) -> Option<Flight> {
        let at = self.lost.iter().position(|flight| flight.number == number)?;
        Some(self.lost.remove(at))
    }

    /// The receiver reports a retransmission as a duplicate.
    pub fn arrive_twice(&mut self) {
        self.needless += 1;
    }

    /// Returns whether there was no loss at all. `waiting`: a lost packet was not sent again yet.
    pub fn are_justified(&self, waiting: bool) -> bool {
        let all_came_late = self.lost.is_empty();
        let all_came_twice = !waiting && self.resent > 0 && self.needless >= self.resent;
        self.any && (all_came_late || all_came_twice)
    }

    /// The transmissions that were taken for lost and did not arrive themselves.
    pub fn remaining(&self) -> &[Flight] {
        &self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(number: u64, seq: u64) -> Flight {
        Flight { number, seq, ..Flight::default() }
    }

    #[test]
    fn a_recovery_is_justly_doubted_once_all_its_losses_have_arrived() {
        let mut doubts = Doubts::default();
        assert!(!doubts.are_justified(false), "nothing was lost");
        doubts.lose(flight(10, 5));
        doubts.lose(flight(11, 6));
        assert_eq!(doubts.arrive(11).map(|flight| flight.seq), Some(6));
        assert!(!doubts.are_justified(false), "5 may be lost");
        assert_eq!(doubts.arrive(11), None, "once");
        assert_eq!(doubts.arrive(12), None, "not lost in this recovery");
        assert_eq!(doubts.arrive(10).map(|flight| flight.seq), Some(5));
        assert!(doubts.are_justified(true));
    }

    #[test]
    fn duplicates_of_every_retransmission_are_evidence_unless_one_still_waits() {
        let mut doubts = Doubts::default();
        doubts.lose(flight(10, 5));
        doubts.lose(flight(11, 6));
        doubts.resend();
        doubts.arrive_twice();
        assert!(!doubts.are_justified(true) && doubts.are_justified(false));
        doubts.resend();
        assert!(!doubts.are_justified(false));
        doubts.arrive_twice();
        assert!(doubts.are_justified(false));
        assert_eq!(doubts.remaining().len(), 2);
    }
}
