//! A scenario's network with somebody else's packets, at somebody else's pace.
//!
//! The testbed runs real packets through the very links of the simulator. [`Live`] is the network without applications: a
//! packet is offered at the time at which it came ([`Live::offer`]), and [`Live::advance`] lets everything happen that is due by
//! now. Departures follow from arrivals and rates alone, so a call that comes late delays what it reports and does not slow a
//! link down. Measures at links are the simulator's own.
//!
//! A link's queue can be elsewhere, for example the kernel's ([`Live::queue_elsewhere`]). Its packets are handed out
//! ([`Live::hand_out`]) and come back ([`Live::come_back`]); in between nothing is known of them.
//!
//! Not implemented: connections that end. Each keeps a few bytes until the run is over.

use crate::calendar::{Kind, Slot};
use crate::error::Error;
use crate::instruments::{edges, edges_of, Delays, SenderLog};
pub use crate::net::Handed;
use crate::net::{Net, Way};
use crate::packet::{Body, Packet};
use crate::record::queues::QueueTracks;
use crate::record::{links, step_of};
use crate::tap::Tap;
use afteryou_base::{Span, Time};
use afteryou_scenario::network::{Network, Route};
use afteryou_scenario::outcome::{AfterLoss, LinkFigures, LinkTotals, Quantiles, Run, Series, SetFigures};
use afteryou_scenario::{FlowSet, Scenario};

/// The network.
pub struct Live<'a> {
    net: Net<'a>,
    scenario: &'a Scenario,
    network: &'a Network,
    connections: Vec<Opened>,
    flows: Vec<FlowMeter>,
    queues: QueueTracks,
    /// Links whose queue is elsewhere.
    elsewhere: Vec<usize>,
    /// Edges of windows that are still to come, the next one last.
    edges: Vec<Time>,
    step: Span,
    next_step: Time,
    /// The newest of what has happened.
    now: Time,
}

/// A packet, before the network or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real<'b> {
    /// Its connection, as [`Live::open`] has numbered it.
    pub connection: usize,
    /// It goes from the receiver of its flow to the sender.
    pub is_reply: bool,
    /// Its number among its connection's data packets, from 1; 0 if it carries no data.
    pub number: u32,
    /// TOS or traffic-class byte, behind the network with the mark that a queue has made.
    pub tos: u8,
    /// Bytes that it takes on links.
    pub size: u32,
    /// The packet itself.
    pub bytes: &'b [u8],
}

/// A connection.
struct Opened {
    flow: usize,
    /// Its own route, between hosts.
    route: Option<Route>,
    /// Size of the packet seen last, and how long one takes on each of its routes while all is empty.
    empty: (u32, Vec<Span>),
}

/// The experience of a flow's packets in each window.
struct FlowMeter {
    windows: Vec<Passed>,
}

#[derive(Default)]
struct Passed {
    bytes: u64,
    packets: u64,
    delays: Delays,
}

/// A flow's data in a window, as they came out of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowPassed {
    /// Bytes, with headers as the links count them.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Time in the network beyond the propagation delay.
    pub queuing_delay: Option<Quantiles>,
}

/// A run's measures at links.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// By window, each link.
    pub windows: Vec<Vec<LinkFigures>>,
    /// By window, each flow.
    pub flows: Vec<Vec<FlowPassed>>,
    /// Each link in the whole run.
    pub totals: Vec<LinkTotals>,
    /// Curves of the time in queues.
    pub series: Vec<Series>,
    /// By set, what follows a lost packet, where the scenario records losses.
    pub after_loss: Vec<Option<AfterLoss>>,
}

impl Measured {
    /// Adds what happened at links to a run whose flows are measured.
    pub fn complete(self, scenario: &Scenario, run: &mut Run) {
        for ((window, links), flows) in run.windows.iter_mut().zip(self.windows).zip(self.flows) {
            window.links = links;
            for (flow, passed) in window.flows.iter_mut().zip(flows) {
                flow.queuing_delay = passed.queuing_delay;
            }
            window.derive(scenario);
        }
        for figures in &mut run.sets {
            let named = |set: &FlowSet| set.window == figures.window && set.flows == figures.flows;
            let Some(index) = scenario.sets.iter().position(named) else { continue };
            let window = run.windows.iter().find(|window| window.window == figures.window);
            if let Some(SetFigures { goodput_bit_s, share_of_payload_capacity, fairness, links, .. }) =
                window.map(|window| SetFigures::of(&scenario.sets[index], window))
            {
                (figures.goodput_bit_s, figures.share_of_payload_capacity) =
                    (goodput_bit_s, share_of_payload_capacity);
                (figures.fairness, figures.links) = (fairness, links);
            }
            figures.after_loss = self.after_loss.get(index).cloned().flatten();
        }
        run.links = self.totals;
        run.series.extend(self.series);
    }
}

impl<'a> Live<'a> {
    /// Makes the network of a scenario; `tap` sees the packets at its links.
    ///
    /// # Errors
    /// A queue that cannot be made.
    pub fn new(
        scenario: &'a Scenario,
        network: &'a Network,
        tap: Option<Tap<'a>>,
    ) -> Result<Live<'a>, Error> {
        let mut net = Net::new(scenario, network, tap)?;
        let mut edges = edges_of(scenario);
        edges.reverse();
        let step = step_of(scenario);
        let mut next_edge = edges.last().copied();
        if next_edge == Some(Time::ZERO) {
            net.at_edge(Time::ZERO);
            edges.pop();
            next_edge = edges.last().copied();
        }
        let next_step = Time::ZERO + step;
        let first = next_edge.unwrap_or(Time::NEVER).min(next_step);
        net.calendar.push(first, Slot::new(Kind::Measure, 0));
        let windows = || scenario.measure.iter().map(|_| Passed::default()).collect();
        let flow = |_| FlowMeter { windows: windows() };
        Ok(Live {
            net,
            scenario,
            network,
            connections: Vec::new(),
            flows: (0..scenario.flow.len()).map(flow).collect(),
            queues: QueueTracks::new(scenario, network),
            elsewhere: Vec::new(),
            edges,
            step,
            next_step,
            now: Time::ZERO,
        })
    }

    /// Notes, from now on, drops of data packets in the logs of their flows' senders.
    pub fn note_drops(&mut self, logs: &[Option<SenderLog>]) {
        self.net.note_drops(logs);
    }

    /// Notes that the queue and the transmitter of a link are elsewhere.
    pub fn queue_elsewhere(&mut self, link: usize) {
        self.net.queue_elsewhere(link);
        self.elsewhere.push(link);
    }

    /// Hands out the packets that have reached such links since the last call.
    pub fn hand_out(&mut self, take: &mut dyn FnMut(Handed<'_>)) {
        self.net.hand_out(take);
    }

    /// Takes a packet that comes back at `at`, with the ECN bits of this TOS byte. Earlier events must have been handled.
    pub fn come_back(&mut self, at: Time, serial: u64, tos: u8) {
        self.now = at.max(self.now);
        self.net.come_back(self.now, serial, tos);
    }

    /// Opens a connection of a flow, over a route of its own if it has one, and returns its number.
    pub fn open(&mut self, flow: usize, route: Option<Route>) -> usize {
        let connection = self.connections.len();
        self.net.lay(connection, flow, route.as_ref().unwrap_or(&self.network.routes[flow]));
        self.connections.push(Opened { flow, route, empty: (0, Vec::new()) });
        connection
    }

    /// Takes a packet that comes at `at`, or with the newest of what has happened if that is later. Earlier events must have
    /// been handled: see [`advance`](Self::advance).
    pub fn offer(&mut self, at: Time, real: Real<'_>) {
        let now = at.max(self.now);
        self.now = now;
        self.net.heads.next().extend_from_slice(real.bytes);
        let bytes = self.net.heads.keep();
        let (came_low, came_high) = (now.0 as u32, (now.0 >> 32) as u32);
        let body = Body::Whole { bytes, number: real.number, came_low, came_high };
        let packet = Packet::from_tos(real.size, real.connection as u32, real.tos, body);
        match (real.is_reply, real.number) {
            (true, _) => self.net.send(now, Way::Reverse, packet),
            (false, 0) => self.net.send(now, Way::Forward, packet),
            (false, number) => self.net.send_data(now, packet, number.into()),
        }
    }

    /// Returns when something happens next.
    pub fn next_event(&mut self) -> Option<Time> {
        self.net.calendar.next().map(|(at, _)| at)
    }

    /// Lets everything happen that is due by `to`, and hands the packets that come out to `deliver` with their times.
    pub fn advance(&mut self, to: Time, deliver: &mut dyn FnMut(Time, Real<'_>)) {
        while let Some((now, slot)) = self.net.calendar.next() {
            if now > to {
                break;
            }
            self.now = now;
            self.handle(now, slot, deliver);
        }
    }

    /// Returns the number of packets in queues and on wires.
    pub fn packets(&self) -> u64 {
        self.net.packets()
    }

    fn handle(&mut self, now: Time, slot: Slot, deliver: &mut dyn FnMut(Time, Real<'_>)) {
        let index = slot.index();
        match slot.kind() {
            Kind::Link => {
                let again = self.net.link_free(now, index);
                self.net.calendar.finish(again);
            }
            Kind::Line => {
                let Some(&packet) = self.net.first_on(index) else { return self.net.calendar.finish(None) };
                if let Some(way) = self.net.arrive(now, index, packet) {
                    self.come_out(now, way, packet, deliver);
                }
            }
            Kind::Held => {
                self.net.calendar.finish(None);
                self.net.release(now, index);
            }
            Kind::Measure => {
                let again = self.look(now);
                self.net.calendar.finish(Some(again));
            }
            // Nobody here has timers.
            Kind::Sender | Kind::Pacing | Kind::Receiver | Kind::Application | Kind::Steering => {
                self.net.calendar.finish(None)
            }
        }
    }

    fn come_out(&mut self, now: Time, way: Way, packet: Packet, deliver: &mut dyn FnMut(Time, Real<'_>)) {
        let Body::Whole { bytes, number, came_low, came_high } = packet.body else {
            return self.net.discard(packet);
        };
        if way == Way::Forward {
            let came = Time(u64::from(came_high) << 32 | u64::from(came_low));
            self.measure(now.since(came), &packet);
        }
        let real = Real {
            connection: packet.flow as usize,
            is_reply: way == Way::Reverse,
            number,
            tos: packet.tos(),
            size: packet.size,
            bytes: self.net.heads.get(bytes),
        };
        deliver(now, real);
        self.net.discard(packet);
    }

    fn measure(&mut self, took: Span, packet: &Packet) {
        let connection = &mut self.connections[packet.flow as usize];
        if connection.empty.0 != packet.size {
            let empty = |route: &Route| {
                let elsewhere = self.elsewhere.iter().filter(|link| route.forward.contains(link));
                // A queue elsewhere lets a packet go as its transmission begins.
                let sending = elsewhere.map(|link| {
                    let rate = self.network.links[*link].link.rate.bits_per_second();
                    Span::of_bytes(8 * u64::from(packet.size), rate).0
                });
                Span(self.network.empty_route(route, packet.size).0.saturating_sub(sending.sum()))
            };
            let empty = match &connection.route {
                Some(route) => vec![empty(route)],
                None => self.network.routes_of(connection.flow).map(empty).collect(),
            };
            connection.empty = (packet.size, empty);
        }
        let empty = connection.empty.1.get(self.net.route_of(packet)).copied().unwrap_or_default();
        let meter = &mut self.flows[connection.flow];
        // Copies and elements may make a path shorter than its longest empty form.
        let delay = Span(took.0.saturating_sub(empty.0));
        for window in self.net.open_windows() {
            let passed = &mut meter.windows[window];
            passed.bytes += u64::from(packet.size);
            passed.packets += 1;
            passed.delays.record(delay);
        }
    }

    /// Handles edges of windows and steps; returns when the next one comes.
    fn look(&mut self, now: Time) -> Time {
        self.net.catch_up(now);
        if self.edges.last() == Some(&now) {
            self.edges.pop();
            self.net.at_edge(now);
        }
        if self.next_step == now {
            self.next_step += self.step;
            self.queues.step(&mut self.net);
        }
        self.edges.last().copied().unwrap_or(Time::NEVER).min(self.next_step)
    }

    /// Ends the run: returns what it has measured.
    ///
    /// # Errors
    /// A bug of the links, which their books show.
    pub fn finish(mut self) -> Result<Measured, Error> {
        self.net.catch_up(self.now);
        let totals: Vec<LinkTotals> =
            (0..self.net.number_of_links()).map(|link| self.net.totals(link)).collect();
        for LinkTotals { link, ledger, .. } in &totals {
            if let Some(ledger) = ledger.as_ref().filter(|ledger| !ledger.balances()) {
                return Err(Error::Conservation { link: link.clone(), ledger: ledger.clone() });
            }
        }
        let windows = 0..self.scenario.measure.len();
        let of_flow = |meter: &FlowMeter, window: usize| {
            let Passed { bytes, packets, delays } = &meter.windows[window];
            FlowPassed { bytes: *bytes, packets: *packets, queuing_delay: delays.quantiles() }
        };
        let flows = windows.clone().map(|window| {
            let of_window = self.flows.iter().map(|meter| of_flow(meter, window));
            of_window.collect()
        });
        let after_loss = |set: &FlowSet| {
            let window = self.scenario.measure.iter().find(|window| window.name == set.window)?;
            let is_member = |flow: &usize| set.flows.contains(&self.scenario.flow[*flow].name);
            let members: Vec<usize> = (0..self.scenario.flow.len()).filter(is_member).collect();
            Some(self.net.losses.as_ref()?.figures(&members, edges(window)))
        };
        Ok(Measured {
            after_loss: self.scenario.sets.iter().map(after_loss).collect(),
            flows: flows.collect(),
            windows: windows
                .map(|window| links::figures(self.scenario, self.network, &self.net, window))
                .collect(),
            totals,
            series: self.queues.series(self.step).collect(),
        })
    }
}
