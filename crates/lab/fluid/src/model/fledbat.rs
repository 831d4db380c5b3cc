//! fLEDBAT: constant growth, and above the target a decrease in proportion to window and excess.
//!
//! # Model
//! Of each acknowledged packet (Carofiglio 2013, eq. 5): `W += α/W`, above the target besides `W −= (ζ/τ)·(q − τ)`; a loss
//! event halves. With a rate of acknowledgements `r` that is
//!
//! ```text
//!   dW/dt = α·r/W − (ζ/τ)·max(0, q − τ)·r − W/2 · loss events
//! ```
//! With `r = W/R` and without loss it is the paper's eq. 8 for `X = W/R`.
//!
//! # Not modelled
//! Single packets: no bursts, no filter of the delay, no rounding.
//!
//! # Known bad cases
//! The right-hand side has a kink at `q = τ`; a fixed step is of the second order across it.

use super::{Signal, SlowStart};

/// fLEDBAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fledbat {
    /// τ, s.
    pub target_s: f64,
    /// α, packets per round trip.
    pub alpha: f64,
    /// ζ.
    pub zeta: f64,
    /// Smallest window, packets.
    pub floor: f64,
    /// Window at the start, packets.
    pub initial_window: f64,
    /// The flow's slow start.
    pub slow_start: SlowStart,
}

impl Fledbat {
    /// Creates the paper's rule from one packet on, without slow start.
    pub const fn new(target_s: f64, alpha: f64, zeta: f64) -> Fledbat {
        Fledbat { target_s, alpha, zeta, floor: 1.0, initial_window: 1.0, slow_start: SlowStart::None }
    }

    /// Returns dW/dt.
    pub fn drift(&self, signal: &Signal) -> f64 {
        let excess = (signal.queuing_s / self.target_s - 1.0).max(0.0);
        signal.ack_rate * (self.alpha / signal.counted_window() - self.zeta * excess) + signal.halving()
    }
}
