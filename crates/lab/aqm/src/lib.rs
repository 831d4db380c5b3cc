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
//!
//! # Design
//! [`Queue`] is generic over the caller's part of a packet: a datagram in the relay, a packet by value in the simulator. Dropped packets come
//! back to the caller, so none can leak and all can be recorded. [`statistics`] is the one place where packets are accounted for, per class
//! (lower effort, best effort). [`Site`] describes the place of a queue: limit, rate, random numbers.
//!
//! No discipline has a timer. Periodic work is done when the next packet arrives or leaves, on the grid of times that a timer would have had.
//! A test of PIE's law compares the two. A shaper returns until when it holds packets back ([`Queue::held_until`]), and the link comes again
//! then.
//!
//! | part | shared by |
//! |---|---|
//! | `fifo`, [`Source`] | most disciplines; CoDel's law takes packets from a source |
//! | [`store`] | fair queues: all flows' packets in one arena |
//! | [`buckets`] | fair queues: a salted hash |
//! | [`two_lists`] | FQ-CoDel, FQ-PIE |
//! | [`guard`] | the queues that read the mark of lower effort: it keeps that from starving |
//! | `cake/ways`, `cake/chains`, `cake/shaper` | the tins and hosts of `cake` |
//! | `red/law`, `red/setup` | `red`, `choke`, `le_red` |
//! | `pie/params`, `pie/law`, `pie/departures` | `pie`, `le_pie`, `fq_pie` |
//!
//! A parameter `preset` chooses another implementation's defaults. Where two implementations differ in more than numbers, a parameter selects
//! the variant (`form`, `lists`).
//!
//! # Tests
//! `tests/all/properties.rs` holds every entry of the list, with each preset, flag and word, to conservation, limits and the order of each
//! flow. `tests/all/fairness.rs` holds the fair ones to their bound, and `tests/all/no_allocation.rs` counts allocations. `xtask/recipes`
//! executes the book's page "How to add a queue".

mod backlog;
pub mod buckets;
pub mod cake;
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
mod turns;
pub mod two_lists;

pub use backlog::{Backlog, Limit};
pub use dropped::{DropReason, Dropped};
pub use error::Error;
pub use fifo::{Fifo, Source};
pub use packet::{Class, Ecn, Hosts, Packet};
pub use queue::Queue;
pub use site::Site;
pub use statistics::{Counters, Statistics};
