//! Files and directories from one machine to another in the background: encrypted, verified, resumable.
//!
//! ```
//! use afteryou_transfer::source::{Item, Source, SourceOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::write(folder.join("photo"), b"all of it")?;
//! let source = Source::of(&[folder.to_owned()], SourceOptions::default())?;
//! assert_eq!(source.scan().bytes, 9);
//! for item in source.entries() {
//!     if let Item::Entry(entry) = item {
//!         println!("{:?}", entry.entry());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Roles
//! The **source** has files, the **sink** stores them. Either may be the one that listens: `receive` is a sink that
//! listens, `serve` a source that listens, `send` and `get` are the sides that connect. After the greeting the protocol
//! is the same in both directions.
//!
//! # Protocol
//! One QUIC connection is one session (ALPN [`wire::ALPN`]). The side that connects opens a two-way stream for [control
//! messages](wire) and greets; what is said there is small and never waits behind data. The source offers entries
//! (path, kind, size, BLAKE3 root); the sink answers each with the ranges that it requests. Every requested file
//! travels on a one-way stream of its own, as a bao encoding of exactly the requested ranges: nothing is written that
//! was not verified against the root. Many offers and files are under way at a time, so small files cost no round trip
//! each.
//!
//! # Access and trust
//! A [ticket] names the listening side's addresses, its certificate and a secret, and [tls] pins both sides with it.
//! [dial] finds the address that answers, [guard] bounds the cost of strangers, and [identity] keeps tickets valid over
//! restarts.
//!
//! # Resume
//! Nothing is remembered in a journal. On resume the sink hashes its partial file against the tree beside it. So a kill
//! or a power cut at any moment costs at most what was being written: one chunk group of each file under way, and 96 KiB
//! of all together if data arrive faster than they are written. A file gets its final name when it is whole, verified and on
//! the disk, and not before.

mod accounts;
pub mod addresses;
mod beneath;
mod chunks;
pub mod codec;
pub mod dial;
pub mod entry;
pub mod error;
pub mod event;
pub mod extras;
pub mod filter;
pub mod guard;
pub mod identity;
mod inside;
pub mod job;
mod named;
pub mod pace;
pub mod probe;
mod session;
pub mod source;
pub mod ssh;
pub mod store;
pub mod ticket;
pub mod tls;
pub mod wire;
mod xattrs;

pub use error::Error;
pub use session::transport;
