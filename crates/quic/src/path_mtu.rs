//! How long datagrams may become.
//!
//! # Model
//! quinn begins with datagrams of 1200 bytes and searches for longer ones up to a bound, by default 1452 bytes, which is an
//! Ethernet packet less the headers of IPv6 and UDP. Loopback and networks with jumbo frames take longer ones, and each
//! datagram costs encryption, bookkeeping and a share of a system call. One gigabyte over loopback takes a quarter less CPU
//! time with 6550 bytes.
//!
//! The bound of [`search`] is what the system's route to the peer takes. The peer must accept such datagrams:
//! [`endpoint_config`].
//!
//! # Constants
//! [`LONGEST`] 6550 bytes: quinn hands ten datagrams at most to the socket at once, and UDP sends 65 507 bytes at most in one
//! call.
//!
//! # Source
//! Datagram packetization layer path MTU discovery, RFC 8899 and RFC 9000 §14.3, as quinn has it.
//!
//! # Not implemented
//! A connection that moves to another route keeps its bound.
//!
//! # Known bad cases
//! An interface with jumbo frames before a path of 1500 bytes: a dozen probes are lost, one after the other, before the search
//! finds 1452 bytes. Until then datagrams have 1200. A lost probe is no sign of congestion to quinn.

use afteryou_sockets::route_mtu;
use quinn::{EndpointConfig, MtuDiscoveryConfig};
use std::net::SocketAddr;

/// Longest datagram, bytes of UDP payload.
pub const LONGEST: u16 = 6550;

/// quinn's bound, bytes of UDP payload: the search goes so far on any route.
const USUAL: u16 = 1452;

/// Headers of IPv6 and UDP, bytes.
const HEADERS: u32 = 48;

/// The search for the MTU of paths to `remote`.
pub fn search(remote: SocketAddr) -> MtuDiscoveryConfig {
    let mut search = MtuDiscoveryConfig::default();
    search.upper_bound(route_mtu(remote).map_or(USUAL, bound));
    search
}

/// Longest datagram to search for where IP packets of `mtu` bytes can leave.
fn bound(mtu: u32) -> u16 {
    let payload = u16::try_from(mtu.saturating_sub(HEADERS)).unwrap_or(u16::MAX);
    payload.clamp(USUAL, LONGEST)
}

/// An endpoint that accepts the longest datagrams.
pub fn endpoint_config() -> EndpointConfig {
    let mut config = EndpointConfig::default();
    // Refuses less than 1200 only.
    _ = config.max_udp_payload_size(LONGEST);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumbo_frames_raise_the_bound_and_nothing_lowers_it() {
        let bounds = [0, 1280, 1500, 1501, 4000, 9000, 65_536, u32::MAX].map(bound);
        assert_eq!(bounds, [USUAL, USUAL, USUAL, 1453, 3952, LONGEST, LONGEST, LONGEST]);
    }

    #[test]
    fn ten_datagrams_fit_one_call() {
        const { assert!(10 * LONGEST as u32 <= 65_507 && LONGEST > 6500) };
        assert_eq!(endpoint_config().get_max_udp_payload_size(), u64::from(LONGEST));
    }
}
