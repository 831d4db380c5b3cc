//! The variables by which programs find a proxy.

use crate::credentials::Credentials;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Hosts that programs reach themselves.
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// Returns the variables for programs of this host. ALL_PROXY is not among them: programs that know it expect SOCKS there, and some fail
/// then. `no_proxy` is the present value of that variable, which is extended.
pub fn variables(
    address: SocketAddr,
    credentials: Option<&Credentials>,
    no_proxy: Option<&str>,
) -> Vec<(&'static str, String)> {
    let user = credentials.map(Credentials::in_url).unwrap_or_default();
    let url = format!("http://{user}{}", reachable(address));
    let direct = match no_proxy.map(str::trim).filter(|hosts| !hosts.is_empty()) {
        Some(hosts) => format!("{hosts},{DIRECT}"),
        None => DIRECT.to_owned(),
    };
    let proxies = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];
    let direct = ["no_proxy", "NO_PROXY"].map(|name| (name, direct.clone()));
    proxies.map(|name| (name, url.clone())).into_iter().chain(direct).collect()
}

/// Returns an address at which programs of this host reach a socket.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(variables: &[(&str, String)], name: &str) -> String {
        variables.iter().find(|(key, _)| *key == name).expect("it is there").1.clone()
    }

    #[test]
    fn programs_find_the_proxy_and_reach_this_host_themselves() {
        let all = variables("0.0.0.0:8118".parse().unwrap(), None, Some("intranet.example"));
        for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
            assert_eq!(value(&all, name), "http://127.0.0.1:8118");
        }
        for name in ["no_proxy", "NO_PROXY"] {
            assert_eq!(value(&all, name), "intranet.example,localhost,127.0.0.1,::1");
        }
        assert!(all.iter().all(|(name, _)| !name.eq_ignore_ascii_case("all_proxy")));
    }

    #[test]
    fn an_address_of_ipv6_has_brackets_and_a_password_its_place() {
        let credentials = Credentials::parse("me:p w").unwrap();
        let all = variables("[::]:1".parse().unwrap(), Some(&credentials), None);
        assert_eq!(value(&all, "https_proxy"), "http://me:p%20w@[::1]:1");
    }
}
