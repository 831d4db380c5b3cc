//! uTP, the transport of BEP 29, over UDP.
//!
//! - [`connection::Connection`] is one connection without I/O, with any controller of [`afteryou_cc`] plugged in.
//! - [`endpoint::Endpoint`] carries many of them on one UDP socket, as tokio streams.
//!   Peers cannot lock it out or exhaust its memory: places are shared by address, memory by connection, and silent peers are
//!   given up after 89 s.
//! - [`packet`] and [`sack`] are the wire format.

pub mod config;
pub mod connection;
#[cfg(feature = "net")]
pub mod endpoint;
pub mod error;
pub mod packet;
pub mod recovery;
pub mod rto;
pub mod sack;

pub use config::Config;
pub use connection::{Connection, Event, Outgoing, SocketShare, Statistics};
#[cfg(feature = "net")]
pub use endpoint::{Endpoint, EndpointConfig, EndpointStatistics, Monitor, Stream};
pub use error::Error;
pub use recovery::Recovery;
