//! Curves: a track for each flow, or for each group of flows where there are too many to draw.

use super::queues::QueueTracks;
use super::role_name;
use crate::application::Application;
use crate::connection::Connections;
use crate::net::Net;
use afteryou_base::Span;
use afteryou_scenario::outcome::Series;
use afteryou_scenario::{Record, Scenario};

/// More flows than this are drawn as groups.
const MOST_TRACKS: usize = 24;
/// Steps that one point of a goodput curve covers: single packets would show in shorter ones.
const STEPS_PER_RATE: usize = 2;

/// All curves of a run.
pub(super) struct Tracks {
    step: Span,
    tracks: Vec<Track>,
    queues: QueueTracks,
    records_senders: bool,
    steps: usize,
}

/// Curves of one flow or group.
struct Track {
    name: String,
    members: Vec<usize>,
    received: u64,
    rate: Vec<Option<f64>>,
    cwnd: Vec<Option<f64>>,
    base_delay: Vec<Option<f64>>,
    delay: Vec<Option<f64>>,
    /// Payload in flight and round-trip time, where the scenario records senders.
    in_flight: Vec<Option<f64>>,
    rtt: Vec<Option<f64>>,
    /// Packets found lost and marks echoed, in a second.
    losses: Vec<Option<f64>>,
    marks: Vec<Option<f64>>,
}

impl Tracks {
    pub(super) fn new(scenario: &Scenario, queues: QueueTracks, step: Span) -> Tracks {
        let mut tracks: Vec<Track> = Vec::new();
        let by_flow = scenario.flow.len() <= MOST_TRACKS;
        for (i, flow) in scenario.flow.iter().enumerate() {
            let name = match (by_flow, &flow.group) {
                (true, _) => &flow.name,
                (false, Some(group)) => group,
                (false, None) => role_name(flow.role),
            };
            match tracks.iter_mut().find(|track| track.name == *name) {
                Some(track) => track.members.push(i),
                None => tracks.push(Track::new(name, i)),
            }
        }
        Tracks { step, tracks, queues, records_senders: scenario.record.contains(&Record::Senders), steps: 0 }
    }

    /// Returns whether each flow has a track of its own.
    pub(super) fn are_flows(&self) -> bool {
        self.tracks.iter().all(|track| track.members.len() == 1)
    }

    /// Ends a step.
    pub(super) fn step(&mut self, flows: &[Application], connections: &mut Connections, net: &mut Net) {
        self.steps += 1;
        self.queues.step(net);
        let seconds = (self.step * STEPS_PER_RATE as u64).as_secs_f64();
        for track in &mut self.tracks {
            if self.steps.is_multiple_of(STEPS_PER_RATE) {
                let received = track.members.iter().map(|i| flows[*i].received(connections)).sum();
                let rate = (received - track.received) as f64 * 8.0 / 1e6 / seconds;
                track.received = received;
                track.rate.push(Some(rate));
            }
            track.look(flows, connections);
            if self.records_senders {
                track.look_at_senders(flows, self.step.as_secs_f64());
            }
        }
    }

    pub(super) fn series(self) -> Vec<Series> {
        let step_s = self.step.as_secs_f64();
        let mut series = Vec::new();
        for track in self.tracks {
            let mut add = |quantity: &str, unit: &str, step_s: f64, values: Vec<Option<f64>>| {
                if values.iter().any(Option::is_some) {
                    series.push(Series::from_start(&track.name, quantity, unit, step_s, values));
                }
            };
            add("goodput", "Mbit/s", step_s * STEPS_PER_RATE as f64, track.rate);
            add("queuing_delay", "ms", step_s, track.delay);
            add("cwnd", "kB", step_s, track.cwnd);
            add("base_delay", "ms", step_s, track.base_delay);
            add("flightsize", "kB", step_s, track.in_flight);
            add("rtt", "ms", step_s, track.rtt);
            for (quantity, values) in [("losses", track.losses), ("marks", track.marks)] {
                let is_any = values.iter().flatten().any(|value| *value > 0.0);
                add(quantity, "1/s", step_s, if is_any { values } else { Vec::new() });
            }
        }
        series.extend(self.queues.series(self.step));
        series
    }
}

impl Track {
    fn new(name: &str, member: usize) -> Track {
        Track {
            name: name.to_owned(),
            members: vec![member],
            received: 0,
            rate: Vec::new(),
            cwnd: Vec::new(),
            base_delay: Vec::new(),
            delay: Vec::new(),
            in_flight: Vec::new(),
            rtt: Vec::new(),
            losses: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn look(&mut self, flows: &[Application], connections: &mut Connections) {
        let (mut windows, mut n) = (0, 0);
        let mut base_delay = None;
        let mut delay = None;
        for i in &self.members {
            delay = flows[*i].take_step_delay_ms(connections).or(delay);
            if let Some(snapshot) = flows[*i].snapshot(connections) {
                windows += snapshot.cwnd;
                n += 1;
                base_delay = snapshot.base_delay;
            }
        }
        self.delay.push(delay);
        self.cwnd.push((n > 0).then(|| windows as f64 / 1e3 / f64::from(n)));
        self.base_delay.push(base_delay.filter(|_| self.members.len() == 1).map(Span::as_millis_f64));
    }

    /// Looks at the log of a flow's senders; a group has none.
    fn look_at_senders(&mut self, flows: &[Application], step_s: f64) {
        let [member] = self.members[..] else { return };
        let Some(log) = flows[member].log() else { return };
        self.in_flight.push(log.in_flight().map(|bytes| bytes as f64 / 1e3));
        self.rtt.push(log.take_step_rtt_ms());
        let counts = log.take_step_counts();
        self.losses.push(Some(counts.losses as f64 / step_s));
        self.marks.push(Some(counts.marks as f64 / step_s));
    }
}
