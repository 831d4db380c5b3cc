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
//! - **A silent peer gives way.** When all places are established, the newcomer displaces the oldest connection that has not carried any
//!   payload in either direction. Peers of BitTorrent send their handshake at once.
//!
//! # Known bad cases
//! A peer that has sent something is not displaced from an established place: twelve greedy prefixes with real addresses fill 3000 of
//! them, until they have been silent for 89 s.

use super::handle::Handle;
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
}

impl Holder {
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
    /// Established ones that may not have carried any payload, the oldest first.
    silent: BTreeMap<u64, Handle>,
}

impl Places {
    /// Places whose handshake is not complete.
    pub(super) fn half_open(&self) -> usize {
        self.half_open
    }

    /// May `prefix` have one more place if `free` are left?
    pub(super) fn admits(&self, prefix: Prefix, free: usize) -> bool {
        free > 0 && self.holders.get(&prefix).is_none_or(|holder| holder.places <= free)
    }

    /// A handshake begins.
    pub(super) fn enter(&mut self, handle: Handle) {
        self.half_open += 1;
        self.change(handle, |holder| {
            holder.places += 1;
            holder.half_open.insert(handle.generation, handle);
        });
    }

    /// The handshake is complete.
    pub(super) fn establish(&mut self, handle: Handle) {
        self.half_open -= 1;
        self.silent.insert(handle.generation, handle);
        self.change(handle, |holder| {
            holder.half_open.remove(&handle.generation);
        });
    }

    /// The place is free again.
    pub(super) fn leave(&mut self, handle: Handle) {
        let mut was_half_open = false;
        self.silent.remove(&handle.generation);
        self.change(handle, |holder| {
            holder.places -= 1;
            was_half_open = holder.half_open.remove(&handle.generation).is_some();
        });
        self.half_open -= usize::from(was_half_open);
    }

    /// The half-open place that a newcomer from `prefix` gets: its own prefix's oldest if none has more.
    pub(super) fn displaced_by(&self, prefix: Prefix) -> Option<Handle> {
        let ((most, _), fullest) = *self.by_rank.last()?;
        let own = self.holders.get(&prefix).filter(|holder| holder.half_open.len() == most);
        let holder = own.or_else(|| self.holders.get(&fullest))?;
        holder.half_open.first_key_value().map(|(_, handle)| *handle)
    }

    /// The oldest established place that `is_silent`, which a place that has carried payload never is again.
    pub(super) fn oldest_silent(&mut self, is_silent: impl Fn(Handle) -> bool) -> Option<Handle> {
        while let Some((generation, handle)) = self.silent.first_key_value() {
            if is_silent(*handle) {
                return Some(*handle);
            }
            let generation = *generation;
            self.silent.remove(&generation);
        }
        None
    }

    fn change(&mut self, handle: Handle, change: impl FnOnce(&mut Holder)) {
        let prefix = Prefix::from(handle.key.peer);
        let holder = self.holders.entry(prefix).or_default();
        let before = holder.rank();
        change(holder);
        let after = holder.rank();
        if holder.places == 0 {
            self.holders.remove(&prefix);
        }
        if before != after {
            if let Some(rank) = before {
                self.by_rank.remove(&(rank, prefix));
            }
            self.by_rank.extend(after.map(|rank| (rank, prefix)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle::Key;
    use super::*;

    fn handle(ip: &str, generation: u64) -> Handle {
        Handle { key: Key::new(SocketAddr::new(ip.parse().unwrap(), 1), 1), generation }
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
