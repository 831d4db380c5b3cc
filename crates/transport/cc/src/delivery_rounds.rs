//! Delivery rates and round trips, as rules that model the path use them.
//!
//! A round ends with the first ack of a packet that left after the round began. A rule may begin one early, to count a whole round trip
//! from an event on.
//!
//! A rule that empties the queue on purpose causes low rates itself, which say nothing of the path. It marks that time, and the samples of
//! packets from then on count as application-limited, until the ack of a packet that left after the last mark:
//!
//! ```text
//!   marked ───────── last mark ─── ack of a packet that left after it
//!   │◀── samples of packets that left in here are application-limited ──▶│
//! ```
//!
//! # Source
//! draft-ietf-ccwg-bbr §5.5.1 (rounds) and §5.3.4.3 (MarkConnectionAppLimited). Times of sending replace the draft's counts of delivered
//! bytes: "left after" is then the same question for every transport.

use crate::event::Ack;
use afteryou_base::units::{Span, Time};

/// A delivery rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes per second.
    pub rate: f64,
    /// Bytes delivered in the sample's interval.
    pub delivered: f64,
    /// Bytes in flight when its packet left, itself included.
    pub in_flight_at_send: f64,
    /// The application, or the rule itself, limited the sender.
    pub app_limited: bool,
}

/// Counts rounds and reads delivery rates.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRounds {
    began: Time,
    count: u64,
    marked: Option<Marked>,
}

/// A time of low rates that the rule causes.
#[derive(Clone, Copy, Debug)]
struct Marked {
    since: Time,
    last: Time,
    until: Option<Time>,
}

impl DeliveryRounds {
    /// Takes in an ack. Returns whether a round begins with it.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        if let Some(marked) = self.marked.as_mut().filter(|marked| marked.until.is_none()) {
            marked.until = (ack.sent_at > marked.last).then_some(ack.now);
        }
        let begins = ack.sent_at >= self.began;
        if begins {
            self.begin(ack.now);
            self.count += 1;
        }
        begins
    }

    /// Begins a round now, which is not counted: it ends with the ack of a packet that leaves from now on.
    pub fn begin(&mut self, now: Time) {
        self.began = now;
    }

    /// Returns the number of rounds that have begun.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Marks that the rule itself limits the sender now.
    pub fn mark_limited(&mut self, now: Time) {
        match self.marked.as_mut().filter(|marked| marked.until.is_none()) {
            Some(marked) => marked.last = now,
            None => self.marked = Some(Marked { since: now, last: now, until: None }),
        }
    }

    /// Returns the delivery rate that the ack shows, if it shows one.
    pub fn sample(&self, ack: &Ack) -> Option<RateSample> {
        let delivery = ack.delivery.filter(|delivery| delivery.interval > Span::ZERO)?;
        let delivered = delivery.delivered as f64;
        Some(RateSample {
            rate: delivered / delivery.interval.as_secs_f64(),
            delivered,
            in_flight_at_send: delivery.in_flight_at_send as f64,
            app_limited: delivery.app_limited || self.was_limited(ack.sent_at),
        })
    }

    fn was_limited(&self, sent_at: Time) -> bool {
        self.marked.is_some_and(|Marked { since, until, .. }| {
            sent_at >= since && until.is_none_or(|until| sent_at <= until)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::DeliveryRate;

    fn ack(now_ms: u64, sent_ms: u64) -> Ack {
        let delivery =
            DeliveryRate { delivered: 50_000, interval: Span::from_millis(50), ..DeliveryRate::default() };
        let (now, sent_at) = (Time::from_millis(now_ms), Time::from_millis(sent_ms));
        Ack { now, sent_at, delivery: Some(delivery), ..Ack::for_tests() }
    }

    #[test]
    fn a_round_begins_with_the_ack_of_a_packet_that_left_in_the_one_before() {
        let mut rounds = DeliveryRounds::default();
        let begins: Vec<u64> = (50..200).filter(|ms| rounds.on_ack(&ack(*ms, ms - 50))).collect();
        assert_eq!((begins, rounds.count()), (vec![50, 100, 150], 3));
        rounds.begin(Time::from_millis(190));
        let begins: Vec<u64> = (200..260).filter(|ms| rounds.on_ack(&ack(*ms, ms - 50))).collect();
        assert_eq!(begins, [240], "a round trip after the early begin");
    }

    #[test]
    fn a_rate_is_bytes_over_the_interval_and_an_empty_interval_shows_none() {
        let rounds = DeliveryRounds::default();
        assert_eq!(rounds.sample(&ack(50, 0)).map(|sample| sample.rate), Some(1e6));
        let empty = Ack { delivery: Some(DeliveryRate::default()), ..ack(50, 0) };
        assert_eq!(rounds.sample(&empty), None);
    }

    #[test]
    fn samples_of_packets_that_left_while_the_rule_held_back_are_limited() {
        let mut rounds = DeliveryRounds::default();
        let mut limited = Vec::new();
        for ms in 50..500 {
            let ack = ack(ms, ms - 50);
            rounds.on_ack(&ack);
            if (100..300).contains(&ms) {
                rounds.mark_limited(ack.now);
            }
            limited.extend(rounds.sample(&ack).filter(|sample| sample.app_limited).map(|_| ms - 50));
        }
        // The last mark is at 299 ms, and the packet after it is acknowledged at 350 ms.
        assert_eq!((limited[0], limited[limited.len() - 1], limited.len()), (100, 350, 251));
    }
}
