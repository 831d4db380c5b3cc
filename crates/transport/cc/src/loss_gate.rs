//! One reduction per round trip: losses of packets that left before the latest reduction are no news.
//!
//! The gate compares send times (RFC 9002 §7.3.1 uses the same test) rather than running a timer. A timer of one round
//! trip would let the second half of a large burst of losses count again when the round trip just grew.

use afteryou_base::units::Time;

/// Remembers the latest reduction, as the earliest time of sending, ns, that counts again.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossGate(pub u64);

impl LossGate {
    /// Returns whether a loss (or a mark) of a packet sent at `sent_at` counts. If so, the gate closes until a packet sent after
    /// `now` is lost.
    pub fn admit(&mut self, sent_at: Time, now: Time) -> bool {
        let counts = !self.is_before_reduction(sent_at);
        if counts {
            self.close(now);
        }
        counts
    }

    /// Closes the gate without a loss: a timeout has reduced the window.
    pub fn close(&mut self, now: Time) {
        self.0 = now.0.saturating_add(1);
    }

    /// Returns whether a packet sent at `sent_at` was sent before the latest reduction.
    pub fn is_before_reduction(&self, sent_at: Time) -> bool {
        sent_at.0 < self.0
    }
}
