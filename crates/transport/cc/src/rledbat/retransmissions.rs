//! Losses as a receiver finds them: a retransmission shows that a packet was lost.
//!
//! # Model
//! The receiver keeps the highest position that has arrived (RCV.HGH) and that segment's timestamp (TSV.HGH). A segment below it
//! with a later timestamp left after it, so it was sent again. A segment below it with an earlier timestamp was overtaken.
//!
//! # Not implemented
//! Segments lost at the end of a flight: nothing above them arrives. The sender's timeout answers those.
//! A retransmission within the same tick of the sender's clock is taken for reordering.
//!
//! # Source
//! RFC 9840 §4.3. xnu compares the timestamps by ≥ and the end of the segment.

/// The highest segment so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retransmissions {
    highest: Option<(u64, u32)>,
}

impl Retransmissions {
    /// Takes in a segment at `position` of the connection that left at `tsval` by the sender's clock. Returns whether it was sent again.
    pub fn is_one(&mut self, position: u64, tsval: u32) -> bool {
        match self.highest {
            Some((highest, newest)) if position < highest => tsval.wrapping_sub(newest) as i32 > 0,
            // The highest segment, sent again: it is the newest with the highest position.
            _ => {
                self.highest = Some((position, tsval));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_segment_with_a_newer_timestamp_was_sent_again_and_an_overtaken_one_was_not() {
        for start in [0u32, u32::MAX - 3] {
            let mut retransmissions = Retransmissions::default();
            let mut is_one =
                |position, tsval: u32| retransmissions.is_one(position, start.wrapping_add(tsval));
            assert!(!is_one(0, 1) && !is_one(3, 4));
            assert!(!is_one(1, 2), "overtaken");
            assert!(!is_one(2, 4), "the same tick");
            assert!(is_one(2, 9));
            assert!(is_one(1, 9), "each one is reported");
            assert!(!is_one(4, 8), "new data");
        }
    }

    #[test]
    fn the_highest_segment_sent_again_is_no_loss_that_the_receiver_can_see() {
        let mut retransmissions = Retransmissions::default();
        assert!(!retransmissions.is_one(5, 1) && !retransmissions.is_one(5, 100));
        assert!(!retransmissions.is_one(4, 50), "before the probe");
    }
}
