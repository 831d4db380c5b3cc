//! Events in order: the next ones in a short list, later ones in a wheel.

use super::soonest::{Soonest, FEW};
use super::wheel::Wheel;
use super::{Key, NEVER};
use std::ops::RangeInclusive;

/// Events after which the width of buckets is judged.
const JUDGED: u64 = 2048;
/// Mean number of steps to a new event's place in the list. With fewer, buckets are opened more often than they save.
const STEPS: RangeInclusive<f64> = 0.5..=2.0;

/// The event queue: the next events in a short list, and a wheel for those that come later.
#[derive(Debug)]
pub(super) struct Queue {
    soonest: Soonest,
    /// Events with this key or a later one are in the wheel; [`NEVER`]: none is.
    later_from: Key,
    later: Option<Box<Wheel>>,
    /// Events scheduled so far.
    events: u64,
    /// Events scheduled, and steps made in the list, when the width of buckets was judged.
    judged: (u64, u64),
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { soonest: Soonest::default(), later_from: NEVER, later: None, events: 0, judged: (0, 0) }
    }
}

impl Queue {
    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, key: Key) {
        self.events += 1;
        self.put(key);
    }

    #[inline]
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

    /// Returns the first event; [`NEVER`] if there is none.
    #[inline]
    pub(super) fn first(&mut self) -> Key {
        match self.soonest.first() {
            Some(first) => first,
            None if self.later_from == NEVER => NEVER,
            None => self.open_next().unwrap_or(NEVER),
        }
    }

    /// Takes the first event, after [`first`](Self::first), and adds another one, if that is given.
    #[inline]
    pub(super) fn finish_first(&mut self, again: Option<Key>) {
        let Some(again) = again else { return self.soonest.pop() };
        self.events += 1;
        match &mut self.later {
            Some(later) if again >= self.later_from => {
                later.push(again);
                self.soonest.pop();
            }
            _ => self.soonest.replace_first(again),
        }
    }

    /// Moves on to the next events of the wheel.
    #[inline(never)]
    fn open_next(&mut self) -> Option<Key> {
        self.later_from = self.later.as_mut()?.open_next(&mut self.soonest);
        self.judge_width();
        self.soonest.first()
    }

    #[inline]
    fn judge_width(&mut self) {
        if self.events - self.judged.0 >= JUDGED {
            self.change_width();
        }
    }

    /// Makes buckets wider or narrower if that is better.
    #[cold]
    fn change_width(&mut self) {
        let (events, steps) = (self.events - self.judged.0, self.soonest.steps - self.judged.1);
        self.judged = (self.events, self.soonest.steps);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the key of the `i`-th event of a crowd, each of which is `apart` ns after the one before.
    fn key(i: u64, apart: u64) -> Key {
        u128::from(7 + i * apart) << 64 | u128::from(i)
    }

    #[test]
    fn a_crowd_at_one_instant_takes_no_longer_than_events_apart() {
        const CROWD: u64 = 100_000;
        for apart in [0, 1, 1_000_000] {
            let mut queue = Queue::default();
            (0..CROWD).for_each(|i| queue.push(key(i, apart)));
            let steps = queue.soonest.steps;
            assert!(steps < CROWD * 8, "{steps} steps, {apart} ns apart");
            for i in 0..CROWD {
                assert_eq!(queue.first(), key(i, apart));
                queue.finish_first(None);
            }
            let steps = queue.soonest.steps;
            assert!(steps < CROWD * 40, "{steps} steps, {apart} ns apart");
            assert_eq!(queue.first(), NEVER);
        }
    }
}
