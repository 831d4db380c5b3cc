//! Experiments with real packets.
//!
//! Nothing here needs privileges and nothing leaves the machine: programs talk over loopback, and a [`relay`] between
//! their sockets plays the network. [`run`] takes a whole scenario and answers with an outcome.

pub mod clock;
pub mod error;
mod lateness;
#[cfg(target_os = "linux")]
pub mod net;
pub mod relay;
pub mod run;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
pub mod wire;

pub use clock::Clock;
pub use error::Error;
