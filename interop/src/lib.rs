//! The real libutp (the C++ reference implementation of uTP) as a test peer.
//!
//! [`LibutpPeer`] runs libutp in one dedicated thread over a loopback UDP socket. It works through a [`Job`]: write these
//! bytes, close in that way, collect what arrives. [`Handle::join`] gives the [`Outcome`]. The thread always ends on its
//! own, at the latest at [`Job::deadline`].
//!
//! libutp keeps state in C statics, so only one thread per process may use it.
//! A second peer started from another thread (a parallel test) waits for its
//! turn; one started from the same thread is refused with [`Error::Busy`].
//! Two libutp ends at once are possible in one thread: [`LibutpPeer::pair`].
//!
//! [`packet`] writes and reads single uTP datagrams for tests that talk to
//! libutp by hand.
//!
//! Unix only. libutp's `assert`s are compiled in and abort the process.

// Of the empty crate, this page is all that is left.
#![cfg_attr(not(feature = "libutp"), allow(rustdoc::broken_intra_doc_links))]
#![cfg(feature = "libutp")]
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(not(unix))]
compile_error!("afteryou-interop runs on unix only; leave it out on this platform");

pub mod bulk;
mod endpoint;
mod error;
mod events;
mod job;
mod loss;
mod outcome;
pub mod packet;
mod peer;
pub mod program;
// The C interface: raw pointers, C callbacks and unions need `unsafe`.
#[allow(unsafe_code)]
mod raw;
pub mod torrent;
mod turn;

pub use error::Error;
pub use job::{Finish, Job, Options};
pub use loss::Loss;
pub use outcome::{Ended, Outcome, Traffic, UtpFailure};
pub use peer::{Handle, LibutpPeer, PairHandle};
