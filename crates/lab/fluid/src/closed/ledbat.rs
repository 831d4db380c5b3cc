//! LEDBAT's line of equilibria, which it never reaches.
//!
//! # Model
//! Carofiglio 2013, eq. 3-4, N flows of one round trip, no delay in the feedback:
//!
//! ```text
//!   dW/dt = (α/R)·(1 − Q/(C·τ))          dQ/dt = Σ W/R − C
//! ```
//! Every split of `Σ W = C·R` with `Q = C·τ` is an equilibrium. The characteristic polynomial is
//! `λ^(N−1)·(λ² + N·α/(C·τ·R²))`: differences never die, and queue and total rate oscillate without damping.
//!
//! With the queue inside the round trip the pair becomes `λ² + λ/(R + τ) + N·α/(C·τ·(R + τ)²)`: the oscillation dies, the
//! differences remain.
//!
//! # Source
//! Carofiglio 2013, §4. Its Observation 4.3 prints `λ^(N−1)·(λ² + N·C·τ·R)` and ±i·√(N/(R·τ)), which contradict each other and
//! eq. 3-4; its conclusion is right. There eq. 3 drops α. In the proof of Prop. 4.1, t* = t_N − (W_i − W_j)·R/(N − 1).

use super::linear::polynomial;
use super::{DelayLoop, Equilibrium, Pair, Symmetric};

/// LEDBAT flows at a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Flows, link, path.
    pub at: Symmetric,
    /// TARGET, s.
    pub target_s: f64,
    /// GAIN, packets per round trip.
    pub gain: f64,
}

impl Closed {
    /// Returns the equilibrium of equal windows, with constant round trips.
    pub fn equilibrium(&self) -> Equilibrium {
        self.settled(self.at.rtt_s)
    }

    /// Returns the same with the queue inside the round trip.
    pub fn equilibrium_with_queue(&self) -> Equilibrium {
        self.settled(self.at.rtt_s + self.target_s)
    }

    fn settled(&self, round_trip_s: f64) -> Equilibrium {
        let rate = self.at.capacity / self.at.n();
        let queue = self.at.capacity * self.target_s;
        Equilibrium { rate, window: rate * round_trip_s, queue, queuing_s: self.target_s }
    }

    /// Returns how queue and total rate settle, with constant round trips: not at all.
    pub fn pair(&self) -> Pair {
        Pair { b: 0.0, c: self.gain_with(self.at.rtt_s) }
    }

    /// Returns the same with the queue inside the round trip.
    pub fn pair_with_queue(&self) -> Pair {
        let round_trip_s = self.at.rtt_s + self.target_s;
        Pair { b: 1.0 / round_trip_s, c: self.gain_with(round_trip_s) }
    }

    fn gain_with(&self, round_trip_s: f64) -> f64 {
        self.at.n() * self.gain / (self.at.capacity * self.target_s * round_trip_s * round_trip_s)
    }

    /// Returns the characteristic polynomial, highest power first.
    pub fn polynomial(&self) -> Vec<f64> {
        polynomial(0.0, self.at.flows.saturating_sub(1), &self.pair())
    }

    /// Returns the loop with feedback a round trip late, round trips constant.
    pub fn delayed(&self) -> DelayLoop {
        DelayLoop { gain: self.pair().c, a: 0.0, own: 0.0, delay_s: self.at.rtt_s }
    }

    /// Returns the same with the queue inside the round trip.
    pub fn delayed_with_queue(&self) -> DelayLoop {
        let delay_s = self.at.rtt_s + self.target_s;
        DelayLoop { gain: self.gain_with(delay_s), a: 0.0, own: 1.0 / delay_s, delay_s }
    }
}
