//! The connections of an application one by one: what each of them and each host has received.

use crate::connection::Connections;
use afteryou_scenario::network::{Access, Route};
use std::collections::BTreeMap;

/// Bytes of a host that arrived, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostBytes {
    /// At the host.
    pub received: u64,
    /// Of its uploads.
    pub sent: u64,
}

/// The books of an application that has many connections at the same time.
#[derive(Default)]
pub(super) struct Parts {
    /// By the number of the connection.
    open: BTreeMap<usize, Part>,
    /// Connections opened so far.
    opened: u64,
    /// Connections that are closed, with what they received; none where nobody looks at them.
    closed: Option<Vec<(UploadSlot, u64, u64)>>,
    /// Slots of each host that no connection occupies, the one that was left last at the end; and how many there are in all.
    vacant: Vec<(Vec<u32>, u32)>,
    /// Hosts by their uplinks and their downlinks.
    by_uplink: BTreeMap<usize, usize>,
    by_downlink: BTreeMap<usize, usize>,
    /// Of closed connections, by host.
    hosts: Vec<HostBytes>,
}

/// A place for a connection of a host: the next connection that the host opens takes the place of the one that closed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadSlot {
    /// The host that sends; none where the sender is no host.
    pub host: Option<usize>,
    /// Its number at this sender, from 0.
    pub number: u32,
}

/// A connection of an application with many.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// The connection's place.
    pub slot: UploadSlot,
    /// Unlike the connection's number this one is used once.
    pub serial: u64,
    /// The bytes that it has received.
    pub received: u64,
    /// It has data to send.
    pub has_data: bool,
}

/// A connection that is open.
struct Part {
    /// Unlike the connection's number this one is used once.
    serial: u64,
    slot: UploadSlot,
    /// The hosts at its ends, if they are hosts.
    from: Option<usize>,
    to: Option<usize>,
}

impl Part {
    fn count(&self, received: u64, hosts: &mut [HostBytes]) {
        if let Some(from) = self.from {
            hosts[from].sent += received;
        }
        if let Some(to) = self.to {
            hosts[to].received += received;
        }
    }
}

impl Parts {
    /// Creates the parts without a connection; `keeps_closed` if connections are looked at after they are closed.
    pub(super) fn new(hosts: &[Access], keeps_closed: bool) -> Parts {
        Parts {
            closed: keeps_closed.then(Vec::new),
            by_uplink: hosts.iter().enumerate().map(|(i, host)| (host.up, i)).collect(),
            by_downlink: hosts.iter().enumerate().map(|(i, host)| (host.down, i)).collect(),
            hosts: vec![HostBytes::default(); hosts.len()],
            // The last one is for senders that are no hosts.
            vacant: vec![Default::default(); hosts.len() + 1],
            ..Parts::default()
        }
    }

    /// Notes that a connection over this route is opened.
    pub(super) fn opened(&mut self, connection: usize, route: &Route) {
        let from = route.forward.first().and_then(|link| self.by_uplink.get(link)).copied();
        let to = route.forward.last().and_then(|link| self.by_downlink.get(link)).copied();
        let (vacant, slots) = &mut self.vacant[from.unwrap_or(self.hosts.len())];
        let number = vacant.pop().unwrap_or_else(|| {
            *slots += 1;
            *slots - 1
        });
        let slot = UploadSlot { host: from, number };
        self.open.insert(connection, Part { serial: self.opened, slot, from, to });
        self.opened += 1;
    }

    /// Closes a connection that has received `received` bytes.
    pub(super) fn closed(&mut self, connection: usize, received: u64) {
        let Some(part) = self.open.remove(&connection) else { return };
        part.count(received, &mut self.hosts);
        self.vacant[part.from.unwrap_or(self.hosts.len())].0.push(part.slot.number);
        if let Some(closed) = &mut self.closed {
            closed.push((part.slot, part.serial, received));
        }
    }

    /// Returns what each host has received and sent so far.
    pub(super) fn hosts(&self, connections: &Connections) -> Vec<HostBytes> {
        let mut hosts = self.hosts.clone();
        for (connection, part) in &self.open {
            part.count(connections.get(*connection).received(), &mut hosts);
        }
        hosts
    }

    /// Returns the connections that are open.
    pub(super) fn open<'a>(&'a self, connections: &'a Connections) -> impl Iterator<Item = Open> + 'a {
        self.open.iter().map(|(connection, part)| {
            let connection = connections.get(*connection);
            let (received, has_data) = (connection.received(), connection.has_data());
            Open { slot: part.slot, serial: part.serial, received, has_data }
        })
    }

    /// Returns the connections that have been closed since the first `seen` ones: the slot, the serial number, what it received.
    pub(super) fn closed_since(&self, seen: usize) -> &[(UploadSlot, u64, u64)] {
        self.closed.as_deref().and_then(|closed| closed.get(seen..)).unwrap_or_default()
    }
}
