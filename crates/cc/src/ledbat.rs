//! LEDBAT, RFC 6817: steer the queue to TARGET.
//!
//! # Model
//! The difference between the delay now and the delay of the empty path is the queue. Below TARGET the window grows,
//! in proportion to what is missing and never faster than Reno's one packet per round trip; above TARGET it shrinks
//! by the same law:
//!
//! ```text
//!   cwnd += GAIN · (TARGET − queuing_delay)/TARGET · bytes_acked · MSS / cwnd
//! ```
//!
//! A competing loss-based flow fills the buffer past TARGET, and LEDBAT leaves.
//!
//! # States
//! ```text
//!   [slow start] ──ssthresh, loss, or queue > exit fraction──▶ congestion avoidance ◀──loss: halve once per RTT
//!        ▲                                                            │
//!        └───────────────(only if slow_start is not "none")──timeout──┘
//! ```
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | TARGET | 100 ms | the most that §2.5 allows, and what deployed clients use |
//! | GAIN | 1 | the most that §2.5 allows: Reno's growth on an empty queue |
//! | decrease gain | 1 | §2.5 allows more; equal is the plain reading |
//! | ALLOWED_INCREASE | 1 packet | §2.5, SHOULD |
//! | BASE_HISTORY | 10 bins of a minute | §2.5, SHOULD |
//! | CURRENT_FILTER | minimum of 4 | §2.4.2 leaves the filter open; a minimum ignores delayed acks |
//! | INIT_CWND, MIN_CWND | 2 packets | §2.5 |
//! | slow start | none | §2.2 makes it optional; the conservative sender starts at INIT_CWND |
//!
//! # Source
//! RFC 6817 (December 2012), sections at each rule.
//!
//! # Not implemented
//! Clock-skew correction and route-change detection beyond the history's own; several delay samples per ack.
//!
//! # Known bad cases
//! A latecomer that starts while another flow holds the queue takes base + TARGET for its base and starves the first
//! (§4.4). After BASE_HISTORY minutes alone the base drifts up by about TARGET. Where the buffer or an AQM keeps the
//! queue below TARGET, it competes as Reno does. Of two targets the larger wins.

use crate::base_delay::{BaseDelay, BASE_HISTORY, MAX_BINS};
use crate::controller::{Controller, Snapshot};
use crate::current_delay::{CurrentDelay, CURRENT_FILTER, MAX_SAMPLES};
use crate::delay_signal::DelaySignal;
use crate::event::{Ack, Idle, Loss, Timeout};
use crate::fixed::Bytes16;
#[cfg(feature = "alloc")]
use crate::list::{Class, Entry};
use crate::loss_gate::LossGate;
use crate::param::{Param, Settings};
use crate::units::Span;

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::millis("target", 100, (1, 100)).explained("queuing delay to steer to", "RFC 6817 §2.5"),
    Param::number("gain", "packets per RTT", 1.0, (0.001, 1.0))
        .explained("growth on an empty queue", "RFC 6817 §2.5"),
    Param::number("decrease_gain", "packets per RTT", 1.0, (0.001, 100.0))
        .explained("shrinking per TARGET of excess delay", "RFC 6817 §2.5"),
    Param::count("allowed_increase", "packets", 1, (1, 1000))
        .explained("how far the window may exceed what is in flight", "RFC 6817 §2.5"),
    Param::count("base_history", "minutes", BASE_HISTORY as u64, (1, MAX_BINS as u64))
        .explained("minutes that the base delay remembers", "RFC 6817 §2.5"),
    Param::count("current_filter", "samples", CURRENT_FILTER as u64, (1, MAX_SAMPLES as u64))
        .explained("newest samples of which the smallest counts", "RFC 6817 §2.4.2"),
    Param::count("init_cwnd", "packets", 2, (1, 4)).explained("window at the start", "RFC 6817 §2.5"),
    Param::count("min_cwnd", "packets", 2, (1, 4)).explained("window's floor", "RFC 6817 §2.5"),
    Param::choice("slow_start", "none", &["none", "rfc5681", "delay"])
        .explained("exponential start: not at all, until ssthresh, or until the delay exit", "RFC 6817 §2.2"),
    Param::number("slow_start_exit", "of target", 0.75, (0.05, 1.0))
        .explained("queuing delay at which slow_start = delay ends", "LEDBAT++ draft-01 §4.1"),
    Param::choice("signal", "one-way", &["one-way", "rtt"])
        .explained("delay that is measured; until the first one-way sample the RTT serves", "RFC 6817 §2.3"),
];

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    name: "ledbat",
    class: Class::Background,
    summary: "steers the queue to a target delay and leaves when others fill it",
    source: "RFC 6817",
    params: PARAMS,
    make: |settings, mss| alloc::boxed::Box::new(Ledbat::new(settings, mss)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlowStart {
    None,
    Rfc5681,
    DelayExit,
}

/// An RFC 6817 controller.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target_us: u64,
    gain16: u64,
    decrease_gain16: u64,
    allowed_increase: u64,
    init_cwnd: u64,
    min_cwnd: u64,
    slow_start_policy: SlowStart,
    exit_us: u64,
    signal: DelaySignal,
    mss: u64,
    cwnd: Bytes16,
    ssthresh: u64,
    in_slow_start: bool,
    base: BaseDelay,
    current: CurrentDelay,
    queuing_us: Option<u32>,
    gate: LossGate,
}

impl Ledbat {
    /// A controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Ledbat {
        let target_us = settings.time("target").as_micros();
        let slow_start_policy = match settings.choice("slow_start") {
            "rfc5681" => SlowStart::Rfc5681,
            "delay" => SlowStart::DelayExit,
            _ => SlowStart::None,
        };
        let init_cwnd = settings.count("init_cwnd");
        Ledbat {
            target_us,
            gain16: to_16(settings.number("gain")),
            decrease_gain16: to_16(settings.number("decrease_gain")),
            allowed_increase: settings.count("allowed_increase"),
            init_cwnd,
            min_cwnd: settings.count("min_cwnd"),
            slow_start_policy,
            exit_us: (target_us * to_16(settings.number("slow_start_exit"))) >> 16,
            signal: DelaySignal::named(settings.choice("signal")),
            mss: u64::from(mss),
            cwnd: Bytes16::from_bytes(init_cwnd * u64::from(mss)),
            ssthresh: u64::MAX,
            in_slow_start: slow_start_policy != SlowStart::None,
            base: BaseDelay::new(settings.count("base_history") as usize),
            current: CurrentDelay::new(settings.count("current_filter") as usize),
            queuing_us: None,
            gate: LossGate::default(),
        }
    }

    fn floor(&self) -> Bytes16 {
        Bytes16::from_bytes(self.min_cwnd * self.mss)
    }

    /// §2.4.2: base and current delay, then their difference.
    fn measure(&mut self, ack: &Ack) {
        self.signal.measure(ack, &mut self.base, &mut self.current);
        // §2.5: no sample older than one round trip.
        let max_age = if ack.smoothed_rtt == Span::ZERO { Span::MAX } else { ack.smoothed_rtt };
        self.queuing_us = self.base.get().and_then(|base| self.current.queuing_us(base, ack.now, max_age));
    }

    /// §2.4.2: `cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd`.
    fn steer(&mut self, acked: u64, queuing_us: u64) {
        let reno_step = Bytes16::from_bytes(acked).times(self.mss << 16, self.cwnd.0);
        if queuing_us <= self.target_us {
            let step =
                reno_step.times(self.target_us - queuing_us, self.target_us).times(self.gain16, 1 << 16);
            self.cwnd = self.cwnd.plus(step);
            return;
        }
        let step =
            reno_step.times(queuing_us - self.target_us, self.target_us).times(self.decrease_gain16, 1 << 16);
        self.cwnd = self.cwnd.minus(step);
    }

    /// RFC 5681 slow start, with LEDBAT++'s delay exit if asked for.
    fn grow_exponentially(&mut self, acked: u64) {
        let queue_stands = self.queuing_us.is_some_and(|queuing| u64::from(queuing) > self.exit_us);
        if self.slow_start_policy == SlowStart::DelayExit && queue_stands {
            self.in_slow_start = false;
            self.ssthresh = self.cwnd.to_bytes();
            return;
        }
        self.cwnd = self.cwnd.plus(Bytes16::from_bytes(acked));
        self.in_slow_start = self.cwnd.to_bytes() < self.ssthresh;
    }

    /// §2.4.2: halve, but never let a small window grow by it.
    fn reduce(&mut self) {
        let halved = Bytes16(self.cwnd.0 / 2).max(self.floor());
        self.cwnd = self.cwnd.min(halved);
        self.ssthresh = self.cwnd.to_bytes();
        self.in_slow_start = false;
    }
}

/// A ratio with 16 fractional bits.
fn to_16(ratio: f64) -> u64 {
    (ratio * 65536.0 + 0.5) as u64
}

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        if ack.ce_marks > 0 && self.gate.admit(ack.sent_at, ack.now) {
            self.reduce(); // §1.3: a mark is a loss
            return;
        }
        let acked = ack.delivered();
        match self.queuing_us {
            _ if self.in_slow_start => self.grow_exponentially(acked),
            Some(queuing_us) => self.steer(acked, u64::from(queuing_us)),
            None => {} // no fresh sample: skip the delay-based step
        }
        // §2.4.2: an application-limited window does not run away.
        let allowed = Bytes16::from_bytes(ack.flightsize.saturating_add(self.allowed_increase * self.mss));
        self.cwnd = self.cwnd.min(allowed).max(self.floor());
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.gate.admit(loss.sent_at, loss.now) {
            self.reduce();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // RFC 5681 §3.1: ssthresh is set at the first expiry only, or an outage would erase it.
        if timeout.consecutive == 1 {
            self.ssthresh = (timeout.flightsize.min(self.cwnd.to_bytes()) / 2).max(2 * self.mss);
        }
        // §2.4.2: no ack within CTO.
        self.cwnd = Bytes16::from_bytes(self.mss);
        self.in_slow_start = self.slow_start_policy != SlowStart::None;
        self.gate.close(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.cwnd = self.cwnd.min(Bytes16::from_bytes(self.init_cwnd * self.mss)).max(self.floor());
            self.current.clear(); // §2.4.2 keeps the base list through idle
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = u64::from(mss);
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn cwnd(&self) -> u64 {
        self.cwnd.to_bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.in_slow_start
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.in_slow_start { "slow start" } else { "congestion avoidance" },
            cwnd: self.cwnd(),
            ssthresh: (self.ssthresh != u64::MAX).then_some(self.ssthresh),
            base_delay: self
                .base
                .get()
                .filter(|_| self.signal.is_rtt())
                .map(|us| Span::from_micros(u64::from(us))),
            queuing_delay: self.queuing_us.map(|us| Span::from_micros(u64::from(us))),
            target: Some(Span::from_micros(self.target_us)),
            gain: Some(self.gain16 as f64 / 65536.0),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
