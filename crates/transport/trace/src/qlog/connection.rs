//! A connection's log: its packets in both directions, its beginning and its end, beside what its sender's observer shows.
//!
//! The order of calls for a packet received: [`arriving`](Connection::arriving), the events that the controller gets for it,
//! [`handled`](Connection::handled). For a packet sent: the controller's event, [`leaving`](Connection::leaving).

use super::records::{Closed, Packet, Started, StateChange};
use super::sender::Sender;
use super::wire::{Arriving, Leaving, Shown, Wire};
use afteryou_base::lock::EvenPoisoned;
use afteryou_cc::script::Event;
use afteryou_cc::{Controller, Observed, Observer, Time};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

/// The ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
    /// Ids of the packets to this end and to the peer.
    pub ids: (u16, u16),
}

/// The log of one connection. Its clones are the same log.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Mutex<Sender>>);

impl Connection {
    /// Shows packets in a sender's log, too.
    pub fn new(mut sender: Sender) -> Connection {
        sender.wire = Some(Wire::default());
        Connection(Arc::new(Mutex::new(sender)))
    }

    fn sender(&self) -> MutexGuard<'_, Sender> {
        self.0.lock().even_poisoned()
    }

    /// Returns the controller under observation.
    pub fn watch(&self, controller: Box<dyn Controller>) -> Box<dyn Controller> {
        Box::new(Observed::new(controller, Box::new(self.clone())))
    }

    /// Logs the start of the connection.
    pub fn started(&self, at: Time, protocol: &str, ends: &ConnectionEnds) {
        let (local, peer) = (ends.local.ip().to_canonical(), ends.peer.ip().to_canonical());
        let started = Started {
            ip_version: if peer.is_ipv4() { "v4" } else { "v6" },
            src_ip: local,
            dst_ip: peer,
            protocol,
            src_port: ends.local.port(),
            dst_port: ends.peer.port(),
            src_cid: format!("{:04x}", ends.ids.0),
            dst_cid: format!("{:04x}", ends.ids.1),
        };
        self.sender().write(at, "connectivity:connection_started", started);
    }

    /// Logs that the handshake is complete.
    pub fn connected(&self, at: Time) {
        let progress = StateChange { old: "attempted", new: "handshake_completed" };
        let mut sender = self.sender();
        sender.out.connected();
        sender.write(at, "connectivity:connection_state_updated", progress);
    }

    /// Notes that a packet has arrived and will be handled.
    pub fn arriving(&self, shown: Shown) {
        let mut sender = self.sender();
        let number = sender.count_received();
        sender.wire.iter_mut().for_each(|wire| wire.arrive(&shown, number));
    }

    /// Logs the packet that has been handled, unless it had news for the sender.
    pub fn handled(&self, at: Time) {
        let mut sender = self.sender();
        let Some(Arriving { header, raw }) = sender.wire.as_mut().and_then(Wire::take_arriving) else {
            return;
        };
        sender.write(at, "transport:packet_received", Packet { header, raw: Some(raw), frames: &[] });
    }

    /// Logs a packet that leaves. Only those that take part in congestion control have a number.
    pub fn leaving(&self, at: Time, shown: &Shown, controller: &dyn Controller) {
        let mut sender = self.sender();
        let Some(Leaving { header, raw, frame }) = sender.wire.as_mut().map(|wire| wire.leave(shown)) else {
            return;
        };
        sender.write(
            at,
            "transport:packet_sent",
            Packet { header, raw: Some(raw), frames: frame.as_slice() },
        );
        if header.packet_number.is_some() {
            sender.state(at, controller);
        }
    }

    /// Logs that the connection is over.
    pub fn closed(&self, at: Time, closed: &Closed) {
        self.sender().write(at, "connectivity:connection_closed", closed);
    }
}

impl Observer for Connection {
    fn needs_packets(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        self.sender().see(event, controller);
    }
}
