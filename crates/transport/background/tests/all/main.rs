//! Sockets of each kind, on loopback and on the wire.

mod kinds;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod wire;
