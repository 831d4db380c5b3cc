//! A group: several connections of one job that together take no more than one.
//!
//! # Model
//! One controller, the inner one, sees the whole job as a single sender and decides one window W. The members are
//! connections between the same two hosts. What they report becomes the inner one's events; what they may have in flight
//! is their share of W:
//!
//! ```text
//!   level(m) = (W − in flight of members that do not want more) / (members that want more, m among them)
//!              but at least W / members
//!   room(m)  = W − in flight of all others
//!   cwnd(m)  = max(min(room, level rounded up to whole packets), one packet)         if level ≥ one packet
//!            = level: less than a packet, so the transport spaces its packets         otherwise
//! ```
//!
//! - **The level makes shares equal.** Who has more than the level may not replace what is acknowledged, so room appears
//!   for who has less: equal shares within a few round trips, whatever they were before.
//! - **The room keeps the sum within W.** The levels are rounded up so that no fraction of a packet stays unused.
//! - **Who wants nothing lends its share.** A member wants more unless its transport says that the application limits it,
//!   or it has had nothing in flight for two round trips. What it holds is taken off W first; the rest is for the others.
//! - **Newcomers prove themselves.** Anybody can begin handshakes with a host that serves, and never answer. Were they
//!   members like others, a hundred of them would take the window from the one that is at work. So a member that never had
//!   an ack has one packet beside members that had one, and that packet is not taken off their level and room; what it has
//!   in flight beyond it is. A real newcomer counts a round trip later. While nobody has had an ack, all are alike.
//! - **The floor is one packet.** A transport hears news from acks only: a member without a packet in flight would never
//!   learn that there is room again. So each may have one although the others have filled W, and the bytes in flight exceed
//!   the window that they were sent under by at most one packet per member. Where not even one packet for each fits into
//!   W, windows below one packet keep the *rate* of all together at W per round trip.
//!
//! # How events are translated
//! | of a member | for the inner controller |
//! |---|---|
//! | FlightSize, in flight | the sums over all members as last reported |
//! | packet number | the time of sending in ns, the one order that all members share |
//! | round | begins with the first ack of whatever was sent after the previous one began: one per round trip of the job |
//! | loss | as it is; send times compare across members, so losses of one round trip count once |
//! | state of the sender when a packet left, delivery rate | the job's, from a log of what all had delivered then |
//! | spurious loss | named; it takes a reduction back if this member alone had losses since |
//! | timeout while later packets of others have arrived | a loss: that is what one sender would have seen |
//! | timeouts of several members in one silence | one timeout |
//! | timeout of a newcomer beside members that had an ack | not told: nobody may be there to answer |
//! | persistent congestion | told unless another member's later packet has arrived |
//! | application-limited | only if nobody wants more, newcomers aside |
//! | idle | only if nobody has anything in flight, and since the latest event of all |
//! | packet size | the largest of all members |
//!
//! A group of one is its inner controller, number for number but for packet numbers.
//!
//! Who leaves is forgotten at once, and so is what it had in flight. A connection that is closed and kept by its owner says
//! nothing any more: after a second and four round trips of silence nothing of it can be in the network.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | a want lapses after | 2 round trips (or 2 spacings) with nothing in flight | one could be a gap between two writes |
//! | silence | 1 s + 4 round trips | a living connection with something in flight has its timer go off earlier |
//! | newcomer's idle threshold | 1 s | RFC 6298 §2.1: the timeout of who has measured nothing |
//!
//! # Source
//! The idea of one window for all connections of a host pair is RFC 3124 (Congestion Manager, §2), the equal shares with
//! lending are RFC 8699 (§5.2, priorities all 1, the whole rate by the window of one), what newcomers inherit is
//! RFC 9040 (§4). The arithmetic is ours: RFC 3124 hands out grants and RFC 8699 couples one controller per flow.
//!
//! # Not implemented
//! Priorities. Sharing across paths: losses and delays of two bottlenecks would be mixed up.
//!
//! # Known bad cases
//! One-way delays of members whose clocks differ (two programs on one host, each with an epoch of its own) look like
//! queue: take a controller that measures round trips. A member that is limited by something its transport does not
//! report keeps its share unused while it has anything in flight. Where the window is smaller than a packet for each
//! member, part of the link stays unused: each packet waits alone for an ack that is delayed, and spacings lag behind a window
//! that grows. Sixteen LEDBAT++ on 1 Mbit/s use three quarters of it (their queue is 71 ms, without a group it is 307 ms).

use crate::controller::{Controller, Directive, Needs, Pacing, Snapshot};
use crate::event::{Ack, Delivered, DeliveryRate, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::fixed::mul_div;
use crate::rtt::INITIAL_RTO;
use afteryou_base::units::{Span, Time};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use log::Log;

mod log;
#[cfg(feature = "std")]
mod shared;
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

/// What is known about a member.
#[derive(Clone, Copy, Debug)]
struct State {
    mss: u32,
    in_flight: u64,
    flightsize: u64,
    wants_more: bool,
    last_sent: Option<Time>,
    /// When the newest of its packets that have arrived was sent.
    newest_acked: Option<Time>,
    last_event: Time,
}

impl State {
    fn is_newcomer(&self) -> bool {
        self.newest_acked.is_none()
    }
}

/// Sums over members, kept up to date so that a share costs no walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    members: u64,
    in_flight: u64,
    flightsize: u64,
    /// Members that want more.
    wanting: u64,
    /// Bytes in flight of the others.
    held: u64,
}

impl Sums {
    fn of(state: &State) -> Sums {
        Sums {
            members: 1,
            in_flight: state.in_flight,
            flightsize: state.flightsize,
            wanting: u64::from(state.wants_more),
            held: if state.wants_more { 0 } else { state.in_flight },
        }
    }

    fn plus(self, other: Sums) -> Sums {
        Sums {
            members: self.members + other.members,
            in_flight: self.in_flight + other.in_flight,
            flightsize: self.flightsize + other.flightsize,
            wanting: self.wanting + other.wanting,
            held: self.held + other.held,
        }
    }

    /// Without what [`plus`](Sums::plus) has added before.
    fn minus(self, other: Sums) -> Sums {
        Sums {
            members: self.members - other.members,
            in_flight: self.in_flight - other.in_flight,
            flightsize: self.flightsize - other.flightsize,
            wanting: self.wanting - other.wanting,
            held: self.held - other.held,
        }
    }
}

/// What a newcomer has in flight beyond its one packet, bytes.
fn excess(state: &State) -> u64 {
    state.in_flight.saturating_sub(state.mss.into())
}

/// One window for several connections. See the module's description for what is told to whom.
///
/// It is free of locks; [`Shared`] puts one around it and hands out a [`Controller`] for each connection. Events and
/// questions of somebody who has left are ignored: its window is zero.
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
    /// What newcomers have in flight beyond a packet of each.
    excess: u64,
    smoothed_rtt: Span,
    round_began: Option<Time>,
    /// When anybody last sent something or heard an ack.
    last_activity: Option<Time>,
    /// The only one with losses since the latest reduction.
    reduced_by: Option<MemberId>,
    /// The latest timeout that was told.
    timed_out: Option<(Time, MemberId)>,
    /// Timeouts told since an ack made progress.
    timeouts: u32,
    /// What the job had delivered when its packets left, if the inner controller needs that.
    log: Option<Log>,
    /// Bytes of the deliveries reported since the latest ack.
    delivered_since_ack: u64,
}

impl Group {
    /// A group without members whose window `inner` decides; `inner` was made for packets of `mss` bytes.
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
            smoothed_rtt: Span::ZERO,
            round_began: None,
            last_activity: None,
            reduced_by: None,
            timed_out: None,
            timeouts: 0,
            log,
            delivered_since_ack: 0,
        }
    }

    /// A new member that sends packets of `mss` bytes of payload.
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

    /// A member goes; what it had in flight no longer counts.
    pub fn leave(&mut self, id: MemberId) {
        let Some(state) = self.members.remove(&id) else { return };
        self.subtract(&state);
        if self.reduced_by == Some(id) {
            self.reduced_by = None;
        }
    }

    /// How many members there are.
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// Bytes in flight of all members together, as last reported.
    pub fn in_flight(&self) -> u64 {
        self.sums.in_flight
    }

    /// The controller that decides for all.
    pub fn inner(&self) -> &dyn Controller {
        &*self.inner
    }

    /// Changes what is known about a member, and the sums with it.
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

    /// Those that count: who had an ack, or everybody while there is no such member.
    fn counted(&self) -> Sums {
        match self.proven.members {
            0 => self.sums,
            _ => self.proven,
        }
    }

    /// Those that a member shares with.
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

    /// The even share of a member that could use it, bytes.
    fn level(&self, state: &State) -> u64 {
        let cwnd = self.inner.directive().cwnd;
        let others = self.others(state);
        let lent = cwnd.saturating_sub(others.held) / (others.wanting + 1);
        lent.max(cwnd / (others.members + 1))
    }

    /// The member's share is less than one of its packets.
    fn is_spaced(&self, state: &State) -> bool {
        self.others(state).members > 0 && self.level(state) < u64::from(state.mss)
    }

    /// Has a packet that another member sent after `sent_at` arrived?
    fn others_got_through_since(&self, id: MemberId, sent_at: Time) -> bool {
        let later = |state: &State| state.newest_acked.is_some_and(|acked| acked > sent_at);
        self.members.iter().any(|(other, state)| *other != id && later(state))
    }

    /// Once a round trip: wants lapse, and who has been silent for long has nothing in the network.
    fn forget_the_silent(&mut self, now: Time) {
        let silence = SILENCE + self.smoothed_rtt * SILENT_ROUNDS;
        let even_share = (self.inner.directive().cwnd / self.counted().members.max(1)).max(1);
        for state in self.members.values_mut() {
            let since_sent = now.since(state.last_sent.unwrap_or(state.last_event));
            let spacing = self.smoothed_rtt * u64::from(state.mss).div_ceil(even_share);
            if now.since(state.last_event) > silence {
                (state.in_flight, state.flightsize, state.wants_more) = (0, 0, false);
            } else if state.in_flight == 0 && since_sent > spacing * WANT_LAPSES {
                state.wants_more = false;
            }
        }
        self.sum_up();
    }

    /// All sums anew.
    fn sum_up(&mut self) {
        (self.sums, self.proven, self.excess) = (Sums::default(), Sums::default(), 0);
        let members = core::mem::take(&mut self.members);
        members.values().for_each(|state| self.add(state));
        self.members = members;
    }

    /// A member sent a packet.
    pub fn on_sent(&mut self, id: MemberId, sent: &Sent) {
        let Some(state) = self.members.get(&id) else { return };
        let others_in_flight = self.sums.in_flight - state.in_flight;
        let is_first = state.last_sent.is_none();
        if is_first && others_in_flight == 0 {
            self.wake_from_idle(sent.now);
        }
        self.last_activity = Some(sent.now);
        self.update(id, |state| {
            state.in_flight = sent.in_flight;
            state.flightsize = state.flightsize.max(sent.in_flight);
            state.wants_more = !sent.app_limited;
            state.last_sent = Some(sent.now);
            state.last_event = sent.now;
        });
        let (in_flight, app_limited) = (self.sums.in_flight, self.counted().wanting == 0);
        if let Some(log) = &mut self.log {
            log.sent(sent.now, in_flight, app_limited, in_flight <= sent.bytes, self.smoothed_rtt);
        }
        let totals = self.log.as_ref().map_or(sent.totals, |log| log.totals);
        let packet_number = sent.now.as_nanos();
        self.inner.on_sent(&Sent { packet_number, in_flight, app_limited, totals, ..*sent });
    }

    /// What the inner controller needs, each member's transport must provide.
    pub fn needs(&self) -> Needs {
        self.inner.needs()
    }

    /// A member's packet as the inner controller sees it: numbered by its time, with the job's state when it left.
    fn of_the_job(&self, sent: &Sent) -> Sent {
        let packet_number = sent.now.as_nanos();
        let Some(log) = &self.log else { return Sent { packet_number, ..*sent } };
        let moment = log.at(sent.now);
        let log::Moment { in_flight, app_limited, totals, .. } = moment;
        Sent { packet_number, in_flight, app_limited, totals, ..*sent }
    }

    /// A member's packet was delivered.
    pub fn on_delivered(&mut self, id: MemberId, delivered: &Delivered) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.delivered_since_ack = self.delivered_since_ack.saturating_add(delivered.sent.bytes);
        let total = self
            .log
            .as_ref()
            .map_or(delivered.delivered, |log| log.totals.delivered.saturating_add(self.delivered_since_ack));
        let sent = self.of_the_job(&delivered.sent);
        self.inner.on_delivered(&Delivered { sent, delivered: total, ..*delivered });
    }

    /// Books what an ack has delivered, and returns the job's delivery rate over the flight of its newest packet.
    fn job_rate(&mut self, ack: &Ack) -> Option<DeliveryRate> {
        self.delivered_since_ack = 0;
        let log = self.log.as_mut()?;
        let then = log.at(ack.sent_at);
        log.delivered(ack.now, ack.delivered(), ack.sent_at);
        // A member's own sample says whether there is one, and how long the interval is at least.
        let own = ack.delivery?;
        let send_elapsed = ack.sent_at.since(then.totals.first_sent_at);
        let ack_elapsed = ack.now.since(then.totals.delivered_at);
        Some(DeliveryRate {
            delivered: log.totals.delivered.saturating_sub(then.totals.delivered),
            interval: send_elapsed.max(ack_elapsed),
            in_flight_at_send: then.in_flight,
            app_limited: then.app_limited && own.app_limited,
        })
    }

    /// A newcomer's transport does not know that the group was idle before it came.
    fn wake_from_idle(&mut self, now: Time) {
        let idle_for = self.last_activity.map_or(Span::ZERO, |at| now.since(at));
        if idle_for > INITIAL_RTO {
            self.inner.on_idle(&Idle { now, idle_for, rto: INITIAL_RTO });
        }
    }

    /// A member heard an ack that says something new.
    pub fn on_ack(&mut self, id: MemberId, ack: &Ack) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.last_activity = Some(ack.now);
        self.timeouts = 0;
        if ack.smoothed_rtt > Span::ZERO {
            self.smoothed_rtt = ack.smoothed_rtt;
        }
        self.update(id, |state| {
            state.in_flight = ack.in_flight;
            state.flightsize = ack.flightsize;
            state.wants_more = !ack.app_limited;
            state.newest_acked = state.newest_acked.max(Some(ack.sent_at));
            state.last_event = ack.now;
        });
        let round_start = self.round_began.is_none_or(|began| ack.sent_at >= began);
        if round_start {
            self.round_began = Some(ack.now);
            self.forget_the_silent(ack.now);
        }
        let is_alone = self.proven.members == 1 && self.sums.members == 1;
        let of_the_job = self.job_rate(ack);
        self.inner.on_ack(&Ack {
            flightsize: self.sums.flightsize,
            in_flight: self.sums.in_flight,
            packet_number: ack.sent_at.as_nanos(),
            smoothed_rtt: self.smoothed_rtt,
            delivery: if is_alone { ack.delivery } else { of_the_job },
            round_start,
            app_limited: self.counted().wanting == 0,
            ..*ack
        });
        self.update(id, |state| {
            state.in_flight = state.in_flight.saturating_sub(ack.delivered());
            state.flightsize = state.flightsize.saturating_sub(ack.newly_acked);
        });
    }

    /// A member found a packet lost.
    pub fn on_loss(&mut self, id: MemberId, loss: &Loss) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| {
            state.flightsize = loss.flightsize;
            state.last_event = loss.now;
        });
        let persistent = loss.persistent && !self.others_got_through_since(id, loss.sent.now);
        self.tell_loss(id, &Loss { persistent, ..*loss });
        self.update(id, |state| state.in_flight = state.in_flight.saturating_sub(loss.sent.bytes));
    }

    fn tell_loss(&mut self, id: MemberId, loss: &Loss) {
        if let Some(log) = &mut self.log {
            log.totals.lost = log.totals.lost.saturating_add(loss.sent.bytes);
        }
        let (before, sent) = (self.inner.directive().cwnd, self.of_the_job(&loss.sent));
        self.inner.on_loss(&Loss { sent, flightsize: self.sums.flightsize, ..*loss });
        let reduced = self.inner.directive().cwnd < before;
        if reduced {
            self.reduced_by = Some(id);
        } else if self.reduced_by != Some(id) {
            self.reduced_by = None;
        }
    }

    /// A member's packet that was reported lost has arrived. Losses of others in that round trip may be real: the reduction is
    /// taken back only if this member alone had caused it.
    pub fn on_spurious_loss(&mut self, id: MemberId, spurious: &SpuriousLoss) {
        let Some(state) = self.members.get(&id) else { return };
        let is_alone = self.others(state).members == 0;
        let undo = spurious.undo && (is_alone || self.reduced_by == Some(id));
        let sent = self.of_the_job(&spurious.sent);
        self.inner.on_spurious_loss(&SpuriousLoss { sent, undo, ..*spurious });
    }

    /// A member's retransmission timer expired.
    pub fn on_timeout(&mut self, id: MemberId, timeout: &Timeout) {
        let Some(state) = self.members.get(&id) else { return };
        let (in_flight, is_stranger) = (state.in_flight, state.is_newcomer() && self.proven.members > 0);
        let last_sent = state.last_sent.unwrap_or(Time::ZERO);
        self.update(id, |state| {
            state.flightsize = timeout.flightsize;
            state.last_event = timeout.now;
        });
        let others_timeout_says_it = self.timed_out.is_some_and(|(at, by)| by != id && last_sent <= at);
        if is_stranger {
            // Nobody may be there.
        } else if self.others_got_through_since(id, last_sent) {
            let (now, bytes) = (timeout.now, in_flight);
            let sent = Sent { now: last_sent, bytes, ..Sent::default() };
            let loss = Loss { now, sent, ..Loss::default() };
            self.tell_loss(id, &loss);
        } else if !others_timeout_says_it {
            self.tell_timeout(id, timeout);
        }
        self.update(id, |state| state.in_flight = 0); // all of it is taken for lost
    }

    fn tell_timeout(&mut self, id: MemberId, timeout: &Timeout) {
        self.timeouts = self.timeouts.saturating_add(1);
        self.timed_out = Some((timeout.now, id));
        self.reduced_by = None;
        let (flightsize, consecutive) = (self.sums.flightsize, self.timeouts);
        self.inner.on_timeout(&Timeout { flightsize, consecutive, ..*timeout });
    }

    /// A member sends again after it had nothing in flight for a while.
    pub fn on_idle(&mut self, id: MemberId, idle: &Idle) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| {
            (state.in_flight, state.flightsize) = (0, 0);
            state.last_event = idle.now;
        });
        self.forget_the_silent(idle.now);
        if self.sums.in_flight > 0 {
            return;
        }
        let all_quiet_for = self.last_activity.map_or(idle.idle_for, |at| idle.now.since(at));
        self.last_activity = Some(idle.now);
        self.inner.on_idle(&Idle { idle_for: idle.idle_for.min(all_quiet_for), ..*idle });
    }

    /// A member's largest payload is now `mss` bytes.
    pub fn on_mtu(&mut self, id: MemberId, mss: u32) {
        self.update(id, |state| state.mss = mss.max(1));
        self.use_largest_packet();
    }

    /// The wake-up time of a member's directive has passed. The first member that is woken wakes the inner controller for all.
    pub fn on_wake(&mut self, id: MemberId, now: Time) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| state.last_event = now);
        if self.inner.directive().wake_at.is_some_and(|at| at <= now) {
            self.inner.on_wake(now);
        }
    }

    /// How many bytes a member may have in flight.
    pub fn cwnd(&self, id: MemberId) -> u64 {
        let Some(state) = self.members.get(&id) else { return 0 };
        let (level, packet) = (self.level(state), u64::from(state.mss));
        if level < packet {
            return level.max(1);
        }
        if state.is_newcomer() && self.proven.members > 0 {
            return packet;
        }
        let room = self.inner.directive().cwnd.saturating_sub(self.others(state).in_flight);
        room.min(level.div_ceil(packet) * packet).max(packet)
    }

    /// A member's part of the inner directive. One whose packets are spaced looks once a round trip whether its share has grown.
    pub fn directive(&self, id: MemberId) -> Directive {
        let inner = self.inner.directive();
        let Some(state) = self.members.get(&id) else { return Directive { cwnd: 0, wake_at: None, ..inner } };
        let cwnd = self.cwnd(id);
        let share = |whole: u64| mul_div(whole, cwnd.min(inner.cwnd), inner.cwnd);
        let looks_again = self.is_spaced(state) && self.smoothed_rtt > Span::ZERO;
        let look = looks_again.then(|| state.last_event + self.smoothed_rtt);
        Directive {
            cwnd,
            pacing: match inner.pacing {
                Pacing::Rate(rate) => Pacing::Rate(share(rate)),
                // The group's packets together are as many: each member's come as much more rarely as its share is smaller.
                Pacing::Together { packets, every } if share(1 << 16) > 0 => {
                    Pacing::Together { packets, every: every * (1 << 16) / share(1 << 16) }
                }
                pacing => pacing,
            },
            wake_at: [inner.wake_at, look].into_iter().flatten().min(),
            ..inner
        }
    }

    /// The inner controller's state with the member's window, and the group's beside it.
    pub fn snapshot(&self, id: MemberId) -> Snapshot {
        let inner = self.inner.snapshot();
        let mut extra = inner.extra;
        if let Some(free) = extra.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(("group_cwnd", inner.cwnd as f64));
        }
        Snapshot { cwnd: self.cwnd(id), extra, ..inner }
    }
}
