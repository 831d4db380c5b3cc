//! Connections that are over and linger for the sake of their peers.
//!
//! There may be thousands: at 4000 short connections a second that linger for 3 s, 12 000. Each takes a few hundred bytes
//! and none of the places for connections.

use super::handle::Key;
use crate::connection::farewell::Farewell;
use afteryou_base::{Span, Time};
use std::collections::{HashMap, VecDeque};

/// Most of them: beyond that the oldest is forgotten.
const MOST: usize = 16_384;
/// They go in batches, so that each does not need a timer of its own.
const BATCH: Span = Span::from_millis(100);
/// Charge for one of them with its places in map and queue, bytes.
pub(super) const FAREWELL: u64 = 2 * (size_of::<(Key, Farewell)>() + size_of::<(Time, Key)>()) as u64;

/// All that linger.
#[derive(Debug, Default)]
pub(super) struct Farewells {
    by_key: HashMap<Key, Farewell>,
    /// Roughly in the order of their ends. Addresses that a new connection took over are still in here.
    queue: VecDeque<(Time, Key)>,
}

impl Farewells {
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Returns the memory that they are charged with, bytes.
    pub(super) fn memory(&self) -> u64 {
        self.queue.len() as u64 * FAREWELL
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Farewell> {
        self.by_key.get(key)
    }

    pub(super) fn insert(&mut self, key: Key, farewell: Farewell) {
        self.by_key.insert(key, farewell);
        self.queue.push_back((farewell.until, key));
        while self.queue.len() > MOST {
            self.remove_oldest();
        }
    }

    /// Removes the key, which a new connection takes over.
    pub(super) fn remove(&mut self, key: &Key) {
        self.by_key.remove(key);
    }

    /// Forgets one.
    pub(super) fn remove_oldest(&mut self) {
        let Some((until, key)) = self.queue.pop_front() else { return };
        if self.by_key.get(&key).is_some_and(|farewell| farewell.until == until) {
            self.by_key.remove(&key);
        }
    }

    /// Returns when the next ones end.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.queue.front().map(|(until, _)| *until + BATCH)
    }

    /// Forgets those whose time is over.
    pub(super) fn end(&mut self, now: Time) {
        while self.queue.front().is_some_and(|(until, _)| *until <= now) {
            self.remove_oldest();
        }
        if self.by_key.is_empty() {
            *self = Farewells::default();
        }
    }
}
