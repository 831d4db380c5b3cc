//! Opening the flows of a run, before the wire is up.

use super::flows::{Counted, Directable, Shared};
use crate::error::Error;
use crate::net::{Family, Side, Topology};
use crate::run::ends::Place;
use crate::run::log::Log;
use crate::run::{transfer, Options, Source};
use afteryou_cc::Observers;
use afteryou_scenario::{Flow, Traffic, TransportKind};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

/// The flows of a run, by index.
#[derive(Default)]
pub(super) struct Opened {
    /// Those of the director.
    pub(super) directed: BTreeMap<usize, Directable>,
    /// Transfers, and where their receivers listen.
    pub(super) transfers: BTreeMap<usize, (transfer::Ends, SocketAddr)>,
    /// Those that are measured alone: transfers and programs.
    pub(super) counted: BTreeMap<usize, Counted>,
}

/// The ends of a flow before the wire is up.
enum Ends {
    Transfer(Box<transfer::Ends>, SocketAddr),
    Directed(Box<Directable>),
    /// Its programs open their own sockets.
    Command,
}

/// Opens flows.
pub(super) struct Opening<'a> {
    pub(super) topology: &'a Topology,
    pub(super) seed: u64,
    pub(super) options: &'a Options,
    pub(super) observers: Option<&'a Observers>,
    pub(super) shared: &'a Shared,
}

impl Opening<'_> {
    /// Opens all flows; `passed` counts what their programs have received.
    pub(super) fn all(
        &self,
        flows: &[Flow],
        logs: &[Arc<Log>],
        passed: &Arc<[AtomicU64]>,
    ) -> Result<Opened, Error> {
        let mut opened = Opened::default();
        for (index, (flow, log)) in flows.iter().zip(logs).enumerate() {
            match self.open(index, flow, log)? {
                Ends::Command => {
                    drop(opened.counted.insert(index, Counted::Passed(Arc::clone(passed), index)))
                }
                Ends::Directed(flow) => drop(opened.directed.insert(index, *flow)),
                Ends::Transfer(ends, to) => {
                    opened.counted.insert(index, Counted::Transfer(Arc::clone(log)));
                    opened.transfers.insert(index, (*ends, to));
                }
            }
        }
        Ok(opened)
    }

    fn open(&self, index: usize, flow: &Flow, log: &Arc<Log>) -> Result<Ends, Error> {
        if flow.traffic.is_command() {
            return Ok(Ends::Command);
        }
        let is_transfer = matches!(flow.transport.kind, TransportKind::Utp | TransportKind::Quic)
            && matches!(flow.traffic, Traffic::Bulk | Traffic::Size(_))
            && flow.active.is_empty();
        if !is_transfer {
            let flow = Directable::open(self.topology, (index, flow), log, self.observers, self.shared)?;
            return Ok(Ends::Directed(Box::new(flow)));
        }
        let addresses = self.topology.addresses(Family::V4, index);
        let [from, to] = [addresses.sender, addresses.receiver].map(|address| SocketAddr::new(address, 0));
        let at_sender = |open: &mut (dyn FnMut() + Send)| self.inside(Side::Senders, open);
        let at_receiver = |open: &mut (dyn FnMut() + Send)| self.inside(Side::Receivers, open);
        let places = [Place::new(from, &at_sender), Place::new(to, &at_receiver)];
        let source = self.options.sources.get(&flow.name).cloned().unwrap_or(Source::Made);
        let observers = self.observers.map(|all| (index, all));
        let ends = transfer::Ends::open(flow, &source, self.seed, observers, places)?;
        let server = ends.server_addr()?;
        Ok(Ends::Transfer(Box::new(ends), server))
    }

    fn inside(&self, side: Side, open: &mut (dyn FnMut() + Send)) -> Result<(), Error> {
        let runtime = &self.shared.runtime;
        self.topology.namespace(side).run(|| {
            let _inside = runtime.enter();
            open();
        })
    }
}
