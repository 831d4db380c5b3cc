//! Pacing rate, quantum and window, which follow from the model (§5.6).

use super::phases::State;
use super::{Bbr3, Signals};
use crate::slow_start::MAX_WINDOW;
use afteryou_base::units::Span;

/// Part of the bandwidth at which packets leave (BBR.PacingMarginPercent).
const MARGIN: f64 = 0.99;
/// Fewest packets of a window (BBR.MinPipeCwnd).
const MIN_PACKETS: f64 = 4.0;
/// Pacing gains: drain, down, up.
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
/// Window gain while it probes up, over that of other states: 2.25 of 2.
const UP_CWND_GAIN: f64 = 1.125;
/// Window gain while it measures the round-trip time.
const PROBE_RTT_GAIN: f64 = 0.5;
/// Packets by which the flight may exceed its bound while it probes up.
const UP_PACKETS: f64 = 2.0;
/// Quanta that are in flight beside the BDP: in the sender, in its device, in the receiver.
const QUANTA: f64 = 3.0;
/// Time whose bytes may leave back to back, s; the most, bytes; and the fewest packets.
const QUANTUM_S: f64 = 0.001;
const MAX_QUANTUM: f64 = 65_536.0;
const QUANTUM_PACKETS: f64 = 2.0;

/// The window and the pacing rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub cwnd: f64,
    /// Bytes per second; 0: the transport paces.
    pub pacing_rate: f64,
    initial_window: f64,
    prior_cwnd: f64,
    delivered: f64,
    /// The window was full in this round, and in the one before.
    is_full: bool,
    was_full: bool,
}

impl Control {
    pub fn new(initial_window: f64) -> Control {
        Control {
            cwnd: initial_window,
            pacing_rate: 0.0,
            initial_window,
            prior_cwnd: 0.0,
            delivered: 0.0,
            is_full: false,
            was_full: false,
        }
    }

    pub fn begin_ack(&mut self, signals: &Signals) {
        self.delivered += signals.acked;
        if signals.round_begins {
            self.was_full = core::mem::take(&mut self.is_full);
        }
    }

    /// Notes the bytes in flight after a packet has left.
    pub fn note_flight(&mut self, in_flight: f64, mss: f64) {
        self.is_full |= in_flight + mss > self.cwnd;
    }

    /// Returns whether the window was full at some time within a round trip (C.is_cwnd_limited).
    pub fn is_cwnd_limited(&self) -> bool {
        self.is_full || self.was_full
    }

    pub fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.phases.state {
            State::Startup => self.tuning.startup_gain,
            State::Drain => DRAIN_GAIN,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.phases.state {
            State::Up => UP_CWND_GAIN * self.tuning.cwnd_gain,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => self.tuning.cwnd_gain,
        }
    }

    pub(super) fn min_cwnd(&self) -> f64 {
        MIN_PACKETS * self.mss
    }

    /// Returns the bytes that may leave back to back (§5.6.3).
    pub(super) fn quantum(&self) -> f64 {
        (self.control.pacing_rate * QUANTUM_S).min(MAX_QUANTUM).max(QUANTUM_PACKETS * self.mss)
    }

    /// Returns the multiple of the product of a rate and the round-trip time, bytes (BDPMultiple).
    pub(super) fn bdp(&self, rate: f64, gain: f64) -> f64 {
        match self.model.min_rtt() {
            None => self.control.initial_window,
            Some(rtt) => gain * rate * rtt.as_secs_f64(),
        }
    }

    /// Returns a bound on the flight that leaves hosts their quanta (QuantizationBudget).
    fn with_budget(&self, bytes: f64) -> f64 {
        let least = (QUANTA * self.quantum()).max(self.min_cwnd());
        let up = if self.phases.state == State::Up { UP_PACKETS * self.mss } else { 0.0 };
        bytes.max(least) + up
    }

    /// Returns the flight at this rate and gain, bytes.
    pub(super) fn inflight(&self, rate: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp(rate, gain))
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.model.bandwidth(), PROBE_RTT_GAIN).max(self.min_cwnd())
    }

    /// Sets the pacing rate; until the pipe is full, it only rises (§5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64, smoothed_rtt: Option<Span>) {
        let control = &mut self.control;
        if control.pacing_rate == 0.0 {
            let rtt = smoothed_rtt.map_or(Span::from_millis(1), |rtt| rtt.max(Span::from_micros(1)));
            control.pacing_rate = self.tuning.startup_gain * control.initial_window / rtt.as_secs_f64();
        }
        let rate = MARGIN * gain * self.model.bandwidth();
        if self.phases.full.reached || rate > control.pacing_rate {
            control.pacing_rate = rate;
        }
    }

    /// Keeps the window of now for the time after a recovery or a probe (SaveCwnd).
    pub(super) fn save_cwnd(&mut self) {
        let is_reduced = self.recovery.is_on() || self.phases.state == State::ProbeRtt;
        let Bbr3 { control, .. } = self;
        control.prior_cwnd = if is_reduced { control.prior_cwnd.max(control.cwnd) } else { control.cwnd };
    }

    /// Sets the window after an ack (§5.6.4.6, SetCwnd).
    pub(super) fn set_cwnd(&mut self, acked: f64) {
        let bandwidth = self.model.bandwidth();
        let most =
            self.with_budget(self.bdp(bandwidth, self.cwnd_gain()) + self.aggregation.extra(bandwidth));
        let least = self.min_cwnd();
        let control = &mut self.control;
        if self.phases.full.reached {
            control.cwnd = (control.cwnd + acked).min(most);
        } else if control.cwnd < most || control.delivered < control.initial_window {
            control.cwnd += acked;
        }
        control.cwnd = control.cwnd.max(least);
        self.limit_cwnd();
    }

    /// Applies the bounds of the state and of losses (BoundCwndForProbeRTT, BoundCwndForModel).
    pub(super) fn limit_cwnd(&mut self) {
        let bound = match self.phases.state {
            State::Down | State::Refill | State::Up => self.model.inflight_longterm,
            State::Cruise => self.inflight_with_headroom(),
            State::ProbeRtt => self.inflight_with_headroom().min(self.probe_rtt_cwnd()),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.model.inflight_shortterm()).max(self.min_cwnd());
        self.control.cwnd = self.control.cwnd.min(bound).clamp(self.mss, MAX_WINDOW.max(self.mss));
    }
}
