//! Properties of a path to the peer of a ticket: for `afteryou doctor`.
//!
//! Each address is tried by itself, without a race, and asked how our packets arrive there ([`Greeting::Probe`]).
//! Before the question, quinn gets time to find the largest packet that passes ([`MTU_SEARCH`]; RFC 8899). Its probes
//! are at the same time the packets that the peer inspects.

use crate::codec;
use crate::dial::{Dialer, Failure};
use crate::ticket::Address;
use crate::wire::{Answer, Greeting};
use bytes::BytesMut;
use quinn::Connection;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// Longest wait for the search of the MTU. A path of 200 ms is not done by then, and the result so far is reported.
pub const MTU_SEARCH: Duration = Duration::from_millis(1500);

/// The search is over when nothing has changed for this many round trips, and at least [`MTU_QUIET`].
const MTU_QUIET_ROUNDS: u32 = 6;
const MTU_QUIET: Duration = Duration::from_millis(200);

/// For the handshake. Shorter than a job's: somebody is waiting for the report.
const HANDSHAKE: Duration = Duration::from_secs(4);

/// For the question about our packets.
const ANSWER: Duration = Duration::from_secs(2);

/// The findings at one address.
#[derive(Clone, Debug)]
pub struct Path {
    /// Until the peer had accepted the ticket.
    pub connected_in: Duration,
    /// Smoothed.
    pub round_trip: Duration,
    /// Largest UDP payload found to pass, bytes.
    pub mtu: u16,
    /// How our packets arrive; the reason when it could not be asked.
    pub answer: Result<Answer, String>,
}

/// Looks at one address of the ticket, within about eight seconds.
///
/// # Errors
/// As [`Dialer::attempt`]. A peer that connects and does not answer is no failure: see [`Path::answer`].
pub async fn look(dialer: &Dialer, address: &Address) -> Result<Path, Failure> {
    let began = Instant::now();
    let connection = timeout(HANDSHAKE, dialer.attempt(address)).await.map_err(|_| Failure::Silent)??;
    let connected_in = began.elapsed();
    let mtu = settled_mtu(&connection).await;
    let answer = match timeout(ANSWER, ask(&connection)).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", ANSWER.as_secs())),
    };
    let round_trip = connection.rtt();
    connection.close(0u32.into(), b"");
    Ok(Path { connected_in, round_trip, mtu, answer })
}

async fn settled_mtu(connection: &Connection) -> u16 {
    let current = || connection.stats().path.current_mtu;
    let quiet = MTU_QUIET.max(connection.rtt() * MTU_QUIET_ROUNDS);
    let began = Instant::now();
    let (mut mtu, mut since) = (current(), began);
    while began.elapsed() < MTU_SEARCH && since.elapsed() < quiet {
        sleep(Duration::from_millis(10)).await;
        let now = current();
        if now != mtu {
            (mtu, since) = (now, Instant::now());
        }
    }
    current()
}

async fn ask(connection: &Connection) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let (mut send, receive) = connection.open_bi().await?;
    let mut greeting = BytesMut::new();
    codec::encode(&Greeting::Probe, &mut greeting)?;
    send.write_all(&greeting).await?;
    let answer = codec::Incoming::new(receive).next().await?;
    answer.ok_or_else(|| "the peer closed without an answer".into())
}
