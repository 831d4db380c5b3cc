//! The network: links, the wires behind them, and what packets point to.
//!
//! A packet carries the number of the hop that it is at; a hop leads over a link and the wire behind it. The wire behind the
//! last link of a path holds the path's propagation delay, the wires between links hold none. Every flow has 2ⁿ places for
//! hops, the first half for its data and the second half for its acknowledgements, so that its hops are found by a shift.

use crate::calendar::{Calendar, Kind, Slot};
use crate::error::Error;
use crate::link::{Departure, Held, Line, Link};
use crate::packet::{Body, Packet, Sack, Slab, NO_SACK};
use crate::record::Meter;
use crate::script::{Fate, Script};
use crate::tap::{self, Tap};
use afteryou_base::{Span, Time};
use afteryou_scenario::network::{Network, Route};
use afteryou_scenario::outcome::LinkTotals;
use afteryou_scenario::passage;
use afteryou_scenario::Scenario;
use std::collections::BTreeMap;

/// Which way of its flow a packet goes, whichever links these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    Forward,
    /// From the receiver to the sender.
    Reverse,
}

/// A step of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Hop {
    /// Index of the link.
    link: u32,
    /// Index of the wire behind it.
    line: u32,
}

/// The hops of all flows.
struct Hops {
    hops: Vec<Hop>,
    /// Each flow has 2 to the power of this many places.
    shift: u32,
    /// Number of the first hop of acknowledgements.
    reverse: u8,
}

impl Hops {
    fn new(network: &Network, wires: &mut Wires) -> Hops {
        let lengths = network.routes.iter().map(|route| route.forward.len().max(route.reverse.len()));
        // A checked path has a hundred links each way at most: both ways fit into the packet's eight bits.
        let half = lengths.max().unwrap_or(1).next_power_of_two();
        let mut hops = vec![Hop::default(); 2 * half * network.routes.len()];
        for (Route { forward, reverse, forward_delay, reverse_delay }, places) in
            network.routes.iter().zip(hops.chunks_exact_mut(2 * half))
        {
            let (of_data, of_acks) = places.split_at_mut(half);
            wires.lay(forward, *forward_delay, of_data);
            wires.lay(reverse, *reverse_delay, of_acks);
        }
        Hops { hops, shift: half.trailing_zeros() + 1, reverse: half as u8 }
    }

    fn of(&self, packet: &Packet) -> Hop {
        self.hops[(packet.flow as usize) << self.shift | packet.hop as usize]
    }
}

/// The network.
pub struct Net<'a> {
    /// What happens next.
    pub calendar: Calendar,
    /// SACK blocks that acks point to.
    pub sacks: Slab<Sack>,
    /// Headers that uTP datagrams point to.
    pub heads: Slab<Vec<u8>>,
    links: Vec<Link>,
    lines: Vec<Line>,
    hops: Hops,
    script: Script,
    has_script: bool,
    held: Slab<Option<Packet>>,
    tap: Option<Tap<'a>>,
}

/// Lays the wires behind links; flows with the same delay behind the last link share one.
#[derive(Default)]
struct Wires {
    lines: Vec<Line>,
    /// By link, whether the path ends behind it, and delay.
    places: BTreeMap<(usize, bool, Span), u32>,
}

impl Wires {
    /// Makes the hops over `links`, with `delay` behind the last.
    fn lay(&mut self, links: &[usize], delay: Span, hops: &mut [Hop]) {
        for (i, (link, hop)) in links.iter().zip(hops).enumerate() {
            let is_last = i + 1 == links.len();
            let line = self.line(*link, is_last, if is_last { delay } else { Span::ZERO });
            *hop = Hop { link: *link as u32, line };
        }
    }

    fn line(&mut self, link: usize, is_last: bool, delay: Span) -> u32 {
        let Wires { lines, places } = self;
        *places.entry((link, is_last, delay)).or_insert_with(|| {
            lines.push(Line::new(link, is_last, delay, lines.len()));
            lines.len() as u32 - 1
        })
    }
}

impl<'a> Net<'a> {
    /// The network of a scenario; `tap` sees the packets at its links.
    pub fn new(scenario: &Scenario, network: &Network, tap: Option<Tap<'a>>) -> Result<Net<'a>, Error> {
        let meter = |link| Meter::new(scenario, network, link);
        let links = network.links.iter().enumerate();
        let links = links.map(|(i, spec)| Link::new(spec, i, scenario.seed, meter(i)));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        let mut wires = Wires::default();
        let hops = Hops::new(network, &mut wires);
        Ok(Net {
            calendar: Calendar::default(),
            sacks: Slab::default(),
            heads: Slab::default(),
            links,
            lines: wires.lines,
            hops,
            script: Script::new(scenario),
            has_script: !scenario.drop.is_empty() || !scenario.delay.is_empty(),
            held: Slab::default(),
            tap,
        })
    }

    /// A data packet leaves its sender; `number` counts the flow's data packets from 1.
    pub fn send_data(&mut self, now: Time, packet: Packet, number: u64) {
        if self.has_script {
            match self.script.fate(now, packet.flow, number) {
                Fate::Pass => {}
                Fate::Drop => {
                    let first = self.hops.of(&packet).link as usize;
                    let (link, mut discard) = self.at(now, first);
                    link.offer_lost(packet, &mut discard);
                    return;
                }
                Fate::Hold(span) => return self.hold(now + span, packet),
            }
        }
        self.enter(now, packet);
    }

    /// A packet leaves one of its flow's ends.
    pub fn send(&mut self, now: Time, way: Way, mut packet: Packet) {
        if way == Way::Reverse {
            packet.hop = self.hops.reverse;
        }
        self.enter(now, packet);
    }

    /// A packet reaches the link of its hop.
    fn enter(&mut self, now: Time, packet: Packet) {
        let index = self.hops.of(&packet).link as usize;
        {
            let (link, mut discard) = self.at(now, index);
            link.offer(now, packet, &mut discard);
        }
        let link = &mut self.links[index];
        if link.busy_until() <= now {
            self.begin(now, index);
        } else if link.wants_event() {
            let (at, slot) = (link.busy_until(), link.slot());
            self.calendar.push(at, slot);
        }
    }

    /// A link begins to send its next packet, which goes onto its wire.
    fn begin(&mut self, now: Time, index: usize) {
        let departure = {
            let (link, mut discard) = self.at(now, index);
            link.send_next(now, &mut discard)
        };
        let Some(Departure { packet, done }) = departure else { return };
        self.show_sent(now, index, &packet);
        let line = self.hops.of(&packet).line as usize;
        self.lines[line].put(&mut self.calendar, done, packet);
    }

    /// A link is free again. Returns when it will be so the next time, if a packet waits.
    pub fn link_free(&mut self, now: Time, index: usize) -> Option<Time> {
        // A packet that arrived at this very instant may have made it busy again.
        if self.links[index].busy_until() <= now {
            self.begin(now, index);
        }
        self.links[index].next_event()
    }

    /// A packet comes out of a wire, which comes again when the next one does. At the end of its path the packet is returned,
    /// otherwise it goes on to the next link.
    pub fn arrive(&mut self, now: Time, index: usize) -> Option<(Packet, Way)> {
        let line = &mut self.lines[index];
        let (link, is_last) = (line.link, line.is_last);
        let Some((mut packet, next)) = line.take() else {
            self.calendar.finish(None);
            return None;
        };
        self.calendar.finish(next);
        self.links[link].delivered(&packet);
        if is_last {
            let way = if packet.hop < self.hops.reverse { Way::Forward } else { Way::Reverse };
            return Some((packet, way));
        }
        packet.hop += 1;
        self.enter(now, packet);
        None
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
            self.enter(now, packet);
        }
    }

    /// Windows begin and end here.
    pub fn at_edge(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.at_edge(now));
    }

    /// Indices of the windows that are open now.
    pub fn open_windows(&self) -> &[usize] {
        self.links[0].meter.open()
    }

    /// Mean time in a link's queue since the last call, ms.
    pub fn take_step_delay_ms(&mut self, link: usize) -> Option<f64> {
        self.links[link].meter.take_step_ms()
    }

    /// The measurements at a link.
    pub fn meter(&self, link: usize) -> &Meter {
        &self.links[link].meter
    }

    /// Number of links.
    pub fn number_of_links(&self) -> usize {
        self.links.len()
    }

    /// Packets in queues and on wires.
    pub fn packets(&self) -> u64 {
        let queued: u64 = self.links.iter().map(Link::queued_packets).sum();
        queued + self.lines.iter().map(Line::len).sum::<u64>()
    }

    /// A link in the whole run, every byte accounted for.
    pub fn totals(&self, link: usize) -> LinkTotals {
        let mut wires = Held::default();
        for line in self.lines.iter().filter(|line| line.link == link) {
            let held = line.held();
            wires.bytes += held.bytes;
            wires.packets += held.packets;
        }
        self.links[link].totals(wires)
    }

    /// Shows a packet that is being sent to the tap, if there is one.
    #[inline]
    fn show_sent(&mut self, now: Time, link: usize, packet: &Packet) {
        if let Some(tap) = &mut self.tap {
            let place = tap::Place { at: now, link, is_reply: packet.hop >= self.hops.reverse };
            tap::show(*tap, &place, packet, passage::Fate::Sent, &self.sacks, &self.heads);
        }
    }

    /// Takes packets that go no further at a link: shows them to the tap, if there is one, and gives back what they point to.
    fn at(&mut self, now: Time, link: usize) -> (&mut Link, impl FnMut(Packet, passage::Fate) + use<'_, 'a>) {
        let Net { links, sacks, heads, tap, hops, .. } = self;
        let reverse = hops.reverse;
        let discard = move |packet: Packet, fate| {
            if let Some(tap) = tap {
                let place = tap::Place { at: now, link, is_reply: packet.hop >= reverse };
                tap::show(*tap, &place, &packet, fate, sacks, heads);
            }
            match packet.body {
                Body::Ack { sack, .. } if sack != NO_SACK => sacks.give(sack),
                Body::Utp { head, .. } => heads.give(head),
                _ => {}
            }
        };
        (&mut links[link], discard)
    }
}
