//! The tail loss probe (RFC 8985 §7): when the last packets of a flight are lost, no later one shows it, so the sender
//! probes before the retransmission timer expires.
//!
//! ```text
//!   PTO = 2·SRTT  (+ the receiver's longest delay of an ack, if one packet is in flight),  never later than the RTO     §7.2
//!   probe: new data, else the newest packet again; one at a time, and none without a new round-trip time since          §7.3
//!   an ack at or beyond the probe's end shows whether it repaired a loss, which nothing else will report                §7.4.2
//! ```

use crate::board::Flight;
use afteryou_base::{Span, Time};
use afteryou_cc::rtt::RttEstimator;

/// Probes of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tail {
    probe: Option<Probe>,
    /// No round-trip time was measured since the last probe: no other one is sent.
    waits_for_rtt: bool,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq: acks of everything below this, and beyond, show the probe's outcome.
    end: u64,
    /// The transmission that it repeats; a probe with new data repeats none.
    repeats: Option<Flight>,
    /// An ack has shown that the probe itself arrived. Whatever else comes twice is a copy that the network has made.
    arrived: bool,
}

impl Tail {
    /// Notes a probe that leaves; `repeats` is the transmission that it repeats, if it is no new data.
    pub fn sent(&mut self, end: u64, repeats: Option<Flight>) {
        *self = Tail { probe: Some(Probe { end, repeats, arrived: false }), waits_for_rtt: true };
    }

    /// Forgets the probe: a recovery begins, and its response covers the loss that the probe repaired (as in Linux).
    pub fn cancel(&mut self) {
        self.probe = None;
    }

    /// Notes that a round-trip time was measured.
    pub fn measured(&mut self) {
        self.waits_for_rtt = false;
    }

    /// Returns whether the outcome of a probe is open.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.probe.is_some()
    }

    /// Returns whether a probe may be sent now: one at a time, and with a fresh round-trip time (§7.2, §7.3).
    pub fn may_probe(&self) -> bool {
        self.probe.is_none() && !self.waits_for_rtt
    }

    /// Returns when to probe if nothing arrives until then; `rto_at` is when the retransmission timer expires.
    #[inline]
    pub fn probe_at(now: Time, rto_at: Time, flight: &TailFlight<'_>) -> Option<Time> {
        let delay = if flight.is_one_packet { flight.max_ack_delay } else { Span::ZERO };
        let at = now + flight.rtt.smoothed()? * 2 + delay;
        // Never later than the timeout, whose place the probe takes then.
        Some(at.min(rto_at))
    }

    /// Takes in an ack; returns the outcome of the probe (§7.4.2).
    #[inline]
    pub fn on_ack(&mut self, ack: TailAck<'_>) -> Answer {
        let is_answer = |probe: &&mut Probe| ack.cumulative >= probe.end;
        let Some(probe) = self.probe.as_mut().filter(is_answer) else { return Answer::None };
        let answer = match probe.repeats {
            None => Answer::None,
            Some(repeated) if !probe.arrived && ack.is_twice(repeated.seq) => Answer::Twice,
            Some(lost) if ack.cumulative > probe.end => Answer::Repaired(lost),
            // The ack of the segment or that of its probe: later ones show which.
            Some(repeated) => {
                probe.arrived |= ack.shows_repetition_of(&repeated);
                return Answer::None;
            }
        };
        self.probe = None;
        answer
    }
}

/// The state of the flight that sets the time of a probe.
#[derive(Clone, Copy, Debug)]
pub struct TailFlight<'a> {
    /// Round-trip times.
    pub rtt: &'a RttEstimator,
    /// One packet at most is in flight: its ack may be delayed.
    pub is_one_packet: bool,
    /// The longest time for which the receiver delays an ack.
    pub max_ack_delay: Span,
}

/// Inputs of the decision on a probe.
#[derive(Clone, Copy, Debug)]
pub struct TailAck<'a> {
    /// Every packet below this has arrived.
    pub cumulative: u64,
    /// The packets that the receiver got twice, of which the first and the one after the last.
    pub dsack: Option<(u64, u64)>,
    /// The ack has no news and no SACK blocks: a receiver without D-SACK has got something twice.
    pub is_bare_duplicate: bool,
    /// [`Board::repaired`](crate::Board::repaired).
    pub repaired: &'a [(u64, u64)],
}

impl TailAck<'_> {
    fn is_twice(&self, seq: u64) -> bool {
        self.is_bare_duplicate || self.dsack.is_some_and(|(start, end)| (start..end).contains(&seq))
    }

    fn shows_repetition_of(&self, flight: &Flight) -> bool {
        self.repaired.iter().any(|(seq, number)| *seq == flight.seq && *number > flight.number)
    }
}

/// Outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// Nothing, or that there was nothing to repair.
    None,
    /// The packet and its probe have both arrived.
    Twice,
    /// The probe repaired the loss of this transmission.
    Repaired(Flight),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_waits_for_two_round_trips_and_a_delayed_ack_but_not_beyond_the_timeout() {
        let mut rtt = RttEstimator::default();
        let now = Time::from_millis(1000);
        let at = |rtt: &RttEstimator, is_one_packet, rto_ms| {
            let flight = TailFlight { rtt, is_one_packet, max_ack_delay: Span::from_millis(40) };
            Tail::probe_at(now, Time::from_millis(rto_ms), &flight).map(|at| at.as_micros() / 1000)
        };
        assert_eq!(at(&rtt, false, 2000), None);
        rtt.update(Span::from_millis(100));
        assert_eq!(
            [at(&rtt, false, 2000), at(&rtt, true, 2000), at(&rtt, true, 1210)],
            [1200, 1240, 1210].map(Some)
        );
    }

    fn ack(cumulative: u64) -> TailAck<'static> {
        TailAck { cumulative, dsack: None, is_bare_duplicate: false, repaired: &[] }
    }

    #[test]
    fn one_probe_at_a_time_and_none_without_a_new_round_trip() {
        let mut tail = Tail::default();
        assert!(tail.may_probe());
        tail.sent(10, None);
        assert!(!tail.may_probe());
        tail.on_ack(ack(10));
        assert!(!tail.may_probe());
        tail.measured();
        assert!(tail.may_probe());
    }

    #[test]
    fn an_ack_beyond_the_end_reports_the_transmission_that_was_repeated() {
        let lost = Flight { number: 7, seq: 9, ..Flight::default() };
        let (twice, other) = (Some((9, 10)), Some((8, 9)));
        for (ack, expected) in [
            (ack(10), Answer::None),
            (ack(11), Answer::Repaired(lost)),
            (TailAck { dsack: twice, ..ack(11) }, Answer::Twice),
            (TailAck { dsack: other, ..ack(11) }, Answer::Repaired(lost)),
            (TailAck { dsack: other, ..ack(10) }, Answer::None),
            (TailAck { is_bare_duplicate: true, ..ack(10) }, Answer::Twice),
            (TailAck { dsack: twice, ..ack(9) }, Answer::None),
        ] {
            let mut tail = Tail::default();
            tail.sent(10, Some(lost));
            assert_eq!(tail.on_ack(ack), expected, "{ack:?}");
        }
    }

    #[test]
    fn after_an_ack_that_echoes_the_probe_what_comes_twice_is_a_copy() {
        let lost = Flight { number: 7, seq: 9, ..Flight::default() };
        let copies = [
            TailAck { dsack: Some((9, 10)), ..ack(10) },
            TailAck { is_bare_duplicate: true, ..ack(10) },
            TailAck { dsack: Some((9, 10)), ..ack(11) },
        ];
        for copy in copies {
            for (number, first_arrived) in [(7, true), (8, false)] {
                let mut tail = Tail::default();
                tail.sent(10, Some(lost));
                assert_eq!(tail.on_ack(TailAck { repaired: &[(9, number)], ..ack(10) }), Answer::None);
                let answers = [tail.on_ack(copy), tail.on_ack(ack(12))];
                assert_eq!(answers.contains(&Answer::Twice), first_arrived, "{copy:?}");
                assert_eq!(answers.contains(&Answer::Repaired(lost)), !first_arrived, "{copy:?}");
            }
        }
    }
}
