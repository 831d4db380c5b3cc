//! The testbed's flows: the simulator's applications over real sockets.
//!
//! [`Director`](afteryou_sim::director::Director) decides when to open a connection and how much to give it, as in a
//! simulation. Its thread is in the senders' namespace, so sockets that it opens are inside. Connections are tasks of the
//! runtime; they report to the director through a channel.
//!
//! Not implemented: which bytes are sent. The content of every connection is the same byte again and again. Bulk and sized flows
//! of uTP and QUIC are no such flows: their bytes are compared.

mod counted;
mod course;
mod datagrams;
mod ours;
mod receiving;
mod sampled;
mod tcp;
mod thread;

pub(super) use counted::Counted;
pub(super) use tcp::Sample;
pub(super) use thread::{Directed, Direction, Ended};

use super::recorded::Logs;
use super::steering::Steered;
use crate::error::Error;
use crate::net::{Family, Side, Topology};
use crate::run::log::{Log, Timing};
use crate::run::quic::Quic;
use crate::run::utp::Utp;
use crate::wire::Laid;
use afteryou_base::lock::EvenPoisoned;
use afteryou_cc::Observers;
use afteryou_scenario::{Flow, Traffic, TransportKind};
use afteryou_sim::director::{Id, Opening, Remote};
use course::Course;
use receiving::Receiver;
use std::net::IpAddr;
use std::sync::{mpsc, Arc, Mutex};
use tokio::runtime::Handle;

/// State that all flows share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) runtime: Handle,
    pub(super) timing: Timing,
    /// Connections that the director is to look at.
    pub(super) news: mpsc::Sender<Id>,
    pub(super) broken: Broken,
    /// Bytes that the kernel may hold without having sent them.
    pub(super) unsent_bytes: u32,
    /// The wire gets the routes of connections between hosts.
    pub(super) routes: mpsc::Sender<Laid>,
    /// The logs of senders.
    pub(super) logs: Logs,
    /// The sockets of jobs.
    pub(super) steered: Steered,
}

/// The first failure of a flow.
#[derive(Clone, Default)]
pub(super) struct Broken(Arc<Mutex<Option<Error>>>);

impl Broken {
    fn set(&self, flow: &str, reason: impl ToString) {
        let error = Error::Flow { flow: flow.to_owned(), reason: reason.to_string() };
        self.0.lock().even_poisoned().get_or_insert(error);
    }

    /// Returns it once.
    pub(super) fn take(&self) -> Option<Error> {
        self.0.lock().even_poisoned().take()
    }
}

/// A flow whose receiver listens.
pub(super) struct Directable {
    index: usize,
    spec: Flow,
    log: Arc<Log>,
    /// Address of its sender.
    from: IpAddr,
    receiver: Receiver,
    protocol: Protocol,
    shared: Shared,
}

enum Protocol {
    Tcp(tcp::Tcp),
    Utp(Utp),
    Quic(Quic),
    Datagrams,
}

impl Directable {
    /// Opens the receiving socket of a flow. `observers` see its senders, with the index of the flow.
    pub(super) fn open(
        topology: &Topology,
        (index, spec): (usize, &Flow),
        log: &Arc<Log>,
        observers: Option<&Observers>,
        shared: &Shared,
    ) -> Result<Directable, Error> {
        let addresses = topology.addresses(Family::V4, index);
        let listening = receiving::Listening {
            index,
            flow: spec.name.clone(),
            log: Arc::clone(log),
            at: addresses.receiver,
            shared: shared.clone(),
        };
        let (protocol, receiver) = match (&spec.traffic, spec.transport.kind) {
            (Traffic::Cbr { .. }, _) => (Protocol::Datagrams, listening.datagrams(topology)?),
            (_, TransportKind::Tcp) => {
                let protocol = tcp::Tcp::new(spec, shared.logs.of_flow(index))?;
                topology.namespace(Side::Senders).run(|| protocol.try_socket(addresses.sender))??;
                (Protocol::Tcp(protocol), listening.tcp(topology)?)
            }
            (_, TransportKind::Quic) => {
                let protocol = Quic::new(spec, observers.map(|observers| (index, observers)))?;
                let receiver = listening.quic(topology, &protocol)?;
                (Protocol::Quic(protocol), receiver)
            }
            (_, TransportKind::Utp) => {
                let protocol = Utp::new(spec, observers.map(|observers| (index, observers)))?;
                let receiver = listening.utp(topology, protocol.receiver())?;
                (Protocol::Utp(protocol), receiver)
            }
            (_, TransportKind::Udp) => {
                let reason = "bare datagrams carry constant rates alone".to_owned();
                return Err(Error::Flow { flow: spec.name.clone(), reason });
            }
        };
        Ok(Directable {
            index,
            spec: spec.clone(),
            log: Arc::clone(log),
            from: addresses.sender,
            receiver,
            protocol,
            shared: shared.clone(),
        })
    }

    /// Expects a connection from this port of the sender's. Its packets take the course's route, if it has one.
    fn expect(&self, port: u16, course: &Arc<Course>) {
        if let Some(route) = course.route() {
            // The wire outlasts the director.
            let _ = self.shared.routes.send(Laid { flow: self.index, port, route: route.clone() });
        }
        self.receiver.expect(port, course);
    }

    /// Takes a sample of the kernel's connection, if the flow has exactly one.
    pub(super) fn sample(&self, at: afteryou_base::Span) {
        if let Protocol::Tcp(tcp) = &self.protocol {
            tcp.sample(at);
        }
    }

    /// Returns the samples.
    pub(super) fn samples(&self) -> Vec<Sample> {
        match &self.protocol {
            Protocol::Tcp(tcp) => tcp.samples(),
            _ => Vec::new(),
        }
    }

    /// Opens a connection. The calling thread is in the senders' namespace.
    fn dial(&self, opening: Opening<'_>) -> Box<dyn Remote> {
        let own_route = self.spec.hosts.as_ref().map(|_| opening.route.clone());
        let course = course::Course::new(opening.id, own_route, self.shared.news.clone());
        let opened: Result<Box<dyn Remote>, Error> = match &self.protocol {
            Protocol::Tcp(tcp) => tcp.dial(self, &course),
            Protocol::Utp(utp) => ours::dial_utp(self, utp, &course),
            Protocol::Quic(quic) => ours::dial_quic(self, quic, &course),
            Protocol::Datagrams => datagrams::dial(self),
        };
        opened.unwrap_or_else(|error| {
            self.shared.broken.set(&self.spec.name, error);
            Box::new(course::Failed)
        })
    }
}
