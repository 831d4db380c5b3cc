//! The interfaces of this machine, for addresses that mean something on one link only: `fe80::/10` and `169.254.0.0/16`.
//!
//! A link-local address of IPv6 needs the number of an interface (its scope, RFC 4007 §6), and that number has a meaning on one
//! machine alone. So tickets have such addresses without it, and the dialling side tries them over each of its own interfaces. For
//! self-assigned addresses of IPv4 (RFC 3927) the system's routes choose the interface.

use if_addrs::Interface;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Returns true for an address that is valid on one link only.
pub(crate) fn is_link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// Returns `ip` over each interface that is up and has a link-local address of its own.
///
/// # Errors
/// The system lists no interfaces.
pub(crate) fn over_each(ip: Ipv6Addr, port: u16) -> io::Result<Vec<SocketAddr>> {
    let scopes = scopes(&if_addrs::get_if_addrs()?);
    Ok(scopes.into_iter().map(|scope| SocketAddrV6::new(ip, port, 0, scope).into()).collect())
}

/// Returns the numbers of the interfaces over which link-local addresses of IPv6 can be reached, each once.
fn scopes(interfaces: &[Interface]) -> Vec<u32> {
    let is_usable = |interface: &&Interface| {
        interface.is_oper_up() && interface.ip().is_ipv6() && is_link_local(&interface.ip())
    };
    let mut scopes: Vec<u32> =
        interfaces.iter().filter(is_usable).filter_map(|interface| interface.index).collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

/// Splits `fe80::1%eth0`, with or without brackets and a port, into the text without the interface and the interface.
pub(crate) fn split_zone(text: &str) -> Option<(String, &str)> {
    let (before, after) = text.split_once('%')?;
    let (zone, rest) = after.split_at(after.find(']').unwrap_or(after.len()));
    let host = before.strip_prefix('[').unwrap_or(before);
    let is_address = host.parse().is_ok_and(|ip: Ipv6Addr| ip.is_unicast_link_local());
    (is_address && !zone.is_empty()).then(|| (format!("{before}{rest}"), zone))
}

/// Returns the number of the interface with this name or number.
pub(crate) fn number(zone: &str) -> Option<u32> {
    let interfaces = if_addrs::get_if_addrs().ok()?;
    let is_it = |interface: &&Interface| {
        interface.name == zone || interface.index.is_some_and(|index| zone == index.to_string())
    };
    interfaces.iter().find(is_it)?.index
}

/// Reads an address to listen at: `ADDRESS:PORT`, and `[fe80::1%eth0]:PORT` for a link-local one of IPv6.
///
/// # Errors
/// A sentence: it is no address, or names no interface of this machine.
pub fn listening_address(text: &str) -> Result<SocketAddr, String> {
    let Some((bare, zone)) = split_zone(text) else {
        let address: SocketAddr =
            text.parse().map_err(|_| "write ADDRESS:PORT, such as [::]:4747 or 192.0.2.1:4747".to_owned())?;
        return match address {
            SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() == 0 => {
                Err(format!("name the interface, too: [{}%eth0]:{}", v6.ip(), v6.port()))
            }
            _ => Ok(address),
        };
    };
    let scope = number(zone).ok_or_else(|| unknown(zone))?;
    let address: SocketAddrV6 =
        bare.parse().map_err(|_| "write [ADDRESS%INTERFACE]:PORT, such as [fe80::1%eth0]:4747".to_owned())?;
    Ok(SocketAddrV6::new(*address.ip(), address.port(), 0, scope).into())
}

/// Returns the sentence about an interface that is not there.
pub(crate) fn unknown(zone: &str) -> String {
    format!(
        "this machine has no interface {zone:?} with an address: write the name of one of its own behind %"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use if_addrs::{IfAddr, IfOperStatus, Ifv6Addr};

    fn interface(name: &str, index: u32, ip: &str, oper_status: IfOperStatus) -> Interface {
        let ip = ip.parse().expect("an address");
        let addr =
            IfAddr::V6(Ifv6Addr { ip, netmask: Ipv6Addr::UNSPECIFIED, prefixlen: 64, broadcast: None });
        Interface { name: name.to_owned(), addr, index: Some(index), oper_status, is_p2p: false }
    }

    #[test]
    fn a_link_local_address_is_tried_over_each_interface_that_is_up_once() {
        let all = [
            interface("lo", 1, "::1", IfOperStatus::Up),
            interface("wlan0", 4, "fe80::4", IfOperStatus::Up),
            interface("eth0", 2, "fe80::2", IfOperStatus::Up),
            interface("eth0", 2, "fe80::22", IfOperStatus::Up),
            interface("eth0", 2, "2001:db8::2", IfOperStatus::Up),
            interface("eth1", 3, "fe80::3", IfOperStatus::Unknown),
            interface("wg0", 5, "fd00::5", IfOperStatus::Up),
        ];
        assert_eq!(scopes(&all), [2, 4]);
    }

    #[test]
    fn the_interface_stands_behind_a_link_local_address_only() {
        let split = |text| split_zone(text).map(|(bare, zone)| (bare, zone.to_owned()));
        let found = |bare: &str, zone: &str| Some((bare.to_owned(), zone.to_owned()));
        assert_eq!(split("[fe80::1%eth0]:47"), found("[fe80::1]:47", "eth0"));
        assert_eq!(split("[fe80::1%eth0]"), found("[fe80::1]", "eth0"));
        assert_eq!(split("fe80::1%12"), found("fe80::1", "12"));
        for other in ["2001:db8::1%eth0", "fe80::1", "fe80::1%", "[fe80::1%]:4", "a%eth0", "%"] {
            assert_eq!(split(other), None, "{other}");
        }
    }

    #[test]
    fn an_address_to_listen_at_has_its_interface_or_a_sentence() {
        assert_eq!(listening_address("[::]:47"), Ok("[::]:47".parse().expect("an address")));
        let error = |text: &str| listening_address(text).expect_err("no interface");
        assert!(error("[fe80::1%no-such-0]:47").contains("has no interface \"no-such-0\""));
        assert_eq!(error("[fe80::1]:47"), "name the interface, too: [fe80::1%eth0]:47");
        assert!(error("example.org:47").starts_with("write ADDRESS:PORT"));
        #[cfg(target_os = "linux")]
        for zone in ["lo", "1"] {
            let SocketAddr::V6(address) =
                listening_address(&format!("[fe80::1%{zone}]:47")).expect("loopback")
            else {
                panic!("not IPv6")
            };
            assert_eq!((address.scope_id(), address.port()), (1, 47));
        }
    }
}
