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

pub mod config;
pub mod connection;
#[cfg(feature = "dump")]
pub mod dump;
#[cfg(feature = "net")]
pub mod endpoint;
pub mod error;
pub mod packet;
pub mod recovery;
pub mod rto;
pub mod sack;

pub use config::Config;
pub use connection::{Connection, Event, Outgoing, SocketShare, Statistics};
#[cfg(feature = "dump")]
pub use dump::{Dump, DumpStatistics};
#[cfg(feature = "net")]
pub use endpoint::{Endpoint, EndpointConfig, EndpointStatistics, Monitor, Stream};
pub use error::Error;
pub use recovery::Recovery;
