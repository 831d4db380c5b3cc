//! The receive buffer in front of the servers.

use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// The receive buffer of the socket that all servers share, and the host that reads it.
pub struct Socket {
    /// Memory as Linux counts it, bytes.
    pub(super) capacity: u64,
    /// How long the host sleeps once there is something to read.
    pub(super) sleep: Span,
    /// Servers know the state of the buffer.
    pub(super) is_known: bool,
    pub(super) held: u64,
    pub(super) waiting: VecDeque<(usize, Vec<u8>)>,
    pub(super) empty_at: Time,
    pub drops: u64,
}

impl Socket {
    pub fn new(capacity: u64, sleep: Span, is_known: bool) -> Socket {
        let (held, waiting, empty_at) = (0, VecDeque::new(), Time::ZERO);
        Socket { capacity, sleep, is_known, held, waiting, empty_at, drops: 0 }
    }

    /// Returns the number of full packets that a buffer of `capacity` holds; the last one may exceed it.
    pub fn packets(capacity: u64, payload: u64) -> u64 {
        capacity / Socket::memory(20 + payload) + 1
    }

    /// Returns the memory of a datagram of up to one page: a buffer that is a power of two, and its description.
    pub(super) fn memory(len: u64) -> u64 {
        (len + 64 + 320).next_power_of_two() + 256
    }
}
