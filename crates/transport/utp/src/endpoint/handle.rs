//! The names of a connection within its endpoint.

use crate::numbers::ConnectionId;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// A connection's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub peer: SocketAddr,
    /// The id in the packets that come from there.
    pub id: ConnectionId,
}

impl Key {
    pub(super) fn new(peer: SocketAddr, id: ConnectionId) -> Key {
        Key { peer, id }
    }
}

/// In one or two numbers: every datagram is looked up, and a hash of each part by itself takes twice as long.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ids = u64::from(self.peer.port()) << 16 | u64::from(self.id.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, RandomState};

    #[test]
    fn address_port_and_id_each_change_the_hash() {
        let hash = RandomState::new();
        for (ip, other) in [("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2"), ("::1", "0.0.0.1")] {
            let key =
                |ip: &str, port, id| Key::new(SocketAddr::new(ip.parse().unwrap(), port), ConnectionId(id));
            let keys = [key(ip, 1, 2), key(other, 1, 2), key(ip, 2, 2), key(ip, 1, 1), key(ip, 2, 1)];
            assert_eq!(hash.hash_one(keys[0]), hash.hash_one(key(ip, 1, 2)));
            for (i, one) in keys.iter().enumerate() {
                let differs = |other: &Key| hash.hash_one(one) != hash.hash_one(other);
                assert!(keys[i + 1..].iter().all(differs), "{one:?}");
            }
        }
    }
}
