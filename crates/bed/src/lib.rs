//! Experiments with real packets.
//!
//! Nothing leaves the machine. [`run`] needs no privileges: programs talk over loopback, and a [`relay`] between their sockets
//! plays the network. The testbed has network namespaces, so the kernel's own TCP can take part. Both take a whole scenario
//! and answer with an outcome.

pub mod clock;
pub mod error;
mod lateness;
#[cfg(target_os = "linux")]
pub mod net;
mod quic_packet;
pub mod relay;
pub mod run;
mod support;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
pub mod testbed;
#[cfg(target_os = "linux")]
pub mod wire;

pub use clock::Clock;
pub use error::Error;
