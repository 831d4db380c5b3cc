//! The event queue: events by time.
//!
//! Integer nanoseconds; events at the same instant come in the order in which they were scheduled, so that a run is the
//! same on every machine. A [`Slot`] names the event: a link, a delay line, a timer. Each has at most one entry that
//! counts, so the queue stays as small as the network, however many packets are on their way.
//!
//! In each of two queues, of packets and of timers, the next events are in a short list in order, the others in a wheel of
//! buckets, which is opened bucket by bucket. Until there are many events, there is no wheel. The width of its buckets follows
//! the length of the ways in the list.

mod queue;
mod soonest;
mod wheel;

use afteryou_base::Time;
use queue::Queue;

/// Whose event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// Kinds of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link has finished sending a packet.
    Link,
    /// A packet comes out of a delay line.
    Line,
    /// A packet that was held back by the script continues.
    Held,
    /// A sender's timers, pacing excepted.
    Sender,
    /// A sender may send the next packet.
    Pacing,
    /// A receiver's timers.
    Receiver,
    /// An application starts, stops, or has something to send.
    Application,
    /// A measurement is due.
    Measure,
    /// A job is steered from outside.
    Steering,
}

const KINDS: [Kind; 9] = [
    Kind::Link,
    Kind::Line,
    Kind::Held,
    Kind::Sender,
    Kind::Pacing,
    Kind::Receiver,
    Kind::Application,
    Kind::Measure,
    Kind::Steering,
];

/// Bits of an index within its kind: four million flows, links or wires.
const INDEX_BITS: u32 = 22;
/// Bits of a kind: room for 32.
const KIND_BITS: u32 = 5;
/// Bits of a slot in the heap's key.
const SLOT_BITS: u32 = KIND_BITS + INDEX_BITS;

impl Slot {
    /// Returns the slot of `kind` with this index.
    ///
    /// # Panics
    /// Four million of a kind, two hundred times the flows of a scenario: another would pass for one of the first.
    pub fn new(kind: Kind, index: usize) -> Slot {
        assert!(index < 1 << INDEX_BITS);
        Slot((kind as u32) << INDEX_BITS | index as u32)
    }

    /// Returns the slot's kind.
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> INDEX_BITS) as usize]
    }

    /// Returns whether it is a timer's, and no packet's.
    #[inline]
    fn is_timer(self) -> bool {
        self.0 >= (Kind::Sender as u32) << INDEX_BITS
    }

    /// Returns the slot's index.
    pub fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// An event's place in the order, in one number: time (64 bits), sequence (37 bits, more events than a run of hours has) and
/// slot (27 bits).
type Key = u128;

/// No event.
const NEVER: Key = Key::MAX;

#[inline]
fn at(key: Key) -> Time {
    Time((key >> 64) as u64)
}

#[inline]
fn slot(key: Key) -> Slot {
    Slot(key as u32 & ((1 << SLOT_BITS) - 1))
}

/// Returns the key of the event that is scheduled next, `sequence` having been scheduled before it.
#[inline]
fn key(sequence: &mut u64, at: Time, slot: Slot) -> Key {
    *sequence += 1;
    u128::from(at.0) << 64 | u128::from(*sequence << SLOT_BITS | u64::from(slot.0))
}

/// The event queue. Packets and timers are apart: a network has few wires and thousands of timers, most of which are moved
/// before they fire. So a packet's event is found among those of packets alone.
#[derive(Debug, Default)]
pub struct Calendar {
    packets: Queue,
    timers: Queue,
    /// The event that came last.
    first: Key,
    /// It is a timer's.
    is_timer: bool,
    sequence: u64,
}

impl Calendar {
    /// Schedules an event.
    pub fn push(&mut self, at: Time, slot: Slot) {
        let key = key(&mut self.sequence, at, slot);
        match slot.is_timer() {
            true => self.timers.push(key),
            false => self.packets.push(key),
        }
    }

    /// Returns the next event. It stays until [`finish`](Self::finish) is called for it; what is scheduled meanwhile comes
    /// later.
    #[inline]
    pub fn next(&mut self) -> Option<(Time, Slot)> {
        let (packet, timer) = (self.packets.first(), self.timers.first());
        self.is_timer = timer < packet;
        self.first = if self.is_timer { timer } else { packet };
        (self.first != NEVER).then(|| (at(self.first), slot(self.first)))
    }

    /// Finishes the event that came last; its slot comes again at `again`, if that is given.
    #[inline]
    pub fn finish(&mut self, again: Option<Time>) {
        let Calendar { packets, timers, first, is_timer, sequence } = self;
        let again = again.map(|again| key(sequence, again, slot(*first)));
        // Two calls, or each step of theirs would choose between the queues.
        match is_timer {
            true => timers.finish_first(again),
            false => packets.finish_first(again),
        }
    }
}

/// A timer that is moved often and fires seldom: an entry in the calendar that comes too early is moved on when it comes
/// instead of being taken out before.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    armed: Time,
}

impl Default for Timer {
    fn default() -> Timer {
        Timer { armed: Time::NEVER }
    }
}

impl Timer {
    /// Makes sure that `slot` comes at `at` at the latest.
    pub fn arm(&mut self, calendar: &mut Calendar, at: Time, slot: Slot) {
        if at < self.armed {
            self.armed = at;
            calendar.push(at, slot);
        }
    }

    /// Returns whether the slot comes at `now`. If not, that entry does not count any more, and nothing is to be done.
    pub fn fires(&mut self, now: Time) -> bool {
        let counts = self.armed == now;
        if counts {
            self.armed = Time::NEVER;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_pcg::rand_core::Rng;
    use rand_pcg::Pcg64;
    use std::collections::BTreeSet;

    fn drain(calendar: &mut Calendar) -> Vec<(u64, usize)> {
        let mut seen = Vec::new();
        while let Some((at, slot)) = calendar.next() {
            seen.push((at.0, slot.index()));
            calendar.finish(None);
        }
        seen
    }

    #[test]
    fn events_come_in_order_of_time_and_at_the_same_time_in_order_of_scheduling() {
        let mut calendar = Calendar::default();
        for (at, index) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
            calendar.push(Time(at), Slot::new(Kind::Line, index));
        }
        assert_eq!(drain(&mut calendar), [(3, 1), (3, 3), (4, 4), (5, 0), (5, 2)]);
    }

    #[test]
    fn a_slot_that_comes_again_queues_behind_its_instant() {
        let mut calendar = Calendar::default();
        calendar.push(Time(1), Slot::new(Kind::Link, 7));
        calendar.push(Time(2), Slot::new(Kind::Link, 8));
        calendar.next();
        calendar.finish(Some(Time(2)));
        assert_eq!(drain(&mut calendar), [(2, 8), (2, 7)]);
    }

    #[test]
    fn every_slot_tells_its_kind_and_index() {
        for kind in KINDS {
            for index in [0, 1, (1 << INDEX_BITS) - 1] {
                let slot = Slot::new(kind, index);
                assert_eq!((slot.kind(), slot.index()), (kind, index));
            }
        }
    }

    #[test]
    fn a_timer_that_is_moved_back_and_forth_fires_when_it_should() {
        let (mut calendar, mut timer) = (Calendar::default(), Timer::default());
        let slot = Slot::new(Kind::Sender, 0);
        timer.arm(&mut calendar, Time(10), slot);
        timer.arm(&mut calendar, Time(20), slot); // later: the entry at 10 will be moved on
        timer.arm(&mut calendar, Time(5), slot);
        let mut fired = Vec::new();
        let deadlines = [Some(20), None];
        while let Some((now, _)) = calendar.next() {
            if timer.fires(now) {
                let deadline = deadlines[fired.len()];
                fired.push(now.0);
                deadline.into_iter().for_each(|at| timer.arm(&mut calendar, Time(at), slot));
            }
            calendar.finish(None);
        }
        assert_eq!(fired, [5, 20]);
    }

    /// Returns a slot of a timer for every third number, and of a wire for the others.
    fn slot_of(number: usize) -> Slot {
        Slot::new(if number.is_multiple_of(3) { Kind::Sender } else { Kind::Line }, number)
    }

    /// A calendar and a sorted set that get the same events, whose numbers count up.
    #[derive(Default)]
    struct Both {
        calendar: Calendar,
        set: BTreeSet<(u64, u64, usize)>,
        pushed: u64,
    }

    impl Both {
        fn push(&mut self, at: u64, slot: usize) {
            self.pushed += 1;
            self.set.insert((at, self.pushed, slot));
            self.calendar.push(Time(at), slot_of(slot));
        }

        fn finish(&mut self, again: Option<u64>) {
            let (_, _, slot) = self.set.pop_first().unwrap();
            if let Some(at) = again {
                self.pushed += 1;
                self.set.insert((at, self.pushed, slot));
            }
            self.calendar.finish(again.map(Time));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn events_come_in_the_order_of_a_sorted_set(
            seed: u64,
            begun in 1usize..3_000,
            spread in 0u32..36,
            spans in prop::collection::vec(0u32..36, 1..6),
        ) {
            let mut random = Pcg64::new(seed.into(), 1);
            let mut both = Both::default();
            (0..begun).for_each(|slot| both.push(random.next_u64() % (1 << spread), slot));
            let mut events = 0;
            while let Some(&(at, _, slot)) = both.set.first() {
                prop_assert_eq!(both.calendar.next(), Some((Time(at), slot_of(slot))));
                events += 1;
                let span = 1 << spans[events % spans.len()];
                let mut later = || at + random.next_u64() % span;
                let again = (events < 15_000).then(&mut later);
                match events % 4 {
                    0 => {
                        // The event makes another one before it is over, and one after it.
                        both.push(later(), begun);
                        both.finish(None);
                        again.into_iter().for_each(|at| both.push(at, slot));
                    }
                    _ => both.finish(again.filter(|_| events % 4 != 3 || both.set.len() < begun)),
                }
            }
            prop_assert_eq!(both.calendar.next(), None);
        }
    }
}
