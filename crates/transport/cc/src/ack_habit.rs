//! Which delays have a receiver's waiting in them.
//!
//! A receiver that delays its acks (RFC 5681 §4.2) answers every second packet at once. It answers a single one only
//! after a timer, 40 ms and more. Over TCP that time is part of the round-trip time and of the one-way delay that
//! timestamps show. A rule that compares single delays takes it for a queue. So an ack of one packet is an upper bound
//! only, with two exceptions. A run of such acks with more in flight shows that the receiver acknowledges every packet.
//! The ack of a lone packet is trusted in no case, since paced packets further apart than the timer look the same. And
//! the receiver reports packets out of order at once.
//!
//! Source: none; ours. LEDBAT and its kin need no such rule: their filter is a minimum of several samples.

use crate::event::Ack;

/// After this many acks of one packet in a row, with more in flight, the receiver acknowledges every packet.
const RUN: u32 = 8;

/// Watches how a receiver acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckHabit {
    run: u32,
}

impl AckHabit {
    /// Returns the habit of a receiver that is known to acknowledge every packet.
    #[cfg(test)]
    pub fn every_packet() -> AckHabit {
        AckHabit { run: RUN }
    }

    /// Takes in an ack, and returns whether it may have waited in the receiver. `mss`: payload of a full packet, bytes.
    pub fn may_have_waited(&mut self, ack: &Ack, mss: u32) -> bool {
        let two_packets = 2 * u64::from(mss);
        if ack.newly_sacked > 0 {
            return false;
        }
        if ack.delivered() >= two_packets {
            self.run = 0;
            return false;
        }
        if ack.flightsize < two_packets {
            return true;
        }
        self.run = self.run.saturating_add(1);
        self.run < RUN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u64, sacked: u64, flightsize: u64) -> Ack {
        Ack { newly_acked: acked, newly_sacked: sacked, flightsize, ..Ack::for_tests() }
    }

    #[test]
    fn a_single_packets_ack_may_have_waited_and_that_of_two_has_not() {
        let mut habit = AckHabit::default();
        assert!(habit.may_have_waited(&ack(1000, 0, 5000), 1000));
        assert!(!habit.may_have_waited(&ack(2000, 0, 5000), 1000));
        assert!(!habit.may_have_waited(&ack(0, 1000, 5000), 1000), "out of order: told at once");
    }

    #[test]
    fn a_receiver_that_acknowledges_every_packet_makes_nobody_wait() {
        let mut habit = AckHabit::default();
        (0..7).for_each(|_| assert!(habit.may_have_waited(&ack(1000, 0, 5000), 1000)));
        assert!(!habit.may_have_waited(&ack(1000, 0, 5000), 1000));
    }

    #[test]
    fn the_ack_of_a_lone_packet_is_never_trusted_and_tells_nothing_about_the_habit() {
        let mut habit = AckHabit::default();
        (0..100).for_each(|_| assert!(habit.may_have_waited(&ack(1000, 0, 1000), 1000)));
        assert!(AckHabit::every_packet().may_have_waited(&ack(1000, 0, 1000), 1000));
        assert!(habit.may_have_waited(&ack(1000, 0, 5000), 1000));
    }
}
