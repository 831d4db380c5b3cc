//! The proxy on sockets of this machine.

mod bounds;
mod forward;
mod guarded;
mod hostile;
mod socks;
mod support;
mod tunnels;
