//! LEDBAT++: the rule of a round trip as a rate; slow start and slowdowns are events.
//!
//! # Model
//! Each acknowledged packet has its share of the round trip's rule (draft-01 §4.2, §4.3; the shares of a round trip add up to
//! the rule):
//!
//! ```text
//!   q ≤ TARGET:  dW/dt = GAIN · r/W
//!   q > TARGET:  dW/dt = max(GAIN − Constant·W·(q/TARGET − 1), −W/2) · r/W
//!   GAIN = 1 / min(16, ⌈2·TARGET/base⌉)
//! ```
//! A loss event halves. In slow start and in the ramp after a slowdown the window grows by `ln(1 + GAIN)/R · W`, which is the
//! factor 1 + GAIN in a round trip.
//!
//! Slowdowns ([`Slowdowns`]) are events, on the edges of steps: two packets for two round trips, the ramp, then nine
//! times as long until the next. Their cost is then the outcome of the run: the queue covers a part of it, others take
//! another, the rest is lost to the link. Averaged away they become a factor on the rate. That is right among flows
//! that keep the queue up, and wrong for a flow alone, whose queue a mean never empties.
//!
//! # Not modelled
//! The filter of the delay, the expiry of the base history, Apple's variants.

use super::Signal;

/// Smallest window and the one at the start, packets.
pub const FLOOR: f64 = 2.0;
/// A slowdown is followed by this multiple of its own length.
pub const WAIT: f64 = 9.0;
/// Round trips at the floor in a slowdown, and between slow start and the first slowdown.
pub const FREEZE_ROUNDS: f64 = 2.0;

/// The treatment of slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowdowns {
    /// They happen.
    Events,
    /// Their mean is taken: the flow sends this much less, all the time.
    Mean,
    /// There are none.
    None,
}

/// LEDBAT++.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedbatPp {
    /// TARGET, s.
    pub target_s: f64,
    /// GAIN is at least one over this.
    pub gain_divisor_max: f64,
    /// Constant.
    pub constant: f64,
    /// Slow start ends at this part of TARGET.
    pub exit: f64,
    /// Slowdowns.
    pub slowdowns: Slowdowns,
    /// Quiet round trips at the floor before slow start begins again; 0 for never.
    pub restart_rounds: f64,
}

impl LedbatPp {
    /// Creates the draft's rule.
    pub const fn new(target_s: f64) -> LedbatPp {
        LedbatPp {
            target_s,
            gain_divisor_max: 16.0,
            constant: 1.0,
            exit: 0.75,
            slowdowns: Slowdowns::Events,
            restart_rounds: 0.0,
        }
    }

    /// Returns GAIN on a path of this base round trip (§4.2).
    pub fn gain(&self, base_rtt_s: f64) -> f64 {
        1.0 / (2.0 * self.target_s / base_rtt_s - 1e-9).ceil().clamp(1.0, self.gain_divisor_max)
    }

    /// Returns the change in a round trip, packets.
    pub fn per_round(&self, signal: &Signal) -> f64 {
        let gain = self.gain(signal.base_rtt_s);
        let excess = signal.queuing_s / self.target_s - 1.0;
        if excess <= 0.0 {
            return gain;
        }
        (gain - self.constant * signal.window * excess).max(-signal.window / 2.0)
    }

    /// Returns dW/dt.
    pub fn drift(&self, signal: &Signal) -> f64 {
        let worked = match self.slowdowns {
            Slowdowns::Mean => WAIT / (WAIT + 1.0),
            Slowdowns::Events | Slowdowns::None => 1.0,
        };
        worked * self.per_round(signal) * signal.ack_rate / signal.counted_window() + signal.halving()
    }

    /// Returns the part of `window / rtt` that is sent in the mean, if slowdowns are averaged. It is the packets of a
    /// freeze, of a ramp and of the wait over the packets without slowdowns, with the queue as others keep it.
    pub fn duty(&self, window: f64, base_rtt_s: f64) -> f64 {
        if self.slowdowns != Slowdowns::Mean || window <= FLOOR {
            return 1.0;
        }
        let growth = libm::log1p(self.gain(base_rtt_s));
        let ramp_rounds = libm::log(window / FLOOR) / growth;
        let rounds = FREEZE_ROUNDS + ramp_rounds;
        let slowdown = FREEZE_ROUNDS * FLOOR + (window - FLOOR) / growth;
        (slowdown + WAIT * rounds * window) / ((WAIT + 1.0) * rounds * window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_and_the_rule_of_a_round_trip_are_those_of_the_check_vectors() {
        let rule = LedbatPp::new(0.060);
        let bases = [200.0, 120.0, 119.0, 60.0, 59.0, 50.0, 20.0, 10.0, 8.0, 7.5, 5.0];
        let divisors = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 6.0, 12.0, 15.0, 16.0, 16.0];
        for (base, divisor) in bases.into_iter().zip(divisors) {
            assert_eq!(rule.gain(base / 1e3), 1.0 / divisor, "{base} ms");
        }
        let vectors = [
            (100.0, 20.0, 10.0, 100.166667),
            (100.0, 100.0, 72.0, 80.5),
            (100.0, 100.0, 150.0, 50.0),
            (10.0, 60.0, 61.0, 10.333333),
            (40.0, 30.0, 90.0, 20.25),
        ];
        for (window, base_ms, q_ms, next) in vectors {
            let signal =
                Signal { window, queuing_s: q_ms / 1e3, base_rtt_s: base_ms / 1e3, ..Signal::default() };
            assert!((window + rule.per_round(&signal) - next).abs() < 1e-6, "{window} packets");
        }
    }

    #[test]
    fn slowdowns_cost_a_tenth_at_most_and_nothing_at_the_floor() {
        let rule = LedbatPp { slowdowns: Slowdowns::Mean, ..LedbatPp::new(0.060) };
        assert_eq!(rule.duty(2.0, 0.1), 1.0);
        for window in [3.0, 10.0, 100.0, 1e4] {
            let duty = rule.duty(window, 0.1);
            assert!((0.9..1.0).contains(&duty), "{window} packets: {duty}");
        }
    }
}
