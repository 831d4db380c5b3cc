//! The recorder of a run: nothing is polled that can be integrated, and nothing is done for each packet that can be read off a counter
//! at the edges of a window or a step.

pub mod links;
mod parts;
pub mod queues;
mod steps;
mod tracks;

use crate::application::{Application, HostBytes, Times};
use crate::connection::Connections;
use crate::instruments::{edges_of, SenderLog};
use crate::net::Net;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{
    round, Exact, FlowFigures, HostFigures, Mark, Run, Series, SetFigures, WindowFigures,
};
use afteryou_scenario::{Network, Role, Scenario};
use parts::Parts;
use queues::QueueTracks;
use steps::SetSteps;
use tracks::Tracks;

/// Most points of a curve, about; longer runs get longer steps.
const MOST_POINTS: u64 = 3000;
/// Time between two points of a curve, ms: the first that is long enough.
const STEPS_MS: [u64; 9] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000, 600_000];

/// The bytes that the hosts of each flow have received and sent.
type ByHost = Vec<Vec<HostBytes>>;

/// Returns the time between two points of the curves of a run.
pub fn step_of(scenario: &Scenario) -> Span {
    let ms = scenario.duration.0.as_nanos() / 1_000_000;
    let step_ms = STEPS_MS.into_iter().find(|step| ms / step <= MOST_POINTS).unwrap_or(ms / MOST_POINTS);
    scenario.sample.map_or(Span::from_millis(step_ms), |sample| sample.0)
}

/// Writes down what happens at the edges of windows and steps.
pub struct Recorder<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    step: Span,
    next_step: Time,
    /// Edges of windows that are still to come, ascending.
    edges: Vec<Time>,
    /// For each window, what each flow had received when it began and when it ended.
    received: Vec<(Vec<u64>, Vec<u64>)>,
    /// The packets that were being sent then.
    parts: Parts,
    /// Bytes that each flow's hosts had received and sent at those times.
    hosts: Vec<(ByHost, ByHost)>,
    /// The steps of each set of flows.
    sets: Vec<SetSteps<'a>>,
    tracks: Tracks,
    marks: Vec<Mark>,
    seen: Vec<Seen>,
}

/// A flow's totals at the last look, to mark new events.
#[derive(Clone, Copy, Default)]
struct Seen {
    slowdowns: u32,
    timeouts: u64,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder of a run of `scenario`.
    pub fn new(scenario: &'a Scenario, network: &'a Network) -> Recorder<'a> {
        Recorder::with(scenario, network, QueueTracks::new(scenario, network))
    }

    /// Creates a recorder of flows whose packets pass elsewhere, and are measured there.
    pub fn of_flows(scenario: &'a Scenario, network: &'a Network) -> Recorder<'a> {
        Recorder::with(scenario, network, QueueTracks::none())
    }

    fn with(scenario: &'a Scenario, network: &'a Network, queues: QueueTracks) -> Recorder<'a> {
        let step = step_of(scenario);
        let mut edges = edges_of(scenario);
        edges.reverse(); // the next one is the last
        Recorder {
            scenario,
            network,
            step,
            next_step: Time::ZERO + step,
            edges,
            received: scenario.measure.iter().map(|_| Default::default()).collect(),
            parts: Parts::default(),
            hosts: scenario.measure.iter().map(|_| Default::default()).collect(),
            sets: scenario.sets.iter().filter_map(|set| SetSteps::new(scenario, network, set)).collect(),
            tracks: Tracks::new(scenario, queues, step),
            marks: Vec::new(),
            seen: vec![Seen::default(); scenario.flow.len()],
        }
    }

    /// Returns when the next look is due.
    pub fn next(&self) -> Time {
        let of_sets = self.sets.iter().map(SetSteps::next).min().unwrap_or(Time::NEVER);
        self.edges.last().copied().unwrap_or(Time::NEVER).min(self.next_step).min(of_sets)
    }

    /// Looks at everything that is due at `now`.
    pub fn look(&mut self, now: Time, flows: &[Application], connections: &mut Connections, net: &mut Net) {
        if self.edges.last() == Some(&now) {
            self.edges.pop();
            self.at_edge(now, flows, connections, net);
        }
        self.sets.iter_mut().for_each(|set| set.look(now, flows, connections, net));
        if self.next_step == now {
            self.next_step += self.step;
            self.tracks.step(flows, connections, net);
            if self.tracks.are_flows() {
                self.mark_news(now, flows, connections);
            }
        }
    }

    fn at_edge(&mut self, now: Time, flows: &[Application], connections: &Connections, net: &mut Net) {
        let received = || flows.iter().map(|flow| flow.received(connections)).collect::<Vec<u64>>();
        let of_hosts = || flows.iter().map(|flow| flow.hosts(connections)).collect::<Vec<_>>();
        let counted = self.received.iter_mut().zip(&mut self.hosts);
        for (window, ((begin, end), (hosts_begin, hosts_end))) in self.scenario.measure.iter().zip(counted) {
            if window.from.0 .0 == now.0 {
                (*begin, *hosts_begin) = (received(), of_hosts());
            }
            if window.to.0 .0 == now.0 {
                (*end, *hosts_end) = (received(), of_hosts());
            }
        }
        self.parts.begin(now, received().into_iter());
        net.at_edge(now);
    }

    /// Returns whether an edge is near enough to divide the next packet.
    #[inline]
    pub fn is_near_an_edge(&self) -> bool {
        self.parts.any_open()
    }

    /// Notes that a packet of this flow has arrived shortly after an edge.
    #[cold]
    #[inline(never)]
    pub fn arrived(
        &mut self,
        now: Time,
        flow: usize,
        flows: &[Application],
        connections: &Connections,
        net: &Net,
    ) {
        let (network, received) = (self.network, flows[flow].received(connections));
        let could = |flow: usize, since: Time| {
            let route = &network.routes[flow];
            let bits = |link: &usize| links::bits_of_arrivals(net, *link, (since, now), route.forward_delay);
            let slowest = route.forward.iter().map(bits).fold(f64::INFINITY, f64::min);
            flows[flow].payload_share() * slowest * hosts_of(network, flow) / 8.0
        };
        let packet = |flow: usize| self.scenario.flow[flow].packet_format().payload.bytes() as f64;
        self.parts.arrived(flow, received, could, packet);
    }

    fn mark_news(&mut self, now: Time, flows: &[Application], connections: &Connections) {
        for (flow, seen) in flows.iter().zip(&mut self.seen) {
            let (slowdowns, timeouts) = (flow.slowdowns(connections), flow.timeouts(connections));
            let mut mark = |what: &str| {
                self.marks.push(Mark {
                    at_s: seconds(now),
                    of: flow.name().to_owned(),
                    what: what.to_owned(),
                });
            };
            if slowdowns > seen.slowdowns {
                mark("slowdown");
            }
            if timeouts > seen.timeouts {
                mark("timeout");
            }
            *seen = Seen { slowdowns, timeouts };
        }
    }

    /// Returns the outcome.
    pub fn finish(mut self, flows: &[Application], connections: &Connections, net: &Net) -> Run {
        // Where flows are drawn together, marks of each would only hide the curves.
        let marked = if self.tracks.are_flows() { flows } else { &[] };
        for flow in marked {
            let of = flow.name().to_owned();
            let mut mark = |at: Option<Time>, what: &str| {
                let at = at.filter(|at| *at <= Time(self.scenario.duration.0 .0));
                self.marks.extend(at.map(|at| Mark {
                    at_s: seconds(at),
                    of: of.clone(),
                    what: what.to_owned(),
                }));
            };
            mark(flow.started(), "start");
            mark(flow.stopped(), "stop");
        }
        self.marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let end = Time(self.scenario.duration.0 .0);
        flows.iter().filter_map(Application::log).for_each(|log| log.finish(end));
        let windows: Vec<WindowFigures> =
            (0..self.scenario.measure.len()).map(|i| self.window(i, flows, connections, net)).collect();
        let sets = std::mem::take(&mut self.sets).into_iter().enumerate();
        let sets = sets.filter_map(|(i, steps)| self.set(i, steps, &windows, flows, net)).collect();
        let (events, events_left_out) = events(flows);
        let phases = flows.iter().filter_map(Application::log).flat_map(SenderLog::take_phases).collect();
        let series: Vec<Series> = self.tracks.series();
        Run {
            duration_s: self.scenario.duration.as_secs_f64(),
            windows,
            sets,
            series,
            marks: self.marks,
            events,
            events_left_out,
            phases,
            totals: flows.iter().map(|flow| flow.totals(connections)).collect(),
            ..Run::default()
        }
    }

    /// Returns the mean rate in a window of the slowest link that a flow's data cross, bit/s, as those see it to whom the
    /// data come.
    fn capacity_of_path(&self, flow: usize, net: &Net, window: usize) -> f64 {
        let (window, route) = (&self.scenario.measure[window], &self.network.routes[flow]);
        let capacity = |link: &usize| links::capacity_of_arrivals(net, *link, window, route.forward_delay);
        route.forward.iter().map(capacity).fold(f64::INFINITY, f64::min)
    }

    fn window(
        &self,
        index: usize,
        flows: &[Application],
        connections: &Connections,
        net: &Net,
    ) -> WindowFigures {
        let (spec, (begin, end)) = (&self.scenario.measure[index], &self.received[index]);
        let seconds = (spec.to.0 - spec.from.0).as_secs_f64();
        let received = flows.iter().enumerate().zip(begin.iter().zip(end));
        let figures = received.map(|((i, flow), (begin, end))| {
            let capacity =
                flow.payload_share() * self.capacity_of_path(i, net, index) * hosts_of(self.network, i);
            let bytes = (end - begin) as f64;
            let [from, to] = [spec.from, spec.to].map(|at| self.parts.at(Time(at.0 .0), i));
            let sent_within = (bytes + to - from).max(0.0) * 8.0 / seconds;
            let goodput_bit_s = bytes * 8.0 / seconds;
            FlowFigures {
                flow: flow.name().to_owned(),
                role: flow.role(),
                goodput_bit_s: round(goodput_bit_s, 0),
                share_of_payload_capacity: links::share(sent_within, capacity),
                queuing_delay: flow.window_delays(connections, index),
                sender: flow.log().and_then(|log| log.figures(index)),
            }
        });
        let mut figures = WindowFigures {
            window: spec.name.clone(),
            from_s: spec.from.as_secs_f64(),
            to_s: spec.to.as_secs_f64(),
            links: links::figures(self.scenario, self.network, net, index),
            flows: figures.collect(),
            hosts: self.of_hosts(index, seconds),
        };
        figures.derive(self.scenario);
        figures
    }
}

impl Recorder<'_> {
    /// Returns the figures of the set with this index.
    fn set(
        &self,
        index: usize,
        steps: SetSteps<'_>,
        windows: &[WindowFigures],
        flows: &[Application],
        net: &Net,
    ) -> Option<SetFigures> {
        let set = &self.scenario.sets[index];
        let window = windows.iter().find(|window| window.window == set.window)?;
        let mut figures = SetFigures::of(set, window);
        figures.after_loss =
            net.losses.as_ref().map(|losses| losses.figures(steps.members(), steps.window()));
        steps.fill(&mut figures);
        let mut transfers: Option<Times> = None;
        for of_flow in flows.iter().filter_map(|flow| flow.transfers_in(index)) {
            transfers.get_or_insert_default().add(of_flow);
        }
        figures.transfers = transfers.map(|transfers| transfers.figures());
        Some(figures)
    }

    /// Returns the figures of each host of each flow in a window.
    fn of_hosts(&self, window: usize, seconds: f64) -> Vec<HostFigures> {
        let (begin, end) = &self.hosts[window];
        let mut figures = Vec::new();
        for (index, (begin, end)) in begin.iter().zip(end).enumerate() {
            let accesses = &self.network.hosts[index];
            for ((access, begin), end) in accesses.iter().zip(begin).zip(end) {
                let rate = |bytes: u64| round(bytes as f64 * 8.0 / seconds, 0);
                let uplink = &self.network.links[access.up].name;
                figures.push(HostFigures {
                    flow: self.scenario.flow[index].name.clone(),
                    host: uplink.strip_suffix(" up").unwrap_or(uplink).to_owned(),
                    received_bit_s: rate(end.received - begin.received),
                    sent_bit_s: rate(end.sent - begin.sent),
                });
            }
        }
        figures
    }
}

/// Returns the hosts of a flow: each has links of its own.
fn hosts_of(network: &Network, flow: usize) -> f64 {
    network.hosts[flow].len().max(1) as f64
}

/// Returns the events of all flows in the order of time, and the number of those that were too many to keep.
fn events(flows: &[Application]) -> (Vec<Exact>, u64) {
    let taken: Vec<_> = flows.iter().filter_map(Application::log).map(SenderLog::take_events).collect();
    let left_out = taken.iter().map(|(_, left_out)| left_out).sum();
    let mut events: Vec<Exact> = taken.into_iter().flat_map(|(events, _)| events).collect();
    events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    (events, left_out)
}

/// Returns seconds with milliseconds.
fn seconds(at: Time) -> f64 {
    round(at.as_secs_f64(), 3)
}

/// Returns the role's name, for runs with too many flows to draw each.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::Foreground => "foreground",
        Role::Background => "background",
    }
}
