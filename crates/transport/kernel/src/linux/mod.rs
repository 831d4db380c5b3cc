//! The controllers in the kernel of this machine: loading, pinning, and looking at them.

pub mod choosers;
mod error;
mod layout;
mod loaded;
mod names;
mod netlink;
pub mod pinned;
pub mod settings;
pub mod sockets;

pub use error::Error;
pub use layout::State;
pub use loaded::{release, Loaded};
pub use names::NAMES;
