//! Feeds a controller round trip by round trip.

use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::list::find;
use afteryou_cc::{Ack, Controller, Delivered, DeliveryRate, Loss, Sent, Setup};

/// Acks in a round trip; larger windows get larger ones.
const MOST_ACKS: u64 = 400;

/// A controller on a path whose delays the test decides.
pub struct Driver {
    pub controller: Box<dyn Controller>,
    pub now: Time,
    pub mss: u64,
    pub base: Span,
    /// Added to the one-way delays: the far clock's offset, µs.
    pub offset_us: u32,
    /// Packets that an ack covers.
    pub per_ack: u64,
    sent: u64,
}

impl Driver {
    pub fn new(name: &str, overrides: &[(&'static str, Value)], mss: u32, base: Span) -> Driver {
        let controller = find(name).expect("in the list").build(overrides, Setup::of(mss)).expect("valid");
        let now = Time::from_millis(5000);
        Driver { controller, now, mss: mss.into(), base, offset_us: 0, per_ack: 1, sent: 0 }
    }

    /// Returns the window in packets.
    pub fn packets(&self) -> f64 {
        self.controller.directive().cwnd as f64 / self.mss as f64
    }

    /// Runs one round trip with a queue of `queue`: a window's worth of packets is acknowledged, evenly spread.
    pub fn round(&mut self, queue: Span) {
        let rtt = self.base + queue;
        let window = self.controller.directive().cwnd;
        let acks = (window / (self.mss * self.per_ack)).clamp(1, MOST_ACKS);
        let bytes = (window / acks).max(self.mss);
        for i in 0..acks {
            self.now += rtt / acks;
            self.ack(bytes, window, rtt, queue, i == 0);
        }
        // A slowdown or a window below a packet may be due.
        if self.controller.directive().wake_at.is_some_and(|at| at <= self.now) {
            self.controller.on_wake(self.now);
        }
    }

    fn ack(&mut self, bytes: u64, flightsize: u64, rtt: Span, queue: Span, round_start: bool) {
        let forward = (self.base / 2 + queue).as_micros() as u32;
        let reverse = (self.base / 2).as_micros() as u32;
        self.sent += self.per_ack;
        let sent_at = Time(self.now.0.saturating_sub(rtt.0));
        self.controller.on_delivered(&Delivered {
            now: self.now,
            sent: Sent { now: sent_at, bytes, packet_number: self.sent, ..Sent::default() },
            rtt: Some(rtt),
            ..Delivered::default()
        });
        self.controller.on_ack(&Ack {
            now: self.now,
            newly_acked: bytes,
            flightsize,
            in_flight: flightsize,
            sent_at,
            packet_number: self.sent,
            rtt: Some(rtt),
            smoothed_rtt: Some(rtt),
            one_way_delay: Some(forward.wrapping_add(self.offset_us)),
            reverse_delay: Some(reverse.wrapping_sub(self.offset_us)),
            delivery: Some(DeliveryRate {
                delivered: flightsize.max(bytes),
                interval: rtt,
                in_flight_at_send: flightsize,
                app_limited: false,
            }),
            round_start,
            ..Ack::default()
        });
        self.controller.on_sent(&Sent {
            now: self.now,
            bytes,
            packet_number: self.sent,
            in_flight: flightsize,
            ..Sent::default()
        });
    }

    /// Loses a packet sent just now.
    pub fn lose(&mut self) {
        self.controller.on_loss(&Loss {
            now: self.now,
            sent: Sent { now: self.now, bytes: self.mss, packet_number: self.sent, ..Sent::default() },
            flightsize: self.controller.directive().cwnd,
            ..Loss::default()
        });
    }

    /// Grows without a queue to `packets` and leaves slow start by a loss, which needs twice as many.
    pub fn reach_avoidance(&mut self, packets: f64) {
        for _ in 0..10_000 {
            if self.packets() >= 2.0 * packets {
                break;
            }
            self.round(Span::ZERO);
        }
        self.lose();
        self.now += self.base; // whatever was sent before the loss has come round
    }
}
