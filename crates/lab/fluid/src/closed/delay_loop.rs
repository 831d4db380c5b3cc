//! The effect of a delay in the feedback on a stable loop.
//!
//! # Model
//! Around an equilibrium queue and total rate form a loop whose open form is
//!
//! ```text
//!   L(s) = gain · e^(−s·delay) / ((s + own)·(s + a))
//! ```
//! `a` is the windows' own damping, `own` the queue's: 0 with constant round trips. It is 1/(R + q) with the queue
//! inside, since a longer queue then thins out the rate by itself. Feedback at once leaves a margin of phase; the delay
//! takes `ω_c·delay` of it. If nothing is left the equilibrium is unstable, and the loop goes round it on a limit
//! cycle.
//!
//! The acknowledgements that carry the delay also carry the growth, and their rate is as old. In the equilibrium both
//! effects of an old rate, more growth and more decrease, cancel. So the delay is in the queue's path alone.
//!
//! # Source
//! Linearisation of the equations in [`Network`](crate::Network); Nyquist's criterion. The paper has no delays.

use super::Complex;
use std::f64::consts::{FRAC_PI_2, PI};

/// A loop with delayed feedback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayLoop {
    /// Gain, 1/s².
    pub gain: f64,
    /// Damping of the windows, 1/s.
    pub a: f64,
    /// Damping of the queue, 1/s.
    pub own: f64,
    /// Delay, s.
    pub delay_s: f64,
}

/// Most rounds of Newton's method; it needs a handful.
const ROUNDS: u32 = 100;

impl DelayLoop {
    /// Returns ω_c: where the loop neither amplifies nor damps, rad/s; 0 if it damps everywhere.
    pub fn crossover(&self) -> f64 {
        // (ω² + a²)·(ω² + own²) = gain²
        let (a, own) = (self.a * self.a, self.own * self.own);
        let beyond = self.gain * self.gain - a * own;
        if beyond <= 0.0 {
            return 0.0;
        }
        // The larger root of x² + (a + own)·x − beyond, without a difference of near equals.
        let half = (a + own) / 2.0;
        libm::sqrt(beyond / (half + libm::sqrt(half * half + beyond)))
    }

    fn lag(&self, omega: f64, damping: f64) -> f64 {
        if damping == 0.0 {
            return FRAC_PI_2;
        }
        libm::atan(omega / damping)
    }

    /// Returns the phase left at the crossover with feedback at once, rad; `None` if there is no crossover.
    pub fn margin_at_once(&self) -> Option<f64> {
        let omega = self.crossover();
        (omega > 0.0).then(|| PI - self.lag(omega, self.a) - self.lag(omega, self.own))
    }

    /// Returns the phase left at the crossover, rad, negative if the loop is unstable; `None` if there is no crossover.
    pub fn phase_margin(&self) -> Option<f64> {
        self.margin_at_once().map(|margin| margin - self.crossover() * self.delay_s)
    }

    /// Returns the longest delay with which the loop is stable, s; `None` if every delay is.
    pub fn delay_margin_s(&self) -> Option<f64> {
        self.margin_at_once().map(|margin| margin / self.crossover())
    }

    /// Returns whether it is stable.
    pub fn is_stable(&self) -> bool {
        self.phase_margin().is_none_or(|margin| margin > 0.0)
    }

    /// Returns the root of `(s + own)·(s + a) + gain·e^(−s·delay)` that decides near the crossover: rate of growth (negative
    /// if it dies away) and frequency. None if Newton's method finds no root there.
    pub fn dominant(&self) -> Option<Complex> {
        let mut s = Complex::new(0.0, self.crossover().max(1e-3));
        for _ in 0..ROUNDS {
            let echo = s.scaled(-self.delay_s).exp().scaled(self.gain);
            let (first, second) = (s.plus(Complex::new(self.own, 0.0)), s.plus(Complex::new(self.a, 0.0)));
            let value = first.times(second).plus(echo);
            let slope = first.plus(second).plus(echo.scaled(-self.delay_s));
            let step = value.over(slope);
            s = s.plus(step.scaled(-1.0));
            if step.abs() <= 1e-13 * s.abs() {
                return Some(s);
            }
        }
        None
    }
}
