//! `polite`: a background controller with one parameter, the queuing delay that it tolerates.
//!
//! # Model
//! The queuing delay q is the current round-trip time minus the base round-trip time. Up to `limit` the window grows as Reno's
//! does; above it, the window halves as if a packet had been lost:
//!
//! ```text
//!   q ≤ limit:                  cwnd += MSS · acked / cwnd        slow start, below ssthresh: cwnd += acked
//!   q > limit, loss, or mark:   cwnd = ssthresh = max(cwnd / 2, 2 MSS)          once per round trip
//!   timeout:                    ssthresh likewise, cwnd = MSS
//! ```
//!
//! # States
//! Slow start until the first queue, loss or mark; growth by a packet per round trip after it. A timeout, or an idle time
//! longer than one, leads back to slow start, up to the window after the last reduction.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | `limit` | 20 ms | a call does not notice it, and a link whose base delay is no longer stays full after a halving |
//! | floor, window at the start and after idle | 2 packets | receivers delay the acknowledgement of a single packet |
//!
//! # Source
//! None; an example. The parts are those of LEDBAT (RFC 6817) and Reno (RFC 5681).
//!
//! # Known bad cases
//! A flow that starts on a standing queue measures that queue as part of the base delay. Where the base delay is longer than
//! `limit`, part of the link stays unused after each halving, up to a quarter on average. With a buffer shorter than `limit`
//! it behaves as Reno.

use afteryou_base::param::{Key, Settings};
use afteryou_base::{params, About, Span, Time};
use afteryou_cc::base_delay::{BaseDelay, BASE_HISTORY};
use afteryou_cc::current_delay::{CurrentDelay, CURRENT_FILTER};
use afteryou_cc::delay_signal::rtt_us;
use afteryou_cc::list::{Class, Entry};
use afteryou_cc::loss_gate::LossGate;
use afteryou_cc::{Ack, Bytes16, Controller, Directive, Idle, Loss, Snapshot, Timeout};

/// Fewest packets that a queue or a loss leaves, and packets at the start.
const FLOOR: u64 = 2;

params! {
    /// Parameters.
    pub table PARAMS;

    const LIMIT: Key<Span> = Key::millis("limit", 20, (1, 1000))
        .explained("queuing delay that halves the window", "ours");
}

/// The entry for the list of controllers: the name, the parameters, and a constructor.
pub static POLITE: Entry = Entry {
    about: About {
        name: "polite",
        summary: "grows by a packet per round trip and halves when the queue passes a limit",
        source: "examples/own-controller",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| Box::new(Polite::new(settings, setup.mss)),
};

/// A `polite` controller.
#[derive(Clone, Debug)]
pub struct Polite {
    limit: Span,
    packet: Bytes16,
    cwnd: Bytes16,
    ssthresh: Bytes16,
    base: BaseDelay,
    current: CurrentDelay,
    queue: Option<Span>,
    gate: LossGate,
}

impl Polite {
    /// Returns a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Polite {
        let packet = Bytes16::from_bytes(mss.into());
        Polite {
            limit: settings.get(&LIMIT),
            packet,
            cwnd: packet.times(FLOOR, 1),
            ssthresh: Bytes16::MAX,
            base: BaseDelay::new(BASE_HISTORY),
            current: CurrentDelay::new(CURRENT_FILTER),
            queue: None,
            gate: LossGate::default(),
        }
    }

    fn floor(&self) -> Bytes16 {
        self.packet.times(FLOOR, 1)
    }

    /// Updates the queuing delay: the smallest recent round-trip time, none older than a round trip, minus the base.
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt_us) = rtt_us(ack) {
            self.base.update(ack.now, rtt_us);
            self.current.push(ack.now, rtt_us);
        }
        let queue_us = self.base.get().and_then(|us| self.current.queuing_us(us, ack.now, ack.smoothed_rtt?));
        self.queue = queue_us.map(|us| Span::from_micros(us.into()));
    }

    /// Returns whether the delay exceeds its limit. Below the floor it means nothing: the receiver may have delayed a single
    /// packet's acknowledgement.
    fn exceeds_limit(&self) -> bool {
        self.cwnd >= self.floor() && self.queue.is_some_and(|queue| queue > self.limit)
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn grow(&mut self, acked: Bytes16) {
        self.cwnd = match self.in_slow_start() {
            true => self.cwnd.plus(acked).min(self.ssthresh),
            false => self.cwnd.plus(acked.times(self.packet.0, self.cwnd.0).min(self.packet)),
        };
    }

    /// Returns half of the window, at least the floor but never more than the window.
    fn halved(&self) -> Bytes16 {
        self.cwnd.times(1, 2).max(self.floor()).min(self.cwnd)
    }

    /// Reduces the window, unless the packet was sent before the latest reduction.
    fn reduce(&mut self, sent_at: Time, now: Time) {
        if self.gate.admit(sent_at, now) {
            self.cwnd = self.halved();
            self.ssthresh = self.cwnd;
        }
    }
}

impl Controller for Polite {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        if self.exceeds_limit() || ack.marks.any() {
            self.reduce(ack.sent_at, ack.now);
            return;
        }
        if !ack.app_limited && !self.gate.is_before_reduction(ack.sent_at) {
            self.grow(Bytes16::from_bytes(ack.delivered()));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduce(loss.sent.now, loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.consecutive == 1 {
            self.ssthresh = self.halved().max(self.floor()); // later ones would erase it
        }
        self.cwnd = self.packet;
        self.gate.close(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.cwnd = self.cwnd.min(self.floor());
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.packet = Bytes16::from_bytes(mss.into());
        self.cwnd = self.cwnd.max(self.packet);
    }

    fn directive(&self) -> Directive {
        Directive::growing_window(self.cwnd.to_bytes(), self.in_slow_start())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.in_slow_start() { "slow start" } else { "congestion avoidance" },
            cwnd: self.cwnd.to_bytes(),
            ssthresh: (self.ssthresh != Bytes16::MAX).then(|| self.ssthresh.to_bytes()),
            base_delay: self.base.get().map(|us| Span::from_micros(us.into())),
            queuing_delay: self.queue,
            target: Some(self.limit),
            ..Snapshot::default()
        }
    }
}
