//! Packets that have arrived beyond a gap and wait for it to be filled.

use super::bit_ring::{BitRing, SPAN};
use crate::sack::{self, MAX_LEN};
use afteryou_base::Time;
use bytes::BytesMut;
use std::collections::VecDeque;

/// Packets that may wait behind a gap. Less than half of the sequence space, so that old and new stay apart.
pub const MAX_REORDER: usize = SPAN;

/// One packet's payload, or how long it was.
#[derive(Debug, PartialEq, Eq)]
pub enum Held {
    /// The payload.
    Kept(BytesMut),
    /// Its length, bytes: nobody is going to read it.
    Counted(u32),
}

impl Held {
    /// Returns the length of the payload.
    pub fn bytes(&self) -> u64 {
        match self {
            Held::Kept(payload) => payload.len() as u64,
            Held::Counted(len) => u64::from(*len),
        }
    }
}

/// Slots from the next packet in order on; empty if nothing is out of order.
#[derive(Debug)]
pub struct Reorder {
    /// The next packet in order, by its index in the connection's life.
    next: u64,
    arrived: BitRing,
    slots: Slots,
    /// Memory that payloads take, bytes.
    payloads: u64,
    /// An index beyond everything that was held at that time, and which is not in order yet.
    mark: Option<(u64, Time)>,
}

/// Overhead of an allocation, bytes.
pub const ALLOCATION: u64 = 32;
/// Slots that stay when nothing is out of order.
const SPARE_SLOTS: usize = 64;

#[derive(Debug)]
enum Slots {
    Kept(VecDeque<BytesMut>),
    Counted(VecDeque<u32>),
}

impl Reorder {
    /// Keeps payloads, or counts their lengths.
    pub fn new(keep: bool) -> Reorder {
        let slots = if keep { Slots::Kept(VecDeque::new()) } else { Slots::Counted(VecDeque::new()) };
        Reorder { next: 0, arrived: BitRing::default(), slots, payloads: 0, mark: None }
    }

    /// Returns whether payloads are counted only.
    pub fn only_counts(&self) -> bool {
        matches!(self.slots, Slots::Counted(_))
    }

    /// Returns whether nothing is out of order.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of packets from the next one in order to the newest that has arrived.
    pub fn len(&self) -> usize {
        match &self.slots {
            Slots::Kept(slots) => slots.len(),
            Slots::Counted(slots) => slots.len(),
        }
    }

    /// Returns whether the packet `ahead` packets beyond the next one has arrived.
    pub fn contains(&self, ahead: usize) -> bool {
        ahead < self.len() && self.arrived.contains(self.next + ahead as u64)
    }

    /// Returns the memory in use, bytes.
    pub fn memory(&self) -> u64 {
        let slots = match &self.slots {
            Slots::Kept(slots) => slots.capacity() * size_of::<BytesMut>(),
            Slots::Counted(slots) => slots.capacity() * size_of::<u32>(),
        };
        slots as u64 + self.payloads + self.arrived.memory()
    }

    /// Returns the memory that a packet of `len` bytes would take so far ahead, bytes. A slot for each packet before it is
    /// part of that.
    pub fn cost(&self, ahead: usize, len: usize) -> u64 {
        let slots = (ahead + 1).saturating_sub(self.len());
        (slots * size_of::<BytesMut>() + len) as u64 + ALLOCATION
    }

    /// Returns since when at least something is held; `None` if nothing is. A sender that repairs its losses turns over what
    /// is held within a few round trips, even if there always is a gap.
    pub fn held_since(&self) -> Option<Time> {
        self.mark.map(|(_, since)| since)
    }

    /// Notes the time of a change. To be called after each one.
    pub fn note_time(&mut self, now: Time) {
        if self.mark.is_none_or(|(index, _)| self.next >= index) {
            self.mark = (!self.is_empty()).then(|| (self.next + self.len() as u64, now));
        }
    }

    /// Puts a packet into its slot.
    pub fn insert(&mut self, ahead: usize, payload: &[u8]) {
        let slots = self.len().max(ahead + 1);
        match &mut self.slots {
            Slots::Kept(kept) => {
                kept.resize_with(slots, BytesMut::new);
                kept[ahead] = BytesMut::from(payload);
            }
            Slots::Counted(counted) => {
                counted.resize(slots, 0);
                counted[ahead] = payload.len() as u32;
            }
        }
        self.payloads += payload.len() as u64 + ALLOCATION;
        self.arrived.insert(self.next + ahead as u64);
    }

    /// Passes the next packet, which came when nothing was out of order: it needs no slot.
    pub fn pass(&mut self) {
        self.next += 1;
    }

    /// Takes the next packet in order, if it is there.
    pub fn pop(&mut self) -> Option<Held> {
        if !self.contains(0) {
            return None;
        }
        self.arrived.remove(self.next);
        self.next += 1;
        let held = match &mut self.slots {
            Slots::Kept(slots) => slots.pop_front().map(Held::Kept),
            Slots::Counted(slots) => slots.pop_front().map(Held::Counted),
        }?;
        self.payloads -= held.bytes() + ALLOCATION;
        self.shrink();
        Some(held)
    }

    /// Frees the slots of a long gap that has been filled.
    fn shrink(&mut self) {
        if self.is_empty() {
            match &mut self.slots {
                Slots::Kept(slots) => slots.shrink_to(SPARE_SLOTS),
                Slots::Counted(slots) => slots.shrink_to(SPARE_SLOTS),
            }
        }
    }

    /// Gives back what is kept for packets to come, if nothing is out of order.
    pub fn release_memory(&mut self) {
        if self.is_empty() {
            self.clear();
        }
    }

    /// Throws everything away and returns how many bytes that was.
    pub fn clear(&mut self) -> u64 {
        self.arrived = BitRing::default();
        (self.payloads, self.mark) = (0, None);
        match &mut self.slots {
            Slots::Kept(slots) => std::mem::take(slots).iter().map(|payload| payload.len() as u64).sum(),
            Slots::Counted(slots) => std::mem::take(slots).into_iter().map(u64::from).sum(),
        }
    }

    /// Writes the SACK bitmap and returns its length; none if nothing is out of order.
    pub fn sack(&self, mask: &mut [u8; MAX_LEN], long: bool) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        Some(sack::write_words(mask, self.len(), long, self.arrived.words(self.next + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_old_only_if_it_is_not_turned_over() {
        for repairs in [true, false] {
            let mut reorder = Reorder::new(true);
            // Every tenth packet comes fifteen packets late, so there always is a gap. A hoarder repairs the first ones only.
            let mut waiting = VecDeque::new();
            for n in 0..1000u64 {
                let mut arrived = Vec::new();
                match n % 10 {
                    0 => waiting.push_back((n + 15, n)),
                    _ => arrived.push(n),
                }
                if waiting.front().is_some_and(|(at, _)| *at <= n) && (repairs || n < 500) {
                    arrived.extend(waiting.pop_front().map(|(_, index)| index));
                }
                for index in arrived {
                    reorder.insert((index - reorder.next) as usize, b"x");
                    while reorder.pop().is_some() {}
                    reorder.note_time(Time::from_millis(n));
                }
            }
            let since = reorder.held_since().expect("there is a gap").as_secs_f64();
            assert_eq!(since > 0.9, repairs, "held since {since} s");
        }
    }

    #[test]
    fn memory_is_that_of_slots_and_payloads_and_is_given_back() {
        let mut reorder = Reorder::new(true);
        assert_eq!(reorder.memory(), 0);
        reorder.insert(10_000, &[0; 1000]);
        assert!((321_000..680_000).contains(&reorder.memory()), "{}", reorder.memory());
        assert_eq!(reorder.cost(10_000, 500), 532);
        for ahead in (0..10_000).rev() {
            reorder.insert(ahead, b"");
        }
        while reorder.pop().is_some() {}
        assert!(reorder.memory() < 5_000, "{}", reorder.memory());
    }
}
