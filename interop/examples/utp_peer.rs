//! One end of a libutp connection as a program, for testbeds of others: a command of `afteryou bed`, for example.
//!
//! ```text
//! cargo build --release --example utp_peer
//! utp_peer receive ADDRESS:PORT
//! utp_peer send ADDRESS:PORT [BYTES]
//! ```
//!
//! The receiver listens on the address and ends when the sender has. The sender connects and sends zeros: so many bytes, or until it is
//! ended. Both have libutp's own defaults: datagrams of 1402 bytes, buffers of 1 MiB, a target of 100 ms.

use afteryou_interop::bulk::{self, Settings};
use anyhow::{bail, Context};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

const SETTINGS: Settings = Settings { udp_mtu: 1402, window: 1 << 20 };
const USAGE: &str = "usage: utp_peer receive ADDRESS:PORT, or utp_peer send ADDRESS:PORT [BYTES]";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", at] => receive(address(at)?),
        ["send", to] => {
            bulk::send(open(any(address(to)?))?, SETTINGS, address(to)?, u64::MAX, None)?;
            bail!("the connection ended: is utp_peer receive running at {to}?")
        }
        ["send", to, bytes] => {
            let bytes = bytes.parse().with_context(|| format!("{bytes:?} is no number of bytes; {USAGE}"))?;
            Ok(bulk::send(open(any(address(to)?))?, SETTINGS, address(to)?, bytes, None)?)
        }
        _ => bail!(USAGE),
    }
}

fn receive(at: SocketAddr) -> anyhow::Result<()> {
    let (bytes, time) = bulk::receive(open(at)?, SETTINGS)?;
    println!("{bytes} bytes in {:.3} s", time.as_secs_f64());
    Ok(())
}

fn address(text: &str) -> anyhow::Result<SocketAddr> {
    text.parse().with_context(|| format!("{text:?} is no address with a port, such as 10.0.0.1:4000; {USAGE}"))
}

/// Any port of the family of `peer`.
fn any(peer: SocketAddr) -> SocketAddr {
    let ip = match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, 0)
}

fn open(at: SocketAddr) -> anyhow::Result<UdpSocket> {
    UdpSocket::bind(at).with_context(|| format!("cannot listen at {at}: is the address of this host?"))
}
