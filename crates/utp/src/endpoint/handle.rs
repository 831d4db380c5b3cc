//! The names of a connection within its endpoint.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// A connection's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub peer: SocketAddr,
    /// The id in the packets that come from there.
    pub id: u16,
}

impl Key {
    pub(super) fn new(peer: SocketAddr, id: u16) -> Key {
        Key { peer, id }
    }
}

/// In one or two numbers: every datagram is looked up, and a hash of each part by itself takes twice as long.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ids = u64::from(self.peer.port()) << 16 | u64::from(self.id);
        match self.peer.ip() {
            IpAddr::V4(address) => state.write_u64(u64::from(address.to_bits()) << 32 | ids),
            IpAddr::V6(address) => {
                state.write_u128(address.to_bits());
                state.write_u64(ids);
            }
        }
    }
}

/// One connection in the life of the endpoint: its key may be used again after it, its generation is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub key: Key,
    pub generation: u64,
}
