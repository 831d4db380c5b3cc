//! LEDBAT, RFC 6817: steer the queue to TARGET.
//!
//! # Model
//! The queuing delay is the current delay minus the base delay. Below TARGET the window grows in proportion to the
//! distance from TARGET, and never faster than Reno's one packet per round trip. Above TARGET it shrinks by the same
//! law:
//!
//! ```text
//!   cwnd += GAIN · (TARGET − queuing_delay)/TARGET · bytes_acked · MSS / cwnd
//! ```
//!
//! A competing loss-based flow fills the buffer past TARGET, and LEDBAT yields.
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
//! | TARGET | 100 ms | the most that §2.5 allows, and what deployed clients use; up to 1 s for experiments |
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
//! RFC 6817 (December 2012). The rule itself, with the sections, is in [`crate::ledbat_core::ledbat`]. RFC 6817 does not cover a
//! loss or timeout that proves to be none. Its halving is then undone by RFC 4015 §3.2, as for CUBIC and NewReno.
//!
//! # Not implemented
//! Several delay samples per ack. CTO's own backoff: the transport's retransmission timer is the timeout here.
//!
//! # Known bad cases
//! A latecomer that starts on another flow's standing queue measures base + TARGET as its base and starves the first
//! (§4.4). After BASE_HISTORY minutes alone the base drifts up by about TARGET. If the buffer or an AQM keeps the queue
//! below TARGET, it competes like Reno. Of two targets the larger wins.

use crate::base_delay::MAX_BINS;
use crate::clock_skew::CLOCK_SKEW;
use crate::controller::{Controller, Directive, Snapshot};
use crate::current_delay::MAX_SAMPLES;
use crate::delay_meter::{kept, DelayMeter, FILTER, HISTORY};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::fixed::{to_16, Bytes16};
use crate::ledbat_core::ledbat::{max_age, Params, State};
use crate::ledbat_core::{AckEvent, Before};
use crate::ledbat_slow_start::{SlowStart, SLOW_START, SLOW_START_EXIT};
#[cfg(feature = "alloc")]
use crate::list::{Class, Entry};
use crate::loss_gate::LossGate;
use crate::route_change::ROUTE_CHANGE;
use crate::undo::Undo;
use afteryou_base::param::{Param, Settings};
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// RFC 6817's bound of TARGET.
pub const MOST_TARGET: &str = "RFC 6817 §2.5: it MUST be 100 ms or less";

/// The row `signal` of a parameter table whose default is one-way delays.
pub const SIGNAL: Param = Param::choice("signal", "one-way", &["one-way", "rtt"])
    .explained("delay that is measured; until the first one-way sample the RTT serves", "RFC 6817 §2.3");

/// The row `init_cwnd` of a parameter table.
pub const INIT_CWND: Param = Param::count("init_cwnd", "packets", 2, (1, 4))
    .explained("window at the start, at least min_cwnd", "RFC 6817 §2.5");

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::millis("target", 100, (1, 1000))
        .explained("queuing delay to steer to; above 100 ms there is a warning", "RFC 6817 §2.5")
        .at_most_millis(100, MOST_TARGET),
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
        .explained("multiple of the bytes in flight in that bound; Apple: 2", "xnu-11417 tcp_ledbat.c"),
    HISTORY,
    FILTER,
    INIT_CWND,
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
    about: About {
        name: "ledbat",
        summary: "steers the queue to a target delay and leaves when others fill it",
        source: "RFC 6817",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Ledbat::new(settings, setup.mss)),
};

/// An RFC 6817 controller.
#[derive(Clone, Debug)]
pub struct Ledbat {
    params: Params,
    state: State<MAX_BINS, MAX_SAMPLES, { MAX_SAMPLES - 1 }>,
    meter: DelayMeter,
    slow_start: SlowStart,
    undo: Undo<(Before, SlowStart)>,
    eighths: Option<Eighths>,
}

/// The decrease of Apple's first LEDBAT above the target: an eighth of the window, once per round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Eighths(LossGate);

impl Ledbat {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Ledbat {
        let params = Params {
            target_us: settings.time("target").as_micros(),
            gain16: to_16(settings.number("gain")),
            decrease_gain16: to_16(settings.number("decrease_gain")),
            allowed_increase: settings.count("allowed_increase"),
            tether: settings.count("tether"),
            init_cwnd: settings.count("init_cwnd"),
            min_cwnd: settings.count("min_cwnd"),
            mss: u64::from(mss),
            kept: kept(settings),
        };
        Ledbat {
            state: State::new(&params),
            params,
            meter: DelayMeter::new(settings),
            slow_start: SlowStart::new(settings),
            undo: Undo::default(),
            eighths: (settings.choice("decrease") == "eighth").then(Eighths::default),
        }
    }

    /// Notes a halving of the window: slow start is over, and no eighth goes with it.
    fn note_reduction(&mut self, now: Time) {
        self.slow_start.end(self.state.cwnd);
        if let Some(eighths) = &mut self.eighths {
            eighths.0.close(now);
        }
    }
}

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        let cwnd = self.state.cwnd;
        let (p, event) = (&self.params, AckEvent::of(ack));
        let at_floor = self.state.cwnd <= self.state.floor(p);
        let queuing_us =
            self.meter.measure(ack, max_age(event.smoothed_rtt), at_floor, &mut self.state.delay);
        let (slow_start, eighths) = (&mut self.slow_start, &mut self.eighths);
        let halved = self.state.respond(p, &event, |state| match (queuing_us, eighths) {
            (queuing_us, _) if slow_start.is_on() => {
                state.cwnd = slow_start.grow(state.cwnd, event.delivered, p.mss, queuing_us);
            }
            (Some(queuing_us), Some(Eighths(gate))) if u64::from(queuing_us) > p.target_us => {
                if gate.admit(ack.sent_at, ack.now) {
                    state.cwnd = state.cwnd.minus(Bytes16(state.cwnd.0 / 8));
                }
            }
            (Some(queuing_us), _) => state.steer(p, event.delivered, u64::from(queuing_us)),
            (None, _) => {} // no fresh sample: skip the delay-based step
        });
        if halved {
            self.note_reduction(ack.now);
        } else if self.state.cwnd < cwnd {
            self.undo.saved().for_each(|(before, _)| before.lower(cwnd.minus(self.state.cwnd)));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let before = (self.state.before(), self.slow_start);
        if self.state.on_loss(&self.params, loss.sent.now.0, loss.now.0) {
            self.undo.keep(loss.now, before);
            self.note_reduction(loss.now);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if let Some((before, slow_start)) = self.undo.take(spurious) {
            self.state.undo(&before);
            self.slow_start = slow_start;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.consecutive == 1 {
            self.undo.keep(timeout.now, (self.state.before(), self.slow_start));
        }
        let flightsize = timeout.flightsize.min(self.state.cwnd.to_bytes());
        self.slow_start.begin_again(timeout.consecutive, flightsize, self.params.mss);
        self.state.on_timeout(&self.params, timeout.now.0);
        if let Some(eighths) = &mut self.eighths {
            eighths.0.close(timeout.now);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.state.on_idle(&self.params);
            self.meter.forget_present();
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.params.mss = u64::from(mss);
        self.state.on_mtu(&self.params);
    }

    fn directive(&self) -> Directive {
        Directive::growing_window(self.state.cwnd.to_bytes(), self.slow_start.is_on())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.slow_start.is_on() { "slow start" } else { "congestion avoidance" },
            cwnd: self.state.cwnd.to_bytes(),
            ssthresh: self.slow_start.ssthresh(),
            base_delay: self.meter.base(&self.state.delay),
            queuing_delay: self.meter.queuing(),
            target: Some(Span::from_micros(self.params.target_us)),
            gain: Some(self.params.gain16 as f64 / 65536.0),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
