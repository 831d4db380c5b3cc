//! The host and port that a client asks for.

use crate::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Longest name of a host, bytes (RFC 1035).
const LONGEST: usize = 253;

/// A host and a port. Displays as an authority: an address of IPv6 is in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// A name, or an address without brackets.
    pub host: String,
    /// The port; not 0.
    pub port: u16,
}

impl Target {
    /// Creates a target.
    ///
    /// # Errors
    /// A port of 0, and a host that has characters no host has.
    pub fn new(host: &str, port: u16) -> Result<Target, Error> {
        let refused = |reason| Error::Target { reason };
        if port == 0 {
            return Err(refused("its port is 0"));
        }
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_name = (1..=LONGEST).contains(&host.len()) && host.bytes().all(is_fit);
        match is_name || host.parse::<Ipv6Addr>().is_ok() {
            true => Ok(Target { host: host.to_ascii_lowercase(), port }),
            false => Err(refused("its host is neither a name in ASCII nor an address")),
        }
    }

    /// Parses `host:port`. Without a port it is `default`, if there is one.
    ///
    /// # Errors
    /// See [`new`](Target::new); a user before the host; no port and no default.
    pub fn parse(authority: &str, default: Option<u16>) -> Result<Target, Error> {
        let refused = |reason| Error::Target { reason };
        if authority.contains('@') {
            return Err(refused("names and passwords do not belong into it"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or(refused("its bracket is not closed"))?;
                host.parse::<Ipv6Addr>().map_err(|_| refused("its brackets have no address of IPv6"))?;
                (host, port)
            }
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let digits = match port.strip_prefix(':') {
            Some(digits) => digits,
            None if port.is_empty() => "",
            None => return Err(refused("its port is no number")),
        };
        let port = match digits {
            "" => default.ok_or(refused("it has no port"))?,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| refused("its port is above 65535"))?
            }
            _ => return Err(refused("its port is no number")),
        };
        Target::new(host, port)
    }

    /// Returns the address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_target_is_a_host_and_a_port() {
        for (text, default, shown) in [
            ("Example.org:443", None, "example.org:443"),
            ("example.org", Some(80), "example.org:80"),
            ("example.org:", Some(80), "example.org:80"),
            ("[2001:DB8::1]:80", None, "[2001:db8::1]:80"),
            ("127.0.0.1:8080", None, "127.0.0.1:8080"),
        ] {
            assert_eq!(Target::parse(text, default).unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "",
            ":80",
            "h",
            "h:0",
            "h:65536",
            "h:+80",
            "h:8 0",
            "h:80:80",
            "me@h:80",
            "[::1",
            "[::1]x",
            "[h]:80",
            "a b:80",
            "h\0:80",
            "ü:80",
            "h/:80",
            "[fe80::1%eth0]:80",
            "h%2f:80",
        ] {
            assert!(Target::parse(text, None).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_shown_so_that_it_reads_back(text in "\\PC{0,40}|[a-f0-9:.\\[\\]]{0,24}") {
            if let Ok(target) = Target::parse(&text, Some(80)) {
                prop_assert_eq!(Target::parse(&target.to_string(), None).unwrap(), target);
            }
        }
    }
}
