//! The states before the latest reductions, for as long as the losses behind them may turn out to be none.
//!
//! A transport finds out within the recovery: the acks of the packets in flight come one round trip after the loss was
//! found. Those of the first retransmissions come with them. Later the state belongs to a path of long ago.
//!
//! ```text
//!   cut 1 ─────────── cut 2 ─────▶ cut 2 was needless: the state after cut 1. Both were: the state before cut 1
//!   state before it   state before it, which is the one after cut 1
//! ```
//! A second cut in one recovery is the loss of a retransmission, or a timeout.
//!
//! Source: RFC 9438 §4.9.2 keeps the state of a reduction; RFC 4015 restores it. A mark is no loss and is not
//! taken back (RFC 3168 §6.1.2). RFC 6817, the draft of LEDBAT++ and the paper on fLEDBAT have nothing of the kind. Here
//! they take back a halving that RFC 6817 §2.4.2 bases on a loss which was none, by RFC 4015. A reduction by delay since
//! then stays.

use crate::event::{Ack, SpuriousLoss};
use afteryou_base::units::Time;

/// Rounds that may begin before the states are forgotten: the one under way at the reduction ends early.
const ROUNDS: u8 = 2;
/// Reductions that can be taken back.
const KEPT: usize = 3;

/// The states `S` before the latest reductions that may come back.
#[derive(Clone, Copy, Debug)]
pub struct Undo<S> {
    /// With the times of the reductions, the oldest first; the places in use come first.
    before: [Option<(Time, S)>; KEPT],
    /// Rounds begun since the latest.
    rounds: u8,
}

impl<S> Default for Undo<S> {
    fn default() -> Undo<S> {
        Undo { before: [const { None }; KEPT], rounds: 0 }
    }
}

impl<S> Undo<S> {
    /// Keeps `before`, which a loss at `now` is about to change, or has just changed.
    pub fn keep(&mut self, now: Time, before: S) {
        let free = self.before.iter().position(Option::is_none).unwrap_or_else(|| {
            self.before.rotate_left(1);
            KEPT - 1
        });
        self.before[free] = Some((now, before));
        self.rounds = 0;
    }

    /// Forgets the saved states.
    pub fn forget(&mut self) {
        if self.before[0].is_some() {
            self.before = [const { None }; KEPT];
        }
    }

    /// Takes in an ack: marks confirm a reduction, and after a while nothing is given back.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.rounds = self.rounds.saturating_add(u8::from(ack.round_start));
        if ack.marks.any() || self.rounds > ROUNDS {
            self.forget();
        }
    }

    /// Returns the states that may come back, to be changed by what has happened since.
    pub fn saved(&mut self) -> impl Iterator<Item = &mut S> {
        self.before.iter_mut().flatten().map(|(_, state)| state)
    }

    /// Returns the state to return to, if any: that before the first reduction which was needless. There is none a second
    /// time.
    pub fn take(&mut self, spurious: &SpuriousLoss) -> Option<S> {
        let needless =
            |place: &Option<(Time, S)>| place.as_ref().is_some_and(|(at, _)| *at >= spurious.since);
        let first = self.before.iter().position(needless).filter(|_| spurious.undo)?;
        let taken = self.before[first].take();
        self.before[first..].iter_mut().for_each(|place| *place = None);
        taken.map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needless_since(ms: u64) -> SpuriousLoss {
        SpuriousLoss { undo: true, since: Time::from_millis(ms), ..SpuriousLoss::default() }
    }

    /// Returns an undo with cuts at 100, 200, 300 … ms, of which the first found 1.
    fn cuts(count: u64) -> Undo<u64> {
        let mut undo = Undo::default();
        (1..=count).for_each(|cut| undo.keep(Time::from_millis(100 * cut), cut));
        undo
    }

    #[test]
    fn the_state_before_the_first_needless_cut_comes_back_once() {
        for (since_ms, expected) in
            [(0, Some(1)), (100, Some(1)), (101, Some(2)), (200, Some(2)), (201, None)]
        {
            let mut undo = cuts(2);
            assert_eq!(undo.take(&needless_since(since_ms)), expected, "{since_ms} ms");
            assert_eq!(undo.take(&needless_since(since_ms)), None, "a second time");
        }
        assert_eq!(cuts(2).take(&SpuriousLoss { undo: false, ..needless_since(0) }), None);
    }

    #[test]
    fn of_two_cuts_the_second_can_be_taken_back_before_the_first() {
        let mut undo = cuts(2);
        assert_eq!(undo.take(&needless_since(200)), Some(2));
        assert_eq!(undo.take(&needless_since(100)), Some(1));
    }

    #[test]
    fn of_many_cuts_the_latest_three_are_kept() {
        let mut undo = cuts(5);
        assert_eq!(undo.take(&needless_since(0)), Some(3));
    }
}
