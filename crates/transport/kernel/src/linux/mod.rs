//! The controllers in the kernel of this machine: loading, pinning, and looking at them.

mod cgroup;
pub mod choosers;
mod error;
mod job;
mod layout;
mod loaded;
mod names;
mod netlink;
pub mod pinned;
pub mod settings;
pub mod sockets;

pub use cgroup::repair;
pub use error::Error;
pub use job::{Counts, Job};
pub use layout::State;
pub use loaded::{release, Loaded};
pub use names::{is_ours, NAMES};
