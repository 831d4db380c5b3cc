//! Doubts about a recovery: the losses it was begun for, by name, until they turn out to be real.
//!
//! A recovery is undone once **every** packet that was taken for lost has arrived after all: real congestion behind one
//! of them was congestion. The evidence for a packet, in this order:
//!
//! ```text
//!   an ack of it echoes a time before it was sent again       it arrived late: no loss              RFC 3522 §3.2
//!   the first ack of it echoes the time of its repetition     that arrived, so the loss was real    RFC 3522 §3.2
//!   neither, and the receiver got the packet twice            both arrived: no loss                 RFC 3708, RFC 9438 §4.9.2
//! ```
//! Once a loss is real, a D-SACK of its packet is a copy that the network has made. D-SACKs come a round trip after the
//! repetitions, which may be after the recovery. A recovery that a timeout began is not undone.

use crate::board::Flight;
use std::collections::VecDeque;

/// The losses of a recovery.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// Transmissions taken for lost that neither have arrived nor are known to be lost.
    open: VecDeque<Doubted>,
    /// There was a loss.
    any: bool,
    /// One of the losses was real.
    is_real: bool,
}

#[derive(Clone, Copy, Debug)]
struct Doubted {
    flight: Flight,
    /// The receiver got its packet twice.
    came_twice: bool,
}

impl Doubts {
    /// A transmission is taken for lost.
    pub fn lose(&mut self, flight: Flight) {
        self.any = true;
        self.open.push_back(Doubted { flight, came_twice: false });
    }

    /// A transmission has arrived. Returns it if it was taken for lost in this recovery.
    pub fn arrive(&mut self, number: u64) -> Option<Flight> {
        let at = self.open.iter().position(|lost| lost.flight.number == number)?;
        self.open.remove(at).map(|lost| lost.flight)
    }

    /// Packet `seq` has arrived by transmission `number`: those before it were lost.
    pub fn repair(&mut self, seq: u64, number: u64) {
        let is_lost = |lost: &Doubted| lost.flight.seq == seq && lost.flight.number < number;
        while let Some(at) = self.open.iter().position(is_lost) {
            self.open.remove(at);
            self.is_real = true;
        }
    }

    /// The receiver got the packets `start..end` twice. Of a packet that was lost more than once that shows nothing.
    pub fn arrive_twice(&mut self, (start, end): (u64, u64)) {
        for seq in start..end {
            let mut losses = self.open.iter_mut().filter(|lost| lost.flight.seq == seq);
            if let (Some(lost), None) = (losses.next(), losses.next()) {
                lost.came_twice = true;
            }
        }
    }

    /// Returns whether there was no loss at all.
    pub fn are_justified(&self) -> bool {
        self.any && !self.is_real && self.open.iter().all(|lost| lost.came_twice)
    }

    /// Returns whether every loss may still turn out to be none.
    pub fn may_be_justified(&self) -> bool {
        self.any && !self.is_real
    }

    /// The transmissions that were taken for lost and did not arrive themselves.
    pub fn remaining(&self) -> impl Iterator<Item = Flight> + '_ {
        self.open.iter().map(|lost| lost.flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(number: u64, seq: u64) -> Flight {
        Flight { number, seq, ..Flight::default() }
    }

    /// Transmissions 10 of packet 5 and 11 of packet 6 are taken for lost.
    fn two_lost() -> Doubts {
        let mut doubts = Doubts::default();
        assert!(!doubts.are_justified(), "nothing was lost");
        doubts.lose(flight(10, 5));
        doubts.lose(flight(11, 6));
        doubts
    }

    #[test]
    fn a_recovery_is_justly_doubted_once_all_its_losses_have_arrived() {
        let mut doubts = two_lost();
        assert_eq!(doubts.arrive(11).map(|flight| flight.seq), Some(6));
        assert!(!doubts.are_justified(), "5 may be lost");
        assert_eq!(doubts.arrive(11), None, "once");
        assert_eq!(doubts.arrive(12), None, "not lost in this recovery");
        assert_eq!(doubts.arrive(10).map(|flight| flight.seq), Some(5));
        assert!(doubts.are_justified());
    }

    #[test]
    fn duplicates_of_every_lost_packet_are_evidence() {
        let mut doubts = two_lost();
        doubts.arrive_twice((5, 6));
        doubts.arrive_twice((5, 6));
        assert!(!doubts.are_justified(), "6 may be lost");
        doubts.arrive_twice((4, 9));
        assert!(doubts.are_justified());
        assert_eq!(doubts.remaining().count(), 2);
    }

    #[test]
    fn a_duplicate_of_what_its_repetition_has_repaired_is_a_copy() {
        let mut doubts = two_lost();
        doubts.repair(5, 12);
        doubts.arrive_twice((5, 7));
        assert!(!doubts.are_justified() && !doubts.may_be_justified());
        assert_eq!(doubts.remaining().map(|flight| flight.seq).collect::<Vec<_>>(), [6]);
    }

    #[test]
    fn a_repetition_that_was_taken_for_lost_and_arrived_shows_that_the_first_was_lost() {
        let mut doubts = two_lost();
        doubts.lose(flight(12, 5));
        doubts.arrive_twice((5, 6));
        assert!(!doubts.are_justified(), "one of the three came twice");
        assert!(doubts.arrive(12).is_some());
        doubts.repair(5, 12);
        doubts.arrive_twice((5, 7));
        assert!(!doubts.are_justified());
    }
}
