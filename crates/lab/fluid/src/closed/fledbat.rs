//! fLEDBAT's equilibrium and how it is approached.
//!
//! # Model
//! Carofiglio 2013, eq. 8-9, N flows of one round trip, no delay in the feedback:
//!
//! ```text
//!   dX/dt = α/R² − (ζ/(R·τ))·(Q/C − τ)·X·1{Q ≥ C·τ}          dQ/dt = Σ X − C·1{Q > 0}
//! ```
//! It has one equilibrium (eq. 10), `X* = C/N`, `Q* = C·τ + N·α·τ/(ζ·R)`. There the Jacobian has `−a` on the diagonal,
//! `−b = −ζ/(N·R·τ)` in the queue's column and ones in its row, and the characteristic polynomial is
//!
//! ```text
//!   (λ + a)^(N−1) · (λ² + a·λ + ω₀²)          a = N·α/(C·R²)          ω₀² = N·b = ζ/(R·τ)
//! ```
//! Differences between flows die away by a, queue and total rate by the pair. All real parts are negative, so the
//! equilibrium is stable for every α and ζ as long as feedback is at once ([`DelayLoop`] has the effect of a delay).
//!
//! With the queue inside the round trip, `R + q` takes the place of R and the queue damps itself: the pair becomes
//! `λ² + (a' + 1/(R + q))·λ + a'/(R + q) + ζ/(τ·(R + q))`, `a' = ζ·(q/τ − 1)/(R + q)`.
//!
//! # Source
//! Carofiglio, Muscariello, Rossi, Testa and Valenti, "Rethinking the low extra delay background transport (LEDBAT)
//! protocol", Computer Networks 57(8), 2013, §5. Slips in its printed forms, which are corrected here:
//! - Prop. 5.5: the matrix lacks N on its diagonal and has C in place of N·R in the last column. So the printed
//!   polynomial `λ² + α/(C·R²)·λ + N·ζ/(C·τ·R)` has terms of different units. In the reference case (N = 2, C = 10
//!   Mbit/s, R = 50 ms, τ = 25 ms, ζ = 0.1) it gives 17 s for a period of 0.70 s.
//! - Prop. 5.7: ζ* = α²·τ/(4·N·C·R³) follows from that matrix; it is `N²·α²·τ/(4·C²·R³)`. The sign within Θ must be minus:
//!   the slowest root decides, not the fastest.
//! - Eq. 13: see [`lyapunov`](super::lyapunov). Eq. 9: the indicator must be Q > 0.
//! - §6 has Q about C·τ; by eq. 10 it is 1.48 times as much there.
//!
//! # Known bad cases
//! An equilibrium above the buffer is never reached: losses rule instead.

use super::linear::{polynomial, Matrix};
use super::{DelayLoop, Equilibrium, Pair, Symmetric};
use crate::model::{Fledbat, LedbatPp};

/// fLEDBAT flows at a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Flows, link, path.
    pub at: Symmetric,
    /// τ, s.
    pub target_s: f64,
    /// α, packets per round trip.
    pub alpha: f64,
    /// ζ.
    pub zeta: f64,
}

impl Closed {
    /// Returns the closed forms of flows with this rule.
    pub fn of(at: Symmetric, rule: &Fledbat) -> Closed {
        Closed { at, target_s: rule.target_s, alpha: rule.alpha, zeta: rule.zeta }
    }

    /// Returns the closed forms of LEDBAT++ flows between slowdowns: their rule is this one, with GAIN for α and Constant
    /// for ζ. Its bound of half a window on a decrease is never met at rest, where the decrease is GAIN.
    pub fn between_slowdowns(at: Symmetric, rule: &LedbatPp) -> Closed {
        Closed { at, target_s: rule.target_s, alpha: rule.gain(at.rtt_s), zeta: rule.constant }
    }

    /// Returns where it settles with constant round trips (eq. 10).
    pub fn equilibrium(&self) -> Equilibrium {
        let Symmetric { capacity, rtt_s, .. } = self.at;
        let rate = capacity / self.at.n();
        let queue = capacity * self.target_s + self.at.n() * self.alpha * self.target_s / (self.zeta * rtt_s);
        Equilibrium { rate, window: rate * rtt_s, queue, queuing_s: queue / capacity }
    }

    /// Returns the queue at which a flow of this rate neither grows nor shrinks, with constant round trips. In a phase plane
    /// it is the curve on which rates are constant.
    pub fn nullcline(&self, rate: f64) -> f64 {
        let Symmetric { capacity, rtt_s, .. } = self.at;
        capacity * self.target_s * (1.0 + self.alpha / (self.zeta * rtt_s * rate))
    }

    /// Returns where it settles with the queue inside the round trip: `(q − τ)·(R + q) = N·α·τ/(C·ζ)`.
    pub fn equilibrium_with_queue(&self) -> Equilibrium {
        let Symmetric { capacity, rtt_s, .. } = self.at;
        let excess = self.at.n() * self.alpha * self.target_s / (capacity * self.zeta);
        let (sum, difference) = (rtt_s + self.target_s, rtt_s - self.target_s);
        // q² + (R − τ)·q − (R·τ + excess) = 0, as q − τ without a difference of near equals.
        let above = 2.0 * excess
            / (sum + libm::sqrt(difference * difference + 4.0 * (rtt_s * self.target_s + excess)));
        let queuing_s = self.target_s + above;
        let rate = capacity / self.at.n();
        Equilibrium { rate, window: rate * (rtt_s + queuing_s), queue: capacity * queuing_s, queuing_s }
    }

    /// Returns a: the rate at which differences between flows die away, 1/s.
    pub fn a(&self) -> f64 {
        self.at.n() * self.alpha / (self.at.capacity * self.at.rtt_s * self.at.rtt_s)
    }

    /// Returns how queue and total rate settle, with constant round trips.
    pub fn pair(&self) -> Pair {
        Pair { b: self.a(), c: self.zeta / (self.at.rtt_s * self.target_s) }
    }

    /// Returns the same with the queue inside the round trip.
    pub fn pair_with_queue(&self) -> Pair {
        let round_trip_s = self.at.rtt_s + self.equilibrium_with_queue().queuing_s;
        let (a, own) = (self.a_with_queue(), 1.0 / round_trip_s);
        Pair { b: a + own, c: a * own + self.zeta / (self.target_s * round_trip_s) }
    }

    /// Returns [`Closed::a`] with the queue inside the round trip.
    pub fn a_with_queue(&self) -> f64 {
        let queuing_s = self.equilibrium_with_queue().queuing_s;
        self.zeta * (queuing_s / self.target_s - 1.0) / (self.at.rtt_s + queuing_s)
    }

    /// Returns ζ*: below it nothing oscillates.
    pub fn critical_zeta(&self) -> f64 {
        let Symmetric { capacity, rtt_s, .. } = self.at;
        let n_alpha = self.at.n() * self.alpha;
        n_alpha * n_alpha * self.target_s / (4.0 * capacity * capacity * rtt_s * rtt_s * rtt_s)
    }

    /// Returns Θ: the rate of the slowest of all parts, 1/s.
    pub fn rate(&self) -> f64 {
        self.pair().rate()
    }

    /// Returns the Jacobian at the equilibrium: N rates, then the queue.
    pub fn jacobian(&self) -> Matrix {
        let n = self.at.flows as usize;
        let b = self.zeta / (self.at.n() * self.at.rtt_s * self.target_s);
        let mut rows = vec![vec![0.0; n + 1]; n];
        for (i, row) in rows.iter_mut().enumerate() {
            (row[i], row[n]) = (-self.a(), -b);
        }
        let mut queue = vec![1.0; n];
        queue.push(0.0);
        rows.push(queue);
        rows
    }

    /// Returns its characteristic polynomial, highest power first.
    pub fn polynomial(&self) -> Vec<f64> {
        polynomial(self.a(), self.at.flows.saturating_sub(1), &self.pair())
    }

    /// Returns the loop with feedback a round trip late, round trips constant: `ω₀²·e^(−sR)/(s·(s + a))`.
    pub fn delayed(&self) -> DelayLoop {
        DelayLoop { gain: self.pair().c, a: self.a(), own: 0.0, delay_s: self.at.rtt_s }
    }

    /// Returns the same with the queue inside the round trip.
    pub fn delayed_with_queue(&self) -> DelayLoop {
        let delay_s = self.at.rtt_s + self.equilibrium_with_queue().queuing_s;
        let gain = self.zeta / (self.target_s * delay_s);
        DelayLoop { gain, a: self.a_with_queue(), own: 1.0 / delay_s, delay_s }
    }
}
