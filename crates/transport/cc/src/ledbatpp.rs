//! LEDBAT++: LEDBAT that is fair to other LEDBAT++ flows and re-measures its base delay regularly.
//!
//! # Model
//! Round-trip times replace one-way delays. Below TARGET the window grows by GAIN ≤ 1 packets per round trip. GAIN is
//! smaller on shorter paths, so that the window never outgrows Reno where queues are short. Above TARGET it shrinks in
//! proportion to itself, at most by half in a round trip, so that two flows converge:
//!
//! ```text
//!   q ≤ TARGET:  W += GAIN
//!   q > TARGET:  W += max(GAIN − Constant · W · (q/TARGET − 1), −W/2)          never below 2 packets
//!   GAIN = 1 / min(16, ⌈2 · TARGET / base⌉)
//! ```
//!
//! From time to time it drops to 2 packets for two round trips and grows back. The queue empties, and every flow can
//! re-measure the base delay. These slowdowns take at most a tenth of the time.
//!
//! The rule is per round trip. Here each ack applies its share, `delta · acked / W`, with `W` frozen at the start of
//! the round so that the shares add up to the rule. They never add up to more. A round counts W bytes at most, however
//! many one ack covers. After a loss the half window counts the remainder of the rule.
//!
//! # States
//! ```text
//!   slow start ──q > ¾ TARGET, W ≥ ssthresh, or loss──▶ congestion avoidance ──2 RTT later──▶ freeze (W = 2, 2 RTT)
//!        ▲                                               ▲   │   ▲                              │
//!        │                                               │   │   └──W ≥ ssthresh, or loss── ramp ◀┘
//!        │                                               │   └──9 × the slowdown's duration later──▶ freeze
//!        └──timeout, idle, or the restart rule───────────┘
//! ```
//! Slow start multiplies the window by (1 + GAIN) in a round trip. Only three slow starts have the delay exit: the
//! initial one, one after idle, and one of the restart rule. Ramps and the climb after a timeout end at ssthresh.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | TARGET | 60 ms | §4.5: above delayed-ack timers, well below what calls notice |
//! | GAIN divisor's cap | 16 | §4.2: tunable; keeps growth alive on very short paths |
//! | Constant | 1 | §4.3 |
//! | decrease cap | W/2 per RTT | §4.3 |
//! | initial window, floor | 2 packets | §4.1, §4.3 |
//! | slow-start exit | ¾ of TARGET | §4.1: before the queue reaches the point where it would have to shrink |
//! | freeze | 2 RTT | §4.4 |
//! | wait | 9 × the slowdown | §4.4: a tenth of the time at most |
//! | base history | 10 bins of a minute | §3.3, as RFC 6817 |
//! | current filter | minimum of 4 | §4.5 |
//! | restart | off | ours, see [`crate::restart`]; the draft has nothing of the kind |
//!
//! # Source
//! draft-irtf-iccrg-ledbat-plus-plus-01; the rule itself, with the sections, is in [`crate::ledbat_core::ledbatpp`].
//! Where the draft states nothing: the freeze lasts two *smoothed* round trips as of its entry. A loss in the ramp ends
//! the slowdown. The climb after a timeout is followed by the same two-round-trip wait as the initial slow start. The draft does not
//! cover a loss or timeout that proves to be none. Its halving is then undone by RFC 4015 §3.2, and a slow start, ramp or
//! slowdown that it ended continues.
//!
//! # Not implemented
//! Proxies that break the delay measurement (§5) are not noticed.
//!
//! # Options of others
//! Off by default, in a file of their own. Bagnulo and García-Martínez (2022, §5.1.3) propose `instant_restore` and
//! `ignore_after_restore`. The restored window leaves as the transport sends any window. `restore_pacing` (ours) spreads it
//! over a round trip. A slowdown without a ramp takes two round trips, so the next one follows 18 round trips later.
//! `slowdown_gap` (ours) keeps slowdowns of any kind apart. Apple ships a target of 40 ms, `increase = packet`,
//! `decrease_with_gain = false`, `step = round`, `ramp_exit` and `defer = 30 s`.
//!
//! # Known bad cases
//! A queue held down by an AQM or a buffer shorter than TARGET: Reno-like, with growth scaled by GAIN. A loaded
//! reverse path looks like forward queue. Base delays of more than ~300 ms: the ramp itself overshoots TARGET.

use crate::base_delay::MAX_BINS;
use crate::clock_skew::CLOCK_SKEW;
use crate::controller::{Controller, Directive, Pacing, Snapshot};
use crate::current_delay::MAX_SAMPLES;
use crate::delay_meter::{kept, DelayMeter, FILTER, HISTORY};
use crate::delay_signal::DelaySignal;
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::fixed::{mul_div, to_16, Bytes16};
use crate::ledbat_core::ledbatpp::{Before, Params, Phase, State};
use crate::ledbat_core::AckEvent;
use crate::restart::ROUNDS;
use crate::route_change::ROUTE_CHANGE;
use crate::slowdown::NEVER;
use crate::undo::Undo;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;
use parts::Parts;

mod parts;

params! {
    /// Parameters.
    pub table PARAMS;

    pub const TARGET: Key<Span> = Key::millis("target", 60, (1, 100))
        .explained("queuing delay to stay below", "draft-01 §4.5");
    pub const GAIN_DIVISOR_MAX: Key<u64> = Key::count("gain_divisor_max", "", 16, (1, 256))
        .explained("GAIN is at least one over this", "draft-01 §4.2");
    pub const CONSTANT: Key<f64> = Key::number("constant", "", 1.0, (0.01, 16.0))
        .explained("how strongly the window shrinks per TARGET of excess", "draft-01 §4.3");
    pub const SLOW_START_EXIT: Key<f64> = Key::number("slow_start_exit", "of target", 0.75, (0.05, 1.0))
        .explained("queuing delay that ends the initial slow start", "draft-01 §4.1");
    pub const SLOWDOWNS: Key<bool> = Key::flag("slowdowns", true)
        .explained("drop to the floor now and then to see the base delay", "draft-01 §4.4");
    use HISTORY, FILTER;
    const INSTANT_RESTORE: Key<bool> = Key::flag("instant_restore", false)
        .explained("after the freeze the window is back at once, without a ramp", "Bagnulo 2022 §5.1.3");
    const RESTORE_PACING: Key<bool> = Key::flag("restore_pacing", false)
        .explained(
            "with instant_restore: the restored window is spread over a round trip, also by a transport that does not pace",
            "afteryou",
        );
    const COUNTS_RAMP_ALONE: Key<bool> = Key::choice("slowdown_length", &["whole", "ramp"], &[false, true])
        .explained(
            "the wait for the next slowdown is nine times the whole slowdown, or nine times its ramp alone",
            "draft-01 §4.4; ramp: Bagnulo 2022 appendix",
        );
    const SLOWDOWN_GAP: Key<Span> = Key::millis("slowdown_gap", 0, (0, 600_000))
        .explained("least time from the end of a slowdown to the next one", "afteryou");
    const IGNORE_AFTER_RESTORE: Key<bool> = Key::flag("ignore_after_restore", false)
        .explained(
            "delays of the round trip after a slowdown do not count: the reverse path made that queue itself",
            "Bagnulo 2022 §5.1.3",
        );
    pub const ONCE_A_ROUND: Key<bool> = Key::choice("step", &["ack", "round"], &[false, true])
        .explained(
            "apply the rule's share with each ack, or all of it once a window",
            "draft-01 §4.2; round: xnu-11417",
        );
    const WHOLE_PACKETS: Key<bool> = Key::choice("increase", &["gain", "packet"], &[false, true])
        .explained(
            "growth of a round trip: GAIN, or a whole packet as Apple does",
            "draft-01 §4.2; xnu-11417",
        );
    const DECREASE_WITH_GAIN: Key<bool> = Key::flag("decrease_with_gain", true)
        .explained(
            "growth and decrease go together; Apple's decrease goes alone",
            "draft-01 §4.3; xnu-11417",
        );
    const RAMP_EXIT: Key<bool> = Key::flag("ramp_exit", false)
        .explained(
            "ramps end when the queue exceeds TARGET, too, and such a slowdown counts twice as long, as Apple does",
            "xnu-11417 tcp_ledbat.c",
        );
    const DEFER: Key<Span> = Key::millis("defer", 0, (0, 600_000))
        .explained(
            "time by which a decrease postpones the next slowdown; Apple: 30 s",
            "xnu-11417 tcp_ledbat.c",
        );
    const SIGNAL: Key<DelaySignal> =
        Key::choice("signal", &["rtt", "one-way"], &[DelaySignal::Rtt, DelaySignal::OneWayAwaited])
        .explained("delay that is measured; one-way ignores the reverse path's queue", "draft-01 §4.5");
    use CLOCK_SKEW, ROUTE_CHANGE;
    pub const RESTART: Key<bool> = Key::flag("restart", false)
        .explained("slow start again once the path is empty after yielding to the floor", "afteryou");
    pub const RESTART_ROUNDS: Key<u64> = Key::count("restart_rounds", "rounds", ROUNDS, (1, 64))
        .explained("consecutive quiet rounds required before a restart", "afteryou");
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "ledbat++",
        summary: "stays below a target delay, yields fast, fair among its own kind",
        source: "draft-irtf-iccrg-ledbat-plus-plus-01",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(LedbatPp::new(settings, setup.mss)),
};

/// A LEDBAT++ controller.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    params: Params,
    /// The window and its rule, in `ledbat_core/ledbatpp.rs`.
    state: State<MAX_BINS, MAX_SAMPLES>,
    meter: DelayMeter,
    parts: Parts,
    undo: Undo<Before>,
}

impl LedbatPp {
    /// Creates the controller for bulk data in the background: the draft's defaults, and slow start [again](RESTART) once the others have
    /// left. Packets have `mss` bytes of payload.
    pub fn background(mss: u32) -> LedbatPp {
        LedbatPp::new(&Settings::of_checked(PARAMS, &[RESTART.set(true)]), mss)
    }

    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> LedbatPp {
        let target_us = settings.get(&TARGET).as_micros();
        let params = Params {
            target_us,
            divisor_max: settings.get(&GAIN_DIVISOR_MAX),
            constant16: to_16(settings.get(&CONSTANT)),
            exit_us: (target_us * to_16(settings.get(&SLOW_START_EXIT))) >> 16,
            mss: u64::from(mss),
            kept: kept(settings),
            slowdowns: settings.get(&SLOWDOWNS).into(),
        };
        LedbatPp {
            state: State::new(&params),
            params,
            meter: DelayMeter::new(settings),
            parts: Parts::new(settings),
            undo: Undo::default(),
        }
    }
}

/// For a receiver that runs the rule, [`crate::rledbat`].
impl LedbatPp {
    /// Replaces the window, of which nothing has been used: by `bytes`, or the floor if that is more.
    pub(crate) fn set_window(&mut self, bytes: u64) {
        self.state.cwnd = Bytes16::from_bytes(bytes).max(self.state.floor(&self.params));
        self.state.begin_round();
    }

    /// Returns whether the queue would end the initial slow start.
    pub(crate) fn leaves_slow_start(&self) -> bool {
        self.meter.queuing_us().is_some_and(|us| u64::from(us) > self.params.exit_us)
    }

    /// Returns whether the queue is longer than TARGET.
    pub(crate) fn is_above_target(&self) -> bool {
        self.meter.queuing_us().is_some_and(|us| u64::from(us) > self.params.target_us)
    }
}

impl Controller for LedbatPp {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        let event = AckEvent::of(ack);
        if !self.parts.ignores(ack.now) {
            let at_floor = self.state.cwnd <= self.state.floor(&self.params);
            self.meter.measure(ack, u64::MAX, at_floor, &mut self.state.delay);
            self.parts.measure(ack, self.meter.is_rtt());
        }
        self.parts.note_ack(ack);
        let (phase, cwnd) = (self.state.phase, self.state.cwnd);
        self.state.respond(&self.params, &event, self.meter.queuing_us(), &mut self.parts);
        if self.state.cwnd < cwnd && (phase, self.state.phase) == (Phase::Avoidance, Phase::Avoidance) {
            self.undo.saved().for_each(|before| before.lower(cwnd.minus(self.state.cwnd)));
        }
        if self.state.delay.count == 0 {
            self.meter.forget_present();
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let before = self.state.before();
        if self.state.on_loss(&self.params, loss.sent.now.0, loss.now.0, &mut self.parts) {
            self.undo.keep(loss.now, before);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if let Some(before) = self.undo.take(spurious) {
            self.state.undo(&before);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let &Timeout { now, flightsize, consecutive } = timeout;
        if consecutive == 1 {
            self.undo.keep(now, self.state.before());
        }
        self.state.on_timeout(&self.params, now.0, flightsize, consecutive, &mut self.parts);
        self.parts.forget_restore();
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.state.on_idle(&self.params, &mut self.parts);
            self.meter.forget_present();
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.params.mss = u64::from(mss);
        self.state.on_mtu(&self.params);
    }

    fn on_wake(&mut self, now: Time) {
        self.state.run_slowdown(&self.params, now.0, &mut self.parts);
    }

    fn directive(&self) -> Directive {
        let (cwnd, phase) = (self.state.cwnd.to_bytes(), self.state.phase);
        let mut directive = Directive::growing_window(cwnd, phase.is_slow_start());
        directive.wake_at = (self.state.due != NEVER).then_some(Time(self.state.due));
        if self.parts.paces_restore() {
            let rtt_us = Span(self.state.smoothed_rtt).as_micros().max(1);
            directive.pacing = Pacing::Rate(mul_div(cwnd, 1_000_000, rtt_us).max(1));
        }
        directive
    }

    fn snapshot(&self) -> Snapshot {
        let phase = match self.state.phase {
            Phase::SlowStart | Phase::Climb | Phase::Restart => "slow start",
            Phase::Avoidance => "congestion avoidance",
            Phase::Freeze => "slowdown freeze",
            Phase::Ramp => "slowdown ramp",
        };
        let ssthresh = self.state.ssthresh;
        Snapshot {
            phase,
            cwnd: self.state.cwnd.to_bytes(),
            ssthresh: (ssthresh != Bytes16::MAX).then(|| ssthresh.to_bytes()),
            base_delay: self.meter.base(&self.state.delay),
            queuing_delay: self.meter.queuing(),
            target: Some(Span::from_micros(self.params.target_us)),
            gain: Some(1.0 / self.state.gain_divisor(&self.params, &self.parts) as f64),
            slowdowns: Some(self.state.slowdowns),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
