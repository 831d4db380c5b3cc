//! All links of a relay in virtual time: packets that arrived go through their [`Wire`]s, and what comes out travels
//! until it is due. Every time here follows from arrival times; when the machine looks has no influence.

use super::config::{Config, Flow};
use super::datagram::Datagram;
use super::output::Fresh;
use super::record::{DirectionStatistics, Fate, FlowId, LinkId, LinkStatistics, Record};
use super::wire::{Event, Wire};
use crate::way::Way;
use afteryou_aqm::Packet;
use afteryou_base::{Span, Time};
use afteryou_scenario::random;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A packet in flight to the other end.
pub(super) struct Delivery {
    pub(super) due_at: Time,
    pub(super) flow: usize,
    pub(super) way: Way,
    pub(super) tos: u8,
    pub(super) payload: Vec<u8>,
    /// Orders packets that are due at the same time: first out of the queue, first delivered.
    number: u64,
    line: usize,
}

/// All links of a relay.
pub(super) struct Schedule {
    /// Both directions of every link, link after link.
    lines: Vec<Line>,
    names: Vec<String>,
    flows: Vec<Flow>,
    travelling: BinaryHeap<Delivery>,
    departures: u64,
    events: Vec<Event>,
    /// Payload buffers of packets that are gone, for packets to come.
    spare: Vec<Vec<u8>>,
}

/// One direction of a link.
struct Line {
    wire: Wire,
    /// The least propagation delay of its flows: how long nobody notices that a packet has left the queue.
    shortest: Span,
    statistics: DirectionStatistics,
}

impl Schedule {
    pub(super) fn new(config: Config) -> Schedule {
        let Config { seed, links, flows, .. } = config;
        let shortest = |link: usize, way| {
            let of_link = flows.iter().filter(|flow| flow.link.0 as usize == link);
            of_link.map(|flow| flow.propagation(flow.on_link(way))).min().unwrap_or(Span::ZERO)
        };
        let (mut lines, mut names) = (Vec::new(), Vec::new());
        for (i, link) in links.into_iter().enumerate() {
            for (way, direction) in Way::BOTH.into_iter().zip([link.forward, link.reverse]) {
                let random = random::stream(seed, &format!("{} {way} loss", link.name));
                let statistics = DirectionStatistics::default();
                lines.push(Line {
                    wire: Wire::new(direction, random),
                    shortest: shortest(i, way),
                    statistics,
                });
            }
            names.push(link.name);
        }
        let (travelling, events, spare) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Schedule { lines, names, flows, travelling, departures: 0, events, spare }
    }

    /// Returns the flows.
    pub(super) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Returns a copy of `bytes`, in an old buffer if there is one.
    pub(super) fn buffer(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// Takes `packet`, which arrives at its flow's link.
    pub(super) fn arrive(&mut self, way: Way, packet: Packet<Datagram>, fresh: &mut Fresh) {
        let line = self.line_of(packet.flow as usize, way);
        self.lines[line].statistics.packets.arrived += 1;
        self.lines[line].wire.arrive(packet, &mut self.events);
        self.process_events(line, fresh);
    }

    /// Lets the links work until `horizon`.
    pub(super) fn advance(&mut self, horizon: Time, fresh: &mut Fresh) {
        for line in 0..self.lines.len() {
            self.lines[line].wire.advance(horizon, &mut self.events);
            self.process_events(line, fresh);
        }
    }

    /// Returns when the next delivery is due, of those that travel.
    pub(super) fn due_at(&self) -> Time {
        self.travelling.peek().map_or(Time::NEVER, |delivery| delivery.due_at)
    }

    /// Returns when at the latest the links must be advanced for the packets that wait to be delivered in time.
    pub(super) fn look_at(&self) -> Time {
        let departures =
            self.lines.iter().filter_map(|line| Some(line.wire.next_departure()? + line.shortest));
        departures.min().unwrap_or(Time::NEVER)
    }

    /// Returns the next delivery, if it is due.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Delivery> {
        (self.due_at() <= now).then(|| self.travelling.pop()).flatten()
    }

    /// Counts a delivery that was made; `sent`: the machine took it.
    pub(super) fn delivered(&mut self, delivery: Delivery, sent: bool) {
        let statistics = &mut self.lines[delivery.line].statistics;
        statistics.packets.delivered += 1;
        statistics.unsent += u64::from(!sent);
        self.spare.push(delivery.payload);
    }

    /// Counts `count` packets of this flow that the machine dropped before they could be read.
    pub(super) fn missed(&mut self, flow: usize, way: Way, count: u64) {
        let line = self.line_of(flow, way);
        self.lines[line].statistics.missed += count;
    }

    /// Returns the counters so far; a packet that waits or travels is unfinished.
    pub(super) fn statistics(&self) -> Vec<LinkStatistics> {
        let direction = |line: usize| {
            let Line { wire, statistics, .. } = &self.lines[line];
            let mut statistics = statistics.clone();
            statistics.queue = wire.queue_statistics().clone();
            let travelling = self.travelling.iter().filter(|delivery| delivery.line == line).count();
            statistics.packets.unfinished = wire.waiting() + travelling as u64;
            statistics
        };
        let link = |(i, name): (usize, &String)| LinkStatistics {
            name: name.clone(),
            forward: direction(2 * i),
            reverse: direction(2 * i + 1),
        };
        self.names.iter().enumerate().map(link).collect()
    }

    fn line_of(&self, flow: usize, way: Way) -> usize {
        let flow = &self.flows[flow];
        2 * flow.link.0 as usize + flow.on_link(way) as usize
    }

    fn process_events(&mut self, line: usize, fresh: &mut Fresh) {
        let mut events = std::mem::take(&mut self.events);
        events.drain(..).for_each(|event| self.process(line, event, fresh));
        self.events = events;
    }

    fn process(&mut self, line: usize, event: Event, fresh: &mut Fresh) {
        let way = Way::BOTH[line % 2];
        let (packet, fate) = match event {
            Event::Sent { packet, dequeued_at, sojourn, sent_at } => {
                let flow = &self.flows[packet.flow as usize];
                let due_at = sent_at + flow.propagation(flow.on_link(way));
                (packet, Fate::Sent { dequeued_at, sojourn, due_at })
            }
            Event::Dropped { packet, at, reason } => (packet, Fate::Dropped { at, reason }),
            Event::Lost { packet } => (packet, Fate::Lost),
        };
        fresh.record(Record {
            link: LinkId((line / 2) as u32),
            flow: FlowId(packet.flow),
            way,
            number: packet.body.number,
            size_bytes: packet.size,
            tos: packet.tos(),
            arrived_at: packet.body.arrived_at,
            fate,
        });
        let packets = &mut self.lines[line].statistics.packets;
        match fate {
            Fate::Sent { due_at, .. } => return self.travel(line, packet, due_at),
            Fate::Dropped { .. } => packets.dropped += 1,
            Fate::Lost => packets.lost += 1,
        }
        self.spare.push(packet.body.payload);
    }

    fn travel(&mut self, line: usize, packet: Packet<Datagram>, due_at: Time) {
        let (flow, tos) = (packet.flow as usize, packet.tos());
        let way = self.flows[flow].on_link(Way::BOTH[line % 2]);
        let number = self.departures;
        self.departures += 1;
        self.travelling.push(Delivery { due_at, flow, way, tos, payload: packet.body.payload, number, line });
    }
}

/// The earliest delivery is the greatest, since a [`BinaryHeap`] gives the greatest first.
impl Ord for Delivery {
    fn cmp(&self, other: &Delivery) -> Ordering {
        Reverse((self.due_at, self.number)).cmp(&Reverse((other.due_at, other.number)))
    }
}

impl PartialOrd for Delivery {
    fn partial_cmp(&self, other: &Delivery) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Delivery) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Delivery {}
