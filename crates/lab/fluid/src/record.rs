//! Measuring a run: the figures and curves of the simulator, over time instead of over packets.
//!
//! The equations have the amount in the queue, not its owners. For goodput the recorder keeps every flow's part of the queue
//! and serves all in proportion. So a flow's sent bytes are received, dropped or queued, to the byte. Its delays are samples
//! at equal times, where the simulator's are those of packets.

use crate::plan::{step_of, GRID_S};
use crate::tracks::Tracks;
use crate::trajectory::Trajectory;
use afteryou_scenario::outcome::{
    round, FlowFigures, LinkFigures, LinkTotals, Mark, Packets, Quantiles, Run, Totals, WindowFigures,
    BOTTLENECK,
};
use afteryou_scenario::{Scenario, Traffic};

/// Most points of a curve, about; longer runs get longer steps.
const MOST_POINTS: u64 = 3000;
/// Grid steps between two points of a curve: the first that is long enough.
const GRIDS: [u64; 9] = [1, 2, 5, 10, 20, 50, 100, 600, 6000];
/// Most samples of the delay in a window, about.
const MOST_SAMPLES: u64 = 1_000_000;

/// Writes down what happens.
pub struct Recorder<'a> {
    scenario: &'a Scenario,
    step_s: f64,
    flows: Vec<FlowRecord>,
    windows: Vec<Window>,
    /// The queue at the beginning, from no flow of the network: bytes, and bytes of a packet.
    nobodys: f64,
    nobodys_size: f64,
    /// Bytes that have left the link.
    link_bytes: f64,
    /// Packets × s in the queue.
    area: f64,
    tracks: Tracks,
    steps_per_point: u64,
    marks: Vec<Mark>,
}

/// A flow's totals.
#[derive(Clone, Default)]
struct FlowRecord {
    /// Bytes of a packet, of its payload.
    size: f64,
    payload: f64,
    /// Bytes that wait.
    queued: f64,
    sent: f64,
    dropped: f64,
    lost: f64,
    /// Payload that arrived.
    received: f64,
    slowdowns: u32,
    /// Payload after which it is done.
    goal: Option<f64>,
    completed_in_s: Option<f64>,
}

struct Window {
    from: u64,
    to: u64,
    sample_every: u64,
    delays_ms: Vec<f64>,
    received: Vec<f64>,
    link_bytes: f64,
    area: f64,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder of a run of `scenario` in steps of `step_s`.
    pub fn new(scenario: &'a Scenario, step_s: f64) -> Recorder<'a> {
        let flows = scenario.flow.iter().map(|flow| {
            let format = flow.packet_format();
            let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
            let goal = match flow.traffic {
                Traffic::Size(size) => Some(size.bytes() as f64),
                _ => None,
            };
            FlowRecord { size: payload + overhead, payload, goal, ..FlowRecord::default() }
        });
        let windows = scenario.measure.iter().map(|window| {
            // At least a step long.
            let to = step_of(window.to.0, step_s).max(1);
            let from = step_of(window.from.0, step_s).min(to - 1);
            Window {
                from,
                to,
                sample_every: ((to - from) / MOST_SAMPLES).max(1),
                delays_ms: Vec::new(),
                received: vec![0.0; scenario.flow.len()],
                link_bytes: 0.0,
                area: 0.0,
            }
        });
        let grids = (scenario.duration.as_secs_f64() / GRID_S) as u64;
        let grid = GRIDS.into_iter().find(|grid| grids / grid <= MOST_POINTS).unwrap_or(grids / MOST_POINTS);
        let steps_per_point = match scenario.sample {
            Some(sample) => step_of(sample.0, step_s).max(1),
            None => grid * (GRID_S / step_s).round() as u64,
        };
        Recorder {
            scenario,
            step_s,
            flows: flows.collect(),
            windows: windows.collect(),
            nobodys: 0.0,
            nobodys_size: 1.0,
            link_bytes: 0.0,
            area: 0.0,
            tracks: Tracks::new(scenario, round(steps_per_point as f64 * step_s, 9)),
            steps_per_point,
            marks: Vec::new(),
        }
    }

    /// Adds `bytes` that wait from the start, in packets of `size`; they belong to no flow.
    pub fn wait_first(&mut self, bytes: f64, size: f64) {
        (self.nobodys, self.nobodys_size) = (bytes, size);
    }

    /// Marks something that happens to a flow.
    pub fn mark(&mut self, at_s: f64, flow: usize, what: &str) {
        // Where flows are drawn together, marks of each would only hide the curves.
        if self.tracks.are_flows() {
            let of = self.scenario.flow[flow].name.clone();
            self.marks.push(Mark { at_s: round(at_s, 3), of, what: what.to_owned() });
        }
    }

    /// Returns whether a flow has sent all that it had.
    pub fn is_complete(&self, flow: usize) -> bool {
        self.flows[flow].completed_in_s.is_some()
    }

    /// Records the edge before step `step`: windows begin and end, curves get their points.
    pub fn at_edge(&mut self, step: u64, trajectory: &Trajectory) {
        let (link_bytes, area, flows) = (self.link_bytes, self.area, &self.flows);
        let queuing_ms = trajectory.queue() / trajectory.network().capacity * 1e3;
        for window in &mut self.windows {
            if window.from == step || window.to == step {
                // Until a window is over its counters hold what there was before it.
                let passed = |counter: &mut f64, now: f64| *counter = now - *counter;
                passed(&mut window.link_bytes, link_bytes);
                passed(&mut window.area, area);
                window.received.iter_mut().zip(flows).for_each(|(was, flow)| passed(was, flow.received));
            }
            if (window.from..window.to).contains(&step)
                && (step - window.from).is_multiple_of(window.sample_every)
            {
                window.delays_ms.push(queuing_ms);
            }
        }
        self.note_slowdowns(trajectory);
        if step > 0 && step.is_multiple_of(self.steps_per_point) {
            let received = |flow: usize| self.flows[flow].received;
            self.tracks.point(trajectory, received, queuing_ms);
        }
    }

    fn note_slowdowns(&mut self, trajectory: &Trajectory) {
        for flow in 0..self.flows.len() {
            let slowdowns = trajectory.slowdowns(flow);
            if slowdowns > self.flows[flow].slowdowns {
                self.flows[flow].slowdowns = slowdowns;
                self.mark(trajectory.t_s(), flow, "slowdown");
            }
        }
    }

    /// Records the step that begins now. Returns which flows have sent all that they had.
    pub fn pass(&mut self, trajectory: &Trajectory) -> Vec<usize> {
        let network = trajectory.network();
        let (step_s, random) = (self.step_s, network.loss);
        // Where everything is lost at random nothing is known of the queue.
        let full = if random < 1.0 { 1.0 - (1.0 - trajectory.loss()) / (1.0 - random) } else { 0.0 };
        let queuing_s = trajectory.queue() / network.capacity;
        let (mut bytes, mut packets) = (self.nobodys, self.nobodys / self.nobodys_size);
        for (index, flow) in self.flows.iter_mut().enumerate() {
            let sent = trajectory.rate(index) * flow.size * step_s;
            let dropped = sent * full.clamp(0.0, 1.0);
            flow.sent += sent;
            flow.dropped += dropped;
            flow.queued += sent - dropped;
            bytes += flow.queued;
            packets += flow.queued / flow.size;
        }
        let per_byte = if bytes > 0.0 { packets / bytes } else { 0.0 };
        self.area += trajectory.queue() * per_byte * step_s;
        let served = bytes.min(network.capacity * step_s);
        self.link_bytes += served;
        let part = if bytes > 0.0 { served / bytes } else { 0.0 };
        self.nobodys -= self.nobodys * part;
        let mut done = Vec::new();
        for (index, flow) in self.flows.iter_mut().enumerate() {
            let left = flow.queued * part;
            flow.queued -= left;
            flow.lost += left * random;
            let received = flow.received + left * (1.0 - random) * flow.payload / flow.size;
            flow.received = flow.goal.map_or(received, |goal| received.min(goal));
            if flow.completed_in_s.is_none() && flow.has_sent_all(random) {
                let spec = &self.scenario.flow[index];
                // The last byte goes through the queue; half a round trip later it is there.
                let there_s = trajectory.t_s() + step_s + queuing_s + spec.rtt.as_secs_f64() / 2.0;
                flow.completed_in_s = Some(round(there_s - spec.start.as_secs_f64(), 6));
                done.push(index);
            }
        }
        for index in &done {
            self.mark(trajectory.t_s(), *index, "stop");
        }
        done
    }

    /// Returns the outcome.
    pub fn finish(mut self) -> Run {
        self.marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let windows = (0..self.windows.len()).map(|index| self.window(index)).collect();
        let packets = |of: fn(&FlowRecord) -> f64| {
            self.flows.iter().fold(0.0, |sum, flow| sum + of(flow) / flow.size).round() as u64
        };
        let arrived = packets(|flow| flow.sent);
        // Each is rounded by itself, and all have to add up.
        let mut delivered = arrived;
        let mut of_those = |part: u64| {
            let part = part.min(delivered);
            delivered -= part;
            part
        };
        let dropped = of_those(packets(|flow| flow.dropped));
        let lost = of_those(packets(|flow| flow.lost));
        let unfinished = of_those(packets(|flow| flow.queued));
        let spec = &self.scenario.link;
        let link = LinkTotals {
            link: BOTTLENECK.to_owned(),
            capacity_bit_s: spec.rate.bits_per_second() as f64,
            discipline: spec.queue.kind.clone(),
            packets: Some(Packets { arrived, delivered, dropped, lost, unfinished, duplicated: 0 }),
            ..LinkTotals::default()
        };
        let mut run = Run {
            duration_s: self.scenario.duration.as_secs_f64(),
            windows,
            series: self.tracks.series(),
            marks: self.marks,
            links: vec![link],
            totals: self
                .scenario
                .flow
                .iter()
                .zip(&self.flows)
                .map(|(flow, record)| record.totals(&flow.name))
                .collect(),
            ..Run::default()
        };
        run.measure_sets(self.scenario);
        run
    }

    fn window(&self, index: usize) -> WindowFigures {
        let (spec, window) = (&self.scenario.measure[index], &self.windows[index]);
        // What was counted are whole steps.
        let seconds = (window.to - window.from) as f64 * self.step_s;
        let link_bit_s = self.scenario.link.rate.bits_per_second() as f64;
        let delays = Quantiles::of(&window.delays_ms).map(rounded);
        let link = LinkFigures {
            link: BOTTLENECK.to_owned(),
            capacity_bit_s: link_bit_s,
            utilisation: round(window.link_bytes * 8.0 / seconds / link_bit_s, 4),
            queuing_delay: delays,
            queue_packets: Some(round(window.area / seconds, 3)),
            ..LinkFigures::default()
        };
        let flows = self.scenario.flow.iter().zip(&self.flows).zip(&window.received);
        let figures = flows.map(|((flow, record), received)| {
            let goodput_bit_s = received * 8.0 / seconds;
            FlowFigures {
                flow: flow.name.clone(),
                role: flow.role,
                goodput_bit_s: round(goodput_bit_s, 0),
                share_of_payload_capacity: round(
                    goodput_bit_s / link_bit_s * record.size / record.payload,
                    4,
                ),
                queuing_delay: delays.filter(|_| flow.traffic.is_cbr()),
                sender: None,
            }
        });
        let mut figures = WindowFigures {
            window: spec.name.clone(),
            from_s: spec.from.as_secs_f64(),
            to_s: spec.to.as_secs_f64(),
            links: vec![link],
            flows: figures.collect(),
            ..WindowFigures::default()
        };
        figures.derive(self.scenario);
        figures
    }
}

fn rounded(of: Quantiles) -> Quantiles {
    Quantiles {
        samples: of.samples,
        mean_ms: round(of.mean_ms, 3),
        p50_ms: round(of.p50_ms, 3),
        p95_ms: round(of.p95_ms, 3),
        p99_ms: round(of.p99_ms, 3),
        max_ms: round(of.max_ms, 3),
    }
}

impl FlowRecord {
    /// Returns whether the bytes that have arrived and those that wait, less those that will be lost, are all that it has to send.
    fn has_sent_all(&self, random: f64) -> bool {
        let waits = self.queued * (1.0 - random) * self.payload / self.size;
        self.goal.is_some_and(|goal| self.received + waits >= goal)
    }

    fn totals(&self, name: &str) -> Totals {
        Totals {
            flow: name.to_owned(),
            packets: (self.sent / self.size).round() as u64,
            losses: ((self.dropped + self.lost) / self.size).round() as u64,
            received_bytes: self.received.round() as u64,
            completed_in_s: self.completed_in_s,
            ..Totals::default()
        }
    }
}
