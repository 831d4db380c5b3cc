//! One reduction per round trip: losses of packets that left before the latest reduction say nothing new.
//!
//! The gate compares send times (RFC 9002 §7.3.1 uses the same test), not a timer: a timer of one round trip would
//! let the second half of a large burst of losses count again when the round trip just grew.

use crate::units::Time;

/// Remembers the latest reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossGate {
    reduced_at: Option<Time>,
}

impl LossGate {
    /// Does a loss (or a mark) of a packet sent at `sent_at` count? If so, the gate closes until a packet sent after
    /// `now` is lost.
    pub fn admit(&mut self, sent_at: Time, now: Time) -> bool {
        if self.reduced_at.is_some_and(|reduced_at| sent_at <= reduced_at) {
            return false;
        }
        self.reduced_at = Some(now);
        true
    }

    /// Closes the gate without a loss: a timeout has reduced the window.
    pub fn close(&mut self, now: Time) {
        self.reduced_at = Some(now);
    }

    /// Was a packet sent at `sent_at` sent before the latest reduction?
    pub fn is_before_reduction(&self, sent_at: Time) -> bool {
        self.reduced_at.is_some_and(|reduced_at| sent_at <= reduced_at)
    }
}
