//! The delivery rate, measured over the flight of each packet.
//!
//! ```text
//!   sent:       P.(delivered, delivered_time, first_sent_time) = C.(…)      before, if nothing is outstanding: both times = now
//!   delivered:  C.delivered += P.length,  C.delivered_time = now,  newest P: C.first_sent_time = P.sent_time
//!   sample:     rate = (C.delivered − P.delivered) / max(send elapsed, ack elapsed)
//!               send elapsed = P.sent_time − P.first_sent_time,  ack elapsed = C.delivered_time − P.delivered_time
//! ```
//! Acks that arrive compressed would show a rate that no link has. The packets behind them did not leave that fast, so
//! the longer of both intervals counts. An interval below the smallest round-trip time is due to a retransmission whose
//! original arrived, and is discarded.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02 §3.2 to §3.4.

use crate::app_limited::AppLimited;
use afteryou_base::{Span, Time};
use afteryou_cc::{DeliveryRate, Totals};

/// The sender's state when a packet left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamp {
    /// Bytes delivered until then (P.delivered).
    pub delivered: u64,
    /// When the latest of them were delivered (P.delivered_time).
    pub delivered_at: Time,
    /// When the newest of them had left (P.first_sent_time).
    pub first_sent_at: Time,
    /// Bytes in flight, the packet included.
    pub in_flight: u64,
    /// Bytes found lost until then (P.lost of draft-ietf-ccwg-bbr).
    pub lost: u64,
    /// The application limited the sender (P.is_app_limited).
    pub app_limited: bool,
}

impl Stamp {
    /// Returns the totals that a controller sees of it.
    #[inline]
    pub fn totals(&self) -> Totals {
        let &Stamp { delivered, delivered_at, first_sent_at, lost, .. } = self;
        Totals { delivered, delivered_at, first_sent_at, lost }
    }
}

/// Bytes delivered in a connection's life.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    app_limited: AppLimited,
}

impl Delivery {
    /// Returns the bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns when the latest packets were delivered; after a pause, when sending began again.
    pub fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Notes that the window has room that is not used, with `in_flight` bytes in flight.
    pub fn note_unused_window(&mut self, in_flight: u64) {
        self.app_limited.mark(self.delivered, in_flight);
    }

    /// Returns whether a packet that leaves now may not widen the window.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited.limits_window(self.delivered)
    }

    /// Begins a flight: a packet is about to leave while nothing is outstanding, and no sample spans the idle time before it
    /// (§3.2).
    pub fn begin_flight(&mut self, now: Time) {
        self.delivered_at = now;
        self.first_sent_at = now;
    }

    /// Returns the stamp of a packet that leaves now.
    pub fn stamp(&self, in_flight: u64) -> Stamp {
        let Delivery { delivered, delivered_at, first_sent_at, lost, ref app_limited } = *self;
        let app_limited = app_limited.limits_rate(delivered);
        Stamp { delivered, delivered_at, first_sent_at, in_flight, lost, app_limited }
    }

    /// Adds a delivered packet of `bytes`.
    pub fn deliver(&mut self, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
    }

    /// Adds a packet of `bytes` that has been found lost.
    pub fn lose(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
    }

    /// Takes back the loss of a packet of `bytes`, which is in flight after all.
    pub fn find(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_sub(bytes);
    }

    /// Completes an ack once all packets that it delivers are booked; `newest_sent_at` is when the newest of them left.
    pub fn finish_ack(&mut self, now: Time, newest_sent_at: Option<Time>) {
        self.delivered_at = now;
        if let Some(sent_at) = newest_sent_at {
            self.first_sent_at = sent_at;
        }
    }

    /// Returns the rate over the flight of the newest packet that the ack has delivered, which left at `sent_at`; none if it is
    /// not reliable.
    pub fn rate(&self, sent_at: Time, stamp: &Stamp, min_rtt: Option<Span>) -> Option<DeliveryRate> {
        let send_elapsed = sent_at.since(stamp.first_sent_at);
        let ack_elapsed = self.delivered_at.since(stamp.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        // §3.3: "Normally we expect interval >= MinRTT."
        let is_reliable = min_rtt.is_none_or(|min| interval >= min);
        is_reliable.then(|| DeliveryRate {
            delivered: self.delivered - stamp.delivered,
            interval,
            in_flight_at_send: stamp.in_flight,
            app_limited: stamp.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The draft's pseudo-code, with its names.
    #[derive(Default)]
    struct Draft {
        c_delivered: u64,
        c_delivered_time: u64,
        c_first_sent_time: u64,
        c_app_limited: u64,
        outstanding: usize,
    }

    #[derive(Clone, Copy)]
    struct DraftPacket {
        length: u64,
        sent_time: u64,
        delivered: u64,
        delivered_time: u64,
        first_sent_time: u64,
        is_app_limited: bool,
    }

    impl Draft {
        fn send(&mut self, now: u64, length: u64) -> DraftPacket {
            if self.outstanding == 0 {
                self.c_first_sent_time = now;
                self.c_delivered_time = now;
            }
            self.outstanding += 1;
            DraftPacket {
                length,
                sent_time: now,
                delivered: self.c_delivered,
                delivered_time: self.c_delivered_time,
                first_sent_time: self.c_first_sent_time,
                is_app_limited: self.c_app_limited != 0,
            }
        }

        /// Returns the sample's delivered bytes, interval and mark.
        fn ack(&mut self, now: u64, packets: &[DraftPacket], min_rtt: u64) -> Option<(u64, u64, bool)> {
            let (mut prior_delivered, mut send_elapsed, mut ack_elapsed, mut newest) = (0, 0, 0, None);
            let mut is_app_limited = false;
            for packet in packets {
                self.outstanding -= 1;
                self.c_delivered += packet.length;
                self.c_delivered_time = now;
                if newest.is_none_or(|sent| packet.sent_time >= sent) {
                    newest = Some(packet.sent_time);
                    prior_delivered = packet.delivered;
                    is_app_limited = packet.is_app_limited;
                    send_elapsed = packet.sent_time - packet.first_sent_time;
                    ack_elapsed = self.c_delivered_time - packet.delivered_time;
                    self.c_first_sent_time = packet.sent_time;
                }
            }
            if self.c_app_limited != 0 && self.c_delivered > self.c_app_limited {
                self.c_app_limited = 0;
            }
            let interval = send_elapsed.max(ack_elapsed);
            (interval >= min_rtt).then_some((self.c_delivered - prior_delivered, interval, is_app_limited))
        }
    }

    proptest! {
        #[test]
        fn samples_are_those_of_the_drafts_pseudo_code(
            steps in prop::collection::vec((0u8..8, 0u64..5_000, 1usize..4), 1..200),
            min_rtt in 0u64..3_000,
        ) {
            let (mut ours, mut draft) = (Delivery::default(), Draft::default());
            let mut flying: Vec<(Time, Stamp, DraftPacket)> = Vec::new();
            let mut now = 1;
            for (step, gap, count) in steps {
                now += gap;
                if step == 0 {
                    let pipe = flying.iter().map(|(_, _, packet)| packet.length).sum();
                    ours.note_unused_window(pipe);
                    draft.c_app_limited = (draft.c_delivered + pipe).max(1);
                    continue;
                }
                if step < 4 {
                    if flying.is_empty() {
                        ours.begin_flight(Time(now));
                    }
                    flying.push((Time(now), ours.stamp(0), draft.send(now, 100 * count as u64)));
                    continue;
                }
                let acked: Vec<_> = flying.drain(..count.min(flying.len())).collect();
                let Some((sent_at, stamp, _)) = acked.last() else { continue };
                acked.iter().for_each(|(_, _, packet)| ours.deliver(packet.length));
                ours.finish_ack(Time(now), Some(*sent_at));
                let sample = ours.rate(*sent_at, stamp, Some(Span(min_rtt)));
                let packets: Vec<DraftPacket> = acked.iter().map(|(_, _, packet)| *packet).collect();
                let expected = draft.ack(now, &packets, min_rtt);
                prop_assert_eq!(sample.map(|rate| (rate.delivered, rate.interval.0, rate.app_limited)), expected);
            }
        }
    }

    #[test]
    fn compressed_acks_show_the_rate_at_which_the_packets_left() {
        // Ten packets of 100 B leave 10 ms apart. The reverse path holds their acks until 180 ms, and then they come at once.
        let mut delivery = Delivery::default();
        delivery.begin_flight(Time::ZERO);
        let mut ack = |ms, bytes, sent_ms| {
            delivery.deliver(bytes);
            delivery.finish_ack(Time::from_millis(ms), Some(Time::from_millis(sent_ms)));
            delivery
        };
        let stamp = ack(180, 100, 0).stamp(1000);
        ack(185, 900, 90);
        let rate =
            ack(191, 100, 181).rate(Time::from_millis(181), &stamp, Some(Span::from_millis(10))).unwrap();
        assert_eq!((rate.delivered, rate.interval), (1000, Span::from_millis(181)), "the acks took 11 ms");
    }

    #[test]
    fn an_interval_below_the_smallest_round_trip_is_no_sample() {
        let mut delivery = Delivery::default();
        delivery.begin_flight(Time::ZERO);
        let stamp = delivery.stamp(100);
        delivery.deliver(100);
        delivery.finish_ack(Time::from_millis(20), Some(Time::ZERO));
        assert_eq!(delivery.rate(Time::ZERO, &stamp, Some(Span::from_millis(21))), None);
        assert!(delivery.rate(Time::ZERO, &stamp, Some(Span::from_millis(20))).is_some());
    }
}
