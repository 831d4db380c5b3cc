//! The transfer, the same for every transport.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Largest datagram, bytes: an Ethernet packet without the headers of IPv4 and UDP.
pub const DATAGRAM: u16 = 1472;
/// Bytes that the application writes and reads at a time.
pub const CHUNK: usize = 1 << 18;
/// The steps of an application that writes at a given rate.
const STEP: Duration = Duration::from_millis(10);

/// The variable by which `--window` reaches the processes, bytes.
pub const WINDOW: &str = "PEERS_WINDOW";

/// Returns the window that was asked for, if one was.
pub fn window() -> Option<u64> {
    std::env::var(WINDOW).ok()?.parse().ok()
}

/// The work of a sender.
pub struct Work {
    pub to: SocketAddr,
    pub bytes: u64,
    /// Bytes a second; none is as fast as it goes.
    pub pace: Option<u64>,
}

/// The variable that has the address of this process, if it is not on loopback.
pub const HERE: &str = "PEERS_HERE";

/// Returns any port of this process's address.
pub fn here() -> SocketAddr {
    let address = std::env::var(HERE).ok().and_then(|address| address.parse().ok());
    SocketAddr::from((address.unwrap_or(Ipv4Addr::LOCALHOST), 0))
}

/// Reports where the receiver listens.
pub fn announce(address: SocketAddr) {
    println!("{address}");
    // The sender's process waits for the line.
    _ = std::io::stdout().flush();
}

/// Returns the bytes to be written by now, of `left` bytes.
fn due(work: &Work, began: Instant, left: u64) -> u64 {
    let steps = began.elapsed().as_millis() / STEP.as_millis();
    let seconds = steps as f64 * STEP.as_secs_f64();
    let due = work.pace.map_or(work.bytes, |pace| (seconds * pace as f64) as u64);
    left.min(due.saturating_sub(work.bytes - left)).min(CHUNK as u64)
}

/// Writes all bytes.
pub async fn write(stream: &mut (impl AsyncWrite + Unpin), work: &Work) -> std::io::Result<()> {
    let (chunk, began, mut left) = (vec![7; CHUNK], Instant::now(), work.bytes);
    while left > 0 {
        let now = due(work, began, left);
        if now == 0 {
            tokio::time::sleep(STEP).await;
            continue;
        }
        stream.write_all(&chunk[..now as usize]).await?;
        left -= now;
    }
    Ok(())
}

/// Reads to the end; returns the bytes and the time since the first of them.
pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(u64, Duration)> {
    let (mut chunk, mut bytes, mut began) = (vec![0; CHUNK], 0, None);
    loop {
        let n = stream.read(&mut chunk).await?;
        let since = *began.get_or_insert_with(Instant::now);
        if n == 0 {
            return Ok((bytes, since.elapsed()));
        }
        bytes += n as u64;
    }
}

/// Writes as [`write`] does, on a blocking stream.
pub fn write_blocking(stream: &mut impl Write, work: &Work) -> std::io::Result<()> {
    let (chunk, began, mut left) = (vec![7; CHUNK], Instant::now(), work.bytes);
    while left > 0 {
        let now = due(work, began, left);
        if now == 0 {
            std::thread::sleep(STEP);
            continue;
        }
        stream.write_all(&chunk[..now as usize])?;
        left -= now;
    }
    Ok(())
}

/// Runs a transfer on tokio's default runtime, as a task of its own.
pub fn run<T: Send + 'static>(
    transfer: impl std::future::Future<Output = anyhow::Result<T>> + Send + 'static,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async { tokio::spawn(transfer).await? })
}
