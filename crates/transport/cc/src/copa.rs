//! Copa: keep two of the flow's own packets in the queue on average, whatever is lost; without its competitive mode.
//!
//! # Model
//! The target rate falls with the queuing delay d. The window moves towards it by about v/δ packets per round trip:
//!
//! ```text
//!   RTTmin      = smallest RTT of 10 s
//!   RTTstanding = smallest RTT of the last SRTT/2             late acks do not count
//!   d           = RTTstanding − RTTmin
//!   λ           = cwnd / RTTstanding         target λt = MSS / (δ · d)
//!   λ ≤ λt:     cwnd += v · MSS / δ · acked / cwnd            in slow start: cwnd += acked
//!   λ > λt:     cwnd −= v · MSS / δ · acked / cwnd            slow start is over
//!   pacing      = 2 · cwnd / RTTstanding
//! ```
//! λ = λt means that 1/δ of the flow's own packets are in the queue. The delay is that of a round trip ago, so the queue swings around
//! that. It goes from none to 2.5/δ packets and back in about five round trips. Each time it is empty, RTTmin is measured anew. The velocity v is 1, and
//! doubles in each round after three rounds in one direction, until the rate crosses the target.
//!
//! # States
//! ```text
//!   slow start ──λ > λt──▶ towards the target: up ◀──▶ down
//!        ▲                        │
//!        └──two timeouts in a row; idle
//! ```
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | δ | 0.5 | §2.2: two packets, in between delay and throughput |
//! | age of RTTmin | 10 s | §2.1: a new route is known after that, and the queue is empty more often |
//! | window of RTTstanding | SRTT/2 | §2.1: ignores bursts of acks, and still sees each half of a round trip |
//! | rounds before v doubles | 3 | §2.1: in equilibrium a direction lasts 2.5 |
//! | most v | δ · cwnd in packets | no faster than slow start; the authors' code has a bound like it |
//! | pacing | 2 | §2.1: the window governs, not the pacing |
//! | floor | 2 packets | the authors' code |
//! | initial window | 10 packets | RFC 6928 §2 |
//!
//! # Source
//! Arun and Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI 2018, sections at each rule; the authors'
//! `genericCC` and mvfst's `Copa.cpp` (both read for facts) for what it leaves open. Losses and marks do not change the window in the default
//! mode. Ours: growth stops while the application or the peer's window limits the sender. After two timeouts in a row, or persistent congestion, the window is the
//! floor and slow start begins, as a transport must. So it does with the initial window after idle.
//!
//! By the paper's text v lasts until the end of a round in which the window has turned, and may even double there. On long paths the window
//! then swings without end (`reversal = round`: 0.62 of a link at 250 ms), so mvfst's reset is the default.
//!
//! | | here, paper | mvfst |
//! |---|---|---|
//! | d | RTTstanding − RTTmin | latest RTT − RTTmin, unless a setting says otherwise |
//! | v where the rate crosses the target | 1 at once; by the paper with the end of the round | 1 at once |
//! | slow start | by acks | doubles once a round trip |
//! | pacing | 2 · cwnd / RTTstanding | 2 · cwnd / SRTT |
//!
//! # Not implemented
//! The competitive mode (§2.2), which makes δ smaller beside flows that fill the buffer. This is the rule that yields to them: a yardstick.
//!
//! # Known bad cases
//! Jitter beyond the time of a few packets on the link looks like a queue, and the link stays idle. A queue of others that stands for 10 s
//! becomes part of RTTmin. A buffer of fewer than 1/δ packets never shows the target: it overflows all the time, and losses do not count. The
//! end of slow start is seen a round trip late, with up to a second BDP in the queue.

mod velocity;

use crate::controller::{Controller, Directive, Pacing, RecoveryWindow, Setup, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::slow_start::{initial_window, FLOOR_PACKETS, INITIAL_WINDOW, MAX_WINDOW};
use crate::undo::Undo;
use crate::window_use::WindowUse;
use crate::windowed_min::WindowedMin;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;
use velocity::Velocity;

/// Pacing rate over window and standing round-trip time (§2.1).
const PACING_GAIN: f64 = 2.0;
/// The window of the standing round-trip time is the smoothed one divided by this (§2.1).
const STANDING_DIVISOR: u64 = 2;
/// From this many timeouts in a row on, nothing gets through.
const OUTAGE: u32 = 2;

params! {
    /// Parameters.
    pub table PARAMS;

    const DELTA: Key<f64> = Key::number("delta", "1/packets", 0.5, (0.001, 2.0))
        .explained("weight of delay: its inverse is the flow's own packets in the queue", "NSDI 2018 §2.2");
    const MIN_RTT_AGE: Key<Span> = Key::millis("min_rtt_age", 10_000, (1000, 600_000))
        .explained("time for which the smallest round-trip time counts", "NSDI 2018 §2.1");
    const TURNS_AT_ONCE: Key<bool> = Key::choice("reversal", &["at-once", "round"], &[true, false])
        .explained("where a velocity ends: as soon as the window turns, or with the round", "mvfst Copa.cpp; NSDI 2018 §2.1");
    use INITIAL_WINDOW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "copa",
        summary: "steers to two of its own packets in the queue, whatever is lost",
        source: "Arun 2018",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Copa::new(settings, setup)),
};

/// The smallest round-trip times of a long and of a short time.
#[derive(Clone, Copy, Debug)]
struct Delays {
    min: Span,
    standing: Span,
}

impl Delays {
    /// Returns the queuing delay.
    fn queuing(&self) -> Span {
        self.standing.saturating_sub(self.min)
    }
}

/// The state that an outage changes.
#[derive(Clone, Copy, Debug)]
struct Before {
    cwnd: f64,
    slow_start: bool,
}

/// A Copa controller.
#[derive(Clone, Debug)]
pub struct Copa {
    delta: f64,
    turns_at_once: bool,
    min_rtt_age: Span,
    initial_packets: u64,
    mss: u32,
    cwnd: f64,
    slow_start: bool,
    velocity: Velocity,
    min_rtt: WindowedMin,
    standing_rtt: WindowedMin,
    window_use: WindowUse,
    undo: Undo<Before>,
}

impl Copa {
    /// Creates a controller.
    pub fn new(settings: &Settings<'_>, setup: &Setup) -> Copa {
        let initial_packets = settings.get(&INITIAL_WINDOW);
        let cwnd = initial_window(initial_packets, setup.mss) as f64;
        Copa {
            delta: settings.get(&DELTA),
            turns_at_once: settings.get(&TURNS_AT_ONCE),
            min_rtt_age: settings.get(&MIN_RTT_AGE),
            initial_packets,
            mss: setup.mss,
            cwnd,
            slow_start: true,
            velocity: Velocity::from(cwnd),
            min_rtt: WindowedMin::default(),
            standing_rtt: WindowedMin::default(),
            window_use: WindowUse::default(),
            undo: Undo::default(),
        }
    }

    fn mss(&self) -> f64 {
        f64::from(self.mss)
    }

    fn floor(&self) -> f64 {
        FLOOR_PACKETS * self.mss()
    }

    fn delays(&self) -> Option<Delays> {
        Some(Delays { min: self.min_rtt.get()?, standing: self.standing_rtt.get()? })
    }

    /// Takes in the ack's round-trip time (§2.1).
    fn measure(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let recent = ack.smoothed_rtt.unwrap_or(rtt) / STANDING_DIVISOR;
        self.min_rtt.update(ack.now, self.min_rtt_age, rtt);
        self.standing_rtt.update(ack.now, recent, rtt);
    }

    /// Returns the rate of now and the target, bytes per second (§2.1); no target without a queue.
    fn rates(&self, delays: Delays) -> (f64, Option<f64>) {
        let rate = self.cwnd / delays.standing.max(Span(1)).as_secs_f64();
        let target = delays.queuing().nonzero().map(|d| self.mss() / (self.delta * d.as_secs_f64()));
        (rate, target)
    }

    /// Returns whether the rate is not above the target (§2.1, step 3).
    fn may_grow(&self) -> bool {
        let Some(delays) = self.delays() else { return true };
        let (rate, target) = self.rates(delays);
        target.is_none_or(|target| rate <= target)
    }

    /// Moves the window towards the target (§2.1, step 3): by v/δ packets in a round trip.
    fn steer(&mut self, acked: f64, may_grow: bool, is_limited: bool) {
        if self.turns_at_once {
            self.velocity.turn(may_grow, self.cwnd);
        }
        let step = self.velocity.get() * self.mss() / self.delta * (acked / self.cwnd).min(1.0);
        if !may_grow {
            self.cwnd = (self.cwnd - step).max(self.floor().min(self.cwnd));
        } else if !is_limited {
            self.grow_by(step);
        }
    }

    fn grow_by(&mut self, bytes: f64) {
        self.cwnd = (self.cwnd + bytes).min(MAX_WINDOW);
    }

    fn begin_slow_start(&mut self, cwnd: f64) {
        self.cwnd = self.cwnd.min(cwnd);
        self.slow_start = true;
    }

    /// Starts anew from the floor: nothing has got through for a while.
    fn collapse(&mut self, now: Time) {
        let Copa { cwnd, slow_start, .. } = *self;
        self.undo.keep(now, Before { cwnd, slow_start });
        self.begin_slow_start(self.floor());
    }
}

impl Controller for Copa {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        self.measure(ack);
        self.window_use.on_ack(ack.in_flight, ack.round_start, self.cwnd as u64, self.mss.into());
        let is_limited = ack.app_limited || self.window_use.is_app_limited();
        let (acked, may_grow) = (ack.delivered() as f64, self.may_grow());
        if self.slow_start && may_grow {
            if !is_limited {
                self.grow_by(acked);
            }
            return;
        }
        if self.slow_start {
            (self.slow_start, self.velocity) = (false, Velocity::from(self.cwnd));
        } else if ack.round_start {
            self.velocity.on_round(self.cwnd, self.delta * self.cwnd / self.mss());
        }
        self.steer(acked, may_grow, is_limited);
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.persistent {
            self.collapse(loss.now);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let Some(Before { cwnd, slow_start }) = self.undo.take(spurious) else { return };
        if self.cwnd < cwnd {
            (self.cwnd, self.slow_start, self.velocity) = (cwnd, slow_start, Velocity::from(cwnd));
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.consecutive == OUTAGE {
            self.collapse(timeout.now);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.begin_slow_start(initial_window(self.initial_packets, self.mss) as f64);
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.cwnd = self.cwnd.max(self.mss());
    }

    fn directive(&self) -> Directive {
        let pacing = match self.delays() {
            None => Pacing::GrowingWindow,
            Some(delays) => Pacing::Rate((PACING_GAIN * self.rates(delays).0).max(1.0) as u64),
        };
        Directive { pacing, recovery: RecoveryWindow::Controller, ..Directive::window(self.cwnd as u64) }
    }

    fn snapshot(&self) -> Snapshot {
        let delays = self.delays();
        let target = delays.and_then(|delays| self.rates(delays).1);
        Snapshot {
            phase: if self.slow_start { "slow start" } else { "steering" },
            cwnd: self.cwnd as u64,
            base_delay: delays.map(|delays| delays.min),
            queuing_delay: delays.map(|delays| delays.queuing()),
            extra: [
                Some(("velocity", self.velocity.get())),
                target.map(|target| ("target_bit_s", 8.0 * target)),
                None,
                None,
            ],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
