//! PIE's control law without a queue: the delay estimate, the probability that follows from it, and the decision on
//! each packet.

use super::departures::{Cycle, Departures};
use super::form::Form;
use super::params::{
    Tuning, ALPHA, BETA, BURST, BY_DEPARTURES, CAP, DECAY, DECAYS_BELOW_HALF, DERANDOMISE, DQ_THRESHOLD,
    DQ_WEIGHT, ECN, ECN_THRESHOLD, FORM, HIGH_DELAY, MEAN_PACKET, ON_OFF, TARGET, TUNING, TUPDATE,
};
use crate::backlog::{Backlog, Limit};
use crate::error::Error;
use crate::site::uniform;
use afteryou_base::param::{Settings, Value};
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// From here on steps may be capped (§5.5).
const CAPPED_FROM: f64 = 0.1;
/// The longest capped step (§5.5), and what a high delay adds (Linux).
const LARGE_STEP: f64 = 0.02;
/// Below this probability a short queue is left alone (§4.1).
const SPARED_BELOW: f64 = 0.2;

/// As many consecutive updates are computed one by one. This is longer than any burst allowance (10 s of 1 ms each),
/// and 40 times as long as an idle queue takes to forget with the sources' values.
const ONE_BY_ONE: u32 = 1 << 14;

/// Accumulated probability counts in units of 2⁻⁵³.
const ONE: u64 = 1 << 53;
/// §5.4: nothing is dropped before 0.85 have accumulated,
const DROP_FROM: u64 = ONE / 100 * 85 + ONE % 100 * 85 / 100;
/// and certainly at 8.5.
const DROP_AT: u64 = ONE / 2 * 17;

/// The law: what does not change.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    form: Form,
    target: Span,
    half_target: Span,
    tupdate: Span,
    burst: Span,
    alpha: f64,
    beta: f64,
    tuning: Tuning,
    cap: bool,
    /// Steps are longer above this delay.
    high_delay: Option<Span>,
    decay: f64,
    /// Delays up to here count as no queue.
    decay_to: Span,
    /// Up to this backlog nothing is dropped, bytes.
    spared_bytes: u64,
    derandomise: bool,
    /// The highest probability that marks, if marks are on.
    marks_to: Option<f64>,
    /// The backlog that wakes the controller, if it sleeps at all.
    wakes_at: Option<Limit>,
    /// How departures are measured, if that is how the delay is known.
    departures: Option<Cycle>,
}

/// A law's state for one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieState {
    /// Drop probability.
    probability: f64,
    /// The same in units of 2⁻⁵³, rounded up.
    share: u64,
    /// Probability gathered since the last drop (§5.4).
    accumulated: u64,
    /// The delay now, and at the last update.
    delay: Span,
    old_delay: Span,
    /// The rest of the burst allowance.
    burst: Span,
    is_awake: bool,
    departures: Departures,
    /// When the last packet left, if Linux counts the burst allowance down by that.
    last_departure: Option<Time>,
    next_update: Time,
}

impl Law {
    /// Creates the law from the values of [`COMMON`](super::params::COMMON), for a buffer of `limit`.
    ///
    /// # Errors
    /// A high delay that is not above the target.
    pub fn new(settings: &Settings<'_>, limit: Limit) -> Result<Law, Error> {
        let form = settings.get(&FORM);
        let (target, high_delay) = (settings.get(&TARGET), settings.get(&HIGH_DELAY).nonzero());
        if let Some(high_delay) = high_delay.filter(|high_delay| *high_delay <= target) {
            return Err(Error::Together {
                name: "high_delay",
                value: Value::Time(high_delay),
                other: format!("target = {}", Value::Time(target)),
                valid: format!("0 ms, or more than {} up to 10000 ms", Value::Time(target)),
            });
        }
        let half_target = target / 2;
        let two_packets = 2 * settings.get(&MEAN_PACKET);
        Ok(Law {
            form,
            target,
            half_target,
            tupdate: settings.get(&TUPDATE),
            burst: settings.get(&BURST),
            alpha: settings.get(&ALPHA),
            beta: settings.get(&BETA),
            tuning: settings.get(&TUNING),
            cap: settings.get(&CAP),
            high_delay,
            decay: settings.get(&DECAY),
            decay_to: match settings.get(&DECAYS_BELOW_HALF) {
                true => Span(half_target.0 - 1),
                false => Span::ZERO,
            },
            spared_bytes: if form == Form::Linux { two_packets - 1 } else { two_packets },
            derandomise: settings.get(&DERANDOMISE),
            marks_to: settings.get(&ECN).then(|| marks_to(settings.get(&ECN_THRESHOLD), form)),
            wakes_at: settings.get(&ON_OFF).then(|| match limit.resolved() {
                Limit::Bytes(bytes) => Limit::Bytes(bytes / 3),
                Limit::Packets(packets) => Limit::Packets(packets / 3),
                Limit::Time { .. } => unreachable!("resolved"),
            }),
            departures: settings.get(&BY_DEPARTURES).then(|| Cycle {
                form,
                threshold: settings.get(&DQ_THRESHOLD),
                weight: settings.get(&DQ_WEIGHT),
            }),
        })
    }

    /// Returns a queue's state as it begins.
    pub fn start(&self) -> PieState {
        PieState {
            probability: 0.0,
            share: 0,
            accumulated: 0,
            delay: Span::ZERO,
            old_delay: Span::ZERO,
            burst: self.burst,
            is_awake: self.wakes_at.is_none(),
            departures: Departures::default(),
            last_departure: None,
            next_update: Time::ZERO + self.tupdate,
        }
    }

    /// Does all updates that were due by `now`, `backlog` having been there since the last event.
    #[inline]
    pub fn catch_up(&self, state: &mut PieState, now: Time, backlog: Backlog) {
        if now >= state.next_update {
            self.catch_up_late(state, now, backlog);
        }
    }

    /// Catches up with updates that are due; returns the number of those that were computed. An update depends on nothing
    /// but the state and the backlog. Once it changes nothing, no further one does. At the ends of the ranges that can be a
    /// million updates away. After many updates the change of each therefore counts for longer and longer stretches: it has
    /// one sign only, towards 0 or 1. Answers how many were computed.
    #[cold]
    fn catch_up_late(&self, state: &mut PieState, now: Time, backlog: Backlog) -> u32 {
        let mut computed = 0;
        while now >= state.next_update {
            let before = *state;
            self.update(state, backlog);
            computed += 1;
            if *state == before {
                state.next_update += self.tupdate * self.due(state, now);
                break;
            }
            state.next_update += self.tupdate;
            if computed > ONE_BY_ONE {
                let stride = self.due(state, now).min(1 << (computed - ONE_BY_ONE).min(63));
                let change = state.probability - before.probability;
                state.set((state.probability + change * stride as f64).clamp(0.0, 1.0));
                state.next_update += self.tupdate * stride;
            }
        }
        computed
    }

    /// Returns the number of updates that should have been done by `now`.
    fn due(&self, state: &PieState, now: Time) -> u64 {
        match now >= state.next_update {
            true => now.since(state.next_update).0 / self.tupdate.0 + 1,
            false => 0,
        }
    }

    /// Updates the probability, every `tupdate` (§4.2).
    fn update(&self, state: &mut PieState, backlog: Backlog) {
        if !state.is_awake {
            return;
        }
        if let Some(cycle) = &self.departures {
            state.delay = state.departures.delay(backlog.bytes, cycle);
        }
        state.set(self.stepped(state, backlog));
        let is_quiet =
            state.probability == 0.0 && state.delay < self.half_target && state.old_delay < self.half_target;
        state.old_delay = state.delay;
        if self.form != Form::Linux {
            state.burst = state.burst.saturating_sub(self.tupdate);
        } else if is_quiet && (self.departures.is_none() || state.departures.is_known()) {
            self.forget(state);
        }
        // §5.3. While a third of the buffer is full nobody sleeps: a delay of nothing only means that it is not known yet.
        if is_quiet && self.wakes_at.is_some_and(|limit| !reaches(backlog, limit)) {
            state.is_awake = false;
        }
    }

    /// Returns the probability after a step.
    fn stepped(&self, state: &PieState, backlog: Backlog) -> f64 {
        let (delay, old) = (state.delay.as_secs_f64(), state.old_delay.as_secs_f64());
        let error = delay - self.target.as_secs_f64();
        let divisor = self.tuning.iter().find(|(below, _)| state.probability < *below).map_or(1.0, |t| t.1);
        let mut step = (self.alpha * error + self.beta * (delay - old)) / divisor;
        if self.cap && state.probability >= CAPPED_FROM {
            step = step.min(LARGE_STEP);
        }
        if self.high_delay.is_some_and(|high| state.delay > high) {
            step += LARGE_STEP;
        }
        let probability = (state.probability + step).clamp(0.0, 1.0);
        // Linux: a delay of nothing with packets waiting means that it is not known.
        let is_unknown = self.form == Form::Linux && state.delay == Span::ZERO && backlog.bytes > 0;
        match state.delay.max(state.old_delay) <= self.decay_to && !is_unknown {
            true => probability * self.decay,
            false => probability,
        }
    }

    /// Resets everything but the probability and the delays.
    fn forget(&self, state: &mut PieState) {
        state.accumulated = 0;
        state.burst = self.burst;
        state.departures = Departures::default();
        state.last_departure = None;
    }

    /// Handles an arriving packet that finds `backlog`; returns whether its sender should get a congestion signal.
    /// Answers no as long as the queue is fine.
    #[inline]
    pub fn signals(&self, state: &mut PieState, now: Time, backlog: Backlog, random: &mut impl Rng) -> bool {
        self.listens(state, now, backlog) && self.draws(state, random)
    }

    /// Returns whether a packet that finds `backlog` may be dropped at all (§4.1, §4.4, §5.3).
    #[inline]
    pub fn listens(&self, state: &mut PieState, now: Time, backlog: Backlog) -> bool {
        if self.wakes_at.is_some() {
            self.wake(state, now, backlog);
        }
        if state.probability == 0.0 {
            // Nothing to drop: all that may happen is that the allowance comes back.
            if self.form != Form::Linux && state.delay.max(state.old_delay) < self.half_target {
                state.burst = self.burst;
            }
            state.accumulated = 0;
            return false;
        }
        let seen = if self.form == Form::Linux { state.delay } else { state.old_delay };
        state.burst == Span::ZERO
            && (seen >= self.half_target || state.probability >= SPARED_BELOW)
            && backlog.bytes > self.spared_bytes
            && state.is_awake
    }

    fn wake(&self, state: &mut PieState, now: Time, backlog: Backlog) {
        if !state.is_awake && self.wakes_at.is_some_and(|limit| reaches(backlog, limit)) {
            let (delay, next_update) = (state.delay, state.next_update);
            let departures = Departures::measuring_from(now);
            *state = PieState { is_awake: true, delay, departures, next_update, ..self.start() };
        }
    }

    /// Draws whether to drop, but no two close together (§5.4).
    #[inline]
    fn draws(&self, state: &mut PieState, random: &mut impl Rng) -> bool {
        if !self.derandomise {
            return uniform(random) < state.probability;
        }
        state.accumulated += state.share;
        if state.accumulated < DROP_FROM {
            return false;
        }
        if state.accumulated < DROP_AT && uniform(random) >= state.probability {
            return false;
        }
        state.accumulated = 0;
        true
    }

    /// Returns whether an ECN-capable packet is marked rather than dropped (§5.1).
    #[inline]
    pub fn marks(&self, state: &PieState) -> bool {
        self.marks_to.is_some_and(|most| state.probability <= most)
    }

    /// Notes that a packet of `size` leaves after `sojourn`, `backlog` behind it.
    #[inline]
    pub fn departed(&self, state: &mut PieState, now: Time, size: u32, sojourn: Span, backlog: Backlog) {
        if let Some(cycle) = &self.departures {
            let took = state.departures.departed(now, size, backlog.bytes, cycle);
            if let (Form::Linux, Some(took)) = (self.form, took) {
                state.burst = state.burst.saturating_sub(took);
            }
            return;
        }
        state.delay = if backlog.packets == 0 { Span::ZERO } else { sojourn };
        if self.form == Form::Linux {
            let since = state.last_departure.replace(now).map_or(Span::ZERO, |last| now.since(last));
            state.burst = state.burst.saturating_sub(since);
        }
    }
}

impl PieState {
    /// Returns the drop probability.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns whether the controller is active rather than asleep.
    pub fn is_awake(&self) -> bool {
        self.is_awake
    }

    fn set(&mut self, probability: f64) {
        self.probability = probability;
        self.share = libm::ceil(probability * ONE as f64) as u64;
    }

    /// Notes that the last packet is gone, though none has left: no queue, no delay.
    pub fn emptied(&mut self) {
        self.delay = Span::ZERO;
    }

    /// Begins anew under `law`; updates stay on their grid.
    pub fn restart(&mut self, law: &Law) {
        *self = PieState { next_update: self.next_update, ..law.start() };
    }

    /// Records a packet dropped because the buffer was full, which counts as a drop, too (§5.4).
    pub fn dropped_full(&mut self) {
        self.accumulated = 0;
    }
}

/// Returns the highest probability that marks: the RFC and FreeBSD mark below the threshold, Linux at it, too.
fn marks_to(threshold: f64, form: Form) -> f64 {
    if form == Form::Linux {
        threshold
    } else {
        threshold.next_down()
    }
}

fn reaches(backlog: Backlog, limit: Limit) -> bool {
    match limit {
        Limit::Packets(packets) => backlog.packets >= packets,
        Limit::Bytes(bytes) => backlog.bytes >= bytes,
        Limit::Time { .. } => false,
    }
}

#[cfg(test)]
mod tests;
