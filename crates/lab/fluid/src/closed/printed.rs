//! Erroneous formulas as Carofiglio 2013 prints them: for a comparison with the correct ones, and for nothing else.
//!
//! # Source
//! Prop. 5.5 has the Jacobian with `−α/(C·R²)` on its diagonal and `−ζ/(C·τ·R)` in the queue's column, and so the polynomial
//! `λ² + α/(C·R²)·λ + N·ζ/(C·τ·R)`, whose terms have different units. Prop. 5.7's ζ* follows from it. Obs. 4.3 prints the
//! eigenvalues `±i·√(N/(R·τ))`. [`fledbat`](super::fledbat) and [`ledbat`](super::ledbat) have the right ones.

use super::{fledbat, ledbat, Pair};

impl fledbat::Closed {
    /// Returns the pair of Prop. 5.5 as printed: a = α/(C·R²), b = N·ζ/(C·τ·R).
    pub fn printed_pair(&self) -> Pair {
        let b = self.alpha / (self.at.capacity * self.at.rtt_s * self.at.rtt_s);
        let c = self.at.n() * self.zeta / (self.at.capacity * self.target_s * self.at.rtt_s);
        Pair { b, c }
    }

    /// Returns ζ* of Prop. 5.7 as printed: ζ* = α²·τ/(4·N·C·R³).
    pub fn printed_critical_zeta(&self) -> f64 {
        let rtt_s = self.at.rtt_s;
        self.alpha * self.alpha * self.target_s
            / (4.0 * self.at.n() * self.at.capacity * rtt_s * rtt_s * rtt_s)
    }
}

impl ledbat::Closed {
    /// Returns the frequency of obs. 4.3 as printed: √(N/(R·τ)), rad/s.
    pub fn printed_omega(&self) -> f64 {
        libm::sqrt(self.at.n() / (self.at.rtt_s * self.target_s))
    }
}
