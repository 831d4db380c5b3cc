//! Makes transfers of programs that know nothing of it background transfers, from outside and without root.
//!
//! ```no_run
//! # #[cfg(target_os = "linux")] {
//! use afteryou_outside::linux::Steer;
//! use afteryou_outside::rule::Params;
//!
//! // A process that this one has started, and its descendants, for a minute.
//! let mut steer = Steer::new(4711, Params::default(), None);
//! for _ in 0..6000 {
//!     steer.tick(std::time::Instant::now());
//!     std::thread::sleep(steer.pause());
//! }
//! steer.give_back();
//! # }
//! ```
//!
//! A program that is to yield by itself keeps `linux::Own::begin(Params::default(), None)` while it moves data.
//!
//! - [`rule`] decides, without sockets and clocks: readings of connections go in, and what each may have under way comes out.
//! - `linux` reads and sets the sockets of other processes.
//! - [`probe`] finds what kind of sender a server is.
//!
//! For a connection of this process, macOS and Windows have means of their own: see the crate `afteryou-background`.
//!
//! # Design
//! A download is bounded by the receive window that the kernel announces (RFC 9840), an upload by SO_MAX_PACING_RATE. Both follow one rule, whose
//! numbers are the connection's own round trips. It holds a duplicate of a socket for some microseconds of each tick only, so that
//! nothing of it outlives the program's own descriptor.
//!
//! # Tests
//! `tests/all` runs the rule over a small model of a path. `afteryou run` is tested with real programs in `crates/afteryou`.
#![warn(missing_docs)]

pub mod probe;
pub mod rule;

#[cfg(target_os = "linux")]
pub mod linux;
