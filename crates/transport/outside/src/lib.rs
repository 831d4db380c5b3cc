//! Makes transfers of programs that know nothing of it background transfers, from outside and without root.
//!
//! - [`rule`] decides, without sockets and clocks.
//! - `linux` reads and sets the sockets of other processes.
#![warn(missing_docs)]

pub mod rule;

#[cfg(target_os = "linux")]
pub mod linux;
