//! The connections of a group, and what their round trips say.

use super::recent::Count;
use afteryou_base::{Span, Time};
use afteryou_cc::base_delay::{BaseDelay, BASE_HISTORY};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Which way the data go, seen from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the program.
    Down,
    /// From the program.
    Up,
}

/// A connection's name that no other one of this machine ever has: its socket's cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

/// Payload of a packet before the first one has come, bytes.
pub const USUAL_MSS: f64 = 1448.0;
/// A connection fills its window if this part of it came in a round trip, but for the packet for which it has no room any more.
const FILLED: f64 = 0.6;
/// The rate with a full link is that of this long: a round trip of slow start has half of it.
const LATE: Span = Span::from_millis(80);
/// Counts are remembered this long: round trips of satellites with a queue.
const COUNT_KEPT: Span = Span::from_secs(2);
/// Bases of destinations that have no connection are remembered up to this number.
const BASES_KEPT: usize = 1000;

/// A poll's reading of a connection, in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The connection.
    pub id: Id,
    /// The other end.
    pub peer: IpAddr,
    /// A round trip without a queue that the connection itself has seen.
    pub least_rtt: Option<Span>,
    /// Round-trip time of the newest data.
    pub rtt: Option<Span>,
    /// Payload bytes so far.
    pub bytes: u64,
    /// Packets lost so far, as far as this end knows.
    pub lost: u64,
    /// Payload of a packet, bytes; 0: not known.
    pub mss: u32,
    /// Bytes sent that neither came nor were lost; 0 for downloads.
    pub in_flight: u64,
}

impl Reading {
    /// Returns the payload of a packet, bytes.
    pub fn mss(&self) -> f64 {
        match self.mss {
            0 => USUAL_MSS,
            mss => f64::from(mss),
        }
    }
}

/// A connection of a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// The newest reading.
    pub reading: Reading,
    count: Count,
    /// Bytes that came between the last two ticks.
    pub moved: u64,
    /// Whether a packet was lost between the last two ticks.
    pub has_lost: bool,
    /// When its last byte came.
    pub last_moved: Time,
    /// Window that it had in the last tick, bytes.
    pub window: f64,
    /// It has filled its share since it has a place.
    pub has_filled: bool,
    /// It has waited for a place, and its sender has got used to a trickle.
    pub has_waited: bool,
    /// Round-trip times count from this number of bytes in total on …
    pub counts_from: u64,
    /// … and from this time on: before, they are of another window.
    pub counts_after: Time,
}

impl Member {
    fn new(now: Time, reading: Reading) -> Member {
        Member {
            reading,
            count: Count::new(COUNT_KEPT),
            moved: 0,
            has_lost: false,
            last_moved: now,
            window: 0.0,
            has_filled: false,
            has_waited: false,
            counts_from: 0,
            counts_after: now,
        }
    }

    fn read(&mut self, now: Time, reading: Reading) {
        self.moved = reading.bytes.saturating_sub(self.reading.bytes);
        self.has_lost = reading.lost > self.reading.lost;
        if self.moved > 0 {
            self.last_moved = now;
        }
        self.count.note(now, reading.bytes);
        self.reading = reading;
    }

    /// Returns the bytes that came in the last `round`.
    pub fn per_round(&self, round: Span) -> f64 {
        self.count.grown_within(round).unwrap_or(0.0)
    }

    /// Returns the bytes a second that came in the last [`LATE`], or since the connection is known.
    pub fn rate(&self) -> f64 {
        self.count.per_s_within(LATE).unwrap_or(0.0)
    }

    /// Returns whether the connection has filled its window in the last `round`.
    pub fn fills_its_window(&self, round: Span) -> bool {
        self.fills(self.window, round)
    }

    /// Returns whether the connection has filled a window of this size in the last `round`.
    fn fills(&self, window: f64, round: Span) -> bool {
        self.per_round(round) >= FILLED * (window - self.reading.mss())
    }

    /// Notes whether it fills its share of the group's window, bytes.
    pub fn note_filling(&mut self, now: Time, share: f64, round: Span) {
        self.has_filled |= self.is_settled(now) && self.fills(share, round);
    }

    /// Returns whether its round trips are those of its present window.
    pub fn is_settled(&self, now: Time) -> bool {
        now >= self.counts_after && self.reading.bytes >= self.counts_from
    }

    /// Notes that a window of another size began.
    pub fn begin_anew(&mut self, now: Time, base: Span) {
        self.has_filled = false;
        self.counts_after = now + Span(base.as_nanos() / 2 * 3);
        self.counts_from = self.reading.bytes + (3.0 * self.reading.mss()) as u64;
    }
}

/// The connections, and the base of each destination.
#[derive(Clone, Debug, Default)]
pub struct Members {
    members: Vec<(Id, Member)>,
    /// Where each of them is.
    places: BTreeMap<Id, usize>,
    bases: BTreeMap<IpAddr, BaseDelay>,
}

impl Members {
    /// Takes in the readings of a tick: connections that are new, and those that are gone. Returns whether any is new.
    pub fn read(&mut self, now: Time, readings: &[Reading]) -> bool {
        self.keep(readings);
        let before = self.members.len();
        for reading in readings {
            let base = self.bases.entry(reading.peer).or_insert_with(|| BaseDelay::new(BASE_HISTORY));
            for sample in [reading.least_rtt, reading.rtt].into_iter().flatten() {
                base.update(now, u32::try_from(sample.as_micros()).unwrap_or(u32::MAX));
            }
            match self.get_mut(reading.id) {
                Some(member) => member.read(now, *reading),
                None => {
                    self.places.insert(reading.id, self.members.len());
                    self.members.push((reading.id, Member::new(now, *reading)));
                }
            }
        }
        self.members.len() > before
    }

    /// Forgets connections that are gone, and bases once there are many of destinations without a connection.
    fn keep(&mut self, readings: &[Reading]) {
        let present: BTreeSet<Id> = readings.iter().map(|reading| reading.id).collect();
        if self.members.iter().any(|(id, _)| !present.contains(id)) {
            self.members.retain(|(id, _)| present.contains(id));
            self.places = self.members.iter().enumerate().map(|(place, (id, _))| (*id, place)).collect();
        }
        if self.bases.len() > BASES_KEPT + readings.len() {
            let peers: BTreeSet<IpAddr> = readings.iter().map(|reading| reading.peer).collect();
            self.bases.retain(|peer, _| peers.contains(peer));
        }
    }

    /// Returns the base of a destination.
    pub fn base(&self, peer: IpAddr) -> Option<Span> {
        let us = self.bases.get(&peer)?.get()?;
        Some(Span::from_micros(u64::from(us)))
    }

    /// Returns the connections, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &(Id, Member)> {
        self.members.iter()
    }

    /// Returns the connections, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (Id, Member)> {
        self.members.iter_mut()
    }

    /// Returns a connection.
    pub fn get(&self, id: Id) -> Option<&Member> {
        self.places.get(&id).map(|place| &self.members[*place].1)
    }

    /// Returns a connection, to change it.
    pub fn get_mut(&mut self, id: Id) -> Option<&mut Member> {
        self.places.get(&id).map(|place| &mut self.members[*place].1)
    }
}
