//! Queue disciplines.
//!
//! A queue holds what has arrived until the link can take it, and decides what to drop or mark. It takes `now` as an
//! argument, so one CoDel serves the simulator and a real socket alike. The caller's payload of a packet (bytes, a slot
//! number) is opaque here: [`Packet`] is generic over it, and dropped packets are handed back.
//!
//! ```
//! use afteryou_aqm::{list, Limit, Packet, Site};
//! use afteryou_base::{Span, Time};
//! use rand_pcg::Pcg64;
//!
//! let site = Site { limit: Limit::Packets(100), bits_per_second: 10_000_000, random: Pcg64::new(1, 2) };
//! let mut codel = list::find("codel").unwrap().build(&[], site)?;
//! let mut dropped = Vec::new();
//! codel.enqueue(Time::ZERO, Packet::from_tos(1500, 0, 0, "its bytes"), &mut dropped);
//! let (packet, sojourn) = codel.dequeue(Time::from_millis(3), &mut dropped).unwrap();
//! assert_eq!((packet.body, sojourn), ("its bytes", Span::from_millis(3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One file per discipline; [`list`] has them all and finds one by name. [`script`] drives a queue by a list of events.

mod backlog;
pub mod buckets;
pub mod choke;
pub mod codel;
mod dropped;
pub mod droptail;
pub mod drr;
pub mod dualpi2;
mod error;
mod fifo;
pub mod foreseen;
pub mod fq_codel;
pub mod fq_pie;
pub mod guard;
pub mod le_fq_codel;
pub mod le_pie;
pub mod le_red;
pub mod le_threshold;
pub mod le_two_queues;
pub mod list;
pub mod packet;
pub mod pie;
pub mod queue;
pub mod red;
pub mod script;
pub mod sfq;
pub mod site;
pub mod sojourns;
pub mod statistics;
pub mod store;
pub mod two_lists;

pub use backlog::{Backlog, Limit};
pub use dropped::{DropReason, Dropped};
pub use error::Error;
pub use fifo::{Fifo, Source};
pub use packet::{Class, Ecn, Packet};
pub use queue::Queue;
pub use site::Site;
pub use statistics::{Counters, Statistics};
