//! Whole jobs over real sockets on loopback.

mod breaks;
#[path = "../disk/common.rs"]
mod common;
mod descriptors;
mod full;
mod hostile;
mod moves;
mod paces;
mod support;
