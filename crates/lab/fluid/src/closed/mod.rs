//! Closed forms: results of the equations without integration.
//!
//! Windows and queues are packets, rates packets/s, times seconds.

pub mod delay_loop;
pub mod fledbat;
pub mod ledbat;
pub mod ledbatpp;
pub mod linear;
pub mod link;
pub mod lyapunov;
mod printed;
pub mod together;

pub use delay_loop::DelayLoop;
pub use linear::{Complex, Pair};
pub use link::Link;
pub use together::Together;

/// Flows of one kind and one round trip at a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symmetric {
    /// The number of flows.
    pub flows: u32,
    /// The link's capacity, packets/s.
    pub capacity: f64,
    /// Base round-trip time, s.
    pub rtt_s: f64,
}

impl Symmetric {
    /// Returns N as a number.
    fn n(&self) -> f64 {
        f64::from(self.flows)
    }
}

/// The equilibrium, where all quantities are constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Rate of a flow, packets/s.
    pub rate: f64,
    /// Window of a flow, packets.
    pub window: f64,
    /// Queue, packets.
    pub queue: f64,
    /// Queuing delay, s.
    pub queuing_s: f64,
}
