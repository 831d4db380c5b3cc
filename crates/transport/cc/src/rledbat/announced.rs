//! The window that a receiver announces: a limit that may fall at any time becomes one whose right edge never moves back.
//!
//! # Model
//! The right edge is the first byte that the sender must not send yet. It is the in-order byte count plus the window. When
//! the limit falls, the edge stays, and the announced window shrinks by what arrives:
//!
//! ```text
//!              in order          edge                   announced = edge − in order
//!   ──────────────┴────────────────┴─────▶ bytes        edge = max(edge, in order + limit)
//! ```
//! So each data segment reduces the window by its payload at most (§4.1.1), and a fallen limit is reached within a round trip.
//! A segment out of order reduces nothing: the in-order count has not moved.
//!
//! # Window scale
//! The window on the wire is a whole number of units of 2^scale bytes (§4.1.2). It is rounded up. The edge itself keeps what is
//! below a unit, so rounding never adds up: the edge on the wire lies less than a unit beyond it. An edge on the wire may thus
//! move back by less than a unit, as with every scaled window (RFC 7323 §2.4).
//!
//! # Source
//! RFC 9840 §4.1. Figure 3 of its appendix A means the same, but its test is always true as printed.

/// The largest window scale (RFC 7323 §2.3).
pub const MOST_SCALE: u64 = 14;
/// The window's field in a TCP header has 16 bits.
const FIELD: u64 = 65_535;

/// A window whose right edge never moves back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The first byte that the sender must not send yet.
    edge: u64,
    scale: u32,
}

impl Announced {
    /// Creates a window with units of 2^`scale` bytes, of which nothing is announced yet.
    pub fn new(scale: u64) -> Announced {
        Announced { edge: 0, scale: scale.min(MOST_SCALE) as u32 }
    }

    /// Returns the largest whole number of units up to `bytes` that the field can hold.
    pub fn floor(&self, bytes: u64) -> u64 {
        (bytes >> self.scale).min(FIELD) << self.scale
    }

    /// Returns whether a `limit` would let the right edge move back: the window is being reduced, and the sender may have to wait.
    pub fn exceeds(&self, in_order: u64, limit: u64) -> bool {
        self.edge > in_order.saturating_add(limit)
    }

    /// Returns the window to announce with the acknowledgement of `in_order` bytes, a whole number of units: at most `limit`, the
    /// congestion window, and `flow_control`, unless more has been announced before.
    pub fn announce(&mut self, in_order: u64, limit: u64, flow_control: u64) -> u64 {
        let limit = limit.min(self.floor(flow_control));
        self.edge = self.edge.max(in_order.saturating_add(limit));
        (self.edge - in_order).div_ceil(1 << self.scale) << self.scale
    }

    /// Returns the right edge: the first byte that the sender must not send yet.
    pub fn edge(&self) -> u64 {
        self.edge
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPEN: u64 = u64::MAX;

    #[test]
    fn a_fallen_limit_is_reached_by_what_arrives_and_no_faster() {
        let mut announced = Announced::new(0);
        assert_eq!(announced.announce(0, 10_000, OPEN), 10_000);
        // Segments of 1448 bytes; the limit falls to 4000 at once.
        let windows: Vec<u64> = (0..6).map(|n| announced.announce(n * 1448, 4_000, OPEN)).collect();
        assert_eq!(windows, [10_000, 8_552, 7_104, 5_656, 4_208, 4_000]);
    }

    #[test]
    fn a_segment_out_of_order_reduces_nothing() {
        let mut announced = Announced::new(0);
        assert_eq!(announced.announce(5_000, 10_000, OPEN), 10_000);
        assert_eq!((announced.announce(5_000, 2_896, OPEN), announced.edge()), (10_000, 15_000));
        assert!(announced.exceeds(5_000, 2_896) && !announced.exceeds(12_104, 2_896));
    }

    #[test]
    fn what_is_below_a_unit_is_kept_until_it_is_one() {
        // Units of 4096 bytes, larger than what arrives between two acknowledgements.
        let mut announced = Announced::new(12);
        assert_eq!(announced.announce(0, 40_960, OPEN), 40_960);
        let units: Vec<u64> = (1..6).map(|n| announced.announce(n * 2_896, 0, OPEN) >> 12).collect();
        assert_eq!(units, [10, 9, 8, 8, 7], "14 480 bytes have arrived, and 3.5 units are gone");
    }

    #[test]
    fn rounding_up_does_not_exceed_the_flow_control_window() {
        let mut announced = Announced::new(7);
        assert_eq!(announced.announce(0, 10_000, 10_000), 9_984);
        assert_eq!(announced.announce(0, 10_000, OPEN), 10_112);
        assert_eq!(announced.announce(0, u64::MAX, OPEN), 65_535 << 7);
    }

    proptest! {
        #[test]
        fn the_edge_never_moves_back_and_the_window_is_at_most_a_unit_beyond_it(
            scale in 0u64..=14,
            steps in prop::collection::vec((0u64..20_000, 0u64..2_000_000, 0u64..4_000_000), 1..200),
        ) {
            let (mut announced, unit) = (Announced::new(scale), 1 << scale);
            let (mut in_order, mut edge, mut window) = (0, 0, 0u64);
            for (advance, limit, flow_control) in steps {
                in_order += advance.min(window);
                let left = window - advance.min(window);
                let now = announced.announce(in_order, limit, flow_control);
                prop_assert!(announced.edge() >= edge);
                prop_assert!(in_order + now >= announced.edge() && in_order + now < announced.edge() + unit);
                // No more than the limit, unless that would take back what was announced.
                prop_assert!(now <= limit.next_multiple_of(unit).max(left.next_multiple_of(unit)));
                prop_assert!(now <= flow_control.max(left.next_multiple_of(unit)));
                prop_assert!(now >> scale <= 65_535 && now % unit == 0);
                (edge, window) = (announced.edge(), now);
            }
        }
    }
}
