//! The state machine.

use super::{mixed, Bbr, MinRtt, State, CYCLE, DRAINING, MIN_PACKETS};
use crate::event::Ack;
use afteryou_base::units::{Span, Time};

impl Bbr {
    pub(super) fn is_phase_over(&self, ack: &Ack, began: Time) -> bool {
        let rtt = self.min_rtt.map_or(Span::ZERO, |min| min.rtt);
        let is_full_length = ack.now.since(began) > rtt;
        let (gain, in_flight) = (self.pacing_gain(), ack.in_flight as f64);
        if gain > 1.0 {
            // What is about to leave counts, too.
            return is_full_length && (self.has_lost || in_flight + self.quantum() >= self.inflight(gain));
        }
        is_full_length || (gain < 1.0 && in_flight <= self.inflight(1.0))
    }

    pub(super) fn advance_phase(&mut self, ack: &Ack) {
        let State::ProbeBandwidth { phase, began } = self.state else { return };
        if self.is_phase_over(ack, began) {
            self.state = State::ProbeBandwidth { phase: (phase + 1) % CYCLE.len() as u8, began: ack.now };
        }
    }

    /// Begins to probe for bandwidth, in any phase but the one that drains.
    pub(super) fn probe_bandwidth(&mut self, now: Time) {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let drawn = (mixed(self.random) % (CYCLE.len() as u64 - 1)) as u8;
        let phase = if drawn < DRAINING { drawn } else { drawn + 1 };
        self.state = State::ProbeBandwidth { phase, began: now };
    }

    pub(super) fn leave_startup(&mut self, now: Time) {
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.in_flight <= self.inflight(1.0) {
            self.probe_bandwidth(now);
        }
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack, round_begins: bool) {
        let is_old = self.min_rtt.is_some_and(|min| ack.now.since(min.at) > self.tuning.min_rtt_age);
        if let Some(rtt) = ack.rtt {
            let is_small = self.min_rtt.is_none_or(|min| rtt <= min.rtt);
            if is_small || (is_old && !ack.may_have_waited) {
                self.min_rtt = Some(MinRtt { rtt, at: ack.now });
            }
        }
        let is_probing = matches!(self.state, State::ProbeRtt { .. });
        if is_old && !self.idle_restart && !is_probing {
            self.save_cwnd();
            self.state = State::ProbeRtt { ends: None, round_done: false };
        }
        self.probe_rtt(ack.now, round_begins);
        self.idle_restart = false;
    }

    pub(super) fn probe_rtt(&mut self, now: Time, round_begins: bool) {
        let State::ProbeRtt { ends, round_done } = self.state else { return };
        self.rounds.mark_limited(now);
        if ends.is_some() {
            self.state = State::ProbeRtt { ends, round_done: round_done || round_begins };
            self.end_probe_rtt(now);
        } else if self.in_flight <= MIN_PACKETS * self.mss {
            self.rounds.begin(now);
            self.state = State::ProbeRtt { ends: Some(now + self.tuning.probe_rtt_time), round_done: false };
        }
    }

    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        let State::ProbeRtt { ends: Some(ends), round_done: true } = self.state else { return };
        if now < ends {
            return;
        }
        if let Some(min_rtt) = &mut self.min_rtt {
            min_rtt.at = now;
        }
        self.restore_cwnd();
        match self.full.reached {
            true => self.probe_bandwidth(now),
            false => self.state = State::Startup,
        }
    }

    pub(super) fn phase_name(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBandwidth { phase: 0, .. } => "probe up",
            State::ProbeBandwidth { phase: DRAINING, .. } => "probe down",
            State::ProbeBandwidth { .. } => "cruise",
            State::ProbeRtt { .. } => "probe RTT",
        }
    }
}
