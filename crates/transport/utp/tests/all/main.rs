//! Connections in virtual time and endpoints on loopback.

mod ack_batches;
mod arrivals;
#[allow(dead_code)] // the fuzz targets use the rest of this body
#[path = "../../../../../fuzz/src/bodies/connection.rs"]
mod connection;
#[cfg(feature = "dump")]
mod dump;
mod ecn;
mod endpoint;
mod event_loops;
mod event_rules;
mod events;
mod group;
mod hostile;
mod libutp_recovery;
mod lifecycle;
mod network;
#[path = "../../../../../fuzz/src/bodies/packet.rs"]
mod packet;
mod path_mtu;
#[cfg(target_os = "linux")]
mod path_mtu_on_links;
mod recovery;
mod reports;
mod short_bitmaps;
mod slow_links;
mod socket_buffer;
mod stalls;
mod support;
mod tail_probes;
mod timers;
mod wakeups;
mod without_content;
mod yielding;
