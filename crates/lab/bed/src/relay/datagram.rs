//! The payload of a packet in the relay's queues.

use afteryou_base::Time;

/// The payload that a relay attaches to a packet in a queue.
pub struct Datagram {
    pub(super) payload: Vec<u8>,
    pub(super) arrived_at: Time,
    /// Which arrival of its direction it is.
    pub(super) number: u64,
}

impl Datagram {
    pub(super) fn new(payload: Vec<u8>, arrived_at: Time) -> Datagram {
        Datagram { payload, arrived_at, number: 0 }
    }
}
