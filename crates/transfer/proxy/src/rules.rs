//! Where a client may go.
//!
//! The rules are applied to addresses after their names are resolved, and the connection is made to the address that was checked: a name
//! that is resolved twice could change in between.
//!
//! | target | clients of this host | other hosts |
//! |---|---|---|
//! | the proxy itself, under any name | refused | refused |
//! | this host, by any of its addresses | allowed | refused: it would look like a local client there |
//! | link-local addresses, and where clouds keep credentials of a machine | allowed: they reach them anyway | refused |
//! | mail servers (port 25) | allowed | refused |
//! | all else | allowed | allowed |

use crate::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The kind of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// It is a program of this host, which came over the loopback interface.
    Here,
    /// It is another host.
    Elsewhere,
}

impl Client {
    /// Returns the kind of a client with this address.
    pub fn of(address: IpAddr) -> Client {
        match address.to_canonical().is_loopback() {
            true => Client::Here,
            false => Client::Elsewhere,
        }
    }
}

/// The port of mail servers, over which an open proxy would send spam.
const SMTP: u16 = 25;
/// Addresses at which clouds hand a machine its credentials, beside those that are link-local: Azure, Oracle, Alibaba.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(100, 100, 100, 200)];
/// The same of IPv6: Amazon, Google.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// The rules of a proxy.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The addresses at which the proxy listens.
    pub own: Vec<SocketAddr>,
}

impl Rules {
    /// Checks an address for a client.
    ///
    /// # Errors
    /// [`Error::Forbidden`]
    pub fn check(&self, client: Client, target: SocketAddr) -> Result<(), Error> {
        let refused = |reason| Err(Error::Forbidden { reason });
        let address = meant(target.ip());
        if self.is_own(address, target.port()) {
            return refused("this is the proxy itself");
        }
        if client == Client::Here {
            return Ok(());
        }
        if address.is_unspecified() || address.is_loopback() || is_of_this_host(address) {
            return refused("services of the proxy's own host are for its own programs");
        }
        if is_link_local(address) || is_metadata(address) {
            return refused("link-local addresses and those of cloud metadata are for the proxy's own host");
        }
        if address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST) {
            return refused("it is no address of a host");
        }
        match target.port() {
            SMTP => refused("port 25 is for mail servers"),
            _ => Ok(()),
        }
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        self.own.iter().filter(|own| own.port() == port).any(|own| {
            let ip = own.ip().to_canonical();
            let is_here = address.is_loopback() || address.is_unspecified();
            is_here || ip == address || (ip.is_unspecified() && is_of_this_host(address))
        })
    }
}

/// Returns the address of IPv4 that one of IPv6 leads to, where it has one in it (RFC 4291, 6052, 3056).
fn meant(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let of = |high: u16, low: u16| IpAddr::from(((u32::from(high) << 16) | u32::from(low)).to_be_bytes());
    match (a, b, [c, d, e, f]) {
        (0x64, 0xff9b, _) => of(g, h),
        (0x2002, ..) => of(b, c),
        // ::a.b.c.d; :: and ::1 are none.
        (0, 0, [0, 0, 0, 0]) if g != 0 => of(g, h),
        _ => address,
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        // Site-local addresses, too, which are no longer given out.
        IpAddr::V6(v6) => v6.segments()[0] & 0xff80 == 0xfe80,
    }
}

fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => METADATA_V4.contains(&v4),
        IpAddr::V6(v6) => METADATA_V6.contains(&v6),
    }
}

/// Returns whether a socket can be bound to the address, as only to a host's own ones.
fn is_of_this_host(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(own: &str) -> Rules {
        Rules { own: vec![own.parse().unwrap()] }
    }

    fn may(rules: &Rules, client: Client, target: &str) -> bool {
        rules.check(client, target.parse().unwrap()).is_ok()
    }

    #[test]
    fn the_proxys_own_port_is_refused_under_every_name_of_it() {
        let rules = rules("127.0.0.1:8118");
        for own in [
            "127.0.0.1:8118",
            "127.1.2.3:8118",
            "0.0.0.0:8118",
            "[::]:8118",
            "[::1]:8118",
            "[::ffff:127.0.0.1]:8118",
            "[::127.0.0.1]:8118",
            "[64:ff9b::7f00:1]:8118",
            "[2002:7f00:1::]:8118",
        ] {
            assert!(!may(&rules, Client::Here, own), "{own}");
        }
        assert!(may(&rules, Client::Here, "127.0.0.1:8119"));
        assert!(may(&rules, Client::Here, "192.0.2.1:8118"));
    }

    #[test]
    fn other_hosts_reach_neither_this_one_nor_its_links() {
        let rules = rules("0.0.0.0:8118");
        for target in [
            "127.0.0.1:80",
            "0.0.0.0:80",
            "[::1]:80",
            "[::]:80",
            "[::ffff:127.0.0.1]:80",
            "169.254.169.254:80",
            "[::ffff:169.254.169.254]:80",
            "[::169.254.169.254]:80",
            "[64:ff9b::a9fe:a9fe]:80",
            "[2002:a9fe:a9fe::1]:80",
            "168.63.129.16:80",
            "192.0.0.192:80",
            "100.100.100.200:80",
            "[fd00:ec2::254]:80",
            "[fd20:ce::254]:80",
            "[fe80::1]:80",
            "[fec0::1]:80",
            "224.0.0.1:80",
            "[ff02::1]:80",
            "255.255.255.255:80",
            "192.0.2.1:25",
        ] {
            assert!(!may(&rules, Client::Elsewhere, target), "{target}");
        }
        for target in ["192.0.2.1:443", "10.0.0.7:80", "[2001:db8::1]:443"] {
            assert!(may(&rules, Client::Elsewhere, target), "{target}");
        }
    }

    #[test]
    fn programs_of_this_host_reach_what_they_reach_anyway() {
        let rules = rules("127.0.0.1:8118");
        for target in ["127.0.0.1:80", "[::1]:80", "169.254.169.254:80", "192.0.2.1:25"] {
            assert!(may(&rules, Client::Here, target), "{target}");
        }
        assert_eq!(Client::of("::ffff:127.0.0.1".parse().unwrap()), Client::Here);
        assert_eq!(Client::of("192.0.2.7".parse().unwrap()), Client::Elsewhere);
    }
}
