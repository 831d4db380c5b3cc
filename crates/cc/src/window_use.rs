//! Whether a sender uses its window, judged over round trips.
//!
//! A sender whose application gives it less than the window allows is application-limited: its acks must not widen a window
//! that nothing has tried. The flight that an ack meets does not show this. An ack of a batch meets a flight that the acks
//! before it have taken from and that nothing could refill, and at the end of a chunk of data every ack does. So the most that
//! was in flight counts, in this round trip or the one before.
//!
//! Source: RFC 6817 §2.4.2 and §2.5, which limit the window "based on flightsize in the previous RTT"; Linux'
//! `tcp_cwnd_validate` keeps the most of a round trip for the same reason.

use crate::event::Ack;

/// How much of the window was in flight in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The most in flight, bytes.
    most: u64,
    /// The window had no room for another packet.
    full: bool,
}

/// How much of the window is in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUse {
    round: Round,
    previous: Round,
}

impl WindowUse {
    /// Takes in an ack, before it changes a window of `cwnd` bytes; `mss`: payload of a full packet, bytes. The flight only
    /// falls with acks, so it is as high as it gets just before one.
    pub fn on_ack(&mut self, ack: &Ack, cwnd: u64, mss: u64) {
        if ack.round_start {
            self.previous = core::mem::take(&mut self.round);
        }
        self.round.most = self.round.most.max(ack.flightsize);
        self.round.full |= ack.flightsize.saturating_add(mss) > cwnd;
    }

    /// The window had room all the time: the application, or the peer's window, is the limit.
    pub fn is_app_limited(&self) -> bool {
        !self.round.full && !self.previous.full
    }

    /// The most in flight, bytes.
    pub fn most_in_flight(&self) -> u64 {
        self.round.most.max(self.previous.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ack(flightsize: u64, round_start: bool) -> Ack {
        Ack { flightsize, round_start, ..Ack::for_tests() }
    }

    #[test]
    fn a_batch_of_acks_that_empties_a_full_window_is_no_limit_of_the_application() {
        let mut window = WindowUse::default();
        for packets in (1..=10).rev() {
            window.on_ack(&ack(packets * MSS, packets == 10), 10_900, MSS);
            assert!(!window.is_app_limited(), "{packets} in flight");
        }
        assert_eq!(window.most_in_flight(), 10 * MSS);
    }

    #[test]
    fn two_rounds_below_the_window_are_one_and_the_most_of_them_counts() {
        let mut window = WindowUse::default();
        window.on_ack(&ack(10 * MSS, true), 10 * MSS, MSS);
        window.on_ack(&ack(4 * MSS, true), 10 * MSS, MSS);
        assert_eq!((window.is_app_limited(), window.most_in_flight()), (false, 10 * MSS));
        window.on_ack(&ack(3 * MSS, true), 10 * MSS, MSS);
        assert_eq!((window.is_app_limited(), window.most_in_flight()), (true, 4 * MSS));
    }
}
