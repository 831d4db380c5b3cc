//! The bytes that a group had delivered when a packet left. A member's sender counts only its own part of them.
//!
//! A ring of the latest moments of sending. While it reaches back for four round trips each packet has a place of its
//! own. After that, packets that leave within a 32nd of a round trip share one, so rates stay exact to about 3 %.

use crate::event::Totals;
use afteryou_base::units::{Span, Time};

const PLACES: usize = 128;
/// Round trips that the ring reaches back for.
const REACH: u64 = 4;
const PLACES_IN_ROUND: u64 = PLACES as u64 / REACH;

/// The group's state when a packet left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    /// When.
    pub at: Time,
    /// Bytes in flight of all members, the packet included.
    pub in_flight: u64,
    /// No member had more to send.
    pub app_limited: bool,
    /// Totals of all members.
    pub totals: Totals,
}

/// The latest moments of sending, and the totals up to now.
#[derive(Clone, Debug)]
pub(super) struct Log {
    places: [Moment; PLACES],
    count: usize,
    /// The newest is before this one.
    next: usize,
    /// Totals of all members.
    pub totals: Totals,
}

impl Log {
    pub fn new() -> Log {
        Log { places: [Moment::default(); PLACES], count: 0, next: 0, totals: Totals::default() }
    }

    fn newest(&self) -> Option<&Moment> {
        let newest = (self.next + PLACES - 1) % PLACES;
        (self.count > 0).then(|| &self.places[newest])
    }

    /// Notes a packet that leaves. Nothing is in flight beside it if `is_first`: no rate spans the idle time before it.
    pub fn sent(&mut self, now: Time, in_flight: u64, app_limited: bool, is_first: bool, rtt: Span) {
        if is_first {
            (self.totals.delivered_at, self.totals.first_sent_at) = (now, now);
        }
        let reaches_back = self.count < PLACES || now.since(self.places[self.next].at) > rtt * REACH;
        let spacing = if reaches_back { Span::ZERO } else { rtt / PLACES_IN_ROUND };
        if self.newest().is_some_and(|newest| now.since(newest.at) < spacing) {
            return;
        }
        self.places[self.next] = Moment { at: now, in_flight, app_limited, totals: self.totals };
        self.next = (self.next + 1) % PLACES;
        self.count = (self.count + 1).min(PLACES);
    }

    /// Notes bytes that were delivered, the newest of which had left at `sent_at`.
    pub fn delivered(&mut self, now: Time, bytes: u64, sent_at: Time) {
        self.totals.delivered = self.totals.delivered.saturating_add(bytes);
        self.totals.delivered_at = now;
        self.totals.first_sent_at = self.totals.first_sent_at.max(sent_at);
    }

    /// Returns the state when a packet left at `sent_at`: that of the latest moment not after it, or the oldest one held.
    pub fn at(&self, sent_at: Time) -> Moment {
        let newest_first = (1..=self.count).map(|back| &self.places[(self.next + PLACES - back) % PLACES]);
        let mut oldest = Moment { totals: self.totals, ..Moment::default() };
        for moment in newest_first {
            oldest = *moment;
            if moment.at <= sent_at {
                break;
            }
        }
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    #[test]
    fn every_packet_is_found_while_there_is_room_and_afterwards_one_of_the_same_32nd_of_a_round() {
        for (packets, off_by_ms) in [(50u64, 0), (2000, 4)] {
            let mut log = Log::new();
            for ms in 1..=packets {
                log.sent(Time::from_millis(ms), 1000 * ms, false, false, RTT);
            }
            for back in 0..40 {
                let sent_at = Time::from_millis(packets - back);
                let found = log.at(sent_at);
                assert!(sent_at.since(found.at) <= Span::from_millis(off_by_ms) && found.at <= sent_at);
            }
        }
    }

    #[test]
    fn no_rate_spans_an_idle_time() {
        let mut log = Log::new();
        log.sent(Time::from_millis(1), 1000, false, true, RTT);
        log.delivered(Time::from_millis(100), 1000, Time::from_millis(1));
        log.sent(Time::from_millis(9000), 1000, false, true, RTT);
        let totals = log.at(Time::from_millis(9000)).totals;
        assert_eq!((totals.delivered, totals.delivered_at), (1000, Time::from_millis(9000)));
    }
}
