//! Which connections of a group are active: they share its window, and the others wait with a trickle.
//!
//! While nobody else is there all are active, as far as the window suffices: files then end together, and no sender has to grow anew when it
//! gets its turn. Those that have waited become active again one after the other. While others have the link, two are active at most, since a
//! window of two packets each would be too much for many. Behind a managed queue it is one: if the queue is fair, each active connection takes
//! a share of its own. One more is there while a place is handed over.
//!
//! Active ones take turns, so that a server sees each of them move: many servers close a connection that has not moved for 60 s, some after
//! 10 s. A turn is 30 s (of uploads: 240 s) divided among those that wait.

use super::members::{Direction, Id};
use afteryou_base::{Span, Time};
use std::collections::BTreeSet;

/// Active connections while others have the link …
const ACTIVE_CROWDED: usize = 2;
/// … and behind a queue that is managed, and may be a fair one: each active connection takes a share there.
const ACTIVE_MANAGED: usize = 1;
/// Every download has a turn within this …
const CYCLE: Span = Span::from_secs(30);
/// … and every upload within this: a server that reads sees the trickle, and a sender needs long to have its rate again.
const CYCLE_OF_UPLOADS: Span = Span::from_secs(240);
/// A turn is not shorter, since a connection needs some round trips to fill its window again …
const TURN_MIN: Span = Span::from_secs(2);
/// … this behind a managed queue, where one has the link and its server may need seconds to fill it …
const TURN_MIN_MANAGED: Span = Span::from_secs(15);
/// … or this many round trips.
const TURN_ROUNDS: u64 = 6;
/// … and not longer.
const TURN_MAX: Span = Span::from_secs(15);
/// One whose turn is over stays until the next one fills its window, or for this long: a sender that has trickled notices by a timer.
const HANDOVER: Span = Span::from_secs(2);
/// … or this many round trips: from a trickle to a whole window it doubles that often.
const HANDOVER_ROUNDS: u64 = 16;
/// While the link has room, one that has waited begins this many round trips after the one before at the latest.
const BEGIN_ROUNDS: u64 = 4;
/// An active connection without a byte for this long gives its place away.
pub const IDLE: Span = Span::from_secs(1);
/// A waiting one without a byte for this long waits no more: its trickle comes by a timer that reaches some seconds behind a long queue.
pub const WAITING_IDLE: Span = Span::from_secs(8);

/// The active connections.
#[derive(Clone, Debug)]
pub struct Turns {
    cycle: Span,
    active: Vec<(Id, Time)>,
    /// When a place was last taken away: one after the other, so that those that remain use the link.
    last_change: Time,
    /// When one became active.
    last_begun: Time,
    /// The newest one takes the place of the oldest, which is there still.
    is_handing_over: bool,
}

/// Circumstances that decide on places.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Time of the tick.
    pub now: Time,
    /// Others have the link.
    pub is_crowded: bool,
    /// The queue is short, so the link has room.
    pub has_room: bool,
    /// Packets are lost while the queue is short.
    pub is_managed: bool,
    /// The link is tried out now and then, which needs a server that can fill it.
    pub is_tried: bool,
    /// A round trip of the group.
    pub round: Span,
    /// Places for which the window suffices.
    pub affordable: usize,
}

impl Situation {
    fn places(&self) -> usize {
        let most = match (self.is_managed, self.is_crowded) {
            (true, _) => ACTIVE_MANAGED,
            (false, true) => ACTIVE_CROWDED,
            (false, false) => usize::MAX,
        };
        most.min(self.affordable)
    }
}

impl Turns {
    /// Creates turns without connections.
    pub fn new(direction: Direction) -> Turns {
        let cycle = match direction {
            Direction::Down => CYCLE,
            Direction::Up => CYCLE_OF_UPLOADS,
        };
        Turns {
            cycle,
            active: Vec::new(),
            last_change: Time::ZERO,
            last_begun: Time::ZERO,
            is_handing_over: false,
        }
    }

    /// Returns the active connections.
    pub fn active(&self) -> impl Iterator<Item = Id> + '_ {
        self.active.iter().map(|(id, _)| *id)
    }

    /// Decides who is active. `wanting` are those with more to move than a trickle, the longest waiting first, `has_filled` says whether
    /// one has filled its window since it became active, and `has_waited` whether it ever waited. Returns those that have become active.
    pub fn tick(
        &mut self,
        situation: Situation,
        wanting: &[Id],
        has_filled: &dyn Fn(Id) -> bool,
        has_waited: &dyn Fn(Id) -> bool,
    ) -> Vec<Id> {
        let now = situation.now;
        let all: BTreeSet<Id> = wanting.iter().copied().collect();
        self.active.retain(|(id, _)| all.contains(id));
        let active: BTreeSet<Id> = self.active().collect();
        let waiting: Vec<Id> = wanting.iter().copied().filter(|id| !active.contains(id)).collect();
        let places = situation.places().min(wanting.len()).max(1);
        // The newest is the one that the others make room for.
        let is_over = |(id, since): &(Id, Time)| {
            has_filled(*id) || now.since(*since) >= HANDOVER.max(situation.round * HANDOVER_ROUNDS)
        };
        if self.is_handing_over && self.active.last().is_none_or(is_over) {
            self.is_handing_over = false;
        }
        let most = places + usize::from(self.is_handing_over);
        self.active.drain(..self.active.len().saturating_sub(most));
        let turn = Span(self.cycle.as_nanos() * places as u64 / wanting.len().max(1) as u64);
        let shortest = if situation.is_managed { TURN_MIN_MANAGED } else { TURN_MIN };
        let turn = turn.clamp(shortest.max(situation.round * TURN_ROUNDS).min(TURN_MAX), TURN_MAX);
        let has_had_turn =
            |since: Time| now.since(since) >= turn && now.since(self.last_change) >= turn / places as u64;
        let mut free = places.saturating_sub(self.active.len());
        // One that has waited takes a part of the window before it can use it: beside those that fill theirs one begins at a time.
        let begin_at_once = match (self.active.iter().any(is_over), self.active.iter().all(is_over)) {
            (true, true) => 1,
            (true, false) => usize::from(
                situation.has_room && now.since(self.last_begun) >= situation.round * BEGIN_ROUNDS,
            ),
            (false, _) => usize::MAX,
        };
        if self.active.len() == places
            && self.active.first().is_some_and(|(_, since)| has_had_turn(*since))
            && !waiting.is_empty()
            && !situation.is_tried
        {
            self.last_change = now;
            self.is_handing_over = true;
            free = 1;
        }
        let (fresh, others): (Vec<Id>, Vec<Id>) = waiting.into_iter().partition(|id| !has_waited(*id));
        let next: Vec<Id> =
            fresh.into_iter().chain(others.into_iter().take(begin_at_once)).take(free).collect();
        if !next.is_empty() {
            self.last_begun = now;
        }
        self.active.extend(next.iter().map(|id| (*id, now)));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of five connections behind a managed queue were active within a minute.
    fn active_in_a_minute(is_tried: bool) -> usize {
        let (mut turns, mut been) = (Turns::new(Direction::Down), BTreeSet::new());
        let mut wanting: Vec<Id> = (0..5).map(Id).collect();
        for tick in 0..6000 {
            let situation = Situation {
                now: Time::ZERO + Span::from_millis(10) * tick,
                is_crowded: false,
                has_room: false,
                is_managed: true,
                is_tried,
                round: Span::from_millis(50),
                affordable: 5,
            };
            turns.tick(situation, &wanting, &|_| true, &|_| true);
            assert!(turns.active().count() <= 2);
            been.extend(turns.active());
            wanting.sort_by_key(|id| turns.active().any(|active| active == *id));
        }
        been.len()
    }

    #[test]
    fn behind_a_managed_queue_one_follows_the_other_but_not_while_the_link_is_tried_out() {
        assert!((4..=5).contains(&active_in_a_minute(false)));
        assert_eq!(active_in_a_minute(true), 1);
    }
}
