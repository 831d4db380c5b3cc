//! NewReno: a packet more per round trip, half at a loss event.
//!
//! # Model
//! Loss events are a rate instead of moments (Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers
//! supporting TCP flows", SIGCOMM 2000):
//!
//! ```text
//!   dW/dt = r/W − W/2 · loss events
//! ```
//! At a constant probability p of loss that is `W = √(2/p)` for small p. At a full queue that drops its tail the fluid
//! stays at the limit, where many flows out of step keep it. Few flows move in saws, whose mean is lower.
//!
//! # Not modelled
//! The saw itself, recovery, timeouts.

use super::Signal;

/// Smallest window, packets.
pub const FLOOR: f64 = 2.0;

/// NewReno.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewReno {
    /// Window at the start, packets.
    pub initial_window: f64,
}

impl NewReno {
    /// Returns dW/dt.
    pub fn drift(&self, signal: &Signal) -> f64 {
        signal.ack_rate / signal.counted_window() + signal.halving()
    }
}
