//! The events that come next, in order.

use super::Key;
use std::cmp::Reverse;

/// Most events in the list.
pub(super) const FEW: usize = 48;

/// A short list of events in order.
#[derive(Debug, Default)]
pub(super) struct Soonest {
    /// The first event at the end, where most new ones belong, too.
    keys: Vec<Key>,
    /// Steps made so far to find the places of new events.
    pub steps: u64,
}

impl Soonest {
    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, key: Key) {
        self.keys.push(key);
        self.settle_last(key);
    }

    /// Takes the first event, and adds another one.
    #[inline]
    pub(super) fn replace_first(&mut self, key: Key) {
        self.settle_last(key);
    }

    /// Puts `key`, for which the place at the end is free, where it belongs.
    #[inline(always)]
    fn settle_last(&mut self, key: Key) {
        let Some((last, before)) = self.keys.split_last_mut() else { return };
        let mut free = last;
        for (steps, earlier) in before.iter_mut().rev().enumerate() {
            if *earlier >= key {
                *free = key;
                self.steps += steps as u64;
                return;
            }
            *free = *earlier;
            free = earlier;
        }
        *free = key;
        self.steps += before.len() as u64;
    }

    /// Returns the first event.
    #[inline]
    pub(super) fn first(&self) -> Option<Key> {
        self.keys.last().copied()
    }

    /// Takes the first event.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.keys.pop();
    }

    /// Adds many events.
    pub(super) fn extend(&mut self, keys: Vec<Key>) {
        self.keys.extend(keys);
        self.keys.sort_unstable_by_key(|key| Reverse(*key));
    }

    /// Takes all events but the first ones, `number` of them, in no order.
    pub(super) fn take_all_but(&mut self, number: usize) -> Vec<Key> {
        let first = self.keys.split_off(self.keys.len().saturating_sub(number));
        std::mem::replace(&mut self.keys, first)
    }

    /// Takes the last event if it comes after `key`.
    pub(super) fn take_last_if_after(&mut self, key: Key) -> Option<Key> {
        (*self.keys.first()? > key).then(|| self.keys.remove(0))
    }

    /// Takes all events.
    pub(super) fn take(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.keys)
    }

    /// Returns the number of events.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}
