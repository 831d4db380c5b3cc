//! Yield: pairs of packets at the floor, until the queue has gone and the hold is over.

use super::burst::{Burst, Question};
use super::units::{bytes_in, part, saturated, time_of};
use super::{switches, AckEvent, Params, Phase, State};

/// Samples in a row that are not high, before a return.
const CALM_SAMPLES: u32 = 2;
/// Window at the floor, packets. The pairs limit the rate; one whose ack is late must not tear the next one apart. It is there from the
/// first ack on: no loss widens a window.
const FLOOR_PACKETS: u64 = 4;
/// Hold after a share test, µs: the first one and the longest.
const SHARE_HOLD_US: u32 = 2_000_000;
const SHARE_HOLD_MOST_US: u32 = 16_000_000;
/// Least time without a change of the queue before a train: µs and round trips.
const STEADY_US: u64 = 3_000_000;
const STEADY_ROUNDS: u64 = 10;
/// Within: µs, packets' times, times of noise.
const STEADY_WITHIN_US: u64 = 2_000;
/// A train lasts for this at C, µs; packets.
const TRAIN_US: u64 = 3_000;
const TRAIN_PACKETS: (u64, u64) = (16, 64);
/// Packets a second at the floor, at least.
const PACKETS_A_SECOND: u64 = 6;
/// Packets of a ramp's window.
const RAMP_PACKETS: u64 = 4;

/// State of the floor.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Since when no sample has been high.
    calm_since: u64,
    /// When the rule came back last.
    returned_at: u64,
    /// Since when the round-trip time has not changed.
    steady_since: u64,
    /// The hold of now, that of evidence, and that of a fair queue, µs.
    hold_us: u32,
    evidence_hold_us: u32,
    share_hold_us: u32,
    steady_least_us: u32,
    steady_most_us: u32,
    calm_samples: u32,
}

impl Floor {
    /// Takes note that the queue is no fair one.
    pub fn not_shared(&mut self) {
        self.share_hold_us = 0;
    }

    /// Returns whether the queue was a fair one when it was asked last.
    pub fn is_shared(&self) -> bool {
        self.share_hold_us > 0
    }

    fn begin(&mut self, now: u64, hold_us: u32) {
        (self.calm_since, self.hold_us) = (now, hold_us);
        (self.calm_samples, self.steady_least_us, self.steady_most_us) = (0, u32::MAX, 0);
    }

    /// Begins the hold anew: the path is not calm, or has not answered.
    pub fn wait_anew(&mut self, now: u64) {
        (self.calm_since, self.calm_samples) = (now, 0);
    }

    /// Takes in a sample. Returns whether the hold is over and the path calm.
    fn is_calm(&mut self, now: u64, is_high: bool) -> bool {
        if is_high {
            self.wait_anew(now);
            return false;
        }
        self.calm_samples = self.calm_samples.saturating_add(1);
        self.calm_samples >= CALM_SAMPLES && now.saturating_sub(self.calm_since) >= self.hold_us.into()
    }

    /// Takes in a round-trip time. Returns for how long it has been steady, µs.
    fn steady_for(&mut self, now: u64, rtt_us: u32, within: u64) -> u64 {
        let (least, most) = (self.steady_least_us.min(rtt_us), self.steady_most_us.max(rtt_us));
        if u64::from(most - least) > within {
            (self.steady_since, self.steady_least_us, self.steady_most_us) = (now, rtt_us, rtt_us);
            return 0;
        }
        if self.steady_most_us == 0 {
            self.steady_since = now;
        }
        (self.steady_least_us, self.steady_most_us) = (least, most);
        now.saturating_sub(self.steady_since)
    }
}

impl State {
    /// Begins a yield because the queue does not obey.
    pub(super) fn begin_yield(&mut self, now: u64, params: &Params) {
        let is_again =
            self.floor.returned_at > 0 && now.saturating_sub(self.floor.returned_at) < params.again_us;
        let hold = if is_again {
            (2 * u64::from(self.floor.evidence_hold_us)).min(params.hold_most_us)
        } else {
            params.hold_us
        };
        self.floor.evidence_hold_us = saturated(hold.max(params.hold_us));
        self.go_to_floor(now, self.floor.evidence_hold_us, params);
    }

    /// Begins a yield because the queue is a fair one.
    pub(super) fn yield_share(&mut self, now: u64, params: &Params) {
        self.floor.share_hold_us = (2 * self.floor.share_hold_us).clamp(SHARE_HOLD_US, SHARE_HOLD_MOST_US);
        self.go_to_floor(now, self.floor.share_hold_us, params);
    }

    fn go_to_floor(&mut self, now: u64, hold_us: u32, params: &Params) {
        self.phase = Phase::Yield;
        self.cwnd = self.cwnd.min(FLOOR_PACKETS * params.mss);
        self.burst = Burst::NONE;
        self.round = self.round.after_reduction(now);
        self.losses.abandon();
        self.evidence.clear();
        self.floor.begin(now, hold_us);
    }

    /// Returns the time from one pair of the floor to the next, µs.
    pub(super) fn pairs_every(&self, params: &Params) -> u64 {
        let least = PACKETS_A_SECOND * params.mss;
        let rate = part(self.capacity.get(), params.floor).max(least);
        time_of(2 * params.mss, rate).max(self.rtt_us())
    }

    pub(super) fn wait(&mut self, ack: &AckEvent, params: &Params) {
        self.cwnd = FLOOR_PACKETS * params.mss;
        if !self.round.counts(ack.sent_at) || self.burst.is_on() {
            return;
        }
        let (packet_us, noise) = (self.packet_us(), self.noise_us());
        let is_high = self.queue_us() > params.high(packet_us, noise);
        if self.floor.is_calm(ack.now, is_high) {
            return self.come_back(ack.now, params);
        }
        let within = STEADY_WITHIN_US.max(2 * packet_us) + 4 * noise;
        let steady = self.floor.steady_for(ack.now, ack.rtt_us, within);
        let is_due = steady >= STEADY_US.max(STEADY_ROUNDS * self.rtt_us());
        if is_high && is_due && params.has(switches::TRAIN) {
            self.ask_route(ack.now, params);
        }
    }

    fn ask_route(&mut self, now: u64, params: &Params) {
        let (least, most) = TRAIN_PACKETS;
        let packets = (bytes_in(self.capacity.get(), TRAIN_US) / params.mss).clamp(least, most);
        self.ask(Question::Route, packets, now, Some(self.queue_us()), params);
        (self.floor.steady_least_us, self.floor.steady_most_us) = (u32::MAX, 0);
    }

    pub(super) fn on_route_train(&mut self, burst: &Burst, now: u64, params: &Params) {
        let Some(base_us) = burst.new_base(self.packet_us()) else { return };
        self.path.rebase(base_us);
        self.come_back(now, params);
    }

    fn come_back(&mut self, now: u64, params: &Params) {
        self.floor.returned_at = now;
        self.begin_ramp(now, RAMP_PACKETS * params.mss);
    }
}
