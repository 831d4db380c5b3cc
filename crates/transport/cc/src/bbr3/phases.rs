//! The state machine (§5.3).

use super::{Bbr3, Signals};
use crate::bbr::mixed;
use afteryou_base::units::{Span, Time};

/// Growth of the delivery rate in a round that shows that the pipe is not full, and rounds without it (§5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Ranges of packets lost in a round that end startup (BBRStartupFullLossCnt).
const STARTUP_RANGES_LOST: u32 = 6;
/// Rounds after which the drain ends in any case (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Rounds of growth that still double the next one's (§5.3.3.6).
const MOST_UP_ROUNDS: u32 = 30;

/// Where it is in the state diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The part of a probe that the acks of now belong to (BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Whether the delivery rate still grows (CheckFullBWReached).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    baseline: f64,
    rounds: u32,
    pub is_now: bool,
    pub reached: bool,
}

impl FullPipe {
    pub fn on_ack(&mut self, signals: &Signals) {
        let Some(sample) = signals.sample.filter(|sample| !sample.app_limited) else { return };
        if self.is_now || !signals.round_begins {
            return;
        }
        if sample.rate >= FULL_GROWTH * self.baseline {
            return self.restart(sample.rate);
        }
        self.rounds += 1;
        self.is_now = self.rounds >= FULL_ROUNDS;
        self.reached |= self.is_now;
    }

    /// Begins to look for a plateau above `baseline` bytes per second (ResetFullBW).
    fn restart(&mut self, baseline: f64) {
        (self.baseline, self.rounds, self.is_now) = (baseline, 0, false);
    }
}

/// The state and what belongs to its cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    pub state: State,
    pub full: FullPipe,
    ack_phase: AckPhase,
    /// The acks of now are of packets that left while it probed.
    pub is_probe_sample: bool,
    pub prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_began: Time,
    wait: Span,
    rounds_since_probe: u64,
    drain_began: u64,
    up_rounds: u32,
    up_acked: f64,
    up_acked_per_packet: f64,
    probe_rtt_ends: Option<Time>,
    probe_rtt_round_done: bool,
    /// The state that a loss has ended, if that loss may turn out to be none.
    pub undo: Option<State>,
    random: u64,
}

impl Phases {
    pub fn new(seed: u64) -> Phases {
        Phases {
            state: State::Startup,
            full: FullPipe::default(),
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_began: Time::ZERO,
            wait: Span::ZERO,
            rounds_since_probe: 0,
            drain_began: 0,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_packet: f64::INFINITY,
            probe_rtt_ends: None,
            probe_rtt_round_done: false,
            undo: None,
            random: seed,
        }
    }

    /// Returns whether it is in a state of the cycle (IsInAProbeBWState).
    pub fn is_in_cycle(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Returns whether it accelerates (IsProbingBW).
    pub fn is_probing_bandwidth(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    pub fn name(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::Down => "probe down",
            State::Cruise => "cruise",
            State::Refill => "refill",
            State::Up => "probe up",
            State::ProbeRtt => "probe RTT",
        }
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.random)
    }
}

impl Bbr3 {
    /// Ends startup once the pipe is full or too much is lost (§5.3.1, CheckStartupDone).
    pub(super) fn check_startup(&mut self, signals: &Signals) {
        self.check_startup_loss(signals);
        if self.phases.state == State::Startup && self.phases.full.reached {
            self.phases.state = State::Drain;
            self.phases.drain_began = self.rounds.count();
        }
    }

    fn check_startup_loss(&mut self, signals: &Signals) {
        if !self.model.ends_loss_round() {
            return;
        }
        let ranges = self.model.take_ranges_lost();
        // A round of losses begins with the recovery, so that its end is a whole round later.
        let is_high =
            ranges >= STARTUP_RANGES_LOST && self.is_too_high(signals.lost, signals.in_flight_at_send());
        if self.phases.state == State::Startup && self.recovery.is_on() && is_high {
            self.phases.undo = Some(State::Startup);
            self.phases.full.reached = true;
            let bdp = self.bdp(self.model.bandwidth(), 1.0);
            self.model.inflight_longterm = bdp.max(self.model.inflight_latest);
        }
    }

    /// Ends the drain (§5.3.2, CheckDrainDone).
    pub(super) fn check_drain(&mut self, now: Time) {
        if self.phases.state != State::Drain {
            return;
        }
        let is_long = self.rounds.count() > self.phases.drain_began + DRAIN_ROUNDS;
        if is_long || self.in_flight <= self.inflight(self.model.bandwidth(), 1.0) {
            self.start_down(now);
        }
    }

    /// Advances the cycle of probing (§5.3.3.6, UpdateProbeBWCyclePhase).
    pub(super) fn update_cycle(&mut self, signals: &Signals) {
        self.phases.rounds_since_probe += u64::from(signals.round_begins);
        if !self.phases.full.reached || self.adapt_long_term(signals) {
            return;
        }
        let state = self.phases.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(signals.now) => {
                self.start_refill(signals.now)
            }
            State::Down if self.is_time_to_cruise() => self.phases.state = State::Cruise,
            State::Refill if signals.round_begins => {
                self.phases.is_probe_sample = true;
                self.start_up(signals);
            }
            State::Up if self.is_time_to_go_down(signals) => {
                self.phases.prev_probe_too_high = false;
                self.start_down(signals.now);
            }
            _ => {}
        }
    }

    /// Moves the long-term bound and the window of the largest rate. Returns whether that has decided the state.
    fn adapt_long_term(&mut self, signals: &Signals) -> bool {
        if signals.round_begins && self.end_ack_phase(signals) {
            return true;
        }
        let in_flight = signals.in_flight_at_send();
        if self.model.inflight_longterm.is_finite() && !self.is_too_high(signals.lost, in_flight) {
            self.model.inflight_longterm = self.model.inflight_longterm.max(in_flight);
            if self.phases.state == State::Up {
                self.raise_long_term(signals);
            }
        }
        false
    }

    fn end_ack_phase(&mut self, signals: &Signals) -> bool {
        if self.phases.ack_phase == AckPhase::ProbeStarting {
            self.phases.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.phases.ack_phase != AckPhase::ProbeStopping {
            return false;
        }
        self.phases.is_probe_sample = false;
        self.phases.ack_phase = AckPhase::Init;
        if !self.phases.is_in_cycle() {
            return false;
        }
        if !signals.is_app_limited() {
            self.model.advance_cycle();
        }
        let probes_again = self.phases.prev_probe_precautionary && !self.phases.prev_probe_too_high;
        if probes_again {
            self.start_refill(signals.now);
        }
        probes_again
    }

    /// Raises the long-term bound while the window is full (ProbeInflightLongtermUpward).
    fn raise_long_term(&mut self, signals: &Signals) {
        if !self.is_limited_by_long_term() {
            return;
        }
        let phases = &mut self.phases;
        phases.up_acked += signals.acked;
        if phases.up_acked >= phases.up_acked_per_packet {
            let packets = libm::floor(phases.up_acked / phases.up_acked_per_packet);
            phases.up_acked -= packets * phases.up_acked_per_packet;
            self.model.inflight_longterm += packets * self.mss;
        }
        if signals.round_begins {
            self.raise_slope();
        }
    }

    fn is_limited_by_long_term(&self) -> bool {
        self.control.is_cwnd_limited() && self.control.cwnd >= self.model.inflight_longterm
    }

    /// Doubles the growth of the long-term bound for the next round (RaiseInflightLongtermSlope).
    fn raise_slope(&mut self) {
        let growth = (1u64 << self.phases.up_rounds) as f64;
        self.phases.up_rounds = (self.phases.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.phases.up_acked_per_packet = (self.control.cwnd / growth).max(self.mss);
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let packets = self.target_inflight() / self.mss;
        let rounds = packets.min(self.tuning.probe_rounds as f64);
        now.since(self.phases.cycle_began) > self.phases.wait
            || self.phases.rounds_since_probe as f64 >= rounds
    }

    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom()
            && self.in_flight <= self.inflight(self.model.max_bandwidth(), 1.0)
    }

    fn is_time_to_go_down(&mut self, signals: &Signals) -> bool {
        if self.phases.prev_probe_too_high && self.in_flight >= self.model.inflight_longterm {
            self.phases.prev_probe_precautionary = true;
            return true;
        }
        if self.is_limited_by_long_term() {
            self.phases.full.restart(signals.sample.map_or(0.0, |sample| sample.rate));
            return false;
        }
        self.phases.full.is_now
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.model.reset_congestion();
        let drawn = self.phases.draw();
        let part = (drawn >> 11) as f64 / (1u64 << 53) as f64;
        let phases = &mut self.phases;
        phases.up_acked_per_packet = f64::INFINITY;
        phases.rounds_since_probe = drawn & 1;
        phases.wait = self.tuning.probe_wait + Span((0.5 * part * self.tuning.probe_wait.0 as f64) as u64);
        phases.cycle_began = now;
        phases.ack_phase = AckPhase::ProbeStopping;
        phases.state = State::Down;
        self.rounds.begin(now);
    }

    pub(super) fn start_refill(&mut self, now: Time) {
        self.model.reset_shortterm();
        let phases = &mut self.phases;
        (phases.up_rounds, phases.up_acked) = (0, 0.0);
        phases.prev_probe_precautionary = false;
        phases.ack_phase = AckPhase::Refilling;
        phases.state = State::Refill;
        self.rounds.begin(now);
    }

    fn start_up(&mut self, signals: &Signals) {
        self.phases.ack_phase = AckPhase::ProbeStarting;
        self.phases.full.restart(signals.sample.map_or(0.0, |sample| sample.rate));
        self.phases.state = State::Up;
        self.rounds.begin(signals.now);
        self.raise_slope();
    }

    /// Enters, holds and leaves the state that measures the round-trip time (§5.3.4.3, CheckProbeRTT).
    pub(super) fn check_probe_rtt(&mut self, signals: &Signals) {
        if self.model.is_probe_due && !self.idle_restart && self.phases.state != State::ProbeRtt {
            self.save_cwnd();
            self.phases.state = State::ProbeRtt;
            self.phases.probe_rtt_ends = None;
            self.phases.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin(signals.now);
        }
        if self.phases.state == State::ProbeRtt {
            self.hold_probe_rtt(signals);
        }
        self.idle_restart = false;
    }

    fn hold_probe_rtt(&mut self, signals: &Signals) {
        self.rounds.mark_limited(signals.now);
        if self.phases.probe_rtt_ends.is_some() {
            self.phases.probe_rtt_round_done |= signals.round_begins;
            self.end_probe_rtt(signals.now);
        } else if self.in_flight <= self.probe_rtt_cwnd() {
            self.phases.probe_rtt_ends = Some(signals.now + self.tuning.probe_rtt_time);
            self.phases.probe_rtt_round_done = false;
            self.rounds.begin(signals.now);
        }
    }

    /// Leaves the state that measures the round-trip time if it has lasted long enough (CheckProbeRTTDone).
    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        let is_over =
            self.phases.probe_rtt_ends.is_some_and(|ends| now >= ends) && self.phases.probe_rtt_round_done;
        if self.phases.state != State::ProbeRtt || !is_over {
            return;
        }
        self.model.end_probe_rtt(now);
        self.control.restore_cwnd();
        self.model.reset_shortterm();
        if !self.phases.full.reached {
            self.phases.state = State::Startup;
            return;
        }
        self.start_down(now);
        self.phases.state = State::Cruise;
    }

    /// Returns to what a loss has ended that was none (§5.5.11.2).
    pub(super) fn undo_loss(&mut self, now: Time) {
        self.phases.full.restart(0.0);
        self.model.undo();
        let was = self.phases.undo.take();
        if was == Some(State::Startup) && self.phases.state != State::Startup {
            self.phases.full.reached = false;
        }
        match was {
            Some(_) if self.phases.state == State::ProbeRtt => {}
            Some(State::Startup) => self.phases.state = State::Startup,
            Some(_) if self.phases.state != State::Up => self.start_refill(now),
            _ => {}
        }
    }
}
