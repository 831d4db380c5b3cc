//! A group: several connections of one job that together use no more than one connection would.
//!
//! # Model
//! One controller, the inner one, sees the whole job as a single sender and decides one window W. The members are
//! connections between the same two hosts. Their reports become the inner one's events, and each may have its share of W in
//! flight:
//!
//! ```text
//!   level(m) = (W − in flight of members that do not want more) / (members that want more, including m)
//!              but at least W / members
//!   room(m)  = W − in flight of all others
//!   cwnd(m)  = max(min(room, level rounded up to whole packets), one packet)         if level ≥ one packet
//!            = level: less than a packet, so the transport spaces its packets         otherwise
//! ```
//!
//! - **The level makes shares equal.** A member above the level may not replace its acknowledged bytes, which leaves room
//!   for members below it. Shares become equal within a few round trips, whatever they were before.
//! - **The room keeps the sum within W.** The levels are rounded up so that no fraction of a packet stays unused.
//! - **An application-limited member lends its share.** A member has demand unless its transport reports that the
//!   application limits it, or it has had nothing in flight for two round trips. Its bytes in flight are taken off W
//!   first; the others share the rest.
//! - **Newcomers prove themselves.** Anybody can begin handshakes with a host that serves, and never answer. A hundred such
//!   members would take the window from the one that transfers data. So a member that never had an ack has one packet beside
//!   members that had one. That packet is not taken off their level and room; the bytes beyond it are. A real newcomer counts
//!   a round trip later. While no member has had an ack, all are alike.
//! - **The floor is one packet.** A transport learns of room from acks only. A member without a packet in flight would
//!   never learn that there is room again. So each may have one although the others have filled W. The bytes in flight
//!   exceed the window that they were sent under by at most one packet per member. Where not even one packet for each
//!   fits into W, windows below one packet keep the *rate* of all together at W per round trip.
//!
//! - **A group of packets stays one.** Where the inner controller sends packets in groups with pauses, the pauses and not the window
//!   limit the rate. So each member may have a whole group in flight, and its pauses are longer by W over its level.
//! - **A train leaves from one member.** Packets that measure the path by following each other at a rate would arrive as something else
//!   if members sent them each at its own time. The first member with demand that has an ack sends all of them: its window is larger by
//!   the train, and its rate is that of the job.
//!
//! A group of one is its inner controller, number for number but for packet numbers. `group/events.rs` has the translation of
//! the members' events.
//!
//! A member that leaves is forgotten at once with its bytes in flight. A closed connection that its owner keeps reports
//! nothing more. After a second and four round trips of silence none of its packets can be in the network.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | a want lapses after | 2 round trips (or 2 spacings) with nothing in flight | one could be a gap between two writes |
//! | silence | 1 s + 4 round trips | a living connection with something in flight has its timer go off earlier |
//! | newcomer's idle threshold | 1 s | RFC 6298 §2.1: the timeout of a sender without a sample |
//!
//! # Source
//! One window for all connections of a host pair is the idea of RFC 3124 (Congestion Manager, §2). Equal shares with
//! lending are RFC 8699 (§5.2, priorities all 1, the whole rate by the window of one). The state that newcomers inherit
//! is RFC 9040 (§4). The arithmetic is ours: RFC 3124 hands out grants and RFC 8699 couples one controller per flow.
//!
//! # Not implemented
//! Priorities. Sharing across paths: losses and delays of two bottlenecks would be mixed up.
//!
//! # Known bad cases
//! One-way delays of members whose clocks differ (two programs on one host, each with an epoch of its own) look like
//! queue. Take a controller that measures round trips. A member that is limited by something its transport does not
//! report keeps its share unused while it has anything in flight. Where the window is smaller than a packet for each
//! member, part of the link stays unused. Each packet waits alone for an ack that is delayed, and spacings lag behind a
//! window that grows. Sixteen LEDBAT++ on 1 Mbit/s use three quarters of it (their queue is 71 ms, without a group it
//! is 307 ms).

use crate::controller::{Controller, Directive, Needs, Pacing, Snapshot};
use crate::fixed::mul_div;
use afteryou_base::units::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use log::Log;
use sums::{excess, State, Sums};

mod events;
mod log;
#[cfg(feature = "std")]
mod shared;
mod sums;
#[cfg(test)]
mod tests;

#[cfg(feature = "std")]
pub use shared::{Member, Shared};

/// No member has more in flight than the largest window, whatever it reports: sums cannot overflow.
const MOST_IN_FLIGHT: u64 = 1 << 40;
/// Round trips with nothing in flight after which a member no longer counts as wanting more.
const WANT_LAPSES: u64 = 2;
/// Silence, and round trips on top of it, after which nothing of a member is in the network.
const SILENCE: Span = Span::from_secs(1);
const SILENT_ROUNDS: u64 = 4;

/// Names a member of a group; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId(u64);

/// One window for several connections. The module's description has the shares.
///
/// It is free of locks; [`Shared`] puts one around it and hands out a [`Controller`] for each connection. Events and
/// questions of a member that has left are ignored: its window is zero.
#[derive(Debug)]
pub struct Group {
    inner: Box<dyn Controller>,
    mss: u32,
    members: BTreeMap<MemberId, State>,
    next_id: u64,
    /// Over all members.
    sums: Sums,
    /// Over those that had an ack.
    proven: Sums,
    /// The bytes that newcomers have in flight beyond a packet of each.
    excess: u64,
    smoothed_rtt: Option<Span>,
    round_began: Option<Time>,
    /// The last time any member sent something or received an ack.
    last_activity: Option<Time>,
    /// The only one with losses since the latest reduction, and the time of the first reduction since when that holds.
    reduced_by: Option<(MemberId, Time)>,
    /// The latest timeout that was reported to the inner controller.
    timed_out: Option<(Time, MemberId)>,
    /// Timeouts reported since an ack made progress.
    timeouts: u32,
    /// The job's delivered bytes when its packets left, if the inner controller needs that.
    log: Option<Log>,
    /// Bytes of the deliveries reported since the latest ack.
    delivered_since_ack: u64,
    /// The member that sends the inner controller's train.
    train_of: Option<MemberId>,
}

impl Group {
    /// Makes a group without members whose window `inner` decides; `inner` was made for packets of `mss` bytes.
    pub fn new(inner: Box<dyn Controller>, mss: u32) -> Group {
        let log = inner.needs().stamps().then(Log::new);
        Group {
            inner,
            mss,
            members: BTreeMap::new(),
            next_id: 0,
            sums: Sums::default(),
            proven: Sums::default(),
            excess: 0,
            smoothed_rtt: None,
            round_began: None,
            last_activity: None,
            reduced_by: None,
            timed_out: None,
            timeouts: 0,
            log,
            delivered_since_ack: 0,
            train_of: None,
        }
    }

    /// Adds a member that sends packets of `mss` bytes of payload.
    pub fn join(&mut self, mss: u32) -> MemberId {
        let id = MemberId(self.next_id);
        self.next_id += 1;
        let state = State {
            mss: mss.max(1),
            in_flight: 0,
            flightsize: 0,
            wants_more: false,
            last_sent: None,
            newest_acked: None,
            last_event: self.last_activity.unwrap_or(Time::ZERO),
        };
        self.add(&state);
        self.members.insert(id, state);
        self.use_largest_packet();
        id
    }

    /// Removes a member; its bytes in flight no longer count.
    pub fn leave(&mut self, id: MemberId) {
        let Some(state) = self.members.remove(&id) else { return };
        self.subtract(&state);
        if self.reduced_by.is_some_and(|(by, _)| by == id) {
            self.reduced_by = None;
        }
        self.train_of = self.train_of.filter(|of| *of != id);
    }

    /// Returns the number of members.
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// Returns the bytes in flight of all members together, as last reported.
    pub fn in_flight(&self) -> u64 {
        self.sums.in_flight
    }

    /// Returns the controller that decides for all.
    pub fn inner(&self) -> &dyn Controller {
        &*self.inner
    }

    /// Changes a member's state, and the sums with it.
    fn update(&mut self, id: MemberId, change: impl FnOnce(&mut State)) {
        let Some(mut state) = self.members.get(&id).copied() else { return };
        self.subtract(&state);
        change(&mut state);
        state.in_flight = state.in_flight.min(MOST_IN_FLIGHT);
        state.flightsize = state.flightsize.min(MOST_IN_FLIGHT);
        self.add(&state);
        self.members.insert(id, state);
    }

    fn add(&mut self, state: &State) {
        self.sums = self.sums.plus(Sums::of(state));
        match state.is_newcomer() {
            true => self.excess += excess(state),
            false => self.proven = self.proven.plus(Sums::of(state)),
        }
    }

    fn subtract(&mut self, state: &State) {
        self.sums = self.sums.minus(Sums::of(state));
        match state.is_newcomer() {
            true => self.excess -= excess(state),
            false => self.proven = self.proven.minus(Sums::of(state)),
        }
    }

    /// Returns the sums of the members that count: those that had an ack, or all while there is no such member.
    fn counted(&self) -> Sums {
        match self.proven.members {
            0 => self.sums,
            _ => self.proven,
        }
    }

    /// Returns the sums of the members that this one shares with.
    fn others(&self, state: &State) -> Sums {
        if self.proven.members == 0 {
            return self.sums.minus(Sums::of(state));
        }
        let (proven, excess) = match state.is_newcomer() {
            true => (self.proven, self.excess - excess(state)),
            false => (self.proven.minus(Sums::of(state)), self.excess),
        };
        Sums { in_flight: proven.in_flight + excess, held: proven.held + excess, ..proven }
    }

    fn use_largest_packet(&mut self) {
        let largest = self.members.values().map(|state| state.mss).max();
        if let Some(mss) = largest.filter(|mss| *mss != self.mss) {
            self.mss = mss;
            self.inner.on_mtu(mss);
        }
    }

    /// Returns the window that members share.
    fn shared_window(&self) -> u64 {
        let inner = self.inner.directive();
        inner.cwnd.saturating_sub(inner.train.into())
    }

    /// Returns the bytes that a member may have in flight on top of its share: the inner controller's train, or nothing.
    fn train(&self, id: MemberId, state: &State) -> u32 {
        let is_its = self.train_of == Some(id) || self.others(state).members == 0;
        if is_its {
            return self.inner.directive().train;
        }
        0
    }

    /// Lets the member that had an ack send the train of the inner controller, if there is one that nobody sends.
    fn assign_train(&mut self, id: MemberId, wants_more: bool) {
        if self.inner.directive().train == 0 {
            self.train_of = None;
        } else if wants_more {
            self.train_of = self.train_of.or(Some(id));
        }
    }

    /// Returns the even share of a member that could use it, bytes.
    fn level(&self, state: &State) -> u64 {
        let cwnd = self.shared_window();
        let others = self.others(state);
        let lent = cwnd.saturating_sub(others.held) / (others.wanting + 1);
        lent.max(cwnd / (others.members + 1))
    }

    /// Returns whether the member's share is less than one of its packets.
    fn is_spaced(&self, state: &State) -> bool {
        self.others(state).members > 0 && self.level(state) < u64::from(state.mss)
    }

    /// Expires demands once a round trip; a member that has been silent for long has nothing in the network.
    fn forget_the_silent(&mut self, now: Time) {
        let round_trip = self.smoothed_rtt.unwrap_or_default();
        let silence = SILENCE + round_trip * SILENT_ROUNDS;
        let even_share = (self.shared_window() / self.counted().members.max(1)).max(1);
        for state in self.members.values_mut() {
            let since_sent = now.since(state.last_sent.unwrap_or(state.last_event));
            let spacing = round_trip * u64::from(state.mss).div_ceil(even_share);
            if now.since(state.last_event) > silence {
                (state.in_flight, state.flightsize, state.wants_more) = (0, 0, false);
            } else if state.in_flight == 0 && since_sent > spacing * WANT_LAPSES {
                state.wants_more = false;
            }
        }
        self.sum_up();
    }

    /// Computes all sums anew.
    fn sum_up(&mut self) {
        (self.sums, self.proven, self.excess) = (Sums::default(), Sums::default(), 0);
        let members = core::mem::take(&mut self.members);
        members.values().for_each(|state| self.add(state));
        self.members = members;
    }

    /// Returns the needs of the inner controller, which each member's transport must meet.
    pub fn needs(&self) -> Needs {
        self.inner.needs()
    }

    /// Returns how many bytes a member may have in flight.
    pub fn cwnd(&self, id: MemberId) -> u64 {
        let Some(state) = self.members.get(&id) else { return 0 };
        self.share(state).max(self.group_of_packets(state)) + u64::from(self.train(id, state))
    }

    /// Returns a member's share of the window, bytes.
    fn share(&self, state: &State) -> u64 {
        let (level, packet) = (self.level(state), u64::from(state.mss));
        if level < packet {
            return level.max(1);
        }
        if state.is_newcomer() && self.proven.members > 0 {
            return packet;
        }
        let room = self.shared_window().saturating_sub(self.others(state).in_flight);
        room.min(level.div_ceil(packet) * packet).max(packet)
    }

    /// Returns the bytes of the packets that a proven member sends together, if the inner controller sends them so and its window holds
    /// them.
    fn group_of_packets(&self, state: &State) -> u64 {
        let Pacing::Together { packets, .. } = self.inner.directive().pacing else { return 0 };
        if state.is_newcomer() {
            return 0;
        }
        (u64::from(packets) * u64::from(state.mss)).min(self.shared_window())
    }

    /// Returns a member's part of the inner directive. A member whose packets are spaced looks once a round trip whether its
    /// share has grown.
    pub fn directive(&self, id: MemberId) -> Directive {
        let inner = self.inner.directive();
        let Some(state) = self.members.get(&id) else {
            return Directive { cwnd: 0, wake_at: None, train: 0, ..inner };
        };
        let (cwnd, train) = (self.cwnd(id), self.train(id, state));
        let look = self.smoothed_rtt.filter(|_| self.is_spaced(state)).map(|rtt| state.last_event + rtt);
        Directive {
            cwnd,
            pacing: match inner.pacing {
                Pacing::Rate(rate) if train > 0 => Pacing::Rate(rate),
                Pacing::Rate(rate) => Pacing::Rate(self.part_of(rate, cwnd)),
                Pacing::Together { packets, apart_us, every } => {
                    Pacing::Together { packets, apart_us, every: self.pause(state, every) }
                }
                pacing => pacing,
            },
            wake_at: [inner.wake_at, look].into_iter().flatten().min(),
            train,
            ..inner
        }
    }

    /// Returns the part of a rate that a member with this window has.
    fn part_of(&self, rate: u64, cwnd: u64) -> u64 {
        let whole = self.shared_window();
        mul_div(rate, cwnd.min(whole), whole)
    }

    /// Returns the time between two groups of a member's packets, `every` for the groups of all.
    fn pause(&self, state: &State, every: Span) -> Span {
        Span(mul_div(every.0, self.shared_window(), self.level(state).max(1)))
    }

    /// Returns the inner controller's state with the member's window, and the group's beside it.
    pub fn snapshot(&self, id: MemberId) -> Snapshot {
        let inner = self.inner.snapshot();
        let mut extra = inner.extra;
        if let Some(free) = extra.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(("group_cwnd", inner.cwnd as f64));
        }
        Snapshot { cwnd: self.cwnd(id), extra, ..inner }
    }
}
