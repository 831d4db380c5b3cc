//! How long datagrams may become.
//!
//! # Model
//! quinn begins with datagrams of 1200 bytes and searches for longer ones up to a bound, by default 1452 bytes, which is an
//! Ethernet packet less the headers of IPv6 and UDP. Loopback takes longer ones, and each datagram costs encryption,
//! bookkeeping and a share of a system call. One gigabyte over loopback takes a quarter less CPU time with 6550 bytes.
//!
//! [`search`] raises the bound where the system's route to the peer is loopback. The peer must accept such datagrams:
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
//! Jumbo frames. Behind such an interface there is often a path of 1500 bytes, and quinn counts a lost probe as in flight: a
//! connection at the least window, as a background one often is, stops for a probe timeout at each of a dozen. A connection
//! that moves to another route keeps its bound.
//!
//! # Known bad cases
//! A program of this machine that forwards what it receives over loopback to a path of 1500 bytes: the same. It is no sign of
//! congestion to quinn.

use afteryou_sockets::route_mtu;
use quinn::{EndpointConfig, MtuDiscoveryConfig};
use std::net::SocketAddr;

/// Longest datagram, bytes of UDP payload.
pub const LONGEST: u16 = 6550;

/// quinn's bound, bytes of UDP payload.
const USUAL: u16 = 1452;

/// An interface that takes IP packets of this many bytes is loopback: the longest that IPv4 has.
const LOOPBACK_MTU: u32 = 65_535;

/// Returns the search for the MTU of paths to `remote`.
pub fn search(remote: SocketAddr) -> MtuDiscoveryConfig {
    search_on(route_mtu(remote).unwrap_or_default())
}

/// Returns the search on a route that takes IP packets of `mtu` bytes.
pub fn search_on(mtu: u32) -> MtuDiscoveryConfig {
    let mut search = MtuDiscoveryConfig::default();
    search.upper_bound(bound(mtu));
    search
}

fn bound(mtu: u32) -> u16 {
    match mtu {
        LOOPBACK_MTU.. => LONGEST,
        _ => USUAL,
    }
}

/// Returns the configuration of an endpoint that accepts the longest datagrams.
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
    fn loopback_raises_the_bound_and_no_other_route_changes_it() {
        let bounds = [0, 1280, 1500, 9001, 65_535, 65_536].map(bound);
        assert_eq!(bounds, [USUAL, USUAL, USUAL, USUAL, LONGEST, LONGEST]);
    }

    #[test]
    fn ten_datagrams_fit_one_call() {
        const { assert!(10 * LONGEST as u32 <= 65_507 && LONGEST > 6500) };
        assert_eq!(endpoint_config().get_max_udp_payload_size(), u64::from(LONGEST));
    }
}
