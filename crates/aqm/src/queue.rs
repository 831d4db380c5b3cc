//! The interface of all disciplines, and what they share.

use crate::packet::Packet;
use crate::statistics::Statistics;
use afteryou_cc::{Span, Time};

/// A queue discipline.
///
/// `now` never goes backwards between calls. Nothing is dropped silently: whatever a call drops, the arriving packet
/// or others, is appended to `dropped`, which the caller empties (and reuses, so that nothing is allocated).
pub trait Queue<T>: Send {
    /// `packet` arrives.
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>);

    /// The link is free: the next packet to send, with the time it spent in the queue.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)>;

    /// What it has done so far, and what it holds.
    fn statistics(&self) -> &Statistics;

    /// What it holds.
    fn backlog(&self) -> Backlog {
        self.statistics().backlog()
    }
}

/// What a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl std::ops::Add for Backlog {
    type Output = Backlog;

    fn add(self, other: Backlog) -> Backlog {
        Backlog { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// A dropped packet and why it was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<T> {
    /// The packet.
    pub packet: Packet<T>,
    /// The reason.
    pub reason: DropReason,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// There was no room.
    Full,
    /// The discipline chose to, on arrival.
    Early,
    /// The discipline chose to, at the head of the queue.
    Head,
}

/// How much a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// What the link sends in a time.
    Time {
        /// The time.
        time: Span,
        /// The link's rate, bytes per second.
        bytes_per_second: u64,
    },
}

impl Limit {
    /// The same limit, as packets or bytes: a time is so many bytes, better divided once than for each packet.
    pub fn resolved(self) -> Limit {
        self.in_bytes().map_or(self, Limit::Bytes)
    }

    /// Is there room for `size` more bytes beside `backlog`?
    pub fn admits(&self, backlog: Backlog, size: u32) -> bool {
        match self.in_bytes() {
            None => matches!(*self, Limit::Packets(packets) if backlog.packets < packets),
            Some(bytes) => backlog.bytes + u64::from(size) <= bytes,
        }
    }

    /// Is `backlog` within it?
    pub fn holds(&self, backlog: Backlog) -> bool {
        match self.in_bytes() {
            None => matches!(*self, Limit::Packets(packets) if backlog.packets <= packets),
            Some(bytes) => backlog.bytes <= bytes,
        }
    }

    /// The limit in bytes, if it is one.
    pub fn in_bytes(&self) -> Option<u64> {
        match *self {
            Limit::Packets(_) => None,
            Limit::Bytes(bytes) => Some(bytes),
            Limit::Time { time, bytes_per_second } => {
                let bytes = u128::from(time.as_nanos()) * u128::from(bytes_per_second) / 1_000_000_000;
                Some(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
        }
    }
}
