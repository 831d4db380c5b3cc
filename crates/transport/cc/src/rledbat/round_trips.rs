//! Round-trip times at the receiver, by timestamps.
//!
//! # Model
//! An acknowledgement carries the receiver's clock (TSval). The next data segment that the sender sends echoes it (TSecr), so
//! the first segment with a new echo ends a round trip. Later segments with the same echo left later, and say nothing.
//!
//! The clock counts microseconds and is the time of sending itself, so no table of sending times is kept. A clock with a tick
//! of a millisecond is wrong by that much.
//!
//! An acknowledgement sent while the window was being reduced permits nothing new. The segment that echoes it has waited for a
//! later acknowledgement, and its round trip has that wait in it: such samples are ignored.
//!
//! # Source
//! RFC 9840 §4.2.1; RFC 7323 §4.

use afteryou_base::units::Span;

/// Returns whether the clock `a` is later than `b`, modulo 2^32.
fn is_later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// The news in the echo of one data segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// A round-trip time.
    pub rtt: Option<Span>,
    /// The segment answers an acknowledgement of the present round: the next one begins.
    pub round_start: bool,
}

/// The clocks that acknowledgements carried, as far as they are still to be echoed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// The newest echo so far.
    echoed: Option<u32>,
    /// First and last clock sent while the window was being reduced.
    reducing: Option<(u32, u32)>,
    /// The clock when the round began.
    round: Option<u32>,
}

impl RoundTrips {
    /// Notes an acknowledgement that leaves with this clock; `is_reducing`: it does not permit as much as it acknowledges.
    pub fn sent(&mut self, clock: u32, is_reducing: bool) {
        if is_reducing {
            // One interval: an earlier one whose echoes are still to come is part of it.
            let first = self.reducing.map_or(clock, |(first, _)| first);
            self.reducing = Some((first, clock));
        }
    }

    /// Returns whether the samples so far are older than a reduction: none has shown what it did.
    pub fn is_blind(&self) -> bool {
        self.reducing.is_some()
    }

    /// Takes in the echo of a data segment that arrives when the clock says `clock`.
    pub fn arrived(&mut self, clock: u32, echo: u32) -> Echo {
        if self.echoed.is_some_and(|echoed| !is_later(echo, echoed)) {
            return Echo::default();
        }
        self.echoed = Some(echo);
        let round_start = self.round.is_none_or(|round| !is_later(round, echo));
        if round_start {
            self.round = Some(clock);
        }
        let rtt = (!self.has_waited(echo)).then(|| Span::from_micros(clock.wrapping_sub(echo).into()));
        Echo { rtt, round_start }
    }

    /// Returns whether the segment with this echo may have waited for the window.
    fn has_waited(&mut self, echo: u32) -> bool {
        let Some((first, last)) = self.reducing else { return false };
        if is_later(echo, last) {
            self.reducing = None;
            return false;
        }
        !is_later(first, echo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Option<Span> {
        Some(Span::from_millis(ms))
    }

    #[test]
    fn the_first_segment_with_each_echo_is_a_sample_also_when_the_clock_wraps() {
        for start in [0, u32::MAX - 20_000] {
            let at = |us: u32| start.wrapping_add(us);
            let mut round_trips = RoundTrips::default();
            let mut rtt = |now, echo| round_trips.arrived(at(now), at(echo)).rtt;
            assert_eq!(rtt(50_000, 0), ms(50));
            assert_eq!(rtt(51_000, 0), None, "sent later");
            assert_eq!(rtt(62_000, 2_000), ms(60));
            assert_eq!(rtt(63_000, 1_000), None, "overtaken");
        }
    }

    #[test]
    fn acknowledgements_that_reduce_the_window_give_no_sample() {
        let mut round_trips = RoundTrips::default();
        for (clock, is_reducing) in [(1_000, false), (2_000, true), (3_000, true), (4_000, false)] {
            round_trips.sent(clock, is_reducing);
        }
        let mut rtt = |echo| round_trips.arrived(50_000 + echo, echo).rtt;
        assert_eq!([1_000, 2_000, 3_000].map(&mut rtt), [ms(50), None, None]);
        assert!(round_trips.is_blind());
        assert_eq!(round_trips.arrived(54_000, 4_000).rtt, ms(50));
        assert!(!round_trips.is_blind());
    }

    #[test]
    fn a_second_reduction_before_the_echo_of_the_first_one_extends_it() {
        let mut round_trips = RoundTrips::default();
        for (clock, is_reducing) in [(1_000, true), (2_000, false), (3_000, true)] {
            round_trips.sent(clock, is_reducing);
        }
        let mut rtt = |echo| round_trips.arrived(50_000 + echo, echo).rtt;
        assert_eq!([1_000, 2_000, 3_000, 4_000].map(&mut rtt), [None, None, None, ms(50)]);
    }

    #[test]
    fn a_round_ends_with_the_echo_of_an_acknowledgement_that_left_in_it() {
        let mut round_trips = RoundTrips::default();
        let mut starts = |now, echo| round_trips.arrived(now, echo).round_start;
        assert!(starts(50_000, 0));
        assert!(!starts(60_000, 10_000));
        assert!(!starts(99_000, 49_000));
        assert!(starts(100_000, 50_000));
        assert!(!starts(149_000, 99_000));
        assert!(starts(152_000, 101_000));
    }
}
