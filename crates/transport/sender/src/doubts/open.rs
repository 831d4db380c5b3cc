//! Transmissions that are taken for lost, in the order in which they were, found by their number and by their packet.
//!
//! A sender whose window is far too large has thousands of them at a time, and looks one up with each ack.

use super::Doubted;
use crate::board::Flight;
use afteryou_base::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Most transmissions. No path holds as many packets, so older ones do not arrive any more.
const MOST: usize = 1 << 16;

/// The place of a transmission in the order of losses.
pub(super) type Place = u64;

/// The transmissions.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    all: BTreeMap<Place, Doubted>,
    next: Place,
    by_number: BTreeSet<(u64, Place)>,
    /// Sequence number, number of the transmission, place.
    by_packet: BTreeSet<(u64, u64, Place)>,
    /// Of each cut, the transmissions whose packets the receiver did not get twice.
    undecided: BTreeMap<Time, u32>,
}

impl Open {
    /// Adds one at the end.
    pub(super) fn push(&mut self, lost: Doubted) {
        let place = self.next;
        self.next += 1;
        self.by_number.insert((lost.flight.number, place));
        self.by_packet.insert((lost.flight.seq, lost.flight.number, place));
        if !lost.came_twice {
            *self.undecided.entry(lost.cut).or_insert(0) += 1;
        }
        self.all.insert(place, lost);
        if self.all.len() > MOST {
            let first = self.all.first_key_value().map(|(place, _)| *place);
            first.and_then(|first| self.take(first));
        }
    }

    /// Returns the place of transmission `number`.
    pub(super) fn of_number(&self, number: u64) -> Option<Place> {
        self.by_number.range((number, 0)..=(number, Place::MAX)).next().map(|(_, place)| *place)
    }

    /// Returns the place of a transmission of packet `seq` before transmission `number`.
    pub(super) fn of_packet(&self, seq: u64, number: u64) -> Option<Place> {
        self.by_packet.range((seq, 0, 0)..(seq, number, 0)).next().map(|(_, _, place)| *place)
    }

    /// Takes one out.
    pub(super) fn take(&mut self, place: Place) -> Option<Doubted> {
        let lost = self.all.remove(&place)?;
        self.by_number.remove(&(lost.flight.number, place));
        self.by_packet.remove(&(lost.flight.seq, lost.flight.number, place));
        if !lost.came_twice {
            self.decide(lost.cut);
        }
        Some(lost)
    }

    /// Takes out those that `is_taken` chooses, in order.
    pub(super) fn take_if(&mut self, is_taken: impl Fn(&Doubted) -> bool) -> Vec<Flight> {
        let places: Vec<Place> =
            self.all.iter().filter(|(_, lost)| is_taken(lost)).map(|(place, _)| *place).collect();
        places.into_iter().filter_map(|place| self.take(place)).map(|lost| lost.flight).collect()
    }

    /// Notes that the receiver got the packets `start..end` twice. A packet with two transmissions here is passed over.
    pub(super) fn came_twice(&mut self, start: u64, end: u64) {
        let packets = self.by_packet.range((start, 0, 0)..(end, 0, 0));
        let mut once: Vec<(u64, Option<Place>)> = Vec::new();
        for (seq, _, place) in packets {
            match once.last_mut().filter(|(last, _)| last == seq) {
                Some((_, only)) => *only = None,
                None => once.push((*seq, Some(*place))),
            }
        }
        for place in once.into_iter().filter_map(|(_, place)| place) {
            let Some(lost) = self.all.get_mut(&place) else { continue };
            let cut = lost.cut;
            if !std::mem::replace(&mut lost.came_twice, true) {
                self.decide(cut);
            }
        }
    }

    /// Returns the latest cut with a transmission whose packet the receiver did not get twice.
    pub(super) fn latest_undecided(&self) -> Option<Time> {
        self.undecided.last_key_value().map(|(cut, _)| *cut)
    }

    /// Returns how many there are.
    #[cfg(test)]
    pub(super) fn number(&self) -> usize {
        self.all.len()
    }

    fn decide(&mut self, cut: Time) {
        if let Some(left) = self.undecided.get_mut(&cut) {
            *left -= 1;
            if *left == 0 {
                self.undecided.remove(&cut);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_there_are_too_many_and_are_found_no_more() {
        let mut open = Open::default();
        let lost = |number: u64| Doubted {
            flight: Flight { number, seq: number, ..Flight::default() },
            cut: Time::from_millis(1),
            came_twice: false,
        };
        (0..MOST as u64 + 2).for_each(|number| open.push(lost(number)));
        assert_eq!((open.number(), open.of_number(1), open.of_packet(1, 9)), (MOST, None, None));
        assert!(open.of_number(2).is_some() && open.latest_undecided().is_some());
    }
}
