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
//! | decrease, tether, ALLOWED_INCREASE | as above, 1, 1 | Apple's first LEDBAT: `eighth`, 2, 8, with a target of 40 ms |
//! | clock skew | estimated, corrected | the RFC leaves it open (§A.2); see [`crate::clock_drift`] |
//! | route change | off | the RFC waits for the history; see [`crate::route_change`] |
//!
//! # Source
//! RFC 6817 (December 2012), sections at each rule.
//!
//! # Not implemented
//! Several delay samples per ack. CTO's own backoff: the transport's retransmission timer is the timeout here.
//!
//! # Known bad cases
//! A latecomer that starts while another flow holds the queue takes base + TARGET for its base and starves the first
//! (§4.4). After BASE_HISTORY minutes alone the base drifts up by about TARGET. Where the buffer or an AQM keeps the
//! queue below TARGET, it competes as Reno does. Of two targets the larger wins.

use crate::clock_skew::CLOCK_SKEW;
use crate::controller::{Controller, Snapshot};
use crate::delay_meter::{DelayMeter, FILTER, HISTORY};
use crate::event::{Ack, Idle, Loss, Timeout};
use crate::fixed::{to_16, Bytes16};
use crate::ledbat_slow_start::{SlowStart, SLOW_START, SLOW_START_EXIT};
#[cfg(feature = "alloc")]
use crate::list::{Class, Entry};
use crate::loss_gate::LossGate;
use crate::param::{Param, Settings};
use crate::route_change::ROUTE_CHANGE;
use crate::units::{Span, Time};
use crate::window_use::WindowUse;

/// The row `signal` of a parameter table whose default is one-way delays.
pub const SIGNAL: Param = Param::choice("signal", "one-way", &["one-way", "rtt"])
    .explained("delay that is measured; until the first one-way sample the RTT serves", "RFC 6817 §2.3");

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::millis("target", 100, (1, 100)).explained("queuing delay to steer to", "RFC 6817 §2.5"),
    Param::number("gain", "packets per RTT", 1.0, (0.001, 1.0))
        .explained("growth on an empty queue", "RFC 6817 §2.5"),
    Param::number("decrease_gain", "packets per RTT", 1.0, (0.001, 100.0))
        .explained("shrinking per TARGET of excess delay", "RFC 6817 §2.5"),
    Param::choice("decrease", "proportional", &["proportional", "eighth"]).explained(
        "above target: by the law, or by an eighth of the window once per round trip, as Apple's first LEDBAT",
        "RFC 6817 §2.4.2; xnu-11417 tcp_ledbat.c",
    ),
    Param::count("allowed_increase", "packets", 1, (1, 1000))
        .explained(
            "how far an application-limited window may exceed what was in flight; Apple: 8",
            "RFC 6817 §2.5",
        ),
    Param::count("tether", "times flightsize", 1, (1, 16))
        .explained("what is in flight counts so many times in that bound; Apple: 2", "xnu-11417 tcp_ledbat.c"),
    HISTORY,
    FILTER,
    Param::count("init_cwnd", "packets", 2, (1, 4)).explained("window at the start", "RFC 6817 §2.5"),
    Param::count("min_cwnd", "packets", 2, (1, 4)).explained("window's floor", "RFC 6817 §2.5"),
    SLOW_START,
    SLOW_START_EXIT,
    SIGNAL,
    CLOCK_SKEW,
    ROUTE_CHANGE,
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

/// An RFC 6817 controller.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target_us: u64,
    gain16: u64,
    decrease_gain16: u64,
    by_eighths: bool,
    allowed_increase: u64,
    tether: u64,
    init_cwnd: u64,
    min_cwnd: u64,
    mss: u64,
    cwnd: Bytes16,
    slow_start: SlowStart,
    meter: DelayMeter,
    /// Losses and marks once per round trip.
    gate: LossGate,
    /// Eighths once per round trip.
    eighth_gate: LossGate,
    window_use: WindowUse,
}

impl Ledbat {
    /// A controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Ledbat {
        let init_cwnd = settings.count("init_cwnd");
        Ledbat {
            target_us: settings.time("target").as_micros(),
            gain16: to_16(settings.number("gain")),
            decrease_gain16: to_16(settings.number("decrease_gain")),
            by_eighths: settings.choice("decrease") == "eighth",
            allowed_increase: settings.count("allowed_increase"),
            tether: settings.count("tether"),
            init_cwnd,
            min_cwnd: settings.count("min_cwnd"),
            mss: u64::from(mss),
            cwnd: Bytes16::from_bytes(init_cwnd * u64::from(mss)),
            slow_start: SlowStart::new(settings),
            meter: DelayMeter::new(settings),
            gate: LossGate::default(),
            eighth_gate: LossGate::default(),
            window_use: WindowUse::default(),
        }
    }

    fn floor(&self) -> Bytes16 {
        Bytes16::from_bytes(self.min_cwnd * self.mss)
    }

    /// §2.4.2: `cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd`.
    fn steer(&mut self, ack: &Ack, queuing_us: u64) {
        let acked = ack.delivered();
        let reno_step = |acked: u64| Bytes16::from_bytes(acked).times(self.mss << 16, self.cwnd.0);
        if queuing_us <= self.target_us {
            // One ack for more than a window, as after a needless timeout, says no more than one for a window.
            let reno_step = reno_step(acked.min(self.cwnd.to_bytes()));
            let step =
                reno_step.times(self.target_us - queuing_us, self.target_us).times(self.gain16, 1 << 16);
            self.cwnd = self.cwnd.plus(step);
            return;
        }
        if self.by_eighths {
            if self.eighth_gate.admit(ack.sent_at, ack.now) {
                self.cwnd = self.cwnd.minus(Bytes16(self.cwnd.0 / 8));
            }
            return;
        }
        let step = reno_step(acked)
            .times(queuing_us - self.target_us, self.target_us)
            .times(self.decrease_gain16, 1 << 16);
        self.cwnd = self.cwnd.minus(step);
    }

    /// §2.4.2, `max_allowed_cwnd`: an application-limited window does not run away. §2.5: it is limited by the flight size
    /// "in the previous RTT".
    fn most_allowed(&self) -> Bytes16 {
        let tethered = self.window_use.most_in_flight().saturating_mul(self.tether);
        Bytes16::from_bytes(tethered.saturating_add(self.allowed_increase * self.mss))
    }

    /// §2.4.2: halve, but never let a small window grow by it.
    fn reduce(&mut self, now: Time) {
        self.eighth_gate.close(now);
        let halved = Bytes16(self.cwnd.0 / 2).max(self.floor());
        self.cwnd = self.cwnd.min(halved);
        self.slow_start.end(self.cwnd);
    }
}

/// §2.5: no sample older than one round trip; before there is one, all are young.
pub(crate) fn max_age(ack: &Ack) -> Span {
    match ack.smoothed_rtt {
        Span::ZERO => Span::MAX,
        rtt => rtt,
    }
}

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Ack) {
        self.meter.measure(ack, max_age(ack), self.cwnd <= self.floor());
        self.window_use.on_ack(ack, self.cwnd.to_bytes(), self.mss);
        if ack.ce_marks > 0 && self.gate.admit(ack.sent_at, ack.now) {
            self.reduce(ack.now); // §1.3: a mark is a loss
            return;
        }
        match self.meter.queuing_us() {
            queuing_us if self.slow_start.is_on() => {
                self.cwnd = self.slow_start.grow(self.cwnd, ack.delivered(), queuing_us);
            }
            Some(queuing_us) => self.steer(ack, u64::from(queuing_us)),
            None => {} // no fresh sample: skip the delay-based step
        }
        if self.window_use.is_app_limited() {
            self.cwnd = self.cwnd.min(self.most_allowed());
        }
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.gate.admit(loss.sent_at, loss.now) {
            self.reduce(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.slow_start.begin_again(
            timeout.consecutive,
            timeout.flightsize.min(self.cwnd.to_bytes()),
            self.mss,
        );
        // §2.4.2: no ack within CTO.
        self.cwnd = Bytes16::from_bytes(self.mss);
        self.gate.close(timeout.now);
        self.eighth_gate.close(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.cwnd = self.cwnd.min(Bytes16::from_bytes(self.init_cwnd * self.mss)).max(self.floor());
            self.meter.forget_present(); // §2.4.2 keeps the base list through idle
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
        self.slow_start.is_on()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.slow_start.is_on() { "slow start" } else { "congestion avoidance" },
            cwnd: self.cwnd(),
            ssthresh: self.slow_start.ssthresh(),
            base_delay: self.meter.base(),
            queuing_delay: self.meter.queuing(),
            target: Some(Span::from_micros(self.target_us)),
            gain: Some(self.gain16 as f64 / 65536.0),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
