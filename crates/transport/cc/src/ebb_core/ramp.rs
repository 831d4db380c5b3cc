//! Ramp: the window grows by what is delivered, until the queue or the losses show that the link is full.

use super::units::{bytes_in, part, ratio, saturated, Ratio16};
use super::{AckEvent, Params, Phase, State, APP_LIMITED, MAX_WINDOW};

/// Queue that ends it, over `T_lo`.
const EXIT: Ratio16 = ratio(1.5);
/// Samples that must show it.
const EXIT_SAMPLES: usize = 3;
/// Part of a window whose loss ends it.
const LOSSY: Ratio16 = ratio(0.15);
const LOSSY_PACKETS: u64 = 4;
/// Round trips after which the window must be explained by what is delivered, by that factor and packets.
const BOUND_ROUNDS: u64 = 3;
const BOUND_FACTOR: u64 = 6;
const BOUND_PACKETS: u64 = 24;

impl State {
    /// Begins a ramp with a window.
    pub(super) fn begin_ramp(&mut self, now: u64, window: u64) {
        self.phase = Phase::Ramp;
        self.cwnd = window;
        (self.ramp_at, self.losses.of_ramp) = (now, 0);
        self.round = self.round.after_reduction(now);
    }

    pub(super) fn ramp(&mut self, ack: &AckEvent, params: &Params) {
        let is_used = !ack.has(APP_LIMITED) && ack.in_flight >= self.cwnd / 2;
        if is_used {
            self.cwnd = self.cwnd.saturating_add(ack.delivered).min(MAX_WINDOW);
        }
        if self.round.is_over(ack.now, ack.sent_at, 0) {
            self.learn(ack.now, self.rate, params);
            self.round = self.round.next(ack.now);
        }
        let least = params.least_target(self.ramp_packet_us(params));
        let most = part(least, EXIT);
        if self.round.least_of_latest(EXIT_SAMPLES).is_some_and(|queue| queue > most) {
            let rate = self.rate_now(ack.now, params);
            self.learn(ack.now, rate, params);
            self.leave_ramp(ack.now, bytes_in(rate, self.path.base_us() + least / 2), params);
        } else if self.is_unexplained(ack.now, params) {
            self.leave_ramp(ack.now, self.carried(least), params);
        }
    }

    /// Returns the time of a packet by the largest rate, the latest included.
    fn ramp_packet_us(&self, params: &Params) -> u64 {
        if self.rate <= self.capacity.get() {
            return self.packet_us();
        }
        self.capacity.packet_us_with(self.rate, params.mss)
    }

    /// Returns whether the window has grown without more being delivered: a base measured over a full buffer hides the queue.
    fn is_unexplained(&self, now: u64, params: &Params) -> bool {
        now.saturating_sub(self.ramp_at) > BOUND_ROUNDS * self.rtt_us()
            && self.cwnd > BOUND_FACTOR * bytes_in(self.rate, self.rtt_us()) + BOUND_PACKETS * params.mss
    }

    pub(super) fn ramp_loss(&mut self, now: u64, params: &Params) {
        self.losses.of_ramp = self.losses.of_ramp.saturating_add(saturated(params.mss));
        let least = params.least_target(self.ramp_packet_us(params));
        let is_full = self.round.most_us() > part(least, EXIT);
        if is_full || u64::from(self.losses.of_ramp) > part(self.cwnd, LOSSY).max(LOSSY_PACKETS * params.mss)
        {
            self.leave_ramp(now, (self.cwnd / 2).min(self.carried(least)), params);
        }
    }

    /// Ends the ramp with a window.
    pub(super) fn leave_ramp(&mut self, now: u64, window: u64, params: &Params) {
        self.learn(now, self.rate, params);
        self.cwnd = window.min(self.cwnd).max(2 * params.mss);
        self.ramp_at = now;
        self.losses.forget_rate();
        self.begin_cruise(now);
    }
}
