//! One end of a libutp connection as a program, for testbeds of others: a command of `afteryou bed`, for example.
//!
//! ```text
//! cargo build --release -p afteryou-interop --features libutp --bin utp_peer
//! utp_peer receive ADDRESS:PORT
//! utp_peer send ADDRESS:PORT [BYTES]
//! ```
//!
//! The receiver listens on the address and ends when the sender has. The sender connects and sends zeros: the given number of bytes, or until it is
//! ended. Both have libutp's own defaults: datagrams of 1402 bytes, buffers of 1 MiB, a target of 100 ms.

use afteryou_interop::bulk::{self, Settings};
use afteryou_interop::program::{self, End};
use std::net::UdpSocket;
use std::process::ExitCode;

const NAME: &str = "utp_peer";
const SETTINGS: Settings = Settings { udp_mtu: 1402, window: 1 << 20 };

fn main() -> ExitCode {
    program::main(NAME, run)
}

fn run(end: End) -> Result<(), String> {
    let at = end.local();
    let socket = UdpSocket::bind(at)
        .map_err(|error| format!("cannot use {at}: {error}; name a free address of this host"))?;
    match end {
        End::Receive(_) => {
            let (bytes, time) = bulk::receive(socket, SETTINGS).map_err(|error| error.to_string())?;
            println!("{bytes} bytes in {:.3} s", time.as_secs_f64());
            Ok(())
        }
        End::Send(to, bytes) => {
            bulk::send(socket, SETTINGS, to, bytes.unwrap_or(u64::MAX), None)
                .map_err(|error| error.to_string())?;
            bytes.map(|_| ()).ok_or_else(|| program::ended(NAME, to))
        }
    }
}
