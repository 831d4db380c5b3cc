//! The places of an endpoint: incoming connections, counted by prefix.
//!
//! # Model
//! A prefix is one IPv4 address or one IPv6 /64: that much a single host has. Two rules keep it from locking out others:
//!
//! - **A prefix gets no more places than stay free.** Alone it may take half of them, the next greedy one half of the rest. This is
//!   the dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (1998).
//! - **A newcomer displaces.** An address in a SYN may be forged, so half-open places are not worth defending. When they are all taken,
//!   a newcomer is answered without one (`cookies.rs`). With its first packet, which shows that the address is its own, it displaces
//!   the oldest one of the prefix that has most of them: the drop rule of fair queuing.
//!
//! - **A silent peer gives way.** When all places are established, the newcomer displaces the connection that was silent longest,
//!   whatever it once carried, of the prefix that has most places. One that has moved data within the last seconds stays
//!   (`Connection::stays_until`).
//!
//! Data that move change nothing here, since they would with every packet. A connection is looked at when its time is over and a newcomer asks.
//!
//! # Known bad cases
//! Real addresses that fill all places and move a few bytes every second keep newcomers out.

use super::handle::Handle;
use afteryou_base::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The smallest prefix that one host can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Prefix {
    V4(Ipv4Addr),
    /// The upper 64 bits.
    V6(u64),
}

impl From<SocketAddr> for Prefix {
    fn from(peer: SocketAddr) -> Prefix {
        match peer.ip().to_canonical() {
            IpAddr::V4(address) => Prefix::V4(address),
            IpAddr::V6(address) => Prefix::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// Places that a prefix holds.
#[derive(Debug, Default)]
struct Holder {
    places: usize,
    /// Those whose handshake is not complete, the oldest first.
    half_open: BTreeMap<u64, Handle>,
    /// Established ones that were silent when a newcomer last asked, the one silent longest first.
    silent: BTreeMap<Silence, Handle>,
}

/// Since when a connection is silent, and its generation.
type Silence = (Time, u64);

/// When data last moved, and until when the connection keeps its place for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    pub silent_since: Time,
    pub stays_until: Time,
}

impl Holder {
    /// Orders prefixes by places, the largest number last; among equals the one with the connection that was silent longest.
    fn silence(&self) -> Option<(usize, Reverse<Silence>)> {
        self.silent.first_key_value().map(|(silence, _)| (self.places, Reverse(*silence)))
    }

    /// Orders prefixes by half-open places, the largest number last; among equals the one with the oldest.
    fn rank(&self) -> Option<(usize, Reverse<u64>)> {
        self.half_open.first_key_value().map(|(oldest, _)| (self.half_open.len(), Reverse(*oldest)))
    }
}

/// All places that are taken.
#[derive(Debug, Default)]
pub(super) struct Places {
    holders: HashMap<Prefix, Holder>,
    by_rank: BTreeSet<((usize, Reverse<u64>), Prefix)>,
    half_open: usize,
    /// Prefixes that have silent ones.
    by_silence: BTreeSet<((usize, Reverse<Silence>), Prefix)>,
    /// Established ones that keep their places, as far as is known until then.
    staying: BTreeMap<Silence, Handle>,
    /// Where each established one is.
    established: HashMap<u64, Established>,
}

/// The list that a connection is in, and its place there.
#[derive(Clone, Copy, Debug)]
enum Established {
    Staying(Time),
    Silent(Time),
}

impl Places {
    /// Returns the number of places whose handshake is not complete.
    pub(super) fn half_open(&self) -> usize {
        self.half_open
    }

    /// Returns whether there is an established place that a newcomer may get, now or later.
    pub(super) fn any_established(&self) -> bool {
        !self.established.is_empty()
    }

    /// Returns whether `prefix` may have one more place if `free` are left.
    pub(super) fn admits(&self, prefix: Prefix, free: usize) -> bool {
        free > 0 && self.holders.get(&prefix).is_none_or(|holder| holder.places <= free)
    }

    /// Enters a connection whose handshake begins.
    pub(super) fn enter(&mut self, handle: Handle) {
        self.half_open += 1;
        self.change(handle, |holder| {
            holder.places += 1;
            holder.half_open.insert(handle.generation, handle);
        });
    }

    /// Moves a connection whose handshake is complete.
    pub(super) fn establish(&mut self, handle: Handle) {
        self.half_open -= 1;
        self.stay(handle, Time::ZERO);
        self.change(handle, |holder| {
            holder.half_open.remove(&handle.generation);
        });
    }

    /// Sets that a connection is looked at after `until`.
    fn stay(&mut self, handle: Handle, until: Time) {
        self.staying.insert((until, handle.generation), handle);
        self.established.insert(handle.generation, Established::Staying(until));
    }

    /// Sets that a connection is silent since `since`.
    fn fall_silent(&mut self, handle: Handle, since: Time) {
        self.established.insert(handle.generation, Established::Silent(since));
        self.change(handle, |holder| _ = holder.silent.insert((since, handle.generation), handle));
    }

    /// Takes an established connection out of its list.
    fn take_out(&mut self, handle: Handle) {
        match self.established.remove(&handle.generation) {
            Some(Established::Staying(until)) => _ = self.staying.remove(&(until, handle.generation)),
            Some(Established::Silent(since)) => {
                self.change(handle, |holder| _ = holder.silent.remove(&(since, handle.generation)));
            }
            None => {}
        }
    }

    /// Frees the place.
    pub(super) fn leave(&mut self, handle: Handle) {
        let mut was_half_open = false;
        self.take_out(handle);
        self.change(handle, |holder| {
            holder.places -= 1;
            was_half_open = holder.half_open.remove(&handle.generation).is_some();
        });
        self.half_open -= usize::from(was_half_open);
    }

    /// Returns the half-open place that a newcomer from `prefix` gets: its own prefix's oldest if none has more.
    pub(super) fn displaced_by(&self, prefix: Prefix) -> Option<Handle> {
        let ((most, _), fullest) = *self.by_rank.last()?;
        let own = self.holders.get(&prefix).filter(|holder| holder.half_open.len() == most);
        let holder = own.or_else(|| self.holders.get(&fullest))?;
        holder.half_open.first_key_value().map(|(_, handle)| *handle)
    }

    /// Returns the established place that a newcomer gets: of the prefix with most places that has any to give, the one
    /// silent longest.
    pub(super) fn silent_longest(
        &mut self,
        now: Time,
        of: impl Fn(Handle) -> Option<Activity>,
    ) -> Option<Handle> {
        while let Some(handle) = self.staying.first_key_value().filter(|((until, _), _)| *until <= now) {
            let handle = *handle.1;
            self.sort_in(now, handle, of(handle));
        }
        while let Some((_, prefix)) = self.by_silence.last() {
            let ((since, _), handle) = self.holders.get(prefix)?.silent.first_key_value()?;
            let (since, handle, activity) = (*since, *handle, of(*handle));
            if activity.is_some_and(|now_is| now_is.silent_since == since) {
                return Some(handle);
            }
            self.sort_in(now, handle, activity); // data has moved since
        }
        None
    }

    /// Puts an established connection into the list that it belongs to.
    fn sort_in(&mut self, now: Time, handle: Handle, activity: Option<Activity>) {
        self.take_out(handle);
        match activity {
            Some(activity) if activity.stays_until > now => self.stay(handle, activity.stays_until),
            Some(activity) => self.fall_silent(handle, activity.silent_since),
            None => {}
        }
    }

    fn change(&mut self, handle: Handle, change: impl FnOnce(&mut Holder)) {
        let prefix = Prefix::from(handle.key.peer);
        let holder = self.holders.entry(prefix).or_default();
        let before = (holder.rank(), holder.silence());
        change(holder);
        let after = (holder.rank(), holder.silence());
        if holder.places == 0 {
            self.holders.remove(&prefix);
        }
        replace(&mut self.by_rank, prefix, before.0, after.0);
        replace(&mut self.by_silence, prefix, before.1, after.1);
    }
}

/// Replaces a prefix's rank.
fn replace<Rank: Ord + Copy>(
    ranks: &mut BTreeSet<(Rank, Prefix)>,
    prefix: Prefix,
    before: Option<Rank>,
    after: Option<Rank>,
) {
    if before != after {
        before.into_iter().for_each(|rank| _ = ranks.remove(&(rank, prefix)));
        ranks.extend(after.map(|rank| (rank, prefix)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle::Key;
    use super::*;
    use crate::numbers::ConnectionId;

    fn handle(ip: &str, generation: u64) -> Handle {
        Handle { key: Key::new(SocketAddr::new(ip.parse().unwrap(), 1), ConnectionId(1)), generation }
    }

    #[test]
    fn an_address_is_its_prefix_and_an_ipv6_network_is_one() {
        let prefix = |ip: &str| Prefix::from(handle(ip, 0).key.peer);
        assert_eq!(prefix("10.0.0.1"), prefix("::ffff:10.0.0.1"));
        assert_ne!(prefix("10.0.0.1"), prefix("10.0.0.2"));
        assert_eq!(prefix("2001:db8::1"), prefix("2001:db8::ffff:0:0:1"));
        assert_ne!(prefix("2001:db8::1"), prefix("2001:db8:0:1::1"));
    }

    #[test]
    fn the_oldest_of_whoever_has_most_is_displaced_and_its_own_among_equals() {
        let mut places = Places::default();
        let all = [("10.0.0.9", 1), ("10.0.0.1", 2), ("10.0.0.1", 3), ("10.0.0.2", 4), ("10.0.0.2", 5)];
        all.iter().for_each(|(ip, generation)| places.enter(handle(ip, *generation)));
        let displaced = |places: &Places, ip: &str| {
            places.displaced_by(handle(ip, 0).key.peer.into()).map(|handle| handle.generation)
        };
        assert_eq!(displaced(&places, "10.0.0.3"), Some(2), "the oldest of the two that have two");
        assert_eq!(displaced(&places, "10.0.0.9"), Some(2));
        assert_eq!(displaced(&places, "10.0.0.2"), Some(4), "its own");
        places.establish(handle("10.0.0.1", 2));
        assert_eq!(displaced(&places, "10.0.0.3"), Some(4));
        [(4, "10.0.0.2"), (5, "10.0.0.2"), (3, "10.0.0.1")]
            .iter()
            .for_each(|(generation, ip)| places.leave(handle(ip, *generation)));
        assert_eq!((displaced(&places, "10.0.0.3"), places.half_open()), (Some(1), 1));
        [("10.0.0.9", 1), ("10.0.0.1", 2)].iter().for_each(|(ip, i)| places.leave(handle(ip, *i)));
        assert!(places.holders.is_empty() && places.by_rank.is_empty() && places.half_open() == 0);
    }
}
