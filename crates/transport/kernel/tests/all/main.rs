//! The rules in C beside those in Rust, event by event, and in the kernel of this machine.

mod compiled;
mod event;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod loaded;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod network;
mod object;
mod random;
mod rules;
mod vectors;
