//! The model of the path: rate, round-trip time, and the bounds that losses set (§5.5).

use super::phases::{Phases, State};
use super::{Bbr3, Signals, Tuning};
use crate::delivery_rounds::RateSample;
use crate::event::Loss;
use afteryou_base::units::{Span, Time};

/// A smallest round-trip time and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    rtt: Span,
    at: Time,
}

/// The bounds before a loss, which may turn out to be none (§5.5.11.1).
#[derive(Clone, Copy, Debug)]
struct Undo {
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// The path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    /// Largest rates of the cycle before and of this one, bytes per second.
    rates: [f64; 2],
    bw_shortterm: f64,
    inflight_shortterm: f64,
    pub inflight_longterm: f64,
    bw_latest: f64,
    pub inflight_latest: f64,
    /// The round in which losses are counted ends with a packet that leaves then or later.
    loss_round_from: Time,
    loss_round_begins: bool,
    has_loss_in_round: bool,
    /// Ranges of consecutive transmissions lost in this round, and the number of the latest one lost.
    ranges_lost: u32,
    latest_lost: u64,
    min_rtt: Option<Measured>,
    probed: Option<Measured>,
    /// Nothing as small as the round-trip time was seen for a while.
    pub is_probe_due: bool,
    undo: Option<Undo>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            rates: [0.0; 2],
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_from: Time::ZERO,
            loss_round_begins: false,
            has_loss_in_round: false,
            ranges_lost: 0,
            latest_lost: 0,
            min_rtt: None,
            probed: None,
            is_probe_due: false,
            undo: None,
        }
    }
}

impl Model {
    /// Returns the largest delivery rate of two cycles, bytes per second.
    pub fn max_bandwidth(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// Returns the rate to send at, bytes per second (BoundBWForModel).
    pub fn bandwidth(&self) -> f64 {
        self.max_bandwidth().min(self.bw_shortterm)
    }

    pub fn min_rtt(&self) -> Option<Span> {
        self.min_rtt.map(|min| min.rtt)
    }

    pub fn inflight_shortterm(&self) -> f64 {
        self.inflight_shortterm
    }

    /// Begins a new cycle for the largest rate, unless this one has none (AdvanceMaxBwFilter).
    pub fn advance_cycle(&mut self) {
        if self.rates[1] > 0.0 {
            self.rates = [self.rates[1], 0.0];
        }
    }

    /// Takes in a delivery rate (UpdateMaxBw).
    pub fn take_rate(&mut self, sample: &RateSample) {
        if !sample.app_limited || sample.rate >= self.max_bandwidth() {
            self.rates[1] = self.rates[1].max(sample.rate);
        }
    }

    pub fn update_latest(&mut self, signals: &Signals) {
        if let Some(sample) = &signals.sample {
            self.bw_latest = self.bw_latest.max(sample.rate);
            self.inflight_latest = self.inflight_latest.max(sample.delivered);
        }
        self.loss_round_begins = signals.sent_at >= self.loss_round_from;
        if self.loss_round_begins {
            self.loss_round_from = signals.now;
        }
    }

    pub fn advance_latest(&mut self, signals: &Signals) {
        if let (true, Some(sample)) = (self.loss_round_begins, &signals.sample) {
            (self.bw_latest, self.inflight_latest) = (sample.rate, sample.delivered);
        }
    }

    pub fn ends_loss_round(&self) -> bool {
        self.loss_round_begins
    }

    pub fn begin_loss_round(&mut self) {
        self.has_loss_in_round = false;
    }

    /// Shrinks the short-term bounds to what the round with losses delivered (AdaptLowerBoundsFromCongestion).
    pub fn adapt_to_loss(&mut self, cwnd: f64, beta: f64) {
        if !self.has_loss_in_round {
            return;
        }
        let from = |bound: f64, first: f64| if bound.is_finite() { bound } else { first };
        let (bw, inflight) =
            (from(self.bw_shortterm, self.max_bandwidth()), from(self.inflight_shortterm, cwnd));
        self.bw_shortterm = self.bw_latest.max(beta * bw);
        self.inflight_shortterm = self.inflight_latest.max(beta * inflight);
    }

    pub fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    pub fn reset_congestion(&mut self) {
        self.has_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// Takes in a round-trip time (UpdateMinRTT).
    pub fn update_min_rtt(&mut self, signals: &Signals, tuning: &Tuning) {
        let now = signals.now;
        let is_old = |of: Option<Measured>, age: Span| of.is_some_and(|min| now.since(min.at) > age);
        self.is_probe_due = is_old(self.probed, tuning.probe_rtt_interval);
        if let Some(rtt) = signals.rtt {
            if self.is_probe_due || self.probed.is_none_or(|min| rtt < min.rtt) {
                self.probed = Some(Measured { rtt, at: now });
            }
        }
        let Some(probed) = self.probed else { return };
        if is_old(self.min_rtt, tuning.min_rtt_age) || self.min_rtt.is_none_or(|min| probed.rtt < min.rtt) {
            self.min_rtt = Some(probed);
        }
    }

    /// Notes the end of a probe of the round-trip time: the next one is due an interval from now.
    pub fn end_probe_rtt(&mut self, now: Time) {
        if let Some(probed) = &mut self.probed {
            probed.at = now;
        }
    }

    /// Returns the ranges of packets lost in the round that ends with this ack, which begins to count anew.
    pub fn take_ranges_lost(&mut self) -> u32 {
        core::mem::take(&mut self.ranges_lost)
    }

    /// Saves the bounds for the case that a loss turns out to be none (SaveStateUponLoss).
    pub fn save_for_undo(&mut self, phases: &mut Phases) {
        phases.undo = None;
        let &mut Model { bw_shortterm, inflight_shortterm, inflight_longterm, .. } = self;
        self.undo = Some(Undo { bw_shortterm, inflight_shortterm, inflight_longterm });
    }

    /// Gives the bounds back (HandleSpuriousLossDetection).
    pub fn undo(&mut self) {
        self.has_loss_in_round = false;
        let Some(undo) = self.undo.take() else { return };
        self.bw_shortterm = self.bw_shortterm.max(undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
    }

    fn note_loss(&mut self, loss: &Loss, phases: &mut Phases) {
        if !self.has_loss_in_round {
            self.loss_round_from = loss.now;
            self.save_for_undo(phases);
        }
        self.has_loss_in_round = true;
        let number = loss.sent.packet_number;
        if self.ranges_lost == 0 || number != self.latest_lost.wrapping_add(1) {
            self.ranges_lost = self.ranges_lost.saturating_add(1);
        }
        self.latest_lost = number;
    }
}

/// Returns the bytes in flight at which losses exceeded `threshold`, within a packet of `size` bytes that is lost (InflightAtLoss).
/// `in_flight` and `lost` include that packet.
pub(super) fn inflight_at_loss(in_flight: f64, lost: f64, size: f64, threshold: f64) -> f64 {
    let (in_flight_before, lost_before) = (in_flight - size, lost - size);
    let prefix = (threshold * in_flight_before - lost_before) / (1.0 - threshold);
    in_flight_before + prefix
}

impl Bbr3 {
    /// Returns whether losses show that too much was in flight (IsInflightTooHigh).
    pub(super) fn is_too_high(&self, lost: f64, in_flight_at_send: f64) -> bool {
        lost > in_flight_at_send * self.tuning.loss_threshold
    }

    /// Takes in a lost packet (HandleLostPacket).
    pub(super) fn note_loss(&mut self, loss: &Loss) {
        self.model.note_loss(loss, &mut self.phases);
        if !self.phases.is_probe_sample {
            return;
        }
        let (in_flight, size) = (loss.sent.in_flight as f64, loss.sent.bytes as f64);
        let lost = (self.lost - loss.sent.totals.lost as f64).max(0.0);
        if self.is_too_high(lost, in_flight) {
            let at_loss = inflight_at_loss(in_flight, lost, size, self.tuning.loss_threshold);
            self.react_to_too_high(at_loss, loss.sent.app_limited, loss.now);
        }
    }

    /// Sets the long-term bound and ends the probe (HandleInflightTooHigh).
    fn react_to_too_high(&mut self, at_loss: f64, app_limited: bool, now: Time) {
        self.phases.prev_probe_too_high = true;
        self.phases.is_probe_sample = false;
        if !app_limited {
            self.model.inflight_longterm = at_loss.max(self.target_inflight() * self.tuning.beta);
        }
        if self.phases.state == State::Up {
            self.phases.undo = Some(State::Up);
            self.start_down(now);
        }
    }

    /// Returns the bytes to keep in flight: the BDP, unless congestion has cut the window (TargetInflight).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.model.bandwidth(), 1.0).min(self.control.cwnd)
    }

    /// Returns the long-term bound less the room for others, bytes (InflightWithHeadroom).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let bound = self.model.inflight_longterm;
        if bound.is_infinite() {
            return bound;
        }
        let headroom = self.mss.max(self.tuning.headroom * bound);
        (bound - headroom).max(self.min_cwnd())
    }
}
