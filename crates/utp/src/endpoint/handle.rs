//! The names of a connection within its endpoint.

use std::net::SocketAddr;

/// A connection's address: the peer, and the id in the packets that come from there.
pub(super) type Key = (SocketAddr, u16);

/// One connection in the life of the endpoint: its key may be used again after it, its generation is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub key: Key,
    pub generation: u64,
}
