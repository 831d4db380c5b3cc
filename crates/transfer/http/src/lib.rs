//! Downloads over HTTP and HTTPS: resumed, checked, and with a final name only when they are whole.
//!
//! ```no_run
//! # async fn get() -> Result<(), afteryou_http::Error> {
//! use afteryou_http::{Client, Job, Options, Place};
//!
//! let urls = vec!["https://example.org/disk.iso".parse()?];
//! let job = Job { urls, place: Place::Directory(".".into()), sha256: None, replace: false };
//! Client::new(Options::default()).download(&job, &|event| println!("{event:?}")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! | file | has |
//! |---|---|
//! | `client.rs` | options, jobs, events |
//! | `download.rs` | a file's way from its URLs to its name; `tries.rs` has the attempts |
//! | `answer.rs` | the meaning of a server's answer for a partial file |
//! | `exchange.rs` | a request and its redirects; who gets a password |
//! | `connect.rs` | proxies, TLS, HTTP/1.1 and HTTP/2; `dial.rs` has the addresses |
//! | `look.rs` | an answer that is looked at and not stored |
//! | `sink.rs` | writing beside reading |
//! | `partial.rs` | the partial file and its description |
//! | `digest.rs`, `names.rs`, `netrc.rs`, `proxy.rs`, `url.rs` | what their names say |
//!
//! hyper has the protocols, rustls the encryption. Redirects, ranges and retries are our own, since each of them depends on the partial file.

mod answer;
mod client;
mod connect;
pub mod dial;
mod digest;
mod download;
mod error;
mod exchange;
mod look;
mod names;
mod netrc;
mod partial;
mod proxy;
mod sink;
mod tls;
mod tries;
mod url;

#[cfg(test)]
mod hostile;

pub use client::{Client, Event, Job, Listener, Options, Outcome, Pacing, Place};
pub use connect::Prepare;
pub use digest::Digest;
pub use error::Error;
pub use look::{Look, Ranges};
pub use netrc::Netrc;
pub use proxy::Proxies;
pub use tries::Backoff;
pub use url::{Url, User};
