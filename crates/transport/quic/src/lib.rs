//! Background transfers for any program on [quinn]: a congestion controller that yields, and a UDP socket that marks
//! its packets for the network.
//!
//! One line makes the connections of a transport configuration background:
//!
//! ```
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(afteryou_quic::background());
//! ```
//!
//! [`background_transport`] is a whole configuration with that line in it, and [`Factory`] takes any controller of
//! [`afteryou_cc`]. [`Monitor`] shows the inputs of a connection's controller. [`Socket`] marks every packet for the
//! lower-effort class of RFC 8622, which quinn's own socket cannot:
//!
//! ```
//! # async fn example() -> std::io::Result<()> {
//! use afteryou_base::Dscp;
//! use afteryou_quic::{endpoint, Socket};
//! let socket = Socket::bind("[::]:0".parse().unwrap(), Dscp::LE)?;
//! let endpoint = endpoint(socket, quinn::EndpointConfig::default(), None)?;
//! # Ok(())
//! # }
//! ```
//!
//! Over loopback datagrams may be longer than quinn's 1452 bytes: [`path_mtu`].
//!
//! See [`adapter`] for the limits of quinn's interface and how this crate handles them.
//!
//! # Modules
//! [`adapter`] turns quinn's calls into events of a controller. `factory` and `monitor` make and show controllers, `socket`
//! is a socket of `afteryou-sockets` that remembers the bytes it received. `driver` is a connection's task, in which both meet.
//! `transport` has quinn's settings. [`path_mtu`] bounds the search for longer datagrams.
//!
//! The crate is apart from `afteryou-transfer`, so that another quinn program depends on little. Packet numbers are the adapter's own, since
//! quinn's begin anew in each space. One clock serves all adapters of a process, so that members of a group see comparable times.

pub mod adapter;
pub mod clock;
mod driver;
mod factory;
mod monitor;
pub mod path_mtu;
#[cfg(feature = "qlog")]
pub mod qlog;
mod socket;
mod transport;

pub use adapter::Adapter;
pub use driver::pacing_runtime;
pub use factory::{background, Factory};
pub use monitor::{Monitor, Status};
pub use socket::{endpoint, Socket, DSCP_IS_SENT};
pub use transport::{background_transport, transport, MAX_ACK_DELAY};
