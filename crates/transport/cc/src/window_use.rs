//! Whether a sender uses its window, judged over round trips.
//!
//! A sender whose application gives it less than the window allows is application-limited: its acks must not widen a
//! window that nothing has tried. The flight that an ack meets does not show this. An ack of a batch meets a flight
//! that the acks before it have taken from and that nothing could refill. At the end of a chunk of data every ack does.
//! So the most that was in flight counts, in this round trip or the one before.
//!
//! Source: RFC 6817 §2.4.2 and §2.5, which limit the window "based on flightsize in the previous RTT"; Linux'
//! `tcp_cwnd_validate` keeps the most of a round trip for the same reason.

/// The window had no room for another packet: the most that was in flight does not matter.
pub const FULL: u32 = u32::MAX;

/// How much of the window is in use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowUse {
    /// The most in flight in this round trip, bytes (up to 4 GB), or [`FULL`].
    pub round: u32,
    /// The same for the one before.
    pub previous: u32,
}

impl WindowUse {
    /// Takes in an ack that meets `flightsize` bytes in flight, before it changes a window of `cwnd` bytes; `mss`: payload of a
    /// full packet, bytes. The flight only falls with acks, so it is as high as it gets just before one.
    #[inline]
    pub fn on_ack(&mut self, flightsize: u64, round_start: bool, cwnd: u64, mss: u64) {
        if round_start {
            self.previous = core::mem::take(&mut self.round);
        }
        let is_full = flightsize.saturating_add(mss) > cwnd;
        let most = if is_full { FULL } else { flightsize.min(u64::from(FULL) - 1) as u32 };
        self.round = self.round.max(most);
    }

    /// Returns whether the window had room all the time: the application, or the peer's window, is the limit.
    pub fn is_app_limited(&self) -> bool {
        self.round != FULL && self.previous != FULL
    }

    /// Returns the most in flight, bytes, of an application-limited sender.
    pub fn most_in_flight(&self) -> u64 {
        self.round.max(self.previous).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn a_batch_of_acks_that_empties_a_full_window_is_no_limit_of_the_application() {
        let mut window = WindowUse::default();
        for packets in (1..=10).rev() {
            window.on_ack(packets * MSS, packets == 10, 10_900, MSS);
            assert!(!window.is_app_limited(), "{packets} in flight");
        }
    }

    #[test]
    fn two_rounds_below_the_window_are_one_and_the_most_of_them_counts() {
        let mut window = WindowUse::default();
        window.on_ack(10 * MSS, true, 10 * MSS, MSS);
        window.on_ack(4 * MSS, true, 10 * MSS, MSS);
        assert!(!window.is_app_limited());
        window.on_ack(3 * MSS, true, 10 * MSS, MSS);
        assert_eq!((window.is_app_limited(), window.most_in_flight()), (true, 4 * MSS));
    }
}
