//! One flow over one bottleneck, packet by packet, with a reverse path and a receiver's clock that the test decides.
//!
//! ```text
//!   sender ──▶ FIFO of RATE and BUFFER ──25 ms──▶ receiver (skewed clock) ──25 ms + reverse queue──▶ sender
//! ```
//! Every packet is acknowledged; a dropped one is reported lost when the next ack would have come.

use std::collections::VecDeque;

use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::list::find;
use afteryou_cc::{Ack, Controller, Loss, Sent, Setup};

const MSS: u64 = 1500;
const BITS_PER_S: u64 = 20_000_000;
const ONE_WAY: Span = Span::from_millis(25);
const BUFFER: Span = Span::from_millis(400);

/// The reverse path's queuing delay, ms, at a time in seconds.
pub type ReverseMs = fn(f64) -> f64;

/// Settings of a test.
pub struct Path {
    /// How fast the receiver's clock runs, ppm.
    pub skew_ppm: i32,
    pub reverse_ms: ReverseMs,
}

impl Path {
    /// Equal clocks and an empty reverse path.
    pub const PLAIN: Path = Path { skew_ppm: 0, reverse_ms: |_| 0.0 };
}

/// A packet whose fate is decided; the sender learns of it at `known_at`.
struct Packet {
    number: u64,
    sent_at: Time,
    received_at: Time,
    known_at: Time,
    lost: bool,
}

/// A loop that has run to some time.
pub struct Loop {
    controller: Box<dyn Controller>,
    path: Path,
    now: Time,
    busy_until: Time,
    in_flight: VecDeque<Packet>,
    next_number: u64,
    smoothed_rtt: Option<Span>,
    round_end: u64,
}

impl Loop {
    pub fn new(name: &str, overrides: &[(&'static str, Value)], path: Path) -> Loop {
        let controller =
            find(name).expect("in the list").build(overrides, Setup::of(MSS as u32)).expect("valid");
        Loop {
            controller,
            path,
            now: Time::ZERO,
            busy_until: Time::ZERO,
            in_flight: VecDeque::new(),
            next_number: 0,
            smoothed_rtt: None,
            round_end: 0,
        }
    }

    /// Runs until `until_s`; returns the mean queuing delay of the packets sent meanwhile, ms.
    pub fn mean_queue_ms(&mut self, until_s: u64) -> f64 {
        let (mut sum_ms, mut packets) = (0.0, 0u32);
        while self.now < Time::from_millis(1000 * until_s) {
            while self.controller.directive().cwnd >= (self.in_flight.len() as u64 + 1) * MSS {
                sum_ms += self.send().as_millis_f64();
                packets += 1;
            }
            if let Some(packet) = self.in_flight.pop_front() {
                self.learn(&packet);
            }
        }
        sum_ms / f64::from(packets)
    }

    /// Sends a packet and returns how long it waits.
    fn send(&mut self) -> Span {
        let wait = self.busy_until.since(self.now);
        let lost = wait > BUFFER;
        if !lost {
            self.busy_until = self.busy_until.max(self.now) + Span(MSS * 8 * 1_000_000_000 / BITS_PER_S);
        }
        let received_at = self.busy_until + ONE_WAY;
        let reverse = ONE_WAY + Span((1e6 * (self.path.reverse_ms)(received_at.as_secs_f64())) as u64);
        // Acks stay in order when a reverse queue goes.
        let known_at =
            self.in_flight.back().map_or(Time::ZERO, |last| last.known_at).max(received_at + reverse);
        let (number, sent_at) = (self.next_number, self.now);
        self.next_number += 1;
        self.in_flight.push_back(Packet { number, sent_at, received_at, known_at, lost });
        let in_flight = self.in_flight.len() as u64 * MSS;
        let sent = Sent { now: self.now, bytes: MSS, packet_number: number, in_flight, ..Sent::default() };
        self.controller.on_sent(&sent);
        wait
    }

    fn learn(&mut self, packet: &Packet) {
        self.now = packet.known_at;
        let now = self.now;
        if self.controller.directive().wake_at.is_some_and(|at| at <= now) {
            self.controller.on_wake(now);
        }
        let flightsize = (self.in_flight.len() as u64 + 1) * MSS;
        let (sent_at, packet_number) = (packet.sent_at, packet.number);
        if packet.lost {
            let persistent = false;
            self.controller.on_loss(&Loss {
                now,
                sent: Sent { now: sent_at, bytes: MSS, packet_number, ..Sent::default() },
                flightsize,
                persistent,
                ..Loss::default()
            });
            return;
        }
        let rtt = now.since(sent_at);
        self.smoothed_rtt =
            Some(self.smoothed_rtt.map_or(rtt, |smoothed| Span((7 * smoothed.0 + rtt.0) / 8)));
        let round_start = packet_number >= self.round_end;
        if round_start {
            self.round_end = self.next_number;
        }
        let receivers_clock = packet.received_at.as_micros_on_clock(self.path.skew_ppm) as u32;
        self.controller.on_ack(&Ack {
            now,
            newly_acked: MSS,
            flightsize,
            in_flight: flightsize,
            sent_at,
            packet_number,
            rtt: Some(rtt),
            smoothed_rtt: self.smoothed_rtt,
            one_way_delay: Some(receivers_clock.wrapping_sub(sent_at.as_micros() as u32)),
            reverse_delay: Some((now.as_micros() as u32).wrapping_sub(receivers_clock)),
            round_start,
            ..Ack::default()
        });
    }
}
