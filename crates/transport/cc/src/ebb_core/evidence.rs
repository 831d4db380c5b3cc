//! Congested events, and reductions that the queue did not obey: how many of them in a row lead to the floor.

/// Events further apart than this have nothing to do with each other, µs and round trips.
const APART_US: u64 = 6_000_000;
const APART_ROUNDS: u64 = 20;
/// Events that lead to the floor, one fewer if the rate is below the link's already.
const EVENTS: u32 = 3;

/// Signs of others in the queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The last one.
    last: u64,
    /// Events close to each other.
    events: u32,
    /// Reductions that the queue did not obey.
    pub strikes: u32,
}

impl Evidence {
    /// Returns when the last event was answered: what left before then is part of it.
    pub fn answered_at(&self) -> u64 {
        self.last
    }

    /// Takes in an event. Returns whether it is one too many.
    pub fn add(&mut self, now: u64, rtt_us: u64, is_below_capacity: bool) -> bool {
        let apart = APART_US.max(APART_ROUNDS * rtt_us);
        self.events = if now.saturating_sub(self.last) > apart { 1 } else { self.events + 1 };
        self.last = now;
        self.events >= EVENTS - u32::from(is_below_capacity)
    }

    /// Forgets the events: the rule has acted.
    pub fn clear(&mut self) {
        self.events = 0;
    }
}
