//! A closed loop: a controller sends over a link with a DropTail buffer, on a host that looks at its socket now and then.

use afteryou_base::{Span, Time};
use afteryou_cc::list::Entry;
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{Ack, Controller, Delivered, DeliveryRate, Loss, Pacing, Sent, Setup, Totals};
use std::collections::VecDeque;

/// Payload of a packet, bytes.
pub const MSS: u64 = 1500;
/// Packets that the link carries in a second.
pub const PACKETS_PER_SECOND: u64 = 20_000;
/// Time that the link takes for a packet.
pub const TRANSMISSION: Span = Span::from_micros(1_000_000 / PACKETS_PER_SECOND);
/// Round-trip time of the path without a queue.
pub const BASE: Span = Span::from_millis(20);
/// Packets that the buffer holds: 200 ms.
const BUFFER: u64 = PACKETS_PER_SECOND / 5;
/// Pacing rate over `cwnd / RTT`, in slow start and otherwise.
const PACING_GAIN: (u64, u64) = (200, 125);
/// Acks of later packets that show a loss (RFC 5681 §3.2).
const DUP_THRESH: u64 = 3;

/// A packet in the network, or one that was dropped and is missed there.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: Time,
    /// When its ack reaches the sender's socket; none: it was dropped.
    acked_at: Option<Time>,
    /// Its delay on the forward path.
    forward: Span,
    /// Bytes in flight with it, and the connection's totals when it left.
    in_flight: u64,
    totals: Totals,
}

impl Packet {
    /// Returns the packet as its controller sees it.
    fn sent(&self) -> Sent {
        Sent {
            now: self.sent_at,
            bytes: MSS,
            packet_number: self.number,
            in_flight: self.in_flight,
            totals: self.totals,
            ..Sent::default()
        }
    }
}

/// A sender, its link and its acks.
pub struct Path {
    controller: Box<dyn Controller>,
    /// The host looks at its socket and sends once in this time; the link delivers a batch of packets meanwhile.
    look: Span,
    /// Bytes in a chunk, if the application waits for each chunk to be acknowledged before it gives the next one.
    chunk: Option<u64>,
    now: Time,
    link_free_at: Time,
    /// In the order of sending.
    flight: VecDeque<Packet>,
    next_number: u64,
    round_end: u64,
    rtt: RttEstimator,
    /// When pacing lets the next packet go.
    paced_until: Time,
    unsent: u64,
    delivered: u64,
    totals: Totals,
}

impl Path {
    /// Creates a path to a host that reads acks in batches of `batch` when the link is full.
    pub fn new(entry: &Entry, batch: u64) -> Path {
        Path {
            controller: entry.build(&[], Setup::of(MSS as u32)).expect("defaults are valid"),
            look: TRANSMISSION * batch,
            chunk: None,
            now: Time::from_millis(1000),
            link_free_at: Time::ZERO,
            flight: VecDeque::new(),
            next_number: 0,
            round_end: 0,
            rtt: RttEstimator::default(),
            paced_until: Time::ZERO,
            unsent: u64::MAX,
            delivered: 0,
            totals: Totals::default(),
        }
    }

    /// Lets the application write `bytes`, wait until they are acknowledged, and write the next ones.
    pub fn in_chunks_of(mut self, bytes: u64) -> Path {
        (self.chunk, self.unsent) = (Some(bytes), bytes);
        self
    }

    /// Returns the goodput from `from_s` to `to_s` of the run's time, as a part of the link's rate.
    pub fn goodput(&mut self, from_s: u64, to_s: u64) -> f64 {
        self.run_until(from_s);
        let before = self.delivered;
        self.run_until(to_s);
        (self.delivered - before) as f64 / (PACKETS_PER_SECOND * MSS * (to_s - from_s)) as f64
    }

    /// Returns the window in whole packets.
    pub fn packets(&self) -> u64 {
        self.controller.directive().cwnd / MSS
    }

    fn run_until(&mut self, s: u64) {
        let end = Time::from_millis(1000 + s * 1000);
        while self.now < end {
            self.now += self.look;
            self.take_acks();
            if self.controller.directive().wake_at.is_some_and(|at| at <= self.now) {
                self.controller.on_wake(self.now);
            }
            if self.flight.is_empty() && self.unsent == 0 {
                self.unsent = self.chunk.unwrap_or(u64::MAX);
            }
            self.send();
        }
    }

    fn take_acks(&mut self) {
        while let Some(index) = self.flight.iter().position(|packet| packet.acked_at.is_some()) {
            if self.flight[index].acked_at > Some(self.now) {
                break;
            }
            self.take_ack(index);
            self.find_losses(index);
        }
    }

    fn take_ack(&mut self, index: usize) {
        let flightsize = self.flightsize();
        let Some(packet) = self.flight.remove(index) else { return };
        let rtt = self.now.since(packet.sent_at);
        self.rtt.update(rtt);
        let round_start = packet.number >= self.round_end;
        if round_start {
            self.round_end = self.next_number;
        }
        self.delivered += MSS;
        let delivery = self.delivery_rate(&packet);
        if self.controller.needs().per_packet {
            self.controller.on_delivered(&Delivered {
                now: self.now,
                sent: packet.sent(),
                delivered: self.totals.delivered,
                rtt: Some(rtt),
                ..Delivered::default()
            });
        }
        self.controller.on_ack(&Ack {
            now: self.now,
            newly_acked: MSS,
            flightsize,
            in_flight: flightsize,
            sent_at: packet.sent_at,
            packet_number: packet.number,
            rtt: Some(rtt),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            one_way_delay: Some(packet.forward.as_micros() as u32),
            reverse_delay: Some(rtt.saturating_sub(packet.forward).as_micros() as u32),
            delivery: Some(delivery),
            round_start,
            ..Ack::default()
        });
    }

    /// Books the delivery of a packet. Returns the rate over its flight.
    fn delivery_rate(&mut self, packet: &Packet) -> DeliveryRate {
        let sent_for = packet.sent_at.since(packet.totals.first_sent_at);
        let acked_for = self.now.since(packet.totals.delivered_at);
        let delivered = self.totals.delivered + MSS;
        self.totals = Totals {
            delivered,
            delivered_at: self.now,
            first_sent_at: packet.sent_at,
            lost: self.totals.lost,
        };
        DeliveryRate {
            delivered: delivered - packet.totals.delivered,
            interval: sent_for.max(acked_for),
            in_flight_at_send: packet.in_flight,
            app_limited: self.chunk.is_some(),
        }
    }

    /// Declares dropped packets before the one at `index` lost once three later ones have arrived.
    fn find_losses(&mut self, index: usize) {
        let newest = self.flight.get(index).map_or(self.next_number, |packet| packet.number);
        for _ in 0..index {
            let Some(oldest) = self.flight.front().copied() else { return };
            if oldest.number + DUP_THRESH >= newest {
                return;
            }
            let flightsize = self.flightsize();
            self.flight.pop_front();
            self.unsent = self.unsent.saturating_add(if self.chunk.is_some() { MSS } else { 0 });
            self.controller.on_loss(&Loss {
                now: self.now,
                sent: oldest.sent(),
                flightsize,
                ..Loss::default()
            });
        }
    }

    fn flightsize(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    fn send(&mut self) {
        let has_room = |path: &Path| {
            path.flightsize() + MSS <= path.controller.directive().cwnd || path.flight.is_empty()
        };
        while self.unsent >= MSS && has_room(self) && self.paced_until <= self.now {
            self.unsent -= if self.chunk.is_some() { MSS } else { 0 };
            self.send_one();
            self.pace();
        }
    }

    /// Catches up with the events during the host's sleep.
    fn pace(&mut self) {
        let Some(rtt) = self.rtt.smoothed() else { return };
        let directive = self.controller.directive();
        let by_window = |gain: u64| rtt * MSS * 100 / (gain * directive.cwnd);
        let spacing = match directive.pacing {
            Pacing::Window => by_window(PACING_GAIN.1),
            Pacing::GrowingWindow => by_window(PACING_GAIN.0),
            Pacing::Rate(rate) => Span::of_bytes(MSS, rate),
            Pacing::Together { packets, every, .. } => every / u64::from(packets),
        };
        self.paced_until = self.paced_until.max(Time(self.now.0 - self.look.0)) + spacing;
    }

    fn send_one(&mut self) {
        let starts = self.link_free_at.max(self.now);
        let dropped = starts.since(self.now) >= TRANSMISSION * BUFFER;
        if self.flight.is_empty() {
            (self.totals.delivered_at, self.totals.first_sent_at) = (self.now, self.now);
        }
        let mut packet = Packet {
            number: self.next_number,
            sent_at: self.now,
            acked_at: None,
            forward: Span::ZERO,
            in_flight: self.flightsize() + MSS,
            totals: self.totals,
        };
        if !dropped {
            self.link_free_at = starts + TRANSMISSION;
            packet.forward = self.link_free_at.since(self.now) + BASE / 2;
            packet.acked_at = Some(self.link_free_at + BASE);
        }
        self.flight.push_back(packet);
        self.next_number += 1;
        self.controller.on_sent(&packet.sent());
    }
}
