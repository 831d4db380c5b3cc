//! Packets that a queue drops, and the reasons.

use crate::packet::Packet;

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
