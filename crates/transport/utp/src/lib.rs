//! uTP, the transport of BEP 29, over UDP.
//!
//! ```
//! use afteryou_utp::{Endpoint, EndpointConfig};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let receiver = Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::background())?;
//! let sender = Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::background())?;
//! let address = receiver.local_addr()?;
//! let sent = tokio::spawn(async move {
//!     let mut stream = sender.connect(address).await?;
//!     stream.write_all(b"all of it").await?;
//!     stream.shutdown().await // returns when everything has been acknowledged
//! });
//! let mut received = Vec::new();
//! receiver.accept().await?.read_to_end(&mut received).await?;
//! sent.await??;
//! assert_eq!(received, b"all of it");
//! # Ok(())
//! # }
//! ```
//!
//! - [`connection::Connection`] is one connection without I/O, with any controller of [`afteryou_cc`] plugged in.
//! - [`endpoint::Endpoint`] carries many of them on one UDP socket, as tokio streams.
//!   Peers cannot lock it out or exhaust its memory: places are shared by address, memory by connection, and silent peers are
//!   given up after 89 s.
//! - The feature `dump` writes packets for Wireshark and connections for qvis, in one line: `EndpointConfig::dump`.
//! - [`packet`] and [`sack`] are the wire format.
//!
//! # Modules
//! | file | has |
//! |---|---|
//! | `connection/input.rs`, `output.rs`, `timers.rs` | the three sides of a connection |
//! | `connection/scoreboard.rs`, `receiver.rs` | its two directions |
//! | `connection/events.rs` | the next actions of an application without futures, each change once |
//! | `connection/liveness.rs`, `path_mtu.rs`, `farewell.rs` | probes of a silent peer, the largest packet that passes, the end |
//! | `endpoint/driver.rs`, `table.rs` | one task for the socket; all connections, without socket and clock |
//! | `endpoint/places.rs`, `budget.rs` | places shared among addresses, memory among connections |
//! | `endpoint/farewells.rs`, `cookies.rs` | connections that linger, answers to SYNs during a flood |
//! | `endpoint/batch.rs` | datagrams of one size to one peer, which leave in one system call |
//!
//! The scoreboard is that of `afteryou-sender`, with payloads, sequence numbers of 16 bits, bitmaps and probes of the tail. The order and the
//! times of sending are those of `afteryou-sender`, too. An endpoint has one lock. Connection
//! ids and first sequence numbers come from the system, so that a stranger cannot guess them. `tests/all/support` runs connections in virtual time over
//! a real queue, with round trips of 5–250 ms and losses of 0–5 %.
//!
//! # Decisions
//! - **Two rules differ from the simulator's TCP.** Until packets were seen to overtake one another, losses are found by packet and time
//!   thresholds and not by RACK's window: uTP has no D-SACK. Tails are probed in a recovery, too, because uTP's timeout is at least half a
//!   second. Towards a libutp there is no PRR. It counts what each ack delivers, and behind a gap a short bitmap shows 31 packets of a window.
//! - **Losses are found in the order of transmissions.** A packet is lost when one sent three transmissions later has arrived. It is also lost
//!   when any later one has arrived and nine eighths of a round trip have passed. A lost retransmission is found the same way. A packet
//!   that the peer's bitmap does not reach is not judged.
//! - **Peers of our kind recognise each other by a long bitmap.** A SYN and its answer carry a SACK extension of eight zero bytes, which libutp
//!   reads and ignores. After it an endpoint sends bitmaps of up to 252 bytes and windows of up to 8192 packets. To other peers it sends 4 bytes
//!   and 1023 packets, beyond which libutp drops everything.
//! - **A probe of the path MTU is a data packet with extensions for padding.** A packet with a number cannot be cut later, so payload never
//!   depends on a length that is not proven. libutp skips unknown extensions if the first one is its own.
//! - **Recovery has several ways** ([`recovery`]). Those of libutp use 4-byte bitmaps and 1023 packets. With long bitmaps a sender runs on behind
//!   a lost retransmission, and the stalls that libutp is known for do not show.

pub mod config;
pub mod connection;
#[cfg(feature = "dump")]
pub mod dump;
#[cfg(feature = "net")]
pub mod endpoint;
pub mod error;
pub mod numbers;
pub mod packet;
pub mod recovery;
pub mod rto;
pub mod sack;

pub use config::Config;
pub use connection::{Arrival, Connection, Event, Host, Outgoing, SocketShare, Statistics};
#[cfg(feature = "dump")]
pub use dump::{Dump, DumpStatistics};
#[cfg(feature = "net")]
pub use endpoint::{Endpoint, EndpointConfig, EndpointStatistics, Monitor, Stream};
pub use error::Error;
pub use numbers::{ConnectionId, Micros, SeqNr};
pub use recovery::Recovery;
