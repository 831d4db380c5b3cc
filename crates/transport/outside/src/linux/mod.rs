//! Sockets of other processes on Linux, read and set from outside.
//!
//! `pidfd_getfd` duplicates a descriptor of a process that the caller may trace: its descendants, without root. A duplicate lives for a part
//! of a tick, some microseconds. So a connection ends when its program closes it, and nothing is held that a program could miss.

mod original;
mod own;
mod roster;
mod scan;
mod socket;
mod steer;
mod system;
mod traffic;
mod tree;
mod tried;
mod unread;

pub use original::{restore, Original, Place};
pub use own::Own;
pub use roster::Roster;
pub use steer::{Note, Status, Steer, TICK};
pub use system::{take_inherited, window_clamp};
pub use tree::descendants;
pub use tried::{lacks_pidfd_getfd, reach, Reach, Tried};
pub use unread::{bound_unread, unbound_unread};
