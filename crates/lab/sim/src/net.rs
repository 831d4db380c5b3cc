//! The network: links, the wires behind them, and what packets point to.
//!
//! A packet carries the number of the hop that it is at; a hop leads over a link and the wire behind it. The wire behind the
//! last link of a path holds the path's propagation delay, the wires between links hold none.

mod copies;
mod held;
mod hops;
mod hosts;
mod outside;

use crate::calendar::Calendar;
use crate::element::{Elements, Entry, Exit};
use crate::error::Error;
use crate::instruments::{edges_at, LossOrder, Meter, SenderLog};
use crate::link::{Lines, Link, Sending};
use crate::packet::{number_in, Body, Heads, Packet, Sack, NO_SACK};
use crate::script::{Fate, Script};
use crate::tap::{self, Tap};
use afteryou_base::{Span, Time};
use afteryou_scenario::network::{Network, Rerouted, Route};
use afteryou_scenario::outcome::LinkTotals;
use afteryou_scenario::passage;
use afteryou_scenario::{Record, Scenario};
use held::Held;
pub use hops::Way;
use hops::{Hop, Hops};
use hosts::Homes;
pub use outside::Handed;
use outside::Outside;
use slab::Slab;
use std::collections::BTreeMap;

/// The network.
pub struct Net<'a> {
    /// The next event.
    pub calendar: Calendar,
    /// SACK blocks that acks point to.
    pub sacks: Slab<Sack>,
    /// Headers that uTP datagrams point to.
    pub heads: Heads,
    /// The events after lost packets, where the scenario records them.
    pub losses: Option<Box<LossOrder>>,
    links: Vec<Link>,
    lines: Lines,
    hops: Hops,
    /// By flow, the routes that it takes later; nothing if none changes its route.
    later: Vec<Vec<Rerouted>>,
    wires: Wires,
    /// By connection, the flow that it belongs to.
    owners: Vec<u32>,
    homes: Homes,
    /// Queues or events are recorded by flow.
    is_recorded: bool,
    script: Script,
    /// Elements of flows, by flow; nothing if none has any.
    of_flows: Vec<Option<Box<Elements>>>,
    /// There is a script or a flow with elements, or losses are recorded.
    is_disturbed: bool,
    held: Slab<Held>,
    /// Packets in queues elsewhere; none if every link has its own.
    outside: Option<Outside>,
    tap: Option<Tap<'a>>,
}

/// The wires behind links; connections with the same delay behind the last link share one.
#[derive(Default)]
struct Wires {
    /// By link, whether the path ends behind it, and delay.
    places: BTreeMap<(usize, bool, Span), u32>,
}

impl Wires {
    /// Makes the hops over `links`, with `delay` behind the last.
    fn lay(&mut self, lines: &mut Lines, links: &[usize], delay: Span, hops: &mut [Hop]) {
        for (i, (link, hop)) in links.iter().zip(hops).enumerate() {
            let is_last = i + 1 == links.len();
            let line = self.line(lines, *link, is_last, if is_last { delay } else { Span::ZERO });
            *hop = Hop { link: *link as u32, line };
        }
    }

    fn line(&mut self, lines: &mut Lines, link: usize, is_last: bool, delay: Span) -> u32 {
        *self.places.entry((link, is_last, delay)).or_insert_with(|| lines.add(link, is_last, delay))
    }
}

impl<'a> Net<'a> {
    /// Creates the network of a scenario; `tap` sees the packets at its links.
    pub fn new(scenario: &Scenario, network: &Network, tap: Option<Tap<'a>>) -> Result<Net<'a>, Error> {
        let meter = |link| Meter::new(scenario, network, link);
        let links = network.links.iter().enumerate();
        let links = links.map(|(i, spec)| Link::new(spec, i, scenario.seed, meter(i)));
        let mut links = links.collect::<Result<Vec<_>, _>>()?;
        for (i, link) in links.iter_mut().enumerate() {
            link.note_edges(edges_at(scenario, network, i));
        }
        if tap.is_some() {
            links.iter_mut().for_each(Link::is_looked_at);
        }
        let of_flows: Vec<_> =
            scenario.flow.iter().map(|flow| Elements::of_flow(flow, scenario.seed)).collect();
        Ok(Net {
            calendar: Calendar::default(),
            sacks: Slab::default(),
            heads: Heads::default(),
            losses: scenario.record.contains(&Record::Losses).then(Box::default),
            links,
            lines: Lines::default(),
            hops: Hops::new(network),
            later: if scenario.route_change.is_empty() { Vec::new() } else { network.rerouted.clone() },
            wires: Wires::default(),
            owners: Vec::new(),
            homes: Homes::new(scenario),
            is_recorded: !scenario.record.is_empty(),
            script: Script::new(scenario),
            is_disturbed: !scenario.drop.is_empty()
                || !scenario.delay.is_empty()
                || !scenario.route_change.is_empty()
                || of_flows.iter().any(Option::is_some)
                || scenario.record.contains(&Record::Losses),
            of_flows,
            held: Slab::default(),
            outside: None,
            tap,
        })
    }

    /// Lays the route of a connection of the flow with the index `owner`, which is opened.
    pub fn lay(&mut self, connection: usize, owner: usize, route: &Route) {
        let Net { hops, wires, lines, owners, later, homes, links, .. } = self;
        let later = later.get(owner).into_iter().flatten().map(|rerouted| &rerouted.route);
        for (number, route) in std::iter::once(route).chain(later).enumerate() {
            let Route { forward, reverse, forward_delay, reverse_delay } = route;
            homes.note(connection, owner, route, links);
            let (of_data, of_acks) = hops.places(connection, number);
            wires.lay(lines, forward, *forward_delay, of_data);
            wires.lay(lines, reverse, *reverse_delay, of_acks);
        }
        owners.resize(owners.len().max(connection + 1), 0);
        owners[connection] = owner as u32;
        if let Some(losses) = &mut self.losses {
            losses.opened(connection, owner);
        }
        if self.is_recorded {
            self.links.iter_mut().for_each(|link| link.meter.opened(connection, owner));
        }
    }

    /// Discards a packet that nobody waits for any more.
    pub fn discard(&mut self, packet: Packet) {
        free(&mut self.sacks, &mut self.heads, packet);
    }

    /// Returns the number of the route that a packet which leaves now takes.
    fn route_now(&self, now: Time, owner: u32) -> usize {
        self.later.get(owner as usize).map_or(0, |later| later.partition_point(|rerouted| rerouted.at <= now))
    }

    /// Returns the number of the route that a packet has taken, among those of its flow.
    pub fn route_of(&self, packet: &Packet) -> usize {
        self.hops.route(packet)
    }

    /// Sends a data packet from its sender; `number` counts the connection's data packets from 1.
    // Without the rare case, in which the packet's address is passed on, the packet need not be copied for the call of `enter`.
    #[inline]
    pub fn send_data(&mut self, now: Time, packet: Packet, number: u64) {
        match self.is_disturbed {
            true => self.send_disturbed(now, packet, number),
            false => self.enter(now, packet),
        }
    }

    /// Sends it where there is a script, a flow with elements, or one that changes its route.
    #[inline(never)]
    fn send_disturbed(&mut self, now: Time, mut packet: Packet, number: u64) {
        let owner = self.owners[packet.flow as usize];
        packet.label = self.hops.first(self.route_now(now, owner), Way::Forward);
        if let Some(losses) = &mut self.losses {
            losses.sent(&packet, number);
        }
        match self.script.fate(now, owner, number) {
            Fate::Pass => {}
            Fate::Drop => {
                let first = self.hops.of(&packet).link as usize;
                return self.lose(now, first, packet);
            }
            Fate::Hold(span) => return self.hold(now + span, Held::Ahead(packet)),
        }
        match self.of_flows[owner as usize].is_some() {
            true => self.meet_elements(now, owner as usize, packet),
            false => self.enter(now, packet),
        }
    }

    /// Sends a packet from one of its connection's ends.
    pub fn send(&mut self, now: Time, way: Way, mut packet: Packet) {
        let route = match self.later.is_empty() {
            true => 0,
            false => self.route_now(now, self.owners[packet.flow as usize]),
        };
        packet.label = self.hops.first(route, way);
        self.enter(now, packet);
    }

    /// Lets a packet enter the link of its hop.
    fn enter(&mut self, now: Time, packet: Packet) {
        let Hop { link, line } = self.hops.of(&packet);
        let index = link as usize;
        let link = &mut self.links[index];
        match (link.is_foreseen(), link.is_plain()) {
            (true, true) => match link.foresee(now, &packet) {
                Some(sending) => self.lines.put(&mut self.calendar, line, sending.ends, &packet),
                None => self.discard_dropped(now, index),
            },
            (true, false) => self.foresee_noted(now, index, line, packet),
            (false, true) => self.accept(now, index, packet),
            (false, false) => {
                let entry = link.entry(self.hops.way(&packet) == Way::Reverse);
                self.meet_link(now, index, packet, entry);
            }
        }
    }

    /// Foresees a packet at a link of which is known when it will have been sent, and at whose packets somebody looks.
    #[inline(never)]
    fn foresee_noted(&mut self, now: Time, index: usize, line: u32, packet: Packet) {
        self.note_begun(now, index);
        let link = &mut self.links[index];
        link.note_arrival(now, &packet);
        let Some(Sending { begins, ends }) = link.foresee(now, &packet) else {
            return self.discard_dropped(now, index);
        };
        link.note_foreseen(&packet);
        self.lines.put(&mut self.calendar, line, ends, &packet);
        self.show_sent(now, begins, index, &packet);
        self.note_begun(now, index);
        let link = &mut self.links[index];
        if let Some(begins) = link.next_begins().filter(|_| link.wants_event()) {
            self.calendar.push(begins, link.slot());
        }
    }

    /// Lets packets whose departures are noted leave the queue, those that the link has begun to send.
    fn note_begun(&mut self, now: Time, index: usize) {
        while let Some((begins, packet)) = self.links[index].next_begun(now) {
            self.links[index].note_departure(begins, &packet);
        }
    }

    /// Lets everything that links have begun to send by now leave their queues. To be called before somebody reads their
    /// measures.
    pub fn catch_up(&mut self, now: Time) {
        for index in 0..self.links.len() {
            self.note_begun(now, index);
            self.links[index].catch_up(now);
        }
    }

    /// Lets a packet meet a link, where `entry` is its fate.
    fn meet_link(&mut self, now: Time, index: usize, packet: Packet, entry: Entry) {
        match entry {
            Entry::Once => self.accept_noted(now, index, packet),
            Entry::Twice => {
                let copy = self.copy_of(&packet);
                self.accept_noted(now, index, packet);
                self.links[index].duplicated(&copy);
                self.accept_noted(now, index, copy);
            }
            Entry::Lost => self.lose(now, index, packet),
            Entry::Waits => self.aggregate(now, index, packet),
        }
    }

    /// Loses a packet that arrives at a link.
    fn lose(&mut self, now: Time, index: usize, packet: Packet) {
        let (link, mut discard) = self.at(now, index);
        link.offer_lost(packet, &mut discard);
    }

    /// Accepts a packet at the queue of a link that may be recorded.
    fn accept_noted(&mut self, now: Time, index: usize, packet: Packet) {
        if self.links[index].is_queued_elsewhere() {
            return self.accept_elsewhere(now, index, packet);
        }
        self.links[index].note_arrival(now, &packet);
        self.accept(now, index, packet);
    }

    /// Accepts a packet at the queue of a link.
    // Inlined into its one hot caller, or the packet would be copied for the call: 1 % of a run of one flow.
    #[inline(always)]
    fn accept(&mut self, now: Time, index: usize, packet: Packet) {
        let Net { links, calendar, .. } = self;
        let link = &mut links[index];
        link.offer(now, packet);
        let is_free = link.busy_until() <= now;
        if !is_free && link.wants_event() {
            calendar.push(link.busy_until(), link.slot());
        }
        if link.has_dropped() {
            self.discard_dropped(now, index);
        }
        if is_free {
            self.begin(now, index);
        }
    }

    /// Discards packets that a queue has dropped.
    fn discard_dropped(&mut self, now: Time, index: usize) {
        let (link, mut discard) = self.at(now, index);
        link.take_dropped(now, &mut discard);
    }

    /// Begins to send a link's next packet, which goes onto its wire.
    fn begin(&mut self, now: Time, index: usize) {
        let link = &mut self.links[index];
        let next = link.send_next(now);
        if link.has_dropped() {
            self.discard_dropped(now, index);
        }
        // Read where the queue has written it, and copied once, onto the wire.
        let Some((packet, sojourn)) = &next else { return self.hold_back(now, index) };
        let Net { links, lines, calendar, hops, .. } = self;
        let link = &mut links[index];
        link.departs(packet, *sojourn);
        let line = hops.of(packet).line;
        if !link.is_plain() {
            return self.begin_noted(now, index, line, *packet);
        }
        let done = link.transmit(now, packet.size);
        lines.put(calendar, line, done, packet);
    }

    /// Lets a free link wait until its queue's shaper releases a packet.
    #[cold]
    #[inline(never)]
    fn hold_back(&mut self, now: Time, index: usize) {
        let link = &mut self.links[index];
        if let Some(until) = link.hold(now) {
            self.calendar.push(until, link.slot());
        }
    }

    /// Begins to send a packet at a link with elements, or of which somebody looks at the packets.
    #[inline(never)]
    fn begin_noted(&mut self, now: Time, index: usize, line: u32, packet: Packet) {
        self.links[index].note_departure(now, &packet);
        self.show_sent(now, now, index, &packet);
        match self.links[index].transmit_through_elements(now, packet.size) {
            Exit::InOrder(at) => self.lines.put(&mut self.calendar, line, at, &packet),
            Exit::Alone(at) => self.hold(at, Held::Sent(packet, line)),
            Exit::Lost => self.lose_sent(now, index, packet),
        }
    }

    /// Frees a link. Returns when it will be free the next time, if a packet waits.
    pub fn link_free(&mut self, now: Time, index: usize) -> Option<Time> {
        if self.links[index].is_foreseen() {
            self.note_begun(now, index);
            return self.links[index].next_event();
        }
        // A packet that arrived at this very instant may have made it busy again.
        if self.links[index].busy_until() <= now {
            self.begin(now, index);
        }
        self.links[index].next_event()
    }

    /// Returns the packet that comes out of a wire next.
    pub fn first_on(&self, wire: usize) -> Option<&Packet> {
        self.lines.first(wire)
    }

    /// Lets the first packet on a wire come out; the wire comes again when the next one does. Returns the packet's way at
    /// the end of its path. Before the end it continues to the next link.
    // Into its one caller, or the packet would be copied for the call.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, wire: usize, mut packet: Packet) -> Option<Way> {
        let is_last = self.lines.is_last(wire);
        self.calendar.finish(self.lines.deliver_first(wire));
        if is_last {
            return Some(self.hops.way(&packet));
        }
        packet.label += 1;
        self.enter(now, packet);
        None
    }

    /// Notes, from now on, drops of data packets in the logs of their flows' senders.
    pub fn note_drops(&mut self, logs: &[Option<SenderLog>]) {
        self.links.iter_mut().for_each(|link| link.meter.logs = logs.to_vec());
    }

    /// Begins and ends windows here.
    pub fn at_edge(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.at_edge(now));
    }

    /// Returns the flow that a connection belongs to.
    pub fn owner_of(&self, connection: usize) -> usize {
        self.owners[connection] as usize
    }

    /// Returns the indices of the windows that are open now.
    pub fn open_windows(&self) -> impl Iterator<Item = usize> + '_ {
        self.links[0].meter.open()
    }

    /// Returns the mean time in a link's queue since the last call, ms.
    pub fn take_step_delay_ms(&mut self, link: usize) -> Option<f64> {
        self.links[link].meter.take_step_ms()
    }

    /// Returns the measurements at a link.
    pub fn meter(&self, link: usize) -> &Meter {
        &self.links[link].meter
    }

    /// Returns the mean rate of a link between two times, bit/s.
    pub fn capacity(&self, link: usize, from: Time, to: Time) -> f64 {
        self.links[link].capacity(from, to)
    }

    /// Returns the number of links.
    pub fn number_of_links(&self) -> usize {
        self.links.len()
    }

    /// Returns the number of packets in queues and on wires.
    pub fn packets(&self) -> u64 {
        let links = self.links.iter().filter(|link| !link.is_foreseen());
        let queued: u64 = links.map(Link::queued_packets).sum();
        queued + self.lines.packets() + self.held.len() as u64
    }

    /// Returns a link's totals of the whole run, every byte accounted for.
    pub fn totals(&self, link: usize) -> LinkTotals {
        let mut wires = self.lines.behind(link);
        self.held_behind(link, &mut wires);
        self.links[link].totals(wires, self.lines.delivered(link))
    }

    /// Shows a packet that a link begins to send at `at` to the tap, if there is one.
    // Apart from the check, which is in the simulator's inner loop.
    #[cold]
    #[inline(never)]
    fn show_sent(&mut self, now: Time, at: Time, link: usize, packet: &Packet) {
        if let Some(tap) = &mut self.tap {
            let owner = self.owners[packet.flow as usize] as usize;
            let is_reply = self.hops.way(packet) == Way::Reverse;
            let place = tap::Place { known: now, at, link, owner, is_reply };
            tap::show(*tap, &place, packet, passage::Fate::Sent, &self.sacks, &self.heads);
        }
    }

    /// Takes packets that go no further at a link: shows them to the tap, if there is one, and gives back what they point to.
    fn at(&mut self, now: Time, link: usize) -> (&mut Link, impl FnMut(Packet, passage::Fate) + use<'_, 'a>) {
        let Net { links, sacks, heads, tap, hops, owners, losses, .. } = self;
        let hops = &*hops;
        let discard = move |packet: Packet, fate| {
            if let Some(losses) = losses.as_mut().filter(|_| hops.way(&packet) == Way::Forward) {
                losses.lost(now, &packet, |head| number_in(heads.get(head)));
            }
            if let Some(tap) = tap {
                let owner = owners[packet.flow as usize] as usize;
                let is_reply = hops.way(&packet) == Way::Reverse;
                let place = tap::Place { known: now, at: now, link, owner, is_reply };
                tap::show(*tap, &place, &packet, fate, sacks, heads);
            }
            free(sacks, heads, packet);
        };
        (&mut links[link], discard)
    }
}

/// Gives back what a packet points to.
fn free(sacks: &mut Slab<Sack>, heads: &mut Heads, packet: Packet) {
    match packet.body {
        Body::Ack { sack, .. } if sack != NO_SACK => drop(sacks.remove(sack as usize)),
        Body::Utp { head, .. } | Body::Whole { bytes: head, .. } => {
            let head = heads.remove(head);
            heads.recycle(head);
        }
        _ => {}
    }
}
