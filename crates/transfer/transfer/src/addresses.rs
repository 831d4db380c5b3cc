//! Under which addresses this machine may be reached: what goes into a ticket.
//!
//! Global IPv6 first, then IPv4, then local IPv6; within a kind as the system lists them. Then link-local addresses of IPv6 and
//! self-assigned ones of IPv4, of interfaces that are up: they lead here from the same link only. Loopback only when there is
//! nothing else. Left out are the bridges of containers and virtual machines: nobody outside can reach them, and each would cost the peer a
//! quarter of a second. If only such are there, they are taken.
//!
//! # Not implemented
//! The address that a router shows to the world is not found out: that takes somebody outside to ask. `--address` names
//! it. The system's list does not distinguish temporary IPv6 addresses (RFC 8981) from lasting ones. A ticket that
//! shall last for weeks should name its address, too.

use crate::interfaces::is_link_local;
use crate::ticket::{Address, Host, MAX_ADDRESSES};
use std::io;
use std::net::{IpAddr, Ipv6Addr};

/// How interfaces of containers and virtual machines are called.
const LOCAL_BRIDGES: [&str; 8] = ["docker", "br-", "veth", "virbr", "lxcbr", "lxdbr", "cni", "podman"];

/// Returns the addresses for a ticket: `named` ones first (with their own port or `port`), then the interfaces'.
///
/// # Errors
/// The system does not list its interfaces.
pub fn of_this_machine(named: &[Address], port: u16) -> io::Result<Vec<Address>> {
    let interfaces = if_addrs::get_if_addrs()?;
    let usable = interfaces.into_iter().filter(|found| found.is_oper_up() || !is_link_local(&found.ip()));
    let found = worth_trying(usable.map(|interface| (interface.name.clone(), interface.ip())).collect());
    let found = found.into_iter().map(|ip| Address { host: Host::Ip(ip), port });
    let mut all: Vec<Address> = Vec::new();
    for address in named.iter().cloned().chain(found) {
        if !all.contains(&address) && all.len() < MAX_ADDRESSES {
            all.push(address);
        }
    }
    Ok(all)
}

fn worth_trying(interfaces: Vec<(String, IpAddr)>) -> Vec<IpAddr> {
    let usable = |ip: &IpAddr| match ip {
        IpAddr::V4(ip) => !ip.is_unspecified(),
        IpAddr::V6(ip) => !ip.is_unspecified() && !ip.is_multicast(),
    };
    let is_bridge = |name: &str| LOCAL_BRIDGES.iter().any(|prefix| name.starts_with(prefix));
    let mut ranked: Vec<(u8, IpAddr)> = interfaces
        .into_iter()
        .filter(|(_, ip)| usable(ip))
        .map(|(name, ip)| match ip.is_loopback() {
            true => (LOOPBACK, ip),
            false if is_bridge(&name) => (BRIDGE, ip),
            false => (rank(&ip), ip),
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let best = match ranked.first() {
        Some((rank @ (BRIDGE | LOOPBACK), _)) => *rank,
        _ => LINK_LOCAL,
    };
    ranked.into_iter().filter(|(rank, _)| *rank <= best).map(|(_, ip)| ip).collect()
}

/// Ranks after those of [`rank`].
const LINK_LOCAL: u8 = 3;
const BRIDGE: u8 = 4;
const LOOPBACK: u8 = 5;

fn rank(ip: &IpAddr) -> u8 {
    match ip {
        ip if is_link_local(ip) => LINK_LOCAL,
        IpAddr::V6(ip) if is_global(ip) => 0,
        IpAddr::V4(_) => 1,
        IpAddr::V6(_) => 2,
    }
}

/// Returns whether the address is in 2000::/3 (RFC 4291 §2.4 and the registry of address space).
fn is_global(ip: &Ipv6Addr) -> bool {
    ip.segments()[0] & 0xe000 == 0x2000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(interfaces: &[(&str, &str)]) -> Vec<String> {
        let interfaces =
            interfaces.iter().map(|(name, ip)| (name.to_string(), ip.parse().unwrap())).collect();
        worth_trying(interfaces).iter().map(IpAddr::to_string).collect()
    }

    #[test]
    fn global_v6_comes_first_and_addresses_of_one_link_come_last() {
        let all = [
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("eth0", "192.168.1.5"),
            ("eth0", "fd00::5"),
            ("eth0", "2001:db8::5"),
            ("eth0", "fe80::5"),
            ("docker0", "172.17.0.1"),
            ("usb0", "169.254.3.4"),
            ("wg0", "10.0.0.2"),
        ];
        let expected = ["2001:db8::5", "192.168.1.5", "10.0.0.2", "fd00::5", "fe80::5", "169.254.3.4"];
        assert_eq!(chosen(&all), expected);
    }

    #[test]
    fn without_anything_better_bridges_and_then_loopback_are_taken() {
        assert_eq!(chosen(&[("lo", "127.0.0.1"), ("docker0", "172.17.0.1")]), ["172.17.0.1"]);
        assert_eq!(chosen(&[("lo", "::1"), ("docker0", "172.17.0.1"), ("eth0", "fe80::1")]), ["fe80::1"]);
        assert_eq!(chosen(&[("docker0", "fe80::2"), ("docker0", "172.17.0.1")]), ["fe80::2", "172.17.0.1"]);
        assert_eq!(chosen(&[("lo", "127.0.0.1"), ("lo", "::1")]), ["127.0.0.1", "::1"]);
        assert_eq!(chosen(&[]), [""; 0]);
    }

    #[test]
    fn this_machine_has_addresses_and_named_ones_come_first() {
        let named = [Address::parse("backup.example.org:443", 1).unwrap()];
        let found = of_this_machine(&named, 4711).unwrap();
        assert_eq!(found[0], named[0]);
        assert!(found.len() > 1 && found[1..].iter().all(|address| address.port == 4711), "{found:?}");
    }
}
