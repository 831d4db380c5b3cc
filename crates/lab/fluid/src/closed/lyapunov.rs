//! A quantity that falls along fLEDBAT's trajectories.
//!
//! # Model
//! ```text
//!   V = Σ [(X − X*) − X*·ln(X/X*)] + ζ·(Q − Q*)²/(2·R·C·τ)
//!   dV/dt = −(α/R²)·Σ (X − X*)²/(X·X*)                                       where Q ≥ C·τ
//! ```
//! V is zero at the equilibrium and positive elsewhere. Where the queue is at the target or above, V never rises, and
//! it is constant only on X = X*. The rest requires LaSalle's argument: on that set the queue moves unless it is Q*.
//!
//! # Why V may rise below the target
//! The two terms of V are made so that the exchange between rates and queue cancels. Below the target the decrease is
//! switched off, but the queue's term continues as if it were there. The missing terms do not cancel any more:
//!
//! ```text
//!   dV/dt = −(α/R²)·Σ (X − X*)²/(X·X*) − (ζ/(R·τ))·(τ − Q/C)·(Σ X − C)         where 0 < Q < C·τ
//! ```
//! While the queue drains (Σ X < C) the second term is positive, and V rises if the windows are not far from each other. It
//! cannot continue: every rate grows by α/R² per second there, so that the queue fills again and comes back above the target.
//! An empty queue does not drain: there the queue's term of V is constant, and only the rates' part counts.
//!
//! # Source
//! Carofiglio 2013, eq. 13-14 and Prop. 5.3. As printed, eq. 13 lacks the factor X* before the logarithm; with it the
//! derivative is the printed one.

use super::fledbat::Closed;

/// V, and its derivative along trajectories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lyapunov {
    /// The parameters of the function.
    pub of: Closed,
}

impl Lyapunov {
    fn start(&self) -> (f64, f64) {
        let equilibrium = self.of.equilibrium();
        (equilibrium.rate, equilibrium.queue)
    }

    /// Returns V at these rates (packets/s, positive) and this queue.
    pub fn value(&self, rates: &[f64], queue: f64) -> f64 {
        let (rate, settled) = self.start();
        let part = |x: f64| (x - rate) - rate * libm::log(x / rate);
        let Closed { at, target_s, zeta, .. } = self.of;
        let off = queue - settled;
        rates.iter().fold(0.0, |sum, x| sum + part(*x))
            + zeta * off * off / (2.0 * at.rtt_s * at.capacity * target_s)
    }

    /// Returns dV/dt where the queue is at the target or above.
    pub fn slope(&self, rates: &[f64]) -> f64 {
        let (rate, _) = self.start();
        let part = |x: f64| (x - rate) * (x - rate) / (x * rate);
        let rtt_s = self.of.at.rtt_s;
        -self.of.alpha / (rtt_s * rtt_s) * rates.iter().fold(0.0, |sum, x| sum + part(*x))
    }

    /// Returns dV/dt where the queue is below the target, but not empty.
    pub fn slope_below(&self, rates: &[f64], queue: f64) -> f64 {
        let Closed { at, target_s, zeta, .. } = self.of;
        let excess = rates.iter().fold(-at.capacity, |sum, x| sum + x);
        self.slope(rates) - zeta / (at.rtt_s * target_s) * (target_s - queue / at.capacity) * excess
    }
}
