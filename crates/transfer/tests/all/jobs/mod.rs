//! Whole jobs over real sockets on loopback.

mod breaks;
mod delta;
mod descriptors;
mod full;
mod hostile;
mod mirror;
mod moves;
mod paces;
mod support;
