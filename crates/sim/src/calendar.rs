//! What happens next: the event queue.
//!
//! Integer nanoseconds; events at the same instant come in the order in which they were scheduled, so that a run is the
//! same on every machine. What happens is told by a [`Slot`]: a link, a delay line, a timer. Each has at most one entry
//! that counts, so the heap stays as small as the network, however many packets are on their way.

use afteryou_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// A packet that was held back by the script goes on.
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
    /// The slot of `kind` with this index.
    pub fn new(kind: Kind, index: usize) -> Slot {
        debug_assert!(index < 1 << INDEX_BITS);
        Slot((kind as u32) << INDEX_BITS | index as u32)
    }

    /// Its kind.
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> INDEX_BITS) as usize]
    }

    /// Its index.
    pub fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// The event queue. A key is time (64 bits), sequence (37 bits, more events than a run of hours has) and slot (27 bits) in
/// one number.
#[derive(Debug, Default)]
pub struct Calendar {
    heap: BinaryHeap<Reverse<u128>>,
    sequence: u64,
}

impl Calendar {
    /// Schedules an event.
    pub fn push(&mut self, at: Time, slot: Slot) {
        let key = self.key(at, slot);
        self.heap.push(Reverse(key));
    }

    fn key(&mut self, at: Time, slot: Slot) -> u128 {
        self.sequence += 1;
        u128::from(at.0) << 64 | u128::from(self.sequence << SLOT_BITS | u64::from(slot.0))
    }

    /// The next event. It stays until [`finish`](Self::finish) is called for it; what is scheduled meanwhile comes later.
    pub fn next(&self) -> Option<(Time, Slot)> {
        let Reverse(key) = *self.heap.peek()?;
        Some((Time((key >> 64) as u64), Slot(key as u32 & ((1 << SLOT_BITS) - 1))))
    }

    /// The next event is over; its slot comes again at `again`, if that is said.
    pub fn finish(&mut self, again: Option<Time>) {
        let Some(at) = again else {
            self.heap.pop();
            return;
        };
        self.sequence += 1;
        let sequence = self.sequence;
        if let Some(mut top) = self.heap.peek_mut() {
            let slot = u64::from(top.0 as u32 & ((1 << SLOT_BITS) - 1));
            *top = Reverse(u128::from(at.0) << 64 | u128::from(sequence << SLOT_BITS | slot));
        }
    }
}

/// A timer that is moved often and fires seldom: an entry in the heap that comes too early is moved on when it comes
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

    /// The slot comes at `now`. False if that entry does not count any more: then nothing is to be done.
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
}
