//! Doubts about reductions: the losses and timeouts behind them, by name, until they turn out to be real.
//!
//! A cut is the start of a recovery, a further reduction within it, or a timeout. It is taken back once **every** packet that
//! was taken for lost since then has arrived after all: real congestion behind one of them was congestion. The evidence
//! for a packet, in this order:
//!
//! ```text
//!   an ack of it echoes a time before it was sent again       it arrived late: no loss              RFC 3522 §3.2
//!   the first ack of it echoes the time of its repetition     that arrived, so the loss was real    RFC 3522 §3.2
//!   neither, and the receiver got the packet twice            both arrived: no loss                 RFC 3708, RFC 9438 §4.9.2
//!
//!   cut 1 ── losses a, b ── cut 2 ── loss c ──▶      c was none: back to the state after cut 1
//!                                                    a, b and c were none: back to the state before cut 1
//! ```
//! Once a loss is real, a D-SACK of its packet is a copy that the network has made. D-SACKs come a round trip after the
//! repetitions, which may be after the recovery, and after the next one has begun.

mod open;

use crate::board::Flight;
use afteryou_base::Time;
use open::{Open, Place};
use std::collections::VecDeque;

/// Cuts that are doubted at a time. Controllers return to one of the latest few.
const DOUBTED: usize = 4;

/// The losses of the latest cuts.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// Transmissions taken for lost that neither have arrived nor are known to be lost.
    open: Open,
    /// Times of the cuts that may have been needless, the oldest first.
    cuts: VecDeque<Time>,
    /// Timeouts that no ack has decided on yet.
    expiries: Vec<Expiry>,
}

#[derive(Clone, Copy, Debug)]
struct Doubted {
    flight: Flight,
    /// The cut that it belongs to.
    cut: Time,
    /// The receiver got its packet twice.
    came_twice: bool,
}

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    /// When the timer expired, for the first time since an ack made progress.
    at: Time,
    /// The transmission that it took for lost.
    number: u64,
}

impl Doubts {
    /// Notes a reduction of the window at `now`.
    pub fn cut(&mut self, now: Time) {
        if self.cuts.back() == Some(&now) {
            return;
        }
        self.cuts.push_back(now);
        while self.cuts.len() > DOUBTED {
            self.cuts.pop_front();
        }
    }

    /// Begins a new recovery: losses of earlier ones count only for cuts that may still be taken back.
    pub fn begin(&mut self, now: Time) {
        let cuts = &self.cuts;
        self.open.take_if(|lost| !cuts.contains(&lost.cut));
        self.cut(now);
    }

    /// Notes a transmission taken for lost, which belongs to the latest cut; without one it is only named if it arrives.
    pub fn lose(&mut self, flight: Flight) {
        let cut = self.cuts.back().copied().unwrap_or_default();
        self.open.push(Doubted { flight, cut, came_twice: false });
    }

    /// Notes the expiry of the retransmission timer at `now`, which took `first` for lost.
    pub fn time_out(&mut self, now: Time, first: Flight) {
        self.begin(now);
        self.lose(first);
        self.expiries.push(Expiry { at: now, number: first.number });
    }

    /// Judges the latest timeouts by the first ack that advances after them; it answers nothing that left after `echoed`.
    /// Returns what was taken for lost by the latest timeout, if that was needless.
    pub fn judge_timeout(&mut self, echoed: Time) -> Option<Flight> {
        let mut needless = None;
        for Expiry { at, number } in std::mem::take(&mut self.expiries) {
            match echoed.as_micros() < at.as_micros() {
                true => needless = self.arrive(number),
                false => self.settle(number),
            }
        }
        needless
    }

    /// Notes the arrival of a transmission. Returns it if it was taken for lost.
    pub fn arrive(&mut self, number: u64) -> Option<Flight> {
        let place = self.open.of_number(number)?;
        self.open.take(place).map(|lost| lost.flight)
    }

    /// Notes that packet `seq` has arrived by transmission `number`: those before it were lost.
    pub fn repair(&mut self, seq: u64, number: u64) {
        while let Some(place) = self.open.of_packet(seq, number) {
            self.settle_at(place);
        }
    }

    /// Notes that transmission `number` was lost indeed.
    fn settle(&mut self, number: u64) {
        if let Some(place) = self.open.of_number(number) {
            self.settle_at(place);
        }
    }

    fn settle_at(&mut self, place: Place) {
        if let Some(lost) = self.open.take(place) {
            self.cuts.retain(|cut| *cut > lost.cut);
        }
    }

    /// Notes that the receiver got the packets `start..end` twice. Of a packet that was lost more than once that shows
    /// nothing.
    pub fn arrive_twice(&mut self, (start, end): (u64, u64)) {
        self.open.came_twice(start, end);
    }

    /// Returns since when there was no loss at all: the time of the first needless cut.
    pub fn justified_since(&self) -> Option<Time> {
        let decided = self.open.latest_undecided();
        self.cuts.iter().find(|cut| decided.is_none_or(|decided| **cut > decided)).copied()
    }

    /// Takes back the cuts since `since`. Returns the transmissions behind them that did not arrive themselves.
    pub fn take_back(&mut self, since: Time) -> Vec<Flight> {
        self.cuts.retain(|cut| *cut < since);
        self.open.take_if(|lost| lost.cut >= since)
    }

    /// Returns whether any cut may still turn out to be needless.
    pub fn may_be_justified(&self) -> bool {
        !self.cuts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Time = Time::from_millis(100);
    const SECOND: Time = Time::from_millis(200);

    fn flight(number: u64, seq: u64) -> Flight {
        Flight { number, seq, ..Flight::default() }
    }

    /// Returns doubts of transmissions 10 of packet 5 and 11 of packet 6, which are taken for lost.
    fn two_lost() -> Doubts {
        let mut doubts = Doubts::default();
        assert_eq!(doubts.justified_since(), None, "nothing was lost");
        doubts.begin(CUT);
        doubts.lose(flight(10, 5));
        doubts.lose(flight(11, 6));
        doubts
    }

    /// Returns the same doubts, then a second cut with the retransmission 12 of packet 5.
    fn two_cuts() -> Doubts {
        let mut doubts = two_lost();
        doubts.cut(SECOND);
        doubts.lose(flight(12, 5));
        doubts
    }

    #[test]
    fn a_recovery_is_justly_doubted_once_all_its_losses_have_arrived() {
        let mut doubts = two_lost();
        assert_eq!(doubts.arrive(11).map(|flight| flight.seq), Some(6));
        assert_eq!(doubts.justified_since(), None, "5 may be lost");
        assert_eq!(doubts.arrive(11), None, "once");
        assert_eq!(doubts.arrive(12), None, "not lost in this recovery");
        assert_eq!(doubts.arrive(10).map(|flight| flight.seq), Some(5));
        assert_eq!(doubts.justified_since(), Some(CUT));
        assert_eq!(doubts.take_back(CUT), []);
        assert_eq!(doubts.justified_since(), None, "once");
    }

    #[test]
    fn duplicates_of_every_lost_packet_are_evidence() {
        let mut doubts = two_lost();
        doubts.arrive_twice((5, 6));
        doubts.arrive_twice((5, 6));
        assert_eq!(doubts.justified_since(), None, "6 may be lost");
        doubts.arrive_twice((4, 9));
        assert_eq!(doubts.justified_since(), Some(CUT));
        assert_eq!(doubts.take_back(CUT).len(), 2);
    }

    #[test]
    fn a_duplicate_of_what_its_repetition_has_repaired_is_a_copy() {
        let mut doubts = two_lost();
        doubts.repair(5, 12);
        doubts.arrive_twice((5, 7));
        assert!(doubts.justified_since().is_none() && !doubts.may_be_justified());
    }

    #[test]
    fn of_two_cuts_the_second_alone_or_both_are_taken_back() {
        let mut doubts = two_cuts();
        assert!(doubts.arrive(12).is_some());
        assert_eq!(doubts.justified_since(), Some(SECOND), "5 and 6 may be lost");
        assert_eq!(doubts.take_back(SECOND), []);
        assert!(doubts.arrive(10).is_some() && doubts.arrive(11).is_some());
        assert_eq!(doubts.justified_since(), Some(CUT));

        let mut doubts = two_cuts();
        assert!(doubts.arrive(10).is_some() && doubts.arrive(11).is_some());
        assert_eq!(doubts.justified_since(), None, "12 may be lost");
        assert!(doubts.arrive(12).is_some());
        assert_eq!(doubts.justified_since(), Some(CUT));
    }

    #[test]
    fn a_real_loss_keeps_its_cut_and_those_before_it() {
        let mut doubts = two_cuts();
        doubts.repair(6, 13);
        assert!(doubts.arrive(12).is_some());
        assert_eq!(doubts.justified_since(), Some(SECOND));

        let mut doubts = two_cuts();
        doubts.repair(5, 13);
        assert!(!doubts.may_be_justified());
    }

    #[test]
    fn a_repetition_that_was_taken_for_lost_and_arrived_shows_that_the_first_was_lost() {
        let mut doubts = two_lost();
        doubts.lose(flight(12, 5));
        doubts.arrive_twice((5, 6));
        assert_eq!(doubts.justified_since(), None, "one of the three came twice");
        assert!(doubts.arrive(12).is_some());
        doubts.repair(5, 12);
        doubts.arrive_twice((5, 7));
        assert_eq!(doubts.justified_since(), None);
    }

    #[test]
    fn a_timeout_is_a_cut_which_the_first_ack_decides() {
        for (echoed_ms, expected) in [(199, Some(SECOND)), (200, None)] {
            let mut doubts = two_lost();
            doubts.time_out(SECOND, flight(20, 7));
            assert_eq!(doubts.justified_since(), None, "nobody knows yet");
            let needless = doubts.judge_timeout(Time::from_millis(echoed_ms));
            assert_eq!(needless.map(|flight| flight.number), expected.map(|_| 20));
            assert_eq!(doubts.justified_since(), expected);
        }
    }

    #[test]
    fn many_cuts_are_not_all_remembered() {
        let mut doubts = Doubts::default();
        for cut in 0..100 {
            doubts.begin(Time::from_millis(cut));
            doubts.lose(flight(cut, cut));
        }
        assert!(doubts.open.number() <= DOUBTED + 1);
    }
}
