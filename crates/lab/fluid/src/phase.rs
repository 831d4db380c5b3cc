//! Phases of flows beside the drift: start, end of slow start, slowdown, stop. All of it on the edges of steps.
//!
//! # States
//! ```text
//!   off ──start──▶ slow start ──one packet lost, or the delay──▶ avoidance ──LEDBAT++: slowdown──▶ freeze
//!                  (or avoidance at once)                         ▲   ▲                              │
//!                      ▲                                          │   └──ssthresh, or loss── ramp ◀──┘
//!                      └── LEDBAT++, restart: quiet at the floor ─┘
//! ```
//! In the fluid a loss is a rate. Slow start is left when the packets expected to be lost since it began are one.
//!
//! # Source
//! draft-irtf-iccrg-ledbat-plus-plus-01 §4.1, §4.4; the restart is described in `afteryou_cc::restart`.

use crate::model::ledbatpp::{LedbatPp, Slowdowns, FLOOR, FREEZE_ROUNDS, WAIT};
use crate::model::{Model, Signal, SlowStart};
use crate::train::Train;

/// A flow's phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Nothing.
    Off,
    /// Slow start.
    SlowStart,
    /// Its model's drift.
    Avoidance,
    /// At the floor until then.
    Freeze {
        /// The end, s.
        until_s: f64,
    },
    /// Back to the threshold.
    Ramp {
        /// Packets.
        threshold: f64,
    },
}

/// A flow's memory beside its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// The flow's phase.
    pub phase: Phase,
    /// Smallest queuing delay seen, s.
    pub base_s: f64,
    /// Packets expected to be lost since slow start or the ramp began.
    expected_losses: f64,
    /// When the slowdown began that is under way, or the last one, s.
    slowdown_from_s: f64,
    /// When the next one begins, s.
    next_slowdown_s: f64,
    /// The window at which the ramp ends, packets.
    threshold: f64,
    /// Delay drove the window to its floor.
    yielded: bool,
    /// Since when the queue has been quiet, s.
    quiet_from_s: Option<f64>,
    /// Its round trips, if it does not pace.
    pub train: Option<Train>,
    /// Losses that its trains had until then belong to one that it has answered, s.
    deaf_until_s: f64,
}

/// The outcome for a flow at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing that changes its window or its phase.
    None,
    /// Another phase or window.
    Changed,
    /// A slowdown begins.
    Slowdown,
}

/// A window that an event sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reset {
    /// To this window, packets.
    To(f64),
    /// By a loss at this window, packets, as its model answers one.
    LossAt(f64),
}

/// The queue is quiet below this part of TARGET.
const QUIET: f64 = 1.0 / 8.0;
/// Quiet rounds last at least so long together, s.
const LEAST_QUIET_S: f64 = 0.1;
/// A flow has recovered by itself from this multiple of its floor on.
const RECOVERED_FLOORS: f64 = 4.0;

impl FlowState {
    /// Returns the state before the start.
    pub const fn off() -> FlowState {
        FlowState {
            phase: Phase::Off,
            base_s: f64::INFINITY,
            expected_losses: 0.0,
            slowdown_from_s: 0.0,
            next_slowdown_s: f64::INFINITY,
            threshold: FLOOR,
            yielded: false,
            quiet_from_s: None,
            train: None,
            deaf_until_s: 0.0,
        }
    }

    /// Returns the state of a flow that has just started. It keeps its memory of the path.
    pub fn started(&self, model: &Model) -> FlowState {
        let phase = match model.slow_start() {
            SlowStart::None => Phase::Avoidance,
            SlowStart::UntilLoss | SlowStart::UntilDelay(_) => Phase::SlowStart,
        };
        FlowState { phase, base_s: self.base_s, ..FlowState::off() }
    }

    /// Returns the state of a flow that has just started at time `t_s`, past slow start, with a round trip of `rtt_s`.
    pub fn started_in_avoidance(&self, model: &Model, t_s: f64, rtt_s: f64) -> FlowState {
        let mut state = FlowState { phase: Phase::Avoidance, ..self.started(model) };
        state.plan_first_slowdown(model, t_s, rtt_s);
        state
    }

    /// Advances the phase at the edge of a step of `step_s`, at time `t_s`. May set the window.
    pub fn at_edge(
        &mut self,
        model: &Model,
        signal: &Signal,
        t_s: f64,
        step_s: f64,
        window: &mut Option<Reset>,
    ) -> News {
        if signal.ack_rate > 0.0 {
            self.base_s = signal.base_s;
        }
        if let Some(train) = &mut self.train {
            train.at_edge(signal.window, signal.rtt_s, t_s);
        }
        if self.phase == Phase::Avoidance && self.train_lost(signal, t_s, step_s) {
            *window = Some(Reset::LossAt(signal.window));
            return News::Changed;
        }
        match self.phase {
            Phase::Off => News::None,
            Phase::SlowStart => self.in_slow_start(model, signal, t_s, step_s, window),
            Phase::Avoidance => match model {
                Model::LedbatPp(rule) => self.in_avoidance(rule, signal, t_s, window),
                _ => News::None,
            },
            Phase::Freeze { until_s } if t_s < until_s => News::None,
            Phase::Freeze { .. } => {
                self.expected_losses = 0.0;
                self.train = self.train.map(|_| Train::new(signal.window, t_s));
                self.phase = Phase::Ramp { threshold: self.threshold };
                News::Changed
            }
            Phase::Ramp { threshold } => {
                let lost = self.loses(signal, t_s, step_s);
                if !lost && signal.window < threshold {
                    return News::None;
                }
                *window =
                    Some(if lost { Reset::LossAt(signal.window) } else { Reset::To(threshold.max(FLOOR)) });
                self.end_slowdown(t_s);
                News::Changed
            }
        }
    }

    fn in_slow_start(
        &mut self,
        model: &Model,
        signal: &Signal,
        t_s: f64,
        step_s: f64,
        window: &mut Option<Reset>,
    ) -> News {
        let lost = self.loses(signal, t_s, step_s);
        let late = matches!(model.slow_start(), SlowStart::UntilDelay(exit_s) if signal.queuing_s > exit_s);
        if !lost && !late {
            return News::None;
        }
        if lost {
            *window = Some(Reset::LossAt(signal.window));
        }
        self.phase = Phase::Avoidance;
        if self.quiet_from_s.is_some() {
            self.end_slowdown(t_s);
        } else {
            self.plan_first_slowdown(model, t_s, signal.rtt_s);
        }
        News::Changed
    }

    /// Returns whether a packet has been lost since slow start or the ramp began.
    fn loses(&mut self, signal: &Signal, t_s: f64, step_s: f64) -> bool {
        self.expected_losses += signal.losses * step_s;
        self.train_lost(signal, t_s, step_s) || self.expected_losses >= 1.0
    }

    /// Returns whether the buffer had no room for a packet of a train. A sender reacts once in a round trip.
    fn train_lost(&mut self, signal: &Signal, t_s: f64, step_s: f64) -> bool {
        let lost = signal.burst_lost >= 1.0 && t_s >= self.deaf_until_s;
        if lost {
            // A step more: what was sent at this edge is sent with the window that is cut here.
            self.deaf_until_s = t_s + signal.rtt_s + step_s;
        }
        lost
    }

    fn plan_first_slowdown(&mut self, model: &Model, t_s: f64, rtt_s: f64) {
        if matches!(model, Model::LedbatPp(rule) if rule.slowdowns == Slowdowns::Events) {
            self.next_slowdown_s = t_s + FREEZE_ROUNDS * rtt_s;
        }
    }

    fn end_slowdown(&mut self, t_s: f64) {
        self.phase = Phase::Avoidance;
        self.quiet_from_s = None;
        self.yielded = false;
        self.next_slowdown_s = t_s + WAIT * (t_s - self.slowdown_from_s);
    }

    fn in_avoidance(
        &mut self,
        rule: &LedbatPp,
        signal: &Signal,
        t_s: f64,
        window: &mut Option<Reset>,
    ) -> News {
        if rule.restart_rounds > 0.0 && self.restarts(rule, signal, t_s) {
            self.expected_losses = 0.0;
            self.phase = Phase::SlowStart;
            return News::Changed;
        }
        if t_s < self.next_slowdown_s {
            return News::None;
        }
        self.threshold = signal.window;
        self.slowdown_from_s = t_s;
        self.phase = Phase::Freeze { until_s: t_s + FREEZE_ROUNDS * signal.rtt_s };
        *window = Some(Reset::To(FLOOR));
        News::Slowdown
    }

    fn restarts(&mut self, rule: &LedbatPp, signal: &Signal, t_s: f64) -> bool {
        let at_floor = signal.window <= FLOOR;
        self.yielded |= at_floor && signal.queuing_s > rule.target_s;
        self.yielded &= signal.window <= RECOVERED_FLOORS * FLOOR || self.quiet_from_s.is_some();
        if !self.yielded || signal.queuing_s >= QUIET * rule.target_s {
            self.quiet_from_s = None;
            return false;
        }
        let from_s = *self.quiet_from_s.get_or_insert(t_s);
        // The quiet rounds count as a slowdown.
        self.slowdown_from_s = from_s;
        t_s - from_s >= (rule.restart_rounds * signal.rtt_s).max(LEAST_QUIET_S)
    }
}
