//! The words of the programs that are one end of a connection: `utp_peer` and `rqbit_peer`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It listens on the address, and ends when the sender has.
    Receive(SocketAddr),
    /// It connects to the address and sends this number of zeros; `None`: until it is ended from outside.
    Send(SocketAddr, Option<u64>),
}

impl End {
    /// Returns the address to bind a socket to: a sender takes any port.
    pub fn local(self) -> SocketAddr {
        match self {
            End::Receive(at) => at,
            End::Send(SocketAddr::V4(_), _) => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
            End::Send(SocketAddr::V6(_), _) => SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
        }
    }
}

/// Runs a program of this name by the words of its command line; its failure is one sentence on stderr.
pub fn main(name: &str, run: impl FnOnce(End) -> Result<(), String>) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match parse(name, &words).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{name}: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn parse(name: &str, words: &[&str]) -> Result<End, String> {
    let usage = format!("usage: {name} receive ADDRESS:PORT, or {name} send ADDRESS:PORT [BYTES]");
    let address = |text: &str| {
        let wrong = |_| format!("{text:?} is no address with a port, such as 10.0.0.1:4000; {usage}");
        text.parse::<SocketAddr>().map_err(wrong)
    };
    match *words {
        ["receive", at] => Ok(End::Receive(address(at)?)),
        ["send", to] => Ok(End::Send(address(to)?, None)),
        ["send", to, bytes] => {
            let number = bytes.parse().map_err(|_| format!("{bytes:?} is no number of bytes; {usage}"))?;
            Ok(End::Send(address(to)?, Some(number)))
        }
        _ => Err(usage),
    }
}

/// Returns the sentence about a connection that ended before it should.
pub fn ended(name: &str, to: SocketAddr) -> String {
    format!("the connection ended: is {name} receive running at {to}?")
}
