//! The event queue: events by time.
//!
//! Integer nanoseconds; events at the same instant come in the order in which they were scheduled, so that a run is the
//! same on every machine. A [`Slot`] names the event: a link, a delay line, a timer. Each has at most one entry that
//! counts, so the queue stays as small as the network, however many packets are on their way.
//!
//! The next events are in a short list in order, the others in a wheel of buckets, which is opened bucket by bucket. Until
//! there are many events, there is no wheel. The width of its buckets follows the length of the ways in the list.

mod soonest;
mod wheel;

use afteryou_base::Time;
use soonest::Soonest;
use std::ops::RangeInclusive;
use wheel::Wheel;

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
}

const KINDS: [Kind; 8] = [
    Kind::Link,
    Kind::Line,
    Kind::Held,
    Kind::Sender,
    Kind::Pacing,
    Kind::Receiver,
    Kind::Application,
    Kind::Measure,
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

    /// Returns the slot's index.
    pub fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// An event's place in the order, in one number: time (64 bits), sequence (37 bits, more events than a run of hours has) and
/// slot (27 bits).
type Key = u128;

fn at(key: Key) -> Time {
    Time((key >> 64) as u64)
}

fn slot(key: Key) -> Slot {
    Slot(key as u32 & ((1 << SLOT_BITS) - 1))
}

/// Most events in the list of the next ones.
const FEW: usize = 48;
/// Events after which the width of buckets is judged.
const JUDGED: u64 = 2048;
/// Mean number of steps to a new event's place in the list. With fewer, buckets are opened more often than they save.
const STEPS: RangeInclusive<f64> = 0.5..=2.0;

/// The event queue: the next events in a short list, and a wheel for those that come later.
#[derive(Debug)]
pub struct Calendar {
    soonest: Soonest,
    /// Events with this key or a later one are in the wheel.
    later_from: Key,
    later: Option<Box<Wheel>>,
    sequence: u64,
    /// Events scheduled, and steps made in the list, when the width of buckets was judged.
    judged: (u64, u64),
}

impl Default for Calendar {
    fn default() -> Calendar {
        Calendar {
            soonest: Soonest::default(),
            later_from: Key::MAX,
            later: None,
            sequence: 0,
            judged: (0, 0),
        }
    }
}

impl Calendar {
    /// Schedules an event.
    pub fn push(&mut self, at: Time, slot: Slot) {
        let key = self.key(at, slot);
        self.put(key);
    }

    fn key(&mut self, at: Time, slot: Slot) -> Key {
        self.sequence += 1;
        u128::from(at.0) << 64 | u128::from(self.sequence << SLOT_BITS | u64::from(slot.0))
    }

    fn put(&mut self, key: Key) {
        match &mut self.later {
            Some(later) if key >= self.later_from => later.push(key),
            _ => self.put_soon(key),
        }
    }

    #[inline]
    fn put_soon(&mut self, key: Key) {
        self.soonest.push(key);
        if self.soonest.len() > FEW {
            self.shorten();
        }
    }

    /// Shortens the list, which has become too long: its later part goes to the wheel.
    #[cold]
    fn shorten(&mut self) {
        let later = self.later.get_or_insert_with(|| Box::new(Wheel::new()));
        for key in self.soonest.take_all_but(FEW / 2) {
            self.later_from = self.later_from.min(key);
            later.push(key);
        }
        self.judge_width();
    }

    /// Returns the next event. It stays until [`finish`](Self::finish) is called for it; what is scheduled meanwhile comes
    /// later.
    pub fn next(&mut self) -> Option<(Time, Slot)> {
        let first = self.soonest.first().or_else(|| self.open_next())?;
        Some((at(first), slot(first)))
    }

    /// Moves on to the next events of the wheel.
    fn open_next(&mut self) -> Option<Key> {
        self.later_from = self.later.as_mut()?.open_next(&mut self.soonest);
        self.judge_width();
        self.soonest.first()
    }

    #[inline]
    fn judge_width(&mut self) {
        if self.sequence - self.judged.0 >= JUDGED {
            self.change_width();
        }
    }

    /// Makes buckets wider or narrower if that is better.
    #[cold]
    fn change_width(&mut self) {
        let (events, steps) = (self.sequence - self.judged.0, self.soonest.steps - self.judged.1);
        self.judged = (self.sequence, self.soonest.steps);
        let each = steps as f64 / events as f64;
        if STEPS.contains(&each) {
            return;
        }
        let changed = self.later.as_mut().and_then(|later| later.change_width(each < *STEPS.start()));
        let Some(mut keys) = changed else { return };
        keys.append(&mut self.soonest.take());
        self.later_from = Key::MIN;
        keys.into_iter().for_each(|key| self.put(key));
        self.open_next();
    }

    /// Finishes the next event; its slot comes again at `again`, if that is given.
    pub fn finish(&mut self, again: Option<Time>) {
        let Some(first) = self.soonest.pop() else { return };
        if let Some(again) = again {
            let key = self.key(again, slot(first));
            self.put(key);
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
    use afteryou_base::Span;
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
            self.calendar.push(Time(at), Slot::new(Kind::Line, slot));
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
                prop_assert_eq!(both.calendar.next(), Some((Time(at), Slot::new(Kind::Line, slot))));
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

    #[test]
    fn a_crowd_at_one_instant_takes_no_longer_than_events_apart() {
        for apart in [0, 1, 1_000_000] {
            let mut calendar = Calendar::default();
            (0..100_000)
                .for_each(|i| calendar.push(Time(7) + Span(i as u64 * apart), Slot::new(Kind::Line, i)));
            assert!(
                calendar.soonest.steps < 100_000 * 8,
                "{} steps, {apart} ns apart",
                calendar.soonest.steps
            );
            for (i, (_, slot)) in drain(&mut calendar).into_iter().enumerate() {
                assert_eq!(slot, i);
            }
            assert!(
                calendar.soonest.steps < 100_000 * 40,
                "{} steps, {apart} ns apart",
                calendar.soonest.steps
            );
        }
    }
}
