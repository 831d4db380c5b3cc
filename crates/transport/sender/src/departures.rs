//! When packets leave: the pacer under a controller's directive.
//!
//! ```text
//!   Pacing::Rate        ──●──●──●──●──●──●──▶ time       a packet every packet / rate, up to the send quantum back to back
//!   Pacing::Together    ──●●────────●●──────▶ time       a group back to back, or a little apart; then the pause
//! ```
//! A sender that runs late makes good what it could have sent, up to a quarter of the round trip.

use crate::pacer::Pacer;
use afteryou_base::{Span, Time};
use afteryou_cc::{Directive, Pacing};

/// A sender that a busy machine wakes late makes good a round trip by this number at most: three tenths of a window at once, with
/// the gain of congestion avoidance.
const MADE_GOOD: u64 = 4;

/// The departure of the next packet, by a directive.
#[derive(Clone, Copy, Debug)]
pub struct Departures {
    pacer: Pacer,
    /// Packets of the group that is leaving ([`Pacing::Together`]).
    in_group: u32,
    /// A packet waits for the pacer until then.
    waits_until: Time,
}

impl Departures {
    /// Lets the first packet go at once. Timers wake the sender late by up to `slack`, see [`Pacer::new`].
    pub fn new(slack: Span) -> Departures {
        Departures { pacer: Pacer::new(slack), in_group: 0, waits_until: Time::NEVER }
    }

    /// Returns when the next packet may leave.
    #[inline]
    pub fn next(&self) -> Time {
        self.pacer.next()
    }

    /// Returns true if a packet may leave now; otherwise [`deadline`](Departures::deadline) returns when.
    #[inline]
    pub fn allow(&mut self, now: Time) -> bool {
        if self.pacer.next() <= now {
            return true;
        }
        self.waits_until = self.pacer.next();
        false
    }

    /// Returns when the pacer lets the next packet go, if one waits for it.
    pub fn deadline(&self) -> Time {
        self.waits_until
    }

    /// Clears the deadline: what can be sent is sent now, or is found to wait again. The round-trip time bounds what a late
    /// sender makes good.
    #[inline]
    pub fn clear_deadline(&mut self, now: Time, rtt: Option<Span>) {
        if self.waits_until < now {
            self.pacer.late(now, rtt.unwrap_or(Span::ZERO) / MADE_GOOD);
        }
        self.waits_until = Time::NEVER;
    }

    /// Notes that `bytes` leave now; `packet` is the payload of a full packet. The rate is in bytes per second. Groups need
    /// none, and without one a packet does not delay the next.
    #[inline]
    pub fn sent(&mut self, now: Time, bytes: u64, directive: &Directive, packet: u64, rate: Option<u64>) {
        let &Directive { cwnd, pacing, send_quantum, .. } = directive;
        if let Pacing::Together { packets, apart_us, every } = pacing {
            self.in_group += 1;
            let is_last = self.in_group >= packets;
            self.in_group = if is_last { 0 } else { self.in_group };
            let wait = if is_last { every } else { Span::from_micros(apart_us.into()) };
            self.pacer.reset(now + wait);
            return;
        }
        self.in_group = 0;
        let Some(rate) = rate else { return };
        if send_quantum > 0 {
            return self.pacer.sent_of_quantum(now, bytes, rate, send_quantum.max(bytes));
        }
        let burst_packet = if cwnd < packet { 0 } else { packet };
        self.pacer.sent(now, bytes, rate, burst_packet);
    }

    /// Limits the wait to that of a packet spaced by the directive of now. A slower one may have spaced it.
    pub fn hasten(&mut self, now: Time, directive: &Directive, packet: u64, rate: u64) {
        let waits = match directive.pacing {
            Pacing::Together { every, .. } => every,
            _ => Span::of_bytes(packet, rate),
        };
        self.pacer.no_later_than(now + waits);
    }

    /// Starts the pacer: the connection is established.
    pub fn start(&mut self, now: Time) {
        self.pacer.reset(now);
    }

    /// Starts the pacer afresh with a new group, after a timeout or a silence.
    pub fn restart(&mut self, now: Time) {
        self.in_group = 0;
        self.pacer.reset(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::TIMER_SLACK;

    const PACKET: u64 = 1000;

    /// Returns the departures in ms of packets that are ready at any time, asked every ms from 1000 to 1000 + `ms`.
    fn departures_ms(directive: &Directive, ms: u64) -> Vec<u64> {
        let rate = match directive.pacing {
            Pacing::Rate(rate) => Some(rate),
            _ => None,
        };
        let mut departures = Departures::new(TIMER_SLACK);
        let mut left = Vec::new();
        for now in (0..ms).map(|ms| Time::from_millis(1000 + ms)) {
            while departures.allow(now) && left.len() < 1000 {
                departures.sent(now, PACKET, directive, PACKET, rate);
                left.push(now.as_micros() / 1000 - 1000);
            }
        }
        left
    }

    #[test]
    fn groups_leave_back_to_back_and_wait_for_each_other() {
        let pacing = Pacing::Together { packets: 3, apart_us: 0, every: Span::from_millis(10) };
        let directive = Directive { pacing, ..Directive::window(10 * PACKET) };
        assert_eq!(departures_ms(&directive, 30), [0, 0, 0, 10, 10, 10, 20, 20, 20]);
    }

    #[test]
    fn packets_of_a_group_may_be_apart_and_the_pause_begins_with_the_last_one() {
        let pacing = Pacing::Together { packets: 2, apart_us: 4_000, every: Span::from_millis(10) };
        let directive = Directive { pacing, ..Directive::window(10 * PACKET) };
        assert_eq!(departures_ms(&directive, 40), [0, 4, 14, 18, 28, 32]);
    }

    #[test]
    fn a_rate_spaces_packets_and_its_quantum_leaves_at_once() {
        let rated = Directive { pacing: Pacing::Rate(100_000), ..Directive::window(10 * PACKET) };
        assert_eq!(departures_ms(&rated, 50), [0, 0, 10, 20, 30, 40]);
        let in_threes = Directive { send_quantum: 3 * PACKET, ..rated };
        assert_eq!(departures_ms(&in_threes, 50), [0, 0, 0, 10, 20, 30, 40]);
    }

    #[test]
    fn a_wait_by_a_slower_rate_is_cut_to_that_of_the_rate_of_now() {
        let directive = |rate| Directive { pacing: Pacing::Rate(rate), ..Directive::window(PACKET) };
        let (mut departures, now) = (Departures::new(TIMER_SLACK), Time::from_millis(1000));
        departures.start(now);
        departures.sent(now, PACKET, &directive(100), PACKET, Some(100));
        assert!(departures.next() > now + Span::from_secs(5) && !departures.allow(now));
        departures.hasten(now, &directive(100_000), PACKET, 100_000);
        assert_eq!(departures.next(), now + Span::from_millis(10));
    }

    #[test]
    fn a_restart_begins_a_new_group() {
        let pacing = Pacing::Together { packets: 2, apart_us: 0, every: Span::from_secs(1) };
        let directive = Directive { pacing, ..Directive::window(PACKET) };
        let (mut departures, now) = (Departures::new(TIMER_SLACK), Time::from_millis(1000));
        departures.sent(now, PACKET, &directive, PACKET, None);
        departures.restart(now);
        departures.sent(now, PACKET, &directive, PACKET, None);
        assert!(departures.allow(now), "the second packet of the new group");
    }
}
