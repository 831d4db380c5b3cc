//! A forward proxy for HTTP, CONNECT and SOCKS5.
//!
//! ```no_run
//! # async fn run() -> Result<(), afteryou_proxy::Error> {
//! use afteryou_proxy::{Options, Proxy};
//!
//! let proxy = Proxy::listen(([127, 0, 0, 1], 8118).into(), Options::default()).await?;
//! proxy.run().await;
//! # Ok(())
//! # }
//! ```
//!
//! TLS is never opened: HTTPS goes through tunnels. Nothing is stored, and there are no pages and no control at its port.
//!
//! | file | has |
//! |---|---|
//! | `proxy.rs` | the socket, and the bound on the number of clients |
//! | `service.rs` | a client's connection on any stream; `shared.rs` has its time limits |
//! | `http.rs` | requests that are passed on, and CONNECT; `headers.rs`, `body.rs` |
//! | `socks.rs` | SOCKS5 |
//! | `tunnel.rs` | copying both ways |
//! | `dial.rs` | names and connections; `rules.rs` says where a client may go |
//! | `backlog.rs` | the bound on what lies unread for slow readers; `no_backlog.rs` where there is none |
//! | `stream.rs` | sockets and counted streams |
//! | `credentials.rs`, `target.rs`, `variables.rs` | what their names say |
//!
//! This crate steers nothing: [`Options::opened`] hands each connection to its caller.

#[cfg_attr(not(target_os = "linux"), path = "no_backlog.rs")]
mod backlog;
mod body;
mod credentials;
mod dial;
mod error;
mod headers;
mod http;
mod proxy;
mod rules;
mod service;
mod shared;
mod socks;
mod stream;
mod target;
mod tunnel;
mod variables;

pub use credentials::Credentials;
pub use dial::{Dial, Dialing, Opened};
pub use error::Error;
pub use proxy::{Clients, Options, Proxy};
pub use rules::{Client, Rules};
pub use service::Service;
pub use shared::Limits;
pub use stream::Stream;
pub use target::Target;
pub use variables::variables;
