//! The content of a queue and its limit.

use afteryou_base::Span;

/// The content of a queue.
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

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// As much as the link sends in this time.
    Time {
        /// The time.
        time: Span,
        /// The link's rate, bytes per second.
        bytes_per_second: u64,
    },
}

impl Limit {
    /// Returns the same limit as packets or bytes: a time is better converted once than for each packet.
    pub fn resolved(self) -> Limit {
        self.in_bytes().map_or(self, Limit::Bytes)
    }

    /// Returns whether there is room for `size` more bytes beside `backlog`.
    pub fn admits(&self, backlog: Backlog, size: u32) -> bool {
        match self.in_bytes() {
            None => matches!(*self, Limit::Packets(packets) if backlog.packets < packets),
            Some(bytes) => backlog.bytes + u64::from(size) <= bytes,
        }
    }

    /// Returns whether `backlog` is within the limit.
    pub fn holds(&self, backlog: Backlog) -> bool {
        match self.in_bytes() {
            None => matches!(*self, Limit::Packets(packets) if backlog.packets <= packets),
            Some(bytes) => backlog.bytes <= bytes,
        }
    }

    /// Returns the limit in bytes, if it is one.
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
