//! One end of a librqbit-utp connection as a program, for testbeds of others: a command of `afteryou bed`, for example.
//!
//! ```text
//! cargo build --release -p afteryou-interop --features librqbit --bin rqbit_peer
//! rqbit_peer receive ADDRESS:PORT
//! rqbit_peer send ADDRESS:PORT [BYTES]
//! ```
//!
//! The receiver listens on the address and ends when the sender has. The sender connects and sends zeros: the given number of bytes, or until it is
//! ended. Both have the library's own defaults; its congestion control is CUBIC.

use afteryou_interop::program::{self, End};
use librqbit_utp::{UtpSocketUdp, UtpStream};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const NAME: &str = "rqbit_peer";
/// Bytes of a call that reads or writes.
const CHUNK: usize = 64 * 1024;
/// The library sends one SYN and waits indefinitely if it is lost, as it is where the receiver does not listen yet.
const ATTEMPTS: usize = 5;
/// The time for an answer to a SYN.
const PATIENCE: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    program::main(NAME, |end| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| format!("cannot begin: {error}"))?.block_on(run(end))
    })
}

async fn run(end: End) -> Result<(), String> {
    let at = end.local();
    let socket = UtpSocketUdp::new_udp(at)
        .await
        .map_err(|error| format!("cannot use {at}: {error:#}; name a free address of this host"))?;
    match end {
        End::Receive(_) => receive(&socket).await,
        End::Send(to, bytes) => send(&socket, to, bytes.unwrap_or(u64::MAX))
            .await
            .map_err(|error| format!("{}: {error}", program::ended(NAME, to))),
    }
}

async fn receive(socket: &Arc<UtpSocketUdp>) -> Result<(), String> {
    let ended = |error: &dyn std::fmt::Display| format!("the connection ended: {error:#}");
    let mut stream = socket.accept().await.map_err(|error| ended(&error))?;
    let (mut bytes, mut buffer, begun) = (0, vec![0; CHUNK], Instant::now());
    loop {
        match stream.read(&mut buffer).await.map_err(|error| ended(&error))? {
            0 => break,
            read => bytes += read,
        }
    }
    println!("{bytes} bytes in {:.3} s", begun.elapsed().as_secs_f64());
    // So that the acknowledgement of the end leaves before the process ends.
    stream.shutdown().await.map_err(|error| ended(&error))
}

async fn send(
    socket: &Arc<UtpSocketUdp>,
    to: SocketAddr,
    bytes: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let (mut stream, zeros, mut left) = (connect(socket, to).await?, [0; CHUNK], bytes);
    while left > 0 {
        let now = left.min(CHUNK as u64);
        stream.write_all(&zeros[..now as usize]).await?;
        left -= now;
    }
    Ok(stream.shutdown().await?)
}

async fn connect(
    socket: &Arc<UtpSocketUdp>,
    to: SocketAddr,
) -> Result<UtpStream, Box<dyn std::error::Error>> {
    for _ in 0..ATTEMPTS {
        if let Ok(connected) = tokio::time::timeout(PATIENCE, socket.connect(to)).await {
            return Ok(connected?);
        }
    }
    Err(format!("no answer to {ATTEMPTS} SYNs").into())
}
