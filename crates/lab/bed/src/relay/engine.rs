//! The timing thread: reads the sockets, feeds the [`Schedule`], waits, and sends what is due.

use super::config::Config;
use super::datagram::Datagram;
use super::output::{Fresh, Shared};
use super::platform::Poller;
use super::port::{entered_by, Inbox, Port, Ports};
use super::record::LinkStatistics;
use super::schedule::{Delivery, Schedule};
use crate::clock::Clock;
use crate::way::Way;
use afteryou_aqm::Packet;
use afteryou_base::{Span, Time};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::SystemTime;

/// Sleeping ends this much before a delivery is due; the rest is spent watching the clock, since no sleep is precise.
const SPIN: Span = Span::from_micros(50);
/// No sleep is longer, so that a relay stops soon after the request.
const LONGEST_SLEEP: Span = Span::from_millis(20);
/// Datagrams read from one socket before deliveries have their turn again.
const BATCH: usize = 64;
/// Longest IP packet of a link, bytes: Ethernet's. A longer one is gone without a word, as where routers send no ICMP; it was
/// a probe for the path's MTU.
const MTU_BYTES: u32 = 1500;
/// Headers of UDP in IPv4 and IPv6, bytes.
const HEADERS_V4_BYTES: u32 = 28;
const HEADERS_V6_BYTES: u32 = 48;

/// The timing thread's own.
pub(super) struct Engine {
    clock: Clock,
    schedule: Schedule,
    /// Learned from each flow's first packet.
    clients: Vec<Option<SocketAddr>>,
    /// Datagrams that each port has dropped so far.
    missed: Vec<u32>,
    /// When the newest datagram of each port arrived.
    newest: Vec<Time>,
    strangers: u64,
    fresh: Fresh,
    arrivals: Vec<(Way, Packet<Datagram>)>,
    readable: Vec<usize>,
}

impl Engine {
    pub(super) fn new(config: Config, clock: Clock) -> Engine {
        let (flows, fresh) = (config.flows.len(), Fresh::new(config.records));
        Engine {
            clock,
            schedule: Schedule::new(config),
            clients: vec![None; flows],
            missed: vec![0; 2 * flows],
            newest: vec![Time::ZERO; 2 * flows],
            strangers: 0,
            fresh,
            arrivals: Vec::new(),
            readable: Vec::new(),
        }
    }

    /// Works until the request to stop; returns each link's counters and how many datagrams came from strangers.
    pub(super) fn run(mut self, ports: &Ports, shared: &Shared) -> (Vec<LinkStatistics>, u64) {
        let mut poller = Poller::new(ports.sockets());
        let mut inbox = Inbox::new();
        while !shared.stopped() {
            self.wait(&mut poller);
            self.deliver(ports);
            // Whatever arrived before this moment is in a socket by now and is read before time advances.
            let horizon = self.clock.now();
            self.receive(ports, &mut poller, &mut inbox);
            self.process_arrivals();
            self.schedule.advance(horizon, &mut self.fresh);
            shared.publish(&mut self.fresh);
        }
        shared.publish_all(&mut self.fresh);
        (self.schedule.statistics(), self.strangers)
    }

    /// Returns when a delivery is due, the schedule must continue, or a datagram is there.
    fn wait(&self, poller: &mut Poller<'_>) {
        let due_at = self.schedule.due_at();
        let timeout = due_at.min(self.schedule.look_at()).since(self.clock.now() + SPIN).min(LONGEST_SLEEP);
        if timeout > Span::ZERO {
            poller.wait(timeout);
        }
        if due_at.since(self.clock.now()) > SPIN {
            return;
        }
        while self.clock.now() < due_at {
            std::hint::spin_loop();
        }
    }

    /// Sends everything that is due.
    fn deliver(&mut self, ports: &Ports) {
        let mut now = self.clock.now();
        while let Some(delivery) = self.schedule.take_due(now) {
            let sent = self.send(&delivery, ports);
            now = self.clock.now();
            self.fresh.delivered(now.since(delivery.due_at));
            self.schedule.delivered(delivery, sent);
        }
    }

    /// Sends a delivery. Returns `false` if the machine refused: a peer that is gone must not stop the others.
    fn send(&self, delivery: &Delivery, ports: &Ports) -> bool {
        let to = match delivery.way {
            Way::Forward => Some(self.schedule.flows()[delivery.flow].server),
            Way::Reverse => self.clients[delivery.flow],
        };
        let port = ports.exit(delivery.flow, delivery.way);
        to.is_some_and(|to| port.send(&delivery.payload, to, delivery.tos).is_ok())
    }

    /// Reads what is in the sockets, a batch of each.
    fn receive(&mut self, ports: &Ports, poller: &mut Poller<'_>, inbox: &mut Inbox) {
        let mut readable = std::mem::take(&mut self.readable);
        poller.readable(&mut readable);
        for number in &readable {
            let port = ports.port(*number);
            let mut left = BATCH;
            while left > 0 && self.receive_one(*number, port, inbox) {
                left -= 1;
            }
        }
        self.readable = readable;
    }

    /// Receives one datagram. Returns `false` if nothing more is in the socket of this port.
    fn receive_one(&mut self, number: usize, port: &Port, inbox: &mut Inbox) -> bool {
        let incoming = match port.receive(inbox) {
            Ok(received) => received,
            // Other errors are about datagrams sent before, to a peer that is gone; the next read is another one.
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        };
        let (flow, way) = entered_by(number);
        self.note_missed(number, incoming.dropped);
        if !self.is_known(flow, way, incoming.from) {
            self.strangers += 1;
            return true;
        }
        // Datagrams that left as one buffer have one time of arrival; what reading two clocks adds to it must not change
        // their order.
        let age = incoming.age(SystemTime::now()).unwrap_or_default();
        let arrived_at = Time(self.clock.now().as_nanos().saturating_sub(Span::from(age).as_nanos()));
        let arrived_at = arrived_at.max(self.newest[number]);
        self.newest[number] = arrived_at;
        let tos = incoming.tos.or(incoming.ecn).unwrap_or_default();
        for payload in incoming.datagrams(&inbox.payload) {
            let size = payload.len() as u32 + header_bytes(incoming.from);
            if size > MTU_BYTES {
                continue;
            }
            let body = Datagram::new(self.schedule.buffer(payload), arrived_at);
            self.arrivals.push((way, Packet::from_tos(size, flow as u32, tos, body)));
        }
        true
    }

    /// Returns whether packets this way come from `from`. The first sender to a front is the flow's client; before that
    /// there is nobody to bring an answer to.
    fn is_known(&mut self, flow: usize, way: Way, from: SocketAddr) -> bool {
        match way {
            Way::Forward => *self.clients[flow].get_or_insert(from) == from,
            Way::Reverse => self.clients[flow].is_some() && self.schedule.flows()[flow].server == from,
        }
    }

    fn note_missed(&mut self, port: usize, missed: Option<u32>) {
        let Some(so_far) = missed else { return };
        let more = so_far.wrapping_sub(std::mem::replace(&mut self.missed[port], so_far));
        let (flow, way) = entered_by(port);
        self.schedule.missed(flow, way, u64::from(more));
    }

    /// Lets the datagrams read arrive at their links in the order of time.
    fn process_arrivals(&mut self) {
        self.arrivals.sort_by_key(|(_, packet)| packet.body.arrived_at);
        for (way, packet) in self.arrivals.drain(..) {
            self.schedule.arrive(way, packet, &mut self.fresh);
        }
    }
}

/// Returns the overhead of UDP and IP per payload on the link.
fn header_bytes(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(_) => HEADERS_V4_BYTES,
        SocketAddr::V6(_) => HEADERS_V6_BYTES,
    }
}
