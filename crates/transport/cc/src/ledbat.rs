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
use crate::current_delay::MAX_SAMPLES;
use crate::delay_meter::{kept, DelayMeter, FILTER, HISTORY};
use crate::delay_signal::SIGNAL;
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::Ack;
use crate::fixed::{to_16, Bytes16};
use crate::ledbat_core::ledbat::{Params, State};
use crate::ledbat_core::{AckEvent, Before};
use crate::ledbat_shell::{Delays, Rule, Shell};
use crate::ledbat_slow_start::{SlowStart, SLOW_START, SLOW_START_EXIT};
use crate::loss_gate::LossGate;
use crate::route_change::ROUTE_CHANGE;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// RFC 6817's bound of TARGET.
pub const MOST_TARGET: &str = "RFC 6817 §2.5: it MUST be 100 ms or less";

/// The parameter `init_cwnd`.
pub const INIT_CWND: Key<u64> = Key::count("init_cwnd", "packets", 2, (1, 4))
    .explained("window at the start, at least min_cwnd", "RFC 6817 §2.5");

params! {
    /// Parameters.
    pub table PARAMS;

    pub const TARGET: Key<Span> = Key::millis("target", 100, (1, 1000))
        .explained("queuing delay to steer to; above 100 ms there is a warning", "RFC 6817 §2.5")
        .at_most_millis(100, MOST_TARGET);
    pub const GAIN: Key<f64> = Key::number("gain", "packets per RTT", 1.0, (0.001, 1.0))
        .explained("growth on an empty queue", "RFC 6817 §2.5");
    pub const DECREASE_GAIN: Key<f64> = Key::number("decrease_gain", "packets per RTT", 1.0, (0.001, 100.0))
        .explained("shrinking per TARGET of excess delay", "RFC 6817 §2.5");
    pub const EIGHTHS: Key<bool> = Key::choice("decrease", &["proportional", "eighth"], &[false, true])
        .explained(
            "above target: by the law, or by an eighth of the window once per round trip, as Apple's first LEDBAT",
            "RFC 6817 §2.4.2; xnu-11417 tcp_ledbat.c",
        );
    const ALLOWED_INCREASE: Key<u64> = Key::count("allowed_increase", "packets", 1, (1, 1000))
        .explained(
            "how far an application-limited window may exceed what was in flight; Apple: 8",
            "RFC 6817 §2.5",
        );
    const TETHER: Key<u64> = Key::count("tether", "times flightsize", 1, (1, 16))
        .explained("multiple of the bytes in flight in that bound; Apple: 2", "xnu-11417 tcp_ledbat.c");
    use HISTORY, FILTER, INIT_CWND;
    pub const MIN_CWND: Key<u64> = Key::count("min_cwnd", "packets", 2, (1, 4))
        .explained("window's floor", "RFC 6817 §2.5");
    use SLOW_START, SLOW_START_EXIT, SIGNAL, CLOCK_SKEW, ROUTE_CHANGE;
}

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
pub type Ledbat = Shell<Rfc6817>;

/// The rule of RFC 6817, and a part of Apple's.
#[derive(Clone, Debug)]
pub struct Rfc6817 {
    params: Params,
    pub(crate) state: State<MAX_BINS, MAX_SAMPLES, { MAX_SAMPLES - 1 }>,
    eighths: Option<Eighths>,
}

/// The decrease of Apple's first LEDBAT above the target: an eighth of the window, once per round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Eighths(LossGate);

impl Ledbat {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Ledbat {
        let params = Params {
            target_us: settings.get(&TARGET).as_micros(),
            gain16: to_16(settings.get(&GAIN)),
            decrease_gain16: to_16(settings.get(&DECREASE_GAIN)),
            allowed_increase: settings.get(&ALLOWED_INCREASE),
            tether: settings.get(&TETHER),
            init_cwnd: settings.get(&INIT_CWND),
            min_cwnd: settings.get(&MIN_CWND),
            mss: u64::from(mss),
            kept: kept(settings),
        };
        let eighths = settings.get(&EIGHTHS).then(Eighths::default);
        let rule = Rfc6817 { state: State::new(&params), params, eighths };
        Shell::around(rule, DelayMeter::new(settings), SlowStart::new(settings, &TARGET))
    }
}

impl Rfc6817 {
    /// Lets no eighth go together with a halving of the window.
    fn note_reduction(&mut self, now: Time) {
        if let Some(Eighths(gate)) = &mut self.eighths {
            gate.close(now);
        }
    }
}

impl Rule for Rfc6817 {
    fn cwnd(&self) -> Bytes16 {
        self.state.cwnd
    }

    fn floor(&self) -> Bytes16 {
        self.state.floor(&self.params)
    }

    fn delays(&self) -> &Delays {
        &self.state.delay
    }

    fn delays_mut(&mut self) -> &mut Delays {
        &mut self.state.delay
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: &mut SlowStart, queuing_us: Option<u32>) -> bool {
        let (p, event, eighths) = (&self.params, AckEvent::of(ack), &mut self.eighths);
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
        }
        halved
    }

    fn on_loss(&mut self, sent_at: Time, now: Time) -> bool {
        let counts = self.state.on_loss(&self.params, sent_at.0, now.0);
        if counts {
            self.note_reduction(now);
        }
        counts
    }

    fn on_timeout(&mut self, now: Time) {
        self.state.on_timeout(&self.params, now.0);
        self.note_reduction(now);
    }

    fn on_idle(&mut self) {
        self.state.on_idle(&self.params);
    }

    fn on_mtu(&mut self, mss: u64) {
        self.params.mss = mss;
        self.state.on_mtu(&self.params);
    }

    fn mss(&self) -> u64 {
        self.params.mss
    }

    fn before(&self) -> Before {
        self.state.before()
    }

    fn undo(&mut self, before: &Before) {
        self.state.undo(before);
    }

    fn target_us(&self) -> u64 {
        self.params.target_us
    }

    fn gain16(&self) -> u64 {
        self.params.gain16
    }
}

#[cfg(test)]
mod tests;
