//! uTP without tokio: a transfer over two sockets of this machine, with blocking threads or with mio.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example event_loop -- threads 100
//! cargo run --release -p afteryou-utp --example event_loop -- mio 100
//! ```
//! `peer.rs` is the application: it follows the connection's events and has no socket. `threads.rs` and `poll.rs` are the
//! two loops around it; take the one that fits and put your application in the peer's place.

mod peer;
mod poll;
mod threads;

use peer::Peer;
use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or("threads".into());
    let run: fn(UdpSocket, Peer) -> std::io::Result<Peer> = match name.as_str() {
        "threads" => threads::run,
        "mio" => poll::run,
        other => return Err(format!("unknown loop {other:?}: give \"threads\" or \"mio\"").into()),
    };
    let megabytes: u64 = arguments.next().map_or(Ok(100), |n| n.parse())?;
    let bytes = megabytes.checked_mul(1_000_000).ok_or("that many bytes do not fit in 64 bits")?;

    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    let (near, far) = (UdpSocket::bind(here)?, UdpSocket::bind(here)?);
    let sender = Peer::sender(far.local_addr()?, bytes)?;
    let started = Instant::now();
    let receiver = std::thread::spawn(move || run(far, Peer::receiver()));
    run(near, sender)?;
    let receiver = receiver.join().map_err(|_| "the receiver panicked")??;

    let seconds = started.elapsed().as_secs_f64();
    let received = receiver.received();
    println!("{name}: {received} bytes in {seconds:.2} s, {:.0} Mbit/s", received as f64 * 8e-6 / seconds);
    if received != bytes {
        return Err(format!("{bytes} bytes were sent and {received} received").into());
    }
    Ok(())
}
