//! Transfers with an end: whether they come and go, or are practically endless.

use crate::closed::Link;
use afteryou_scenario::{Duration, Flow, Traffic};

/// The load of flows with an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfers {
    /// Of all of them, headers included, bytes.
    bytes: f64,
    /// Of the largest.
    largest: f64,
    first: Duration,
    last: Duration,
}

impl Transfers {
    /// Returns the transfers of one flow; `None` if it has no end.
    pub fn of(flow: &Flow) -> Option<Transfers> {
        let Traffic::Size(size) = flow.traffic else { return None };
        let format = flow.packet_format();
        let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
        let bytes = size.bytes() as f64 * (payload + overhead) / payload;
        Some(Transfers { bytes, largest: bytes, first: flow.start, last: flow.start })
    }

    /// Returns the sum of these transfers and `other`.
    pub fn and(self, other: Transfers) -> Transfers {
        Transfers {
            bytes: self.bytes + other.bytes,
            largest: self.largest.max(other.largest),
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// Returns their load while they start, as a part of the link; `None` if they fill it for a time. The last round trip of
    /// a slow start carries half of a transfer. If the path and the buffer hold that, and on average more leaves than
    /// arrives, each is over before it fills anything.
    pub fn passing_load(&self, link: &Link) -> Option<f64> {
        let room = (link.bdp() + link.buffer) * link.packet_bytes;
        let sent = link.bytes_in(self.last.as_secs_f64() - self.first.as_secs_f64());
        let is_passing = self.largest / 2.0 <= room && self.bytes <= sent + room;
        is_passing.then(|| self.bytes / sent.max(self.bytes))
    }
}
