//! Pacing rate, quantum and window, which follow from the model.

use super::{Bbr, MinRtt, State, MIN_PACKETS};
use crate::slow_start::MAX_WINDOW;
use afteryou_base::units::Span;

/// Part of the bandwidth at which packets leave (bbr_pacing_margin_percent).
const MARGIN: f64 = 0.99;
/// Quanta that are in flight beside the BDP: in the sender, in its device, in the receiver.
const QUANTA: f64 = 3.0;
/// Time whose bytes may leave back to back, and the most, bytes.
const QUANTUM_S: f64 = 1.0 / 1024.0;
const MAX_QUANTUM: f64 = 65_535.0;
/// Below this rate, bytes per second, a quantum may be a single packet: 1.2 Mbit/s.
const SLOW_RATE: f64 = 150_000.0;

impl Bbr {
    /// Returns the bytes that may leave back to back.
    pub(super) fn quantum(&self) -> f64 {
        let least = if self.pacing_rate < SLOW_RATE { 1.0 } else { 2.0 };
        let packets = libm::floor((self.pacing_rate * QUANTUM_S).min(MAX_QUANTUM) / self.mss);
        packets.max(least) * self.mss
    }

    /// Returns the multiple of the product of rate and round-trip time, bytes.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            None => self.initial_window,
            Some(MinRtt { rtt, .. }) => gain * self.bandwidth.get() * rtt.as_secs_f64(),
        }
    }

    /// Returns `bytes` with the quanta on top that hosts hold, in whole packets.
    pub(super) fn with_budget(&self, bytes: f64) -> f64 {
        let packets = libm::ceil((bytes + QUANTA * self.quantum()) / self.mss);
        let even = 2.0 * libm::ceil(packets / 2.0);
        (even + if self.is_probing_up() { 2.0 } else { 0.0 }) * self.mss
    }

    /// Returns the flight at this gain, bytes.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_budget(self.bdp(gain))
    }

    /// Returns the window that it grows to, bytes.
    pub(super) fn target(&self) -> f64 {
        let is_used = self.tuning.room_for_batches && self.full.reached;
        let extra = if is_used { self.aggregation.extra(self.bandwidth.get()) } else { 0.0 };
        self.with_budget(self.bdp(self.cwnd_gain()) + extra)
    }

    /// Keeps the window of now for the time after a recovery or a probe.
    pub(super) fn save_cwnd(&mut self) {
        let is_reduced = self.recovery.is_on() || matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if is_reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn set_pacing_rate(&mut self, gain: f64, smoothed_rtt: Option<Span>) {
        if self.pacing_rate == 0.0 {
            let rtt = smoothed_rtt.map_or(Span::from_millis(1), |rtt| rtt.max(Span::from_micros(1)));
            self.pacing_rate = MARGIN * self.tuning.startup_gain * self.initial_window / rtt.as_secs_f64();
        }
        let rate = MARGIN * gain * self.bandwidth.get();
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    pub(super) fn set_cwnd(&mut self, acked: f64) {
        if self.recovery.is_conserving() {
            self.cwnd = self.cwnd.max(self.in_flight + acked);
            return self.limit_cwnd();
        }
        let target = self.target();
        if self.full.reached {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || self.delivered < self.initial_window {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(MIN_PACKETS * self.mss);
        self.limit_cwnd();
    }

    pub(super) fn limit_cwnd(&mut self) {
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(MIN_PACKETS * self.mss);
        }
        self.cwnd = self.cwnd.clamp(self.mss, MAX_WINDOW.max(self.mss));
    }
}
