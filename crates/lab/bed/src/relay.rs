//! The socket bottleneck: an emulated link between UDP sockets on loopback. No privileges needed.
//!
//! # Model
//! A [`Relay`] holds any number of links. A link has two directions, each with a rate, a queue discipline of
//! [`afteryou_aqm`] and random loss on arrival. A flow goes through one link between a client and a server. The client
//! sends to the flow's [`front`](Relay::front) as if that were the server. The server sees a socket of the relay as its
//! client. Behind the queue every packet travels half of its flow's round-trip time. Sizes count as IP packets.
//!
//! # Time
//! One thread serves all links. Departures are computed from arrival times and the rate alone, never from when the
//! thread woke. A late wake-up delays a packet but does not slow the link down. On Linux the kernel reports when a
//! datagram arrived, so a wake-up late by less than the propagation delay is compensated entirely. The relay measures
//! how late packets were in the end ([`Relay::take_lateness`]). A run whose 99th percentile exceeds
//! [`LATENESS_BOUND_MS`] measures the machine rather than the network.
//!
//! # Headers
//! On Linux a datagram leaves with the TOS or traffic-class byte it came with, DSCP and ECN, unless the queue marks it.
//! Elsewhere the byte cannot be had without privileges or unsafe code; see [`TOS_IS_KEPT`].
//!
//! Links carry IP packets of up to 1500 bytes, as Ethernet does. Longer ones are gone without a word.
//!
//! # Example
//! ```
//! use afteryou_aqm::droptail::DropTail;
//! use afteryou_bed::relay::{Config, Direction, Link, Relay};
//! use afteryou_bed::Clock;
//! use afteryou_base::Span;
//! use afteryou_scenario::{Buffer, Probability, Rate};
//! use std::net::UdpSocket;
//!
//! let server = UdpSocket::bind("127.0.0.1:0")?;
//! let rate = Rate::from_mbit(20);
//! let limit = "500 ms".parse::<Buffer>()?.limit(rate);
//! let direction = || Direction { rate, loss: Probability::default(), queue: Box::new(DropTail::new(limit)) };
//!
//! let mut config = Config::new(1);
//! let uplink = config.add_link(Link { name: "uplink".into(), forward: direction(), reverse: direction() });
//! let flow = config.add_flow(uplink, server.local_addr()?, Span::from_millis(10));
//! let relay = Relay::start(config, Clock::start())?;
//!
//! let client = UdpSocket::bind("127.0.0.1:0")?;
//! client.send_to(b"after you", relay.front(flow))?;
//! let (bytes, _) = server.recv_from(&mut [0; 100])?;
//! assert_eq!(bytes, 9);
//! assert_eq!(relay.stop()?.links[0].forward.packets.delivered, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod datagram;
mod engine;
mod output;
mod platform;
mod port;
mod record;
mod schedule;
mod wire;

pub use crate::lateness::LATENESS_BOUND_MS;
pub use crate::way::Way;
pub use afteryou_sockets::TOS_IS_CARRIED as TOS_IS_KEPT;
pub use config::{Config, Direction, Flow, Link};
pub use datagram::Datagram;
pub use record::{DirectionStatistics, Fate, FlowId, LinkId, LinkStatistics, Record, Statistics};

use crate::clock::Clock;
use crate::error::Error;
use afteryou_scenario::outcome::Lateness;
use engine::Engine;
use output::Shared;
use port::Ports;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A relay at work. Dropping it stops it.
pub struct Relay {
    fronts: Vec<SocketAddr>,
    backs: Vec<SocketAddr>,
    shared: Arc<Shared>,
    /// None once it was joined.
    thread: Option<JoinHandle<(Vec<LinkStatistics>, u64)>>,
}

impl Relay {
    /// Opens the sockets of all flows and starts to relay. Times in records are those of `clock`.
    ///
    /// # Errors
    /// Two links of one name, a link without a rate, and a server that is not on loopback. A system that gives no socket or no thread.
    pub fn start(config: Config, clock: Clock) -> Result<Relay, Error> {
        config.check()?;
        let ports = Ports::open(config.flows.iter().map(|flow| flow.server), config.hosts)?;
        let (fronts, backs) = (ports.addresses(Way::Forward)?, ports.addresses(Way::Reverse)?);
        let shared = Arc::new(Shared::new());
        let engine = Engine::new(config, clock);
        let for_thread = Arc::clone(&shared);
        let work = move || engine.run(&ports, &for_thread);
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(work).map_err(Error::Thread)?;
        Ok(Relay { fronts, backs, shared, thread: Some(thread) })
    }

    /// Returns the address that this flow's client sends to, as if it were the server.
    ///
    /// # Panics
    /// If the flow is of another relay.
    pub fn front(&self, flow: FlowId) -> SocketAddr {
        self.fronts[flow.0 as usize]
    }

    /// Returns the address that this flow's server sees, as if it were the client.
    ///
    /// # Panics
    /// If the flow is of another relay.
    pub fn back(&self, flow: FlowId) -> SocketAddr {
        self.backs[flow.0 as usize]
    }

    /// Returns the outcome of each packet since the last call. They come in the order of the decisions: a packet lost
    /// on arrival before those that still wait. [`Record::number`] has the order of arrival.
    pub fn drain_records(&self) -> Vec<Record> {
        self.shared.take_records()
    }

    /// Returns how late packets were delivered since the last call; `None` if there was no packet.
    pub fn take_lateness(&self) -> Option<Lateness> {
        self.shared.take_lateness()
    }

    /// Stops it. Packets that wait or travel are not delivered. Records not drained yet are lost: see
    /// [`Relay::stop_with_records`].
    ///
    /// # Errors
    /// [`Error::Crashed`] if the relay's thread panicked.
    pub fn stop(self) -> Result<Statistics, Error> {
        self.stop_with_records().map(|(statistics, _)| statistics)
    }

    /// Stops it and returns the rest of the records too.
    ///
    /// # Errors
    /// [`Error::Crashed`] if the relay's thread panicked.
    pub fn stop_with_records(mut self) -> Result<(Statistics, Vec<Record>), Error> {
        let (links, strangers) = self.join().ok_or(Error::Crashed)?;
        let lateness = self.shared.lateness_in_all();
        Ok((Statistics { links, lateness, strangers }, self.shared.take_records()))
    }

    /// Joins the thread; returns `None` if it panicked or was joined before.
    fn join(&mut self) -> Option<(Vec<LinkStatistics>, u64)> {
        self.shared.stop();
        self.thread.take()?.join().ok()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.join();
    }
}
