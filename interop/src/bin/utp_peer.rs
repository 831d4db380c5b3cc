//! One end of a libutp connection as a program, for testbeds of others: a command of `afteryou bed`, for example.
//!
//! ```text
//! cargo build --release --bin utp_peer
//! utp_peer receive ADDRESS:PORT
//! utp_peer send ADDRESS:PORT [BYTES]
//! ```
//!
//! The receiver listens on the address and ends when the sender has. The sender connects and sends zeros: so many bytes, or until it is
//! ended. Both have libutp's own defaults: datagrams of 1402 bytes, buffers of 1 MiB, a target of 100 ms.

use afteryou_interop::bulk::{self, Settings};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;

const SETTINGS: Settings = Settings { udp_mtu: 1402, window: 1 << 20 };
const USAGE: &str = "usage: utp_peer receive ADDRESS:PORT, or utp_peer send ADDRESS:PORT [BYTES]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("utp_peer: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", at] => receive(address(at)?),
        ["send", to] => {
            send(address(to)?, u64::MAX)?;
            Err(format!("the connection ended: is utp_peer receive running at {to}?"))
        }
        ["send", to, bytes] => {
            let number = bytes.parse().map_err(|_| format!("{bytes:?} is no number of bytes; {USAGE}"))?;
            send(address(to)?, number)
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn receive(at: SocketAddr) -> Result<(), String> {
    let (bytes, time) = bulk::receive(open(at)?, SETTINGS).map_err(|error| error.to_string())?;
    println!("{bytes} bytes in {:.3} s", time.as_secs_f64());
    Ok(())
}

fn send(to: SocketAddr, bytes: u64) -> Result<(), String> {
    let any = match to {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = open(SocketAddr::new(any, 0))?;
    bulk::send(socket, SETTINGS, to, bytes, None).map_err(|error| error.to_string())
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} is no address with a port, such as 10.0.0.1:4000; {USAGE}"))
}

fn open(at: SocketAddr) -> Result<UdpSocket, String> {
    UdpSocket::bind(at).map_err(|error| format!("cannot use {at}: {error}; name a free address of this host"))
}
