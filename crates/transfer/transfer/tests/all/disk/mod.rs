//! The two disks against each other, without a network: a source encodes, a store decodes.

#[cfg(unix)]
mod attributes;
pub mod common;
#[cfg(target_os = "linux")]
mod exchanged;
mod hostile;
mod interrupted;
#[cfg(unix)]
mod killed;
mod round_trip;
mod source;
