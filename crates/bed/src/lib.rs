//! Experiments with real packets.
//!
//! Nothing here needs privileges and nothing leaves the machine: programs talk over loopback, and a [`relay`] between
//! their sockets plays the network. [`run`] takes a whole scenario and answers with an outcome.

pub mod clock;
pub mod error;
pub mod relay;
pub mod run;

pub use clock::Clock;
pub use error::Error;
