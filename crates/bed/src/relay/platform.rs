//! What differs between operating systems: the TOS byte, arrival times and precise waiting.
//!
//! Both modules have the same functions: `prepare` a socket, [`Receiver`], `send`, [`Poller`], [`TOS_IS_KEPT`].

use afteryou_cc::Span;
use std::net::SocketAddr;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

#[cfg(target_os = "linux")]
pub use linux::TOS_IS_KEPT;
#[cfg(target_os = "linux")]
pub(super) use linux::{prepare, send, Poller, Receiver};
#[cfg(not(target_os = "linux"))]
pub use portable::TOS_IS_KEPT;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{prepare, send, Poller, Receiver};

/// Larger than every UDP payload.
const LARGEST_DATAGRAM_BYTES: usize = 65536;

/// A datagram that was read from a socket.
pub(super) struct Received<'a> {
    pub(super) payload: &'a [u8],
    pub(super) from: SocketAddr,
    /// Zero where the platform hides it.
    pub(super) tos: u8,
    /// How long ago it arrived at the socket; zero where the platform does not tell.
    pub(super) age: Span,
    /// Datagrams that this socket has dropped since it was opened, where the platform tells.
    pub(super) missed: Option<u32>,
}
