//! One budget of memory for all connections of an endpoint.
//!
//! # Model
//! Every connection is charged with what its buffers take and a fixed amount for itself. Of what the budget has left, each
//! may hold one part in [`PARTS`] per direction: out-of-order data up to that, all received data up to twice that. So the
//! more is taken, the less anybody gets (the dynamic threshold of Choudhury and Hahne, see `places.rs`). The advertised
//! window follows the share, so honest senders slow down before anything has to be refused.
//!
//! - One part in [`RESERVED`] is not for data but for connections; half of it also for the first [`SMALL`] bytes of each.
//! - Two packets to be sent and the next one in order are exempt, or a stream would stall. The fixed amount covers
//!   them.
//! - Out-of-order data is the first to be refused. It cannot be dropped later, since libutp frees what a SACK has reported.
//!   When the budget is used up, a connection whose peer has left a gap open for [`STALE`] is therefore reset, those that hold
//!   most first.
//!
//! # Known bad cases
//! An application that does not read some hundred streams uses up the budget, and all others are slow: nothing that was
//! received in order is ever dropped.

use afteryou_base::{Span, Time};

/// A connection's share is what is left divided by this: alone with the defaults it has a window of 8 MiB.
const PARTS: u64 = 6;
/// The budget divided by this is kept for connections.
const RESERVED: u64 = 4;
/// Bytes that a connection may hold in each direction out of half of that.
const SMALL: u64 = 8 << 10;
/// The budget is used up when a share is smaller than the budget divided by this.
const USED_UP: u64 = 256;
/// How long a gap may stay open while others lack memory: several retransmission timeouts of a peer that is there.
pub(super) const STALE: Span = Span::from_secs(10);
/// Between two searches for such gaps.
const SEARCH_EVERY: Span = Span::from_millis(100);

/// The budget, bytes.
#[derive(Debug)]
pub(super) struct Budget {
    limit: u64,
    taken: u64,
    search_at: Time,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(u64::MAX)
    }
}

impl Budget {
    pub(super) fn new(limit: u64) -> Budget {
        Budget { limit, taken: 0, search_at: Time::ZERO }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns true if there is room for one connection more, which is charged with `bytes`.
    pub(super) fn admits_connection(&self, bytes: u64) -> bool {
        self.taken.saturating_add(bytes) <= self.limit
    }

    /// Returns how much a connection may hold in each direction.
    pub(super) fn share(&self) -> u64 {
        let left = self.limit.saturating_sub(self.taken);
        let for_data = left.saturating_sub(self.limit / RESERVED) / PARTS;
        let for_small = left.saturating_sub(self.limit / RESERVED / 2) / PARTS;
        for_data.max(SMALL.min(for_small))
    }

    /// Returns whether the budget is used up, so that data of others must be dropped.
    pub(super) fn is_used_up(&self) -> bool {
        self.share() < self.limit / USED_UP
    }

    /// Returns whether it is time to look for data to drop.
    pub(super) fn searches(&mut self, now: Time) -> bool {
        let searches = self.is_used_up() && now >= self.search_at;
        if searches {
            self.search_at = now + SEARCH_EVERY;
        }
        searches
    }

    /// Charges for something that took `before` and takes `after` now.
    pub(super) fn change(&mut self, before: u64, after: u64) {
        self.taken = self.taken + after - before;
    }
}
