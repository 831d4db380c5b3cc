//! The network: two links, their wires, and what packets point to.

use crate::calendar::{Calendar, Kind, Slot};
use crate::error::Error;
use crate::link::{Departure, Held, Line, Link, Way};
use crate::packet::{Body, Packet, Sack, Slab, NO_SACK};
use crate::record::Bottleneck;
use crate::script::{Fate, Script};
use afteryou_cc::{Span, Time};
use afteryou_scenario::outcome::{Ledger, Packets, QueueFigures};
use afteryou_scenario::Scenario;

/// The wires of a flow: indices of lines.
#[derive(Clone, Copy, Debug)]
struct Route {
    forward: u32,
    reverse: u32,
}

/// The network.
pub struct Net {
    /// What happens next.
    pub calendar: Calendar,
    /// SACK blocks that acks point to.
    pub sacks: Slab<Sack>,
    /// Headers that uTP datagrams point to.
    pub heads: Slab<Vec<u8>>,
    /// Measurements at the bottleneck.
    pub bottleneck: Bottleneck,
    links: [Link; 2],
    lines: Vec<Line>,
    routes: Vec<Route>,
    script: Script,
    has_script: bool,
    held: Slab<Option<Packet>>,
}

impl Net {
    /// The network of a scenario.
    pub fn new(scenario: &Scenario) -> Result<Net, Error> {
        let forward = Link::new(&scenario.link, Way::Forward, scenario.seed)?;
        let reverse = Link::new(&scenario.link.back(), Way::Reverse, scenario.seed)?;
        let mut net = Net {
            calendar: Calendar::default(),
            sacks: Slab::default(),
            heads: Slab::default(),
            bottleneck: Bottleneck::new(scenario),
            links: [forward, reverse],
            lines: Vec::new(),
            routes: Vec::new(),
            script: Script::new(scenario),
            has_script: !scenario.drop.is_empty() || !scenario.delay.is_empty(),
            held: Slab::default(),
        };
        let mut by_delay = std::collections::BTreeMap::new();
        for flow in &scenario.flow {
            let there = flow.rtt.0 / 2;
            let mut line = |way, delay: Span| {
                *by_delay.entry((way as u8, delay)).or_insert_with(|| {
                    net.lines.push(Line::new(way, delay, net.lines.len()));
                    net.lines.len() as u32 - 1
                })
            };
            let (forward, reverse) = (line(Way::Forward, there), line(Way::Reverse, flow.rtt.0 - there));
            net.routes.push(Route { forward, reverse });
        }
        Ok(net)
    }

    /// A data packet leaves its sender; `number` counts the flow's data packets from 1.
    pub fn send_data(&mut self, now: Time, packet: Packet, number: u64) {
        if self.has_script {
            match self.script.fate(now, packet.flow, number) {
                Fate::Pass => {}
                Fate::Drop => {
                    let Net { links, sacks, heads, .. } = self;
                    links[0].offer_lost(packet, &mut |packet| free(sacks, heads, packet));
                    return;
                }
                Fate::Hold(span) => return self.hold(now + span, packet),
            }
        }
        self.send(now, Way::Forward, packet);
    }

    /// A packet reaches a link.
    pub fn send(&mut self, now: Time, way: Way, packet: Packet) {
        let Net { links, sacks, heads, bottleneck, .. } = self;
        let link = &mut links[way as usize];
        link.offer(now, packet, &mut |packet| free(sacks, heads, packet));
        if link.busy_until() <= now {
            self.begin(now, way);
            return;
        }
        if way == Way::Forward {
            bottleneck.queue_changed(now, link.queued_per_class());
        }
        if link.wants_event() {
            self.calendar.push(link.busy_until(), link.slot());
        }
    }

    /// A link begins to send its next packet, which goes onto its wire.
    fn begin(&mut self, now: Time, way: Way) {
        let Net { links, lines, routes, calendar, sacks, heads, bottleneck, .. } = self;
        let link = &mut links[way as usize];
        let departure = link.send_next(now, &mut |packet| free(sacks, heads, packet));
        if way == Way::Forward {
            bottleneck.queue_changed(now, link.queued_per_class());
        }
        let Some(Departure { packet, sojourn, done }) = departure else { return };
        let route = routes[packet.flow as usize];
        let line = if way == Way::Forward { route.forward } else { route.reverse };
        if way == Way::Forward {
            bottleneck.departs(packet.class(), sojourn);
        }
        lines[line as usize].put(calendar, done, packet);
    }

    /// A link is free again. Returns when it will be so the next time, if somebody waits.
    pub fn link_free(&mut self, now: Time, index: usize) -> Option<Time> {
        // A packet that arrived at this very instant may have made it busy again.
        if self.links[index].busy_until() <= now {
            self.begin(now, Way::BOTH[index]);
        }
        self.links[index].next_event()
    }

    /// What a link's queue did.
    pub fn queue_figures(&self, way: Way) -> QueueFigures {
        self.links[way as usize].queue_figures(way)
    }

    /// A packet comes out of a wire: it, its way, and when the next one comes.
    pub fn arrive(&mut self, index: usize) -> Option<(Packet, Way, Option<Time>)> {
        let line = &mut self.lines[index];
        let way = line.way;
        let (packet, next) = line.take()?;
        self.links[way as usize].delivered(&packet);
        Some((packet, way, next))
    }

    fn hold(&mut self, until: Time, packet: Packet) {
        let slot = self.held.take();
        *self.held.get_mut(slot) = Some(packet);
        self.calendar.push(until, Slot::new(Kind::Held, slot as usize));
    }

    /// A packet that was held back goes on.
    pub fn release(&mut self, now: Time, index: usize) {
        let packet = self.held.get_mut(index as u32).take();
        self.held.give(index as u32);
        if let Some(packet) = packet {
            self.send(now, Way::Forward, packet);
        }
    }

    /// Bytes that have left the bottleneck by now.
    pub fn left(&self, now: Time) -> u64 {
        self.links[Way::Forward as usize].left(now)
    }

    /// Packets in queues and on wires.
    pub fn packets(&self) -> u64 {
        let queued: u64 = self.links.iter().map(Link::queued_packets).sum();
        queued + self.lines.iter().map(Line::len).sum::<u64>()
    }

    /// Every byte of a direction accounted for.
    pub fn ledger(&self, way: Way) -> (Ledger, Packets) {
        let mut wires = Held::default();
        for line in self.lines.iter().filter(|line| line.way == way) {
            let held = line.held();
            wires.bytes += held.bytes;
            wires.packets += held.packets;
        }
        self.links[way as usize].ledger(way, wires)
    }
}

/// Gives back what a packet points to.
fn free(sacks: &mut Slab<Sack>, heads: &mut Slab<Vec<u8>>, packet: Packet) {
    match packet.body {
        Body::Ack { sack, .. } if sack != NO_SACK => sacks.give(sack),
        Body::Utp { head, .. } => heads.give(head),
        _ => {}
    }
}
