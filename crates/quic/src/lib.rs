//! Background transfers for any program on [quinn]: a congestion controller that steps aside, and a UDP socket
//! that says so to the network.
//!
//! One line makes the connections of a transport configuration background:
//!
//! ```
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(afteryou_quic::background());
//! ```
//!
//! [`background_transport`] is a whole configuration with that line in it, [`Factory`] takes any controller of
//! [`afteryou_cc`], and [`Monitor`] shows what the controller of a connection sees. [`Socket`] marks every packet for
//! the lower-effort class of RFC 8622, which quinn's own socket cannot:
//!
//! ```
//! # async fn example() -> std::io::Result<()> {
//! use afteryou_base::dscp;
//! use afteryou_quic::{endpoint, Socket};
//! let socket = Socket::bind("[::]:0".parse().unwrap(), dscp::LE)?;
//! let endpoint = endpoint(socket, quinn::EndpointConfig::default(), None)?;
//! # Ok(())
//! # }
//! ```
//!
//! What quinn's interface does not tell a controller, and what is done about it: [`adapter`].

pub mod adapter;
mod factory;
mod monitor;
#[cfg(feature = "qlog")]
pub mod qlog;
mod socket;
mod transport;

pub use adapter::Adapter;
pub use factory::{background, Factory};
pub use monitor::{Monitor, Status};
pub use socket::{endpoint, Socket, DSCP_IS_SENT};
pub use transport::{background_transport, transport, MAX_ACK_DELAY};
