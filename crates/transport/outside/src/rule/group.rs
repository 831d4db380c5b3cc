//! The connections of a job in one direction: what each may have under way.
//!
//! # Model
//! The program's own connections move the data. Downloads are bounded by what the kernel announces to the server (RFC 9840), uploads by a
//! [rate](super::rate::rate). The group's window is divided among the active connections. One that waits for its turn trickles. One that does not
//! fill its window is left alone: it keeps some packets more than it uses, so that requests, pings and short answers wait for nobody.
//!
//! Only a connection that fills its window says how long the queue is: otherwise the other end's pauses would be in its round trips.
//!
//! # Constants
//! See below, each with its unit and reason.

use super::law::{Law, Params, Seen};
use super::members::{Id, Member, Members, Reading, USUAL_MSS};
use super::turns::{Situation, Turns, IDLE};
use afteryou_base::{Span, Time};

/// A download that waits has this window, bytes: the least that Linux has. A server sends it whole every 0.3 s or so, 32 kbit/s.
const WAITING_DOWNLOAD: f64 = 1152.0;
/// An upload that waits has this rate, bytes a second: 64 kbit/s, with which no server's timeout for reading ends.
const WAITING_UPLOAD_PER_S: f64 = 8000.0;
/// A connection that does not fill its window may have this many packets under way: as many as any sender begins with (RFC 6928).
const QUIET_PACKETS: f64 = 10.0;
/// … and this many while others want the link.
const QUIET_PACKETS_CROWDED: f64 = 4.0;
/// … or this many times of what it uses, so that it can grow.
const CREDIT: f64 = 1.5;
/// An active connection's least window, packets: below, a sender waits for its persist timer.
const ACTIVE_PACKETS: f64 = 2.0;
/// The group's window has this many packets for each place.
const AFFORDED_PACKETS: f64 = 4.0;
/// Least payload of a packet that is believed, bytes (RFC 9293).
const LEAST_MSS: f64 = 536.0;
/// Round trips until it counts that active connections do not use their windows.
const UNUSED_ROUNDS: u64 = 4;
/// Round-trip time before any was seen.
const USUAL_RTT: Span = Span::from_millis(100);

/// Which way the data go, seen from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the program.
    Down,
    /// From the program.
    Up,
}

/// What a connection may have under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Granted {
    /// Which connection.
    pub id: Id,
    /// Window, bytes.
    pub window: f64,
    /// It has a place.
    pub is_active: bool,
}

/// All connections of a job in one direction.
#[derive(Clone, Debug)]
pub struct Group {
    direction: Direction,
    law: Law,
    members: Members,
    turns: Turns,
    /// Since when the active ones do not use what they may.
    unused_since: Option<Time>,
    /// Those that want a place, the longest waiting first.
    wanting: Vec<Id>,
    round: Span,
}

impl Group {
    /// Creates a group without connections.
    pub fn new(direction: Direction, params: Params) -> Group {
        Group {
            direction,
            law: Law::new(params, QUIET_PACKETS * USUAL_MSS),
            members: Members::default(),
            turns: Turns::default(),
            unused_since: None,
            wanting: Vec::new(),
            round: USUAL_RTT,
        }
    }

    /// Returns the law, for display.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Returns how many connections are active, and how many want to be.
    pub fn places(&self) -> (usize, usize) {
        (self.turns.active().count(), self.wanting.len())
    }

    /// Returns the bytes that came through in the last round trip, and how long that is.
    pub fn moved(&self) -> (f64, Span) {
        (self.members.iter().map(|(_, member)| member.per_round(self.round)).sum(), self.round)
    }

    /// Returns the base of the active connections, the median of them.
    pub fn base(&self) -> Option<Span> {
        median(self.active().filter_map(|member| self.base_of(member)).collect())
    }

    /// Returns a connection.
    pub fn member(&self, id: Id) -> Option<&Member> {
        self.members.get(id)
    }

    /// Returns the base of a connection's destination.
    pub fn base_of(&self, member: &Member) -> Option<Span> {
        self.members.base(member.reading.peer)
    }

    /// Returns the window that a connection gets before anything is known of it, bytes.
    pub fn first_window(&self) -> f64 {
        self.quiet_packets() * USUAL_MSS
    }

    /// Takes in the readings of a tick and returns what each connection may have under way.
    pub fn tick(&mut self, now: Time, readings: &[Reading]) -> Vec<Granted> {
        self.members.read(now, readings);
        let floor = ACTIVE_PACKETS * self.mss();
        if let Some(seen) = self.seen(now) {
            self.round = seen.base + seen.queue.unwrap_or(Span::ZERO);
            self.unused_since = match seen.queue {
                Some(_) => None,
                None => self.unused_since.or(Some(now)),
            };
            self.law.tick(&seen, floor);
        }
        self.take_turns(now);
        let active = self.turns.active().count().max(1) as f64;
        self.grant((self.law.window() / active).max(floor))
    }

    fn grant(&mut self, share: f64) -> Vec<Granted> {
        let (round, quiet) = (self.round, self.quiet_packets());
        let waiting = match self.direction {
            Direction::Down => WAITING_DOWNLOAD,
            Direction::Up => WAITING_UPLOAD_PER_S * round.as_secs_f64(),
        };
        let (turns, wanting) = (&self.turns, &self.wanting);
        let members = self.members.iter_mut();
        members
            .map(|(id, member)| {
                let is_active = turns.is_active(*id);
                member.window = match (is_active, wanting.contains(id)) {
                    (true, _) => share,
                    (false, true) => waiting,
                    (false, false) => (CREDIT * member.per_round(round)).max(quiet * member.reading.mss()),
                };
                Granted { id: *id, window: member.window, is_active }
            })
            .collect()
    }

    fn active(&self) -> impl Iterator<Item = &Member> {
        self.turns.active().filter_map(|id| self.members.get(id))
    }

    fn mss(&self) -> f64 {
        self.active().map(|member| member.reading.mss()).fold(LEAST_MSS, f64::max)
    }

    fn quiet_packets(&self) -> f64 {
        match self.law.is_crowded() {
            true => QUIET_PACKETS_CROWDED,
            false => QUIET_PACKETS,
        }
    }

    /// Returns what the active connections say together.
    fn seen(&self, now: Time) -> Option<Seen> {
        let base = self.base()?;
        let queue = median(
            self.active()
                .filter(|member| member.is_settled(now) && member.fills_its_window(self.round))
                .filter_map(|member| Some(member.reading.rtt? - self.base_of(member)?))
                .collect(),
        );
        let rtt = base + queue.unwrap_or(Span::ZERO);
        Some(Seen {
            now,
            base,
            queue,
            moved: self.active().map(|member| member.moved as f64).sum(),
            per_round: self.active().map(|member| member.per_round(rtt)).sum(),
            mss: self.mss(),
            has_lost: self.active().any(|member| member.has_lost),
        })
    }

    /// Finds who wants a place, and gives them.
    fn take_turns(&mut self, now: Time) {
        let round = self.round;
        let is_moving = |member: &Member| now.since(member.last_moved) < IDLE.max(round * UNUSED_ROUNDS);
        self.wanting.retain(|id| self.members.get(*id).is_some_and(is_moving));
        for (id, member) in self.members.iter() {
            if !self.wanting.contains(id) && member.window > 0.0 && member.moved > 0 && member.fills_its_window(round) {
                self.wanting.push(*id);
            }
        }
        let had_places: Vec<Id> = self.turns.active().collect();
        let situation = Situation {
            now,
            is_crowded: self.law.is_crowded(),
            is_unused: self.unused_since.is_some_and(|since| now.since(since) >= round * UNUSED_ROUNDS),
            affordable: (self.law.window() / (AFFORDED_PACKETS * self.mss())) as usize,
        };
        let begun = self.turns.tick(situation, &self.wanting);
        // Who gave a place back waits behind the others.
        let turns = &self.turns;
        let gave_back = |id: &Id| had_places.contains(id) && !turns.is_active(*id);
        self.wanting.sort_by_key(gave_back);
        for id in begun {
            let base = self.members.get(id).and_then(|member| self.base_of(member)).unwrap_or(USUAL_RTT);
            if let Some(member) = self.members.get_mut(id) {
                member.begin_anew(now, base);
            }
        }
    }
}

fn median(mut spans: Vec<Span>) -> Option<Span> {
    spans.sort();
    spans.get(spans.len() / 2).copied()
}
