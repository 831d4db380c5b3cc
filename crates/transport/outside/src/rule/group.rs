//! The connections of a job in one direction, and the window of each.
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

use super::fair::Fair;
use super::law::{Law, Params, Phase, Seen};
use super::members::{Direction, Id, Member, Members, Reading, USUAL_MSS};
use super::opposite::Opposite;
use super::recent::Largest;
use super::turns::{Situation, Turns, IDLE, WAITING_IDLE};
use afteryou_base::{Span, Time};
use std::collections::BTreeSet;

/// The window that a connection gets before anything is known of it, bytes.
pub const FIRST_WINDOW: f64 = QUIET_PACKETS * USUAL_MSS;
/// A download that waits has this window, bytes: the least that Linux has. A server sends it whole every 0.3 s or so, 32 kbit/s.
pub const WAITING_DOWNLOAD: f64 = 1152.0;
/// An upload that waits has this rate, bytes a second: 36 kbit/s, with which no server's timeout for reading ends.
pub const WAITING_UPLOAD_PER_S: f64 = 4500.0;
/// A connection that does not fill its window may have this many packets under way: as many as any sender begins with (RFC 6928).
const QUIET_PACKETS: f64 = 10.0;
/// … or this many times of what it uses, so that it can grow.
const CREDIT: f64 = 1.5;
/// A connection with less than this part of the best rate is left alone, also if it fills its window.
const SMALL: f64 = 0.05;
/// The best rate is that of this long.
const BEST_KEPT: Span = Span::from_secs(300);
/// A queue below this part of the target is that of a link with room.
const FREE: f64 = 0.25;
/// A newcomer may have this many packets …
const NEWCOMER_PACKETS: f64 = 4.0;
/// … or this many times of what it uses, as slow start grows, until it fills its share.
const GROWTH: f64 = 2.0;
/// An active connection's least window, packets: below, a sender waits for its persist timer.
const ACTIVE_PACKETS: f64 = 2.0;
/// The group's window has this many packets for each place, outside of slowdowns.
const AFFORDED_PACKETS: f64 = 4.0;
/// Least payload of a packet that is believed, bytes (RFC 9293).
const LEAST_MSS: f64 = 536.0;
/// A queue that loses packets when it is shorter than this is managed (CoDel, PIE), or as short as one that is.
const MANAGED: Span = Span::from_millis(15);
/// It stays that for so long: networks seldom change their queues.
const MANAGED_KEPT: Span = Span::from_secs(120);
/// Round trips without a byte after which an active connection is idle.
const IDLE_ROUNDS: u64 = 4;
/// A peer acknowledges a single packet after this long at most (Linux).
const ACK_DELAY: Span = Span::from_millis(40);
/// Below this rate packets are paced one by one, bytes a second (1.2 Mbit/s, Linux) …
const SLOW_PER_S: f64 = 150_000.0;
/// … in this long.
const ACK_WAIT: Span = Span::from_millis(200);
/// Data that new connections have sent before they had a window are gone after this …
const JOINED: Span = Span::from_secs(1);
/// … and for the next ones the law waits this long after it at the earliest.
const JOINED_APART: Span = Span::from_secs(5);
/// Uploads are limited after this many bytes: requests are none.
const UPLOAD_FROM: u64 = 64 << 10;
/// Round-trip time before any was seen.
const USUAL_RTT: Span = Span::from_millis(100);

/// The window of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Granted {
    /// The connection.
    pub id: Id,
    /// Window, bytes.
    pub window: f64,
    /// The connection's part in the group.
    pub part: Part,
}

/// A connection's part in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It has a place.
    Active,
    /// It waits for one and trickles.
    Waiting,
    /// It does not use what it may, and is left alone.
    Quiet,
}

/// All connections of a job in one direction.
#[derive(Clone, Debug)]
pub struct Group {
    direction: Direction,
    law: Law,
    opposite: Opposite,
    fair: Fair,
    managed_until: Time,
    /// Of all connections, bytes.
    window: f64,
    members: Members,
    turns: Turns,
    /// Bytes a second.
    best: Largest,
    /// Those with more data than a trickle, the longest waiting first.
    wanting: Vec<Id>,
    round: Span,
    last_tick: Time,
    /// Bytes under way of those that gave their place back, and since when.
    leaving: Vec<(Time, f64)>,
    joined: Joined,
}

/// When connections joined the group.
#[derive(Clone, Copy, Debug, Default)]
struct Joined {
    /// The law does not shrink the window before this.
    until: Time,
    next: Time,
}

impl Joined {
    /// Notes that one joins. Not each of a program that opens connections all the time counts, or it would never yield.
    fn note(&mut self, now: Time) {
        if now >= self.next {
            self.until = now + JOINED;
            self.next = self.until + JOINED_APART;
        }
    }
}

impl Group {
    /// Creates a group without connections.
    pub fn new(direction: Direction, params: Params) -> Group {
        Group {
            direction,
            law: Law::new(params, FIRST_WINDOW),
            opposite: Opposite::default(),
            fair: Fair::default(),
            managed_until: Time::ZERO,
            window: FIRST_WINDOW,
            members: Members::default(),
            turns: Turns::new(direction),
            best: Largest::new(BEST_KEPT),
            wanting: Vec::new(),
            round: USUAL_RTT,
            last_tick: Time::ZERO,
            leaving: Vec::new(),
            joined: Joined::default(),
        }
    }

    /// Returns the law, for display.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Returns the numbers of active connections and of those with more data than a trickle.
    pub fn places(&self) -> (usize, usize) {
        (self.turns.active().count(), self.wanting.len())
    }

    /// Returns whether the group leaves the link to others.
    pub fn is_yielding(&self) -> bool {
        self.law.is_crowded() || self.fair.is_yielding()
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

    /// Notes what the host moves the other way, bytes a second, without acknowledgements of this group.
    pub fn note_opposite_rate(&mut self, now: Time, per_s: f64) {
        self.opposite.note_rate(now, per_s);
    }

    /// Takes in the readings of a tick and returns the window of each connection.
    pub fn tick(&mut self, now: Time, readings: &[Reading]) -> Vec<Granted> {
        self.read(now, readings);
        let floor = ACTIVE_PACKETS * self.mss();
        if let Some(seen) = self.seen(now) {
            self.set_window(seen, floor);
        }
        if self.law.full_queue().is_some_and(|queue| queue < MANAGED.as_secs_f64()) {
            self.managed_until = now + MANAGED_KEPT;
        }
        self.last_tick = now;
        self.take_turns(now);
        let window = self.window - self.leaving(now);
        self.grant(window, floor)
    }

    /// Takes in the readings, and notes which of the active connections fill their share.
    fn read(&mut self, now: Time, readings: &[Reading]) {
        let is_bound = |reading: &&Reading| self.direction == Direction::Down || reading.bytes >= UPLOAD_FROM;
        let bound: Vec<Reading> = readings.iter().filter(is_bound).copied().collect();
        let begins = |reading: &Reading| (FIRST_WINDOW as u64..UPLOAD_FROM).contains(&reading.bytes);
        let is_begun = self.direction == Direction::Up && readings.iter().any(begins);
        let has_new = self.members.read(now, &bound);
        if self.law.queue().is_some() && (has_new || is_begun) {
            self.joined.note(now);
        }
        let share = self.window / self.turns.active().count().max(1) as f64;
        for id in self.turns.active() {
            if let Some(member) = self.members.get_mut(id) {
                member.note_filling(now, share, self.round);
            }
        }
    }

    /// Sets the group's window: by a trial that is under way, or else by the law.
    fn set_window(&mut self, mut seen: Seen, floor: f64) {
        let now = seen.now;
        // The least, since one that pauses has its pauses in it.
        let least = self.active().filter_map(|member| member.reading.rtt).min();
        self.round = least.unwrap_or(seen.base).max(seen.base);
        let best = self.best.get().unwrap_or(0.0);
        self.best.note(now, seen.rate);
        if let Some(window) = self.opposite.tick(&mut seen, &mut self.law, best) {
            self.law.tick(&seen, floor);
            self.window = window.max(floor);
            return;
        }
        let is_managed = self.is_managed(now);
        if let Some(window) = self.fair.tick(&seen, &mut self.law, is_managed) {
            self.window = window.max(floor);
            return;
        }
        // It may be the queue of what new connections have sent before they had a window.
        let is_excused = now < self.joined.until
            && seen.queue.is_some_and(|queue| queue.as_secs_f64() > self.law.target());
        if !is_excused {
            self.law.tick(&seen, floor);
        }
        self.window = self.law.window();
    }

    /// Returns whether packets were lost of late while the queue was short.
    fn is_managed(&self, now: Time) -> bool {
        now < self.managed_until || self.fair.is_yielding()
    }

    /// Divides the window. A newcomer among the active ones gets what it can use, and the others have the rest.
    fn grant(&mut self, window: f64, floor: f64) -> Vec<Granted> {
        let round = self.round;
        let waiting = match self.direction {
            Direction::Down => WAITING_DOWNLOAD,
            Direction::Up => WAITING_UPLOAD_PER_S * round.as_secs_f64(),
        };
        let count = self.turns.active().count().max(1) as f64;
        let share = (window / count).max(floor);
        let usable = |member: &Member| {
            (GROWTH * member.per_round(round)).max(NEWCOMER_PACKETS * member.reading.mss()).min(share)
        };
        let newcomers: Vec<f64> = self.active().filter(|member| !member.has_filled).map(usable).collect();
        let settled = count - newcomers.len() as f64;
        let rest = ((window - newcomers.iter().sum::<f64>()) / settled.max(1.0)).max(floor);
        let active: BTreeSet<Id> = self.turns.active().collect();
        let wanting: BTreeSet<Id> = self.wanting.iter().copied().collect();
        let mut portions = Portions::new(self.direction, rest, settled, self.mss());
        let members = self.members.iter_mut();
        members
            .map(|(id, member)| {
                let part = match (active.contains(id), wanting.contains(id)) {
                    (true, _) => Part::Active,
                    (false, true) => Part::Waiting,
                    (false, false) => Part::Quiet,
                };
                member.has_waited |= part == Part::Waiting;
                member.window = match part {
                    Part::Active if member.has_filled => portions.next(),
                    Part::Active if settled > 0.0 => usable(member),
                    Part::Active => share,
                    Part::Waiting => waiting,
                    Part::Quiet => {
                        (CREDIT * member.per_round(round)).max(QUIET_PACKETS * member.reading.mss())
                    }
                };
                Granted { id: *id, window: member.window, part }
            })
            .collect()
    }

    /// Returns the bytes under way of those that gave their place back: all at first, none a round trip later.
    fn leaving(&mut self, now: Time) -> f64 {
        let round = self.round.as_secs_f64().max(1e-3);
        let left = |at: Time, window: f64| window * (1.0 - now.since(at).as_secs_f64() / round);
        self.leaving.retain(|(at, window)| left(*at, *window) > 0.0);
        self.leaving.iter().map(|(at, window)| left(*at, *window)).sum()
    }

    fn active(&self) -> impl Iterator<Item = &Member> {
        self.turns.active().filter_map(|id| self.members.get(id))
    }

    /// Returns the connections with more data than a trickle: one that has just given its place back has bytes under way.
    fn moving(&self) -> impl Iterator<Item = &Member> {
        self.wanting.iter().filter_map(|id| self.members.get(*id))
    }

    fn mss(&self) -> f64 {
        self.active().map(|member| member.reading.mss()).fold(LEAST_MSS, f64::max)
    }

    /// Returns the joint reading of the active connections.
    fn seen(&self, now: Time) -> Option<Seen> {
        let base = self.base()?;
        let queue = median(
            self.active()
                .filter(|member| member.is_settled(now) && member.fills_its_window(self.round))
                .filter_map(|member| {
                    Some(member.reading.rtt? - self.base_of(member)? - self.ack_delay(member))
                })
                .collect(),
        );
        let rtt = base + queue.unwrap_or(Span::ZERO);
        Some(Seen {
            now,
            passed: now.since(self.last_tick),
            base,
            queue,
            moved: self.moving().map(|member| member.moved as f64).sum(),
            per_round: self.moving().map(|member| member.per_round(rtt)).sum(),
            in_flight: self.moving().map(|member| member.reading.in_flight as f64).sum(),
            rate: self.moving().map(Member::rate).sum(),
            mss: self.mss(),
            has_lost: self.active().any(|member| member.has_lost),
        })
    }

    /// Returns by how much the peer may have delayed an acknowledgement: a slow sender's packets go one by one, and the peer waits for a second.
    fn ack_delay(&self, member: &Member) -> Span {
        let rate = member.per_round(ACK_WAIT) / ACK_WAIT.as_secs_f64();
        if self.direction == Direction::Down || rate >= SLOW_PER_S {
            return Span::ZERO;
        }
        Span::from_secs_f64((member.reading.mss() / rate.max(1.0)).min(ACK_DELAY.as_secs_f64()))
    }

    /// Finds the connections with more data than a trickle, and gives them places.
    fn take_turns(&mut self, now: Time) {
        let round = self.round;
        let members = &self.members;
        let active: BTreeSet<Id> = self.turns.active().collect();
        self.wanting.retain(|id| {
            let patience = if active.contains(id) { IDLE.max(round * IDLE_ROUNDS) } else { WAITING_IDLE };
            members.get(*id).is_some_and(|member| now.since(member.last_moved) < patience)
        });
        let known: BTreeSet<Id> = self.wanting.iter().copied().collect();
        for (id, member) in self.members.iter() {
            let is_small = member.rate() < SMALL * self.best.get().unwrap_or(0.0);
            let fills = member.window > 0.0 && member.moved > 0 && member.fills_its_window(round);
            if fills && !is_small && !known.contains(id) {
                self.wanting.push(*id);
            }
        }
        let had_places: Vec<Id> = self.turns.active().collect();
        let is_slowed = matches!(self.law.phase(), Phase::Slowdown { .. });
        let afforded = if is_slowed { ACTIVE_PACKETS } else { AFFORDED_PACKETS };
        let situation = Situation {
            now,
            is_crowded: self.law.is_crowded(),
            has_room: self.law.queue().is_none_or(|queue| queue < FREE * self.law.target()),
            is_managed: self.is_managed(now),
            is_tried: self.fair.is_yielding(),
            round,
            affordable: (self.window / (afforded * self.mss())) as usize,
        };
        let members = &self.members;
        let has_filled = |id: Id| members.get(id).is_some_and(|member| member.has_filled);
        let has_waited = |id: Id| members.get(id).is_some_and(|member| member.has_waited);
        let begun = self.turns.tick(situation, &self.wanting, &has_filled, &has_waited);
        // Who gave a place back waits behind the others.
        let had_place: BTreeSet<Id> = had_places.iter().copied().collect();
        let active: BTreeSet<Id> = self.turns.active().collect();
        let gave_back = |id: &Id| had_place.contains(id) && !active.contains(id);
        self.wanting.sort_by_key(gave_back);
        let left = had_places
            .iter()
            .filter(|id| gave_back(id))
            .filter_map(|id| Some((now, self.members.get(*id)?.window)));
        self.leaving.extend(left);
        for id in begun {
            let base = self.members.get(id).and_then(|member| self.base_of(member)).unwrap_or(USUAL_RTT);
            if let Some(member) = self.members.get_mut(id) {
                member.begin_anew(now, base);
            }
        }
    }
}

/// Equal portions of a window, in whole packets: otherwise all connections would send one packet more at the same moment.
struct Portions {
    /// Packets of each …
    packets: f64,
    /// … and the number of connections that have one more.
    more: f64,
    mss: f64,
}

impl Portions {
    /// Divides the window of `count` connections that have `each` bytes on average. Uploads have rates, which need no whole packets.
    fn new(direction: Direction, each: f64, count: f64, mss: f64) -> Portions {
        if direction == Direction::Up {
            return Portions { packets: each / mss, more: 0.0, mss };
        }
        let packets = (each / mss).floor();
        Portions { packets, more: ((each / mss - packets) * count).floor(), mss }
    }

    /// Returns the next one, bytes.
    fn next(&mut self) -> f64 {
        let extra = if self.more >= 1.0 { 1.0 } else { 0.0 };
        self.more -= extra;
        (self.packets + extra) * self.mss
    }
}

fn median(mut spans: Vec<Span>) -> Option<Span> {
    spans.sort();
    spans.get(spans.len() / 2).copied()
}
