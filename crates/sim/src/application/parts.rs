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
    /// Connections that are closed; none where nobody looks at them.
    closed: Option<Vec<PartBytes>>,
    /// Hosts by their uplinks and their downlinks.
    by_uplink: BTreeMap<usize, usize>,
    by_downlink: BTreeMap<usize, usize>,
    /// Of closed connections, by host.
    hosts: Vec<HostBytes>,
}

/// What a connection has received so far.
#[derive(Clone, Copy, Debug)]
pub struct PartBytes {
    /// Its serial number: unlike the connection's number this one is used once.
    pub serial: u64,
    /// The serial number of the first connection of its slot; its own if it belongs to none.
    pub slot: u64,
    /// The first link of its data, if that is the access link of a host.
    pub access: Option<usize>,
    /// Payload received.
    pub received: u64,
    /// It has data to send.
    pub has_data: bool,
}

/// A connection that is open.
struct Part {
    serial: u64,
    slot: u64,
    access: Option<usize>,
    /// The hosts at its ends, if they are hosts.
    from: Option<usize>,
    to: Option<usize>,
}

impl Part {
    fn bytes(&self, received: u64, has_data: bool) -> PartBytes {
        PartBytes { serial: self.serial, slot: self.slot, access: self.access, received, has_data }
    }

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
    /// No connection yet; `keeps_closed` if connections are looked at after they are closed.
    pub(super) fn new(hosts: &[Access], keeps_closed: bool) -> Parts {
        Parts {
            closed: keeps_closed.then(Vec::new),
            by_uplink: hosts.iter().enumerate().map(|(i, host)| (host.up, i)).collect(),
            by_downlink: hosts.iter().enumerate().map(|(i, host)| (host.down, i)).collect(),
            hosts: vec![HostBytes::default(); hosts.len()],
            ..Parts::default()
        }
    }

    /// A connection over this route is opened; a `slot` goes on with it.
    pub(super) fn opened(&mut self, connection: usize, route: &Route, slot: Option<u64>) {
        let from = route.forward.first().and_then(|link| self.by_uplink.get(link)).copied();
        let to = route.forward.last().and_then(|link| self.by_downlink.get(link)).copied();
        let access = route.forward.first().copied().filter(|_| from.or(to).is_some());
        let serial = self.opened;
        self.open.insert(connection, Part { serial, slot: slot.unwrap_or(serial), access, from, to });
        self.opened += 1;
    }

    /// A connection that has received so much is closed.
    pub(super) fn closed(&mut self, connection: usize, received: u64) {
        let Some(part) = self.open.remove(&connection) else { return };
        part.count(received, &mut self.hosts);
        if let Some(closed) = &mut self.closed {
            closed.push(part.bytes(received, false));
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
    pub(super) fn open<'a>(&'a self, connections: &'a Connections) -> impl Iterator<Item = PartBytes> + 'a {
        self.open.iter().map(|(connection, part)| {
            let connection = connections.get(*connection);
            part.bytes(connection.received(), connection.has_data())
        })
    }

    /// Returns the slot of a connection that is open.
    pub(super) fn slot(&self, connection: usize) -> Option<u64> {
        self.open.get(&connection).map(|part| part.slot)
    }

    /// Returns the connections that have been closed since the first `seen` ones.
    pub(super) fn closed_since(&self, seen: usize) -> &[PartBytes] {
        self.closed.as_deref().and_then(|closed| closed.get(seen..)).unwrap_or_default()
    }
}
