//! Keeps lower effort from starving indefinitely.
//!
//! Strict priority may hold back lower effort as long as others have something to send. RFC 8622 §3 allows that, and a
//! transport must survive it; but a packet now and then keeps its timers and its estimates alive. The guard lets one
//! packet pass after a number of packets of best effort, or after some time, whichever comes first. Either can be off.
//!
//! So lower effort takes at most one packet in `guard_packets`, and one per `guard_time`. On slow links the latter
//! would be a share of its own: with packets of 1500 B and 100 ms, 120 kbit/s. So at least [`BETWEEN`] packets of best
//! effort go in between, whatever the time: 5 % at most.

use afteryou_base::param::{Key, Settings};
use afteryou_base::{Span, Time};

pub(crate) const GUARD_PACKETS: Key<u64> = Key::count("guard_packets", "packets", 1000, (0, 1_000_000_000))
    .explained(
        "packets of best effort after which a lower-effort packet may pass; 0 for none",
        "own proposal; RFC 8622 §3",
    );
pub(crate) const GUARD_TIME: Key<Span> = Key::millis("guard_time", 100, (0, 3_600_000))
    .explained("time after which a lower-effort packet may pass; 0 for none", "own proposal; RFC 8622 §3");

/// Least packets of best effort between two that the guard lets pass.
pub const BETWEEN: u64 = 19;

/// The guard.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    packets: Option<u64>,
    time: Option<Span>,
    /// Best-effort packets sent while lower effort waited.
    passed_by: u64,
    /// Since when lower effort waits.
    waits_since: Option<Time>,
}

impl Guard {
    /// Creates the guard from `guard_packets` and `guard_time`.
    pub fn new(settings: &Settings<'_>) -> Guard {
        Guard {
            packets: Some(settings.get(&GUARD_PACKETS)).filter(|packets| *packets > 0),
            time: settings.get(&GUARD_TIME).nonzero(),
            passed_by: 0,
            waits_since: None,
        }
    }

    /// Returns whether a lower-effort packet may go before the others now. `has_any`: there is one.
    pub fn is_due(&mut self, now: Time, has_any: bool) -> bool {
        if !has_any {
            (self.passed_by, self.waits_since) = (0, None);
            return false;
        }
        let waited = now.since(*self.waits_since.get_or_insert(now));
        self.packets.is_some_and(|packets| self.passed_by >= packets)
            || self.time.is_some_and(|time| waited >= time && self.passed_by >= BETWEEN)
    }

    /// Notes that a best-effort packet was sent.
    pub fn pass_by(&mut self) {
        self.passed_by += u64::from(self.waits_since.is_some());
    }

    /// Notes that a lower-effort packet was sent.
    pub fn serve(&mut self, now: Time) {
        (self.passed_by, self.waits_since) = (0, Some(now));
    }
}
