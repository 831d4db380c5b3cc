//! The TOS byte that came last from each remote address: a bounded table, which strangers can fill.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

/// Most addresses. Anybody can fill it with forged ones, so it must be small, and losing an entry must do no harm.
const MOST_ADDRESSES: usize = 1024;

/// Addresses and their bytes; the address that was new the longest ago is forgotten first.
#[derive(Debug, Default)]
pub(super) struct Seen {
    bytes: HashMap<SocketAddr, u8>,
    order: VecDeque<SocketAddr>,
    /// Nearly always the same as the last time.
    latest: Option<(SocketAddr, u8)>,
}

impl Seen {
    pub(super) fn note(&mut self, from: SocketAddr, tos: u8) {
        if self.latest == Some((from, tos)) {
            return;
        }
        self.latest = Some((from, tos));
        let key = canonical(from);
        if self.bytes.insert(key, tos).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MOST_ADDRESSES {
            self.order.pop_front().map(|oldest| self.bytes.remove(&oldest));
        }
    }

    pub(super) fn get(&self, from: SocketAddr) -> Option<u8> {
        self.bytes.get(&canonical(from)).copied()
    }

    pub(super) fn all(&self) -> Vec<(SocketAddr, u8)> {
        self.order.iter().filter_map(|from| Some((*from, *self.bytes.get(from)?))).collect()
    }
}

/// Returns the address in one form: a socket for both families sees IPv4 addresses as IPv6 ones, and link-local ones with
/// labels that may differ.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_byte_of_each_address_is_kept() {
        let mut seen = Seen::default();
        let [a, b] = ["192.0.2.1:5", "[2001:db8::1]:5"].map(|text| text.parse::<SocketAddr>().unwrap());
        [(a, 0x06), (b, 0x04), (a, 0x06), (a, 0x07)].into_iter().for_each(|(from, tos)| seen.note(from, tos));
        assert_eq!(seen.all(), [(a, 0x07), (b, 0x04)]);
    }

    #[test]
    fn an_ipv4_address_is_the_same_on_a_socket_for_both_families() {
        let mut seen = Seen::default();
        seen.note("[::ffff:192.0.2.1]:5".parse().unwrap(), 0x06);
        assert_eq!(seen.get("192.0.2.1:5".parse().unwrap()), Some(0x06));
    }

    #[test]
    fn a_flood_of_addresses_drives_out_the_oldest_and_no_more() {
        let mut seen = Seen::default();
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        (1..=5000).for_each(|port| seen.note(address(port), 1));
        assert_eq!((seen.bytes.len(), seen.order.len()), (MOST_ADDRESSES, MOST_ADDRESSES));
        assert_eq!((seen.get(address(5000)), seen.get(address(5000 - 1024))), (Some(1), None));
    }
}
