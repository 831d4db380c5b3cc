//! The evidence of a packet's two time stamps: how long it travelled, and which of our packets it answers at the latest.
//!
//! ```text
//!   ours:   t ──────▶ arrives          peer's clock − t  = timestamp_difference
//!                       ⋮ held back
//!           now ◀────── answer         peer's clock      = timestamp
//!   timestamp − timestamp_difference  =  t + held back
//! ```
//! The peer's clock cancels. So nothing that left later than this has arrived: whatever the answer acknowledges is an earlier copy.
//! That is sound only if packets that overtook one another do not hide a later one. The receiver therefore times the packet that left last.
//!
//! Source: BEP 29, "timestamp_difference_microseconds"; RFC 3522 has the same test with TCP's time stamps.
//!
//! # Known bad cases
//! A libutp times the packet that came last. Behind a retransmission that no ack overtook, an older packet hides it.

use crate::numbers::Micros;

/// A packet whose time stamp is behind the newest by no more than this was overtaken, µs; by more, the peer's clock was set.
const OVERTAKEN_US: u32 = 1_000_000;

/// The peer's clock as its packets show it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerClock {
    /// Time stamp of the packet that left last of those that have arrived.
    newest: Option<Micros>,
    /// Our clock when that packet arrived, less its time stamp; 0 if none has.
    pub(super) difference: Micros,
}

impl PeerClock {
    /// Notes a packet that arrives, by our clock at `arrived`, and has left by the peer's at `left`.
    pub(super) fn note(&mut self, arrived: Micros, left: Micros) {
        let behind = self.newest.map_or(0, |newest| newest.minus(left).0);
        if !(1..=OVERTAKEN_US).contains(&behind) {
            self.newest = Some(left);
            self.difference = arrived.minus(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_packets_that_overtook_one_another_the_one_that_left_last_is_timed() {
        let mut clock = PeerClock::default();
        for (arrived, left, difference) in
            [(1000, 500, 500), (1010, 520, 490), (1020, 510, 490), (1030, 530, 500)]
        {
            clock.note(Micros(arrived), Micros(left));
            assert_eq!(clock.difference, Micros(difference), "{left}");
        }
    }

    #[test]
    fn a_clock_that_wraps_around_or_is_set_back_is_followed() {
        let mut clock = PeerClock::default();
        for (arrived, left) in
            [(7, u32::MAX - 3), (17, 6), (1 << 31, (1 << 31) + 5), (100, 2_000_000), (200, 900_000)]
        {
            clock.note(Micros(arrived), Micros(left));
            assert_eq!(clock.difference, Micros(arrived).minus(Micros(left)), "{left}");
        }
    }
}
