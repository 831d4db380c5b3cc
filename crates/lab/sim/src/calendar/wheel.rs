//! Events that come later: a wheel of buckets, each of which holds the events of a span of time in no order.
//!
//! Events are put in order only when their bucket is opened, so that one costs the same however many wait. Events beyond the
//! last bucket (timeouts, think times) wait in a heap, as do those for which the list of the next events has no room. Entries
//! of all buckets are in one arena whose places are used again, the latest one first: what is in use stays in the cache.
//! Source: R. Brown, "Calendar queues", Communications of the ACM 31 (10), 1988, without its search for a bucket of this year.

use super::soonest::{Soonest, FEW};
use super::{at, Key};
use crate::arena::{Arena, HalfLine, NONE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// Width of a bucket to begin with, as a power of two of ns: 16 µs. It follows the events.
const FIRST_WIDTH: u32 = 14;
/// From 1 µs to 17 s.
const WIDTHS: RangeInclusive<u32> = 10..=34;
/// Number of buckets.
const BUCKETS: usize = 2048;
const WORDS: usize = BUCKETS / 64;
/// Events that come later than those in the list of the next ones.
#[derive(Debug)]
pub(super) struct Wheel {
    /// The first entry of each bucket.
    heads: [u32; BUCKETS],
    /// A bit for each bucket that holds any.
    occupied: [u64; WORDS],
    entries: Arena<Key, HalfLine>,
    /// Width of a bucket, as a power of two of ns.
    width: u32,
    /// Number of the bucket that was opened last; a bucket's number is its time in widths since the run began.
    opened: u64,
    far: BinaryHeap<Reverse<Key>>,
}

impl Wheel {
    /// Creates an empty wheel at the beginning of the run.
    pub(super) fn new() -> Wheel {
        Wheel {
            heads: [NONE; BUCKETS],
            occupied: [0; WORDS],
            entries: Arena::default(),
            width: FIRST_WIDTH,
            opened: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Makes buckets twice as wide, or half as wide, if they may be. Returns all events then, and holds none.
    pub(super) fn change_width(&mut self, wider: bool) -> Option<Vec<Key>> {
        let width = if wider { self.width + 1 } else { self.width - 1 };
        if !WIDTHS.contains(&width) {
            return None;
        }
        let opened = self.opened << self.width >> width;
        let old = std::mem::replace(self, Wheel { width, opened, ..Wheel::new() });
        Some(old.into_keys())
    }

    fn bucket_of(&self, key: Key) -> u64 {
        at(key).0 >> self.width
    }

    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, key: Key) {
        let bucket = self.bucket_of(key);
        // Of the open bucket, and of those before it, the difference wraps around.
        if bucket.wrapping_sub(self.opened + 1) >= BUCKETS as u64 - 1 {
            self.far.push(Reverse(key));
            return;
        }
        let index = bucket as usize % BUCKETS;
        self.heads[index] = self.entries.insert(key, self.heads[index]);
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    /// Moves the events of the next bucket that holds any to `soonest`, which is empty. Returns a key from which on events
    /// belong here.
    pub(super) fn open_next(&mut self, soonest: &mut Soonest) -> Key {
        let next = self.next_occupied().unwrap_or(u64::MAX);
        let next_far = self.far.peek().map_or(u64::MAX, |Reverse(key)| self.bucket_of(*key));
        let bucket = next.min(next_far);
        if bucket == u64::MAX {
            return Key::MAX;
        }
        // Never back: an event may be earlier than a bucket that was opened ahead of it, and waits in the heap then.
        self.opened = self.opened.max(bucket);
        let is_crowded = next == self.opened && self.empty(next as usize % BUCKETS, soonest);
        let end = u128::from(self.opened).saturating_add(1) << (64 + self.width);
        if is_crowded || next_far <= self.opened {
            return self.take_far(soonest).map_or(end, |next| next.min(end));
        }
        end
    }

    /// Moves the events of a bucket to `soonest`, and to the heap those for which there is no room. Returns whether there are any.
    fn empty(&mut self, index: usize, soonest: &mut Soonest) -> bool {
        self.occupied[index / 64] &= !(1 << (index % 64));
        let mut place = std::mem::replace(&mut self.heads[index], NONE);
        while place != NONE {
            if soonest.len() == FEW {
                self.crowd(place, soonest);
                return true;
            }
            let (key, next) = self.entries.remove(place);
            soonest.push(key);
            place = next;
        }
        false
    }

    /// Opens the rest of a bucket, from the entry at `place` on, for which there is no room.
    #[cold]
    fn crowd(&mut self, mut place: u32, soonest: &mut Soonest) {
        let mut crowd = Vec::new();
        while place != NONE {
            let (key, next) = self.entries.remove(place);
            crowd.push(key);
            place = next;
        }
        soonest.extend(crowd);
        self.far.extend(soonest.take_all_but(FEW).into_iter().map(Reverse));
    }

    /// Moves events of the open bucket out of the heap. Returns the first one for which there was no room.
    fn take_far(&mut self, soonest: &mut Soonest) -> Option<Key> {
        loop {
            let Reverse(first) = *self.far.peek()?;
            if self.bucket_of(first) > self.opened {
                return Some(first);
            }
            if soonest.len() >= FEW {
                let Some(last) = soonest.take_last_if_after(first) else { return Some(first) };
                self.far.push(Reverse(last));
            }
            soonest.push(first);
            self.far.pop();
        }
    }

    /// Returns the number of the first bucket after the open one that holds anything.
    fn next_occupied(&self) -> Option<u64> {
        let first = self.opened + 1;
        let start = first as usize % BUCKETS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        // The first word comes again at the end, for its bits before the start.
        for _ in 0..=WORDS {
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                return Some(first + ((index + BUCKETS - start) % BUCKETS) as u64);
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        None
    }

    /// Returns all events that it holds.
    fn into_keys(self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.far.into_iter().map(|Reverse(key)| key).collect();
        for head in self.heads {
            let mut place = head;
            while let Some((key, next)) = self.entries.get(place) {
                keys.push(*key);
                place = next;
            }
        }
        keys
    }
}
