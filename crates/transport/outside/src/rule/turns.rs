//! Which connections of a group are active: they share its window, and the others wait with a trickle.
//!
//! While others want the link, two are active at most: behind a fair queue each active connection takes a share of its own, and a window of
//! two packets each would be too much for many. While nobody else is there, one more is added whenever the active ones do not use what
//! they may: servers often limit each connection.
//!
//! Active ones take turns, so that a server sees each of them move: many servers close a connection that has not moved for 60 s, some after
//! 10 s. A turn is [`CYCLE`] divided among those that wait.

use super::members::Id;
use afteryou_base::{Span, Time};

/// At most so many are active while others want the link.
const ACTIVE_CROWDED: usize = 2;
/// Every connection has a turn within this.
const CYCLE: Span = Span::from_secs(30);
/// A turn is not shorter: a connection needs some round trips to fill its window again.
const TURN_MIN: Span = Span::from_secs(2);
/// … and not longer.
const TURN_MAX: Span = Span::from_secs(8);
/// An active connection without a byte for this long gives its place away.
pub const IDLE: Span = Span::from_secs(1);
/// Time between two additions.
const ADD_APART: Span = Span::from_millis(200);

/// The active connections.
#[derive(Clone, Debug)]
pub struct Turns {
    active: Vec<(Id, Time)>,
    places: usize,
    next_addition: Time,
}

/// What decides on places.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Time of the tick.
    pub now: Time,
    /// Others have the link.
    pub is_crowded: bool,
    /// The active connections do not use what they may.
    pub is_unused: bool,
    /// Places for which the window suffices.
    pub affordable: usize,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { active: Vec::new(), places: ACTIVE_CROWDED, next_addition: Time::ZERO }
    }
}

impl Turns {
    /// Returns the active connections.
    pub fn active(&self) -> impl Iterator<Item = Id> + '_ {
        self.active.iter().map(|(id, _)| *id)
    }

    /// Returns whether a connection is active.
    pub fn is_active(&self, id: Id) -> bool {
        self.active().any(|other| other == id)
    }

    /// Decides who is active. `wanting` are those with more to move than a trickle, the longest waiting first. Returns those that have
    /// become active.
    pub fn tick(&mut self, situation: Situation, wanting: &[Id]) -> Vec<Id> {
        let Situation { now, is_crowded, is_unused, affordable } = situation;
        self.active.retain(|(id, _)| wanting.contains(id));
        let waiting: Vec<Id> = wanting.iter().copied().filter(|id| !self.is_active(*id)).collect();
        if is_crowded {
            self.places = ACTIVE_CROWDED;
        } else if is_unused && !waiting.is_empty() && self.active.len() >= self.places && now >= self.next_addition {
            self.places += 1;
            self.next_addition = now + ADD_APART;
        }
        self.places = self.places.min(wanting.len().max(ACTIVE_CROWDED));
        let places = self.places.min(affordable).max(1);
        self.active.truncate(places);
        let turn = Span(CYCLE.as_nanos() * places as u64 / wanting.len().max(1) as u64).clamp(TURN_MIN, TURN_MAX);
        if !waiting.is_empty() {
            self.active.retain(|(_, since)| now.since(*since) < turn);
        }
        let free = places - self.active.len();
        let next: Vec<Id> = waiting.into_iter().take(free).collect();
        self.active.extend(next.iter().map(|id| (*id, now)));
        next
    }
}
