//! From the wire's measures and the flows' logs to a run's figures and curves.

use super::flows::{Ended, Sample};
use crate::run::log::{Log, LogInner};
use crate::run::measure::{payload_share, step_s, Curve, Interval, Received, STEPS_PER_RATE};
use crate::wire::Report;
use afteryou_base::{Span, Time};
use afteryou_scenario::network::Network;
use afteryou_scenario::outcome::{round, Mark, Run, Series, Totals, WindowFigures};
use afteryou_scenario::{Flow, Scenario};
use std::sync::Arc;

/// Everything that was written down.
pub(super) struct Raw<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) network: &'a Network,
    pub(super) logs: &'a [Arc<Log>],
    /// By flow, samples of the kernel's TCP.
    pub(super) samples: &'a [Vec<Sample>],
    /// The director's measures of all flows.
    pub(super) flows: Run,
    /// Flows that the director had.
    pub(super) ended: Vec<Ended>,
    pub(super) report: Report,
    /// When the run ended, s.
    pub(super) end_s: f64,
}

/// Returns the run.
pub(super) fn measure(raw: Raw<'_>) -> Run {
    for Ended { flow, started, stopped, .. } in &raw.ended {
        raw.logs[*flow].lasted(started.map(since_zero), stopped.map(since_zero));
    }
    let Raw { scenario, end_s, .. } = raw;
    let (totals, marks, own_series) = (raw.totals(), raw.marks(), raw.series());
    let (windows, series) = (raw.windows(), raw.goodputs());
    let flows = raw.flows;
    let mut run = Run {
        duration_s: round(end_s, 3),
        windows,
        series,
        totals,
        marks,
        lateness: raw.report.lateness,
        ..flows
    };
    raw.report.measured.complete(scenario, &mut run);
    run.windows.retain(|window| window.to_s <= end_s + 0.001);
    run.sets.retain(|set| run.windows.iter().any(|window| window.window == set.window));
    run.series.extend(own_series);
    run
}

/// Returns what a transfer of uTP or QUIC did in all.
fn totals(flow: &Flow, log: &LogInner) -> Totals {
    let received_bytes = log.received.iter().map(|(_, bytes)| bytes).sum();
    let of_sender = log.totals.clone().unwrap_or_default();
    Totals { flow: flow.name.clone(), received_bytes, ..of_sender }
}

fn since_zero(at: Time) -> Span {
    at.since(Time::ZERO)
}

impl Raw<'_> {
    /// Returns each flow's totals, except for programs: the wire does not see their connections' ends.
    fn totals(&self) -> Vec<Totals> {
        let of_flow = |(index, (flow, log)): (usize, (&Flow, &Arc<Log>))| {
            let ended = self.ended.iter().find(|ended| ended.flow == index);
            ended.map_or_else(|| totals(flow, &log.lock()), |ended| ended.totals.clone())
        };
        self.read_flows().map(of_flow).collect()
    }

    /// Returns the windows of flows. A connection that waits for a lost packet delivers nothing, and then all at once,
    /// perhaps behind a window's edge. Its bytes are spread evenly over the time between.
    fn windows(&self) -> Vec<WindowFigures> {
        let mut windows = self.flows.windows.clone();
        for (window, links) in windows.iter_mut().zip(&self.report.measured.windows) {
            let interval = Interval { from: window.from_s, to: window.to_s };
            for (index, (flow, log)) in self.read_flows() {
                let received = Received::of(&log.lock(), self.most_bit_s(index) / 8.0);
                let bytes = received.until(interval.to) - received.until(interval.from);
                let route = self.network.routes[index].forward.iter();
                let slowest = route.map(|link| links[*link].capacity_bit_s).fold(f64::INFINITY, f64::min);
                let capacity = slowest * self.hosts_of(index) * payload_share(flow);
                let Some(figures) = window.flows.get_mut(index) else { continue };
                let goodput_bit_s = bytes * 8.0 / interval.seconds();
                figures.goodput_bit_s = round(goodput_bit_s, 0);
                figures.share_of_payload_capacity = round(goodput_bit_s / capacity, 4);
            }
        }
        windows
    }

    /// Returns the hosts of a flow: each has links of its own.
    fn hosts_of(&self, flow: usize) -> f64 {
        self.network.hosts[flow].len().max(1) as f64
    }

    /// Returns the most that the links of the flow with this index carry of its payload. A link whose rate changes or that has a
    /// bucket sets no bound, and neither do hosts, whose links have rates of their own.
    fn most_bit_s(&self, index: usize) -> f64 {
        if !self.network.hosts[index].is_empty() {
            return f64::INFINITY;
        }
        let links = self.network.routes[index].forward.iter().map(|link| &self.network.links[*link].link);
        let steady = links.filter(|link| link.elements.rate.is_none() && link.elements.burst.is_none());
        let slowest = steady.map(|link| link.rate.bits_per_second() as f64).fold(f64::INFINITY, f64::min);
        slowest * payload_share(&self.scenario.flow[index])
    }

    /// Returns the curves of goodput, spread in the same way; those of groups of flows are as they were counted.
    fn goodputs(&self) -> Vec<Series> {
        let (whole, step_s) = (Interval { from: 0.0, to: self.end_s }, step_s(self.scenario));
        let mut series = self.flows.series.clone();
        for (index, (flow, log)) in self.read_flows() {
            let is_own = |series: &&mut Series| series.of == flow.name && series.quantity == "goodput";
            if let Some(curve) = series.iter_mut().find(is_own) {
                let received = Received::of(&log.lock(), self.most_bit_s(index) / 8.0);
                let rates = Curve::rates(whole, step_s * STEPS_PER_RATE, &received);
                *curve = rates.series(&flow.name, "goodput", "Mbit/s");
            }
        }
        series
    }

    /// Returns the flows whose receivers are ours, with their indices.
    fn read_flows(&self) -> impl Iterator<Item = (usize, (&Flow, &Arc<Log>))> {
        let flows = self.scenario.flow.iter().zip(self.logs).enumerate();
        flows.filter(|(_, (flow, _))| !flow.traffic.is_command())
    }

    /// Returns the curves of windows, round-trip times and the kernel's counters.
    fn series(&self) -> Vec<Series> {
        let (whole, step_s) = (Interval { from: 0.0, to: self.end_s }, step_s(self.scenario));
        let mut series = Vec::new();
        for ((flow, log), samples) in self.scenario.flow.iter().zip(self.logs).zip(self.samples) {
            let log = log.lock();
            if log.samples.is_empty() && samples.is_empty() {
                continue;
            }
            let of_ours = log.samples.iter().map(|sample| (sample.at, sample.controller.cwnd as f64 / 1e3));
            let of_tcp = samples.iter().map(|sample| (sample.at, sample.cwnd_bytes as f64 / 1e3));
            series.push(Curve::means(whole, step_s, of_ours.chain(of_tcp)).series(&flow.name, "cwnd", "kB"));
            let of_ours = log.samples.iter();
            let of_ours =
                of_ours.filter_map(|sample| Some((sample.at, sample.smoothed_rtt?.as_millis_f64())));
            let of_tcp = samples.iter().map(|sample| (sample.at, sample.srtt.as_secs_f64() * 1e3));
            series.push(Curve::means(whole, step_s, of_ours.chain(of_tcp)).series(&flow.name, "srtt", "ms"));
            if !samples.is_empty() {
                let delivery = samples.iter().map(|sample| (sample.at, sample.delivery_bit_s / 1e6));
                let delivery = Curve::means(whole, step_s, delivery);
                series.push(delivery.series(&flow.name, "delivery_rate", "Mbit/s"));
                let again = samples.iter().map(|sample| (sample.at, f64::from(sample.retransmissions)));
                let again = Curve::means(whole, step_s, again);
                series.push(again.series(&flow.name, "retransmissions", "packets"));
            }
        }
        series
    }

    fn marks(&self) -> Vec<Mark> {
        let flows = self.scenario.flow.iter().zip(self.logs);
        let mut marks: Vec<Mark> = flows
            .flat_map(|(flow, log)| {
                let log = log.lock();
                let mark = |at: Span, what: &str| Mark {
                    at_s: round(at.as_secs_f64(), 3),
                    of: flow.name.clone(),
                    what: what.to_owned(),
                };
                let started = log.started.map(|at| mark(at, "start"));
                let ends = started.into_iter().chain(log.stopped.map(|at| mark(at, "stop")));
                ends.chain(log.news().map(|(at, what)| mark(at, what))).collect::<Vec<_>>()
            })
            .collect();
        marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        marks
    }
}
