//! The testbed's network: a namespace for the senders, one for the receivers, and a TUN device in each.
//!
//! ```text
//!   senders' namespace            this process             receivers' namespace
//!   10.1.0.1, fd00:1::1  ┐                              ┌  10.2.0.1, fd00:2::1     flow 0
//!   10.1.0.2, fd00:1::2  ┴─ TUN ◀────▶ wire ◀────▶ TUN ─┴  10.2.0.2, fd00:2::2     flow 1
//! ```
//!
//! # Model
//! Every flow has an address of each family on either side, so the wire finds a packet's flow by its addresses. A program
//! that connects to a receiver's address sends from the sender's address of the same flow, by its route.
//!
//! # Nothing is left behind
//! The namespaces have no names: they last as long as this process holds their descriptors, and so do the devices. After a
//! `kill -9` the kernel removes both. Programs started inside die with the thread that started them; descendants of theirs
//! carry a mark in their environment by which [`clean`] finds them.
//!
//! # Not implemented
//! More than two hosts: those of a swarm share the two namespaces, and the wire finds their links by ports. Offloads are off by the device's defaults, and GSO is
//! by its limit of one segment.

mod address;
mod kernel_queue;
mod leftover;
mod namespace;
mod netlink;
mod plan;
mod privilege;
mod qdisc;
mod sysctl;
mod topology;
mod tun;

pub use address::{flow_of, Addresses, Family, Side};
pub use kernel_queue::{KernelQueue, QueueCounters};
pub use leftover::{clean, MARK};
pub use namespace::Namespace;
pub use plan::{FlowPlan, Plan};
pub use privilege::{become_root_of_own_namespace, is_root, opens_tun};
pub use qdisc::words_of as qdisc_of;
pub use sysctl::Setting;
pub use topology::Topology;
pub use tun::Tun;
