//! Sockets of other processes on Linux, read and set from outside.
//!
//! `pidfd_getfd` duplicates a descriptor of a process that the caller may trace: its descendants, without root. A duplicate lives for some
//! microseconds. So a connection ends when its program closes it, and nothing is held that a program could miss.

mod connection;
mod fitness;
mod in_kernel;
mod original;
mod own;
pub mod record;
mod roster;
mod scan;
mod sending;
mod shared;
mod socket;
mod status;
mod steer;
mod system;
mod traffic;
mod tree;
mod tried;
mod unread;

pub use in_kernel::InKernel;
pub use original::{restore, Original, Place};
pub use own::Own;
pub use record::Record;
pub use roster::Roster;
pub use status::Status;
pub use steer::{Steer, TICK};
pub use system::{take_inherited, window_clamp};
pub use tried::{lacks_pidfd_getfd, reach, Reach, Tried};
pub use unread::{bound_unread, unbound_unread};
