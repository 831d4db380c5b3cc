//! One reduction per round trip: losses of packets that left before the latest reduction are no news.
//!
//! The gate compares send times (RFC 9002 §7.3.1 uses the same test) rather than running a timer. A timer of one round
//! trip would let the second half of a large burst of losses count again when the round trip just grew.
//!
//! # Known bad cases
//! Send times do not show the order within an instant. A packet that left at that of a reduction counts as sent before it, as in RFC 9002.
//! The first retransmission of a recovery leaves then if the clock has not moved on, as in the simulator. Its loss is not answered,
//! where RFC 5681 §4.3 has it lower the window again. That of any later retransmission is.

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

    /// Returns whether a packet sent at `sent_at` was sent before the latest reduction, or at its instant.
    pub fn is_before_reduction(&self, sent_at: Time) -> bool {
        sent_at.0 < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Time = Time::from_millis(10);
    const FOUND: Time = Time::from_millis(60);

    #[test]
    fn one_loss_of_a_round_trip_counts_and_the_next_is_of_a_packet_that_left_later() {
        let mut gate = LossGate::default();
        assert!(gate.admit(SENT, FOUND));
        assert!(!gate.admit(SENT, FOUND));
        assert!(!gate.admit(FOUND, Time::from_millis(110)), "within the instant the order is not known");
        assert!(gate.admit(Time(FOUND.0 + 1), Time::from_millis(110)));
    }

    #[test]
    fn a_gate_that_never_closed_admits_a_packet_of_time_zero() {
        assert!(LossGate::default().admit(Time::ZERO, Time::ZERO));
    }
}
