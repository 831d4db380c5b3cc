//! From the wire's measures and the flows' logs to a run's figures and curves.

use super::flows::{Ended, Sample};
use crate::run::log::{Log, LogInner};
use crate::run::measure::{step_s, Curve, Interval};
use crate::wire::Report;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{round, Mark, Run, Series, Totals};
use afteryou_scenario::{Flow, Scenario};
use std::sync::Arc;

/// Everything that was written down.
pub(super) struct Raw<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) logs: &'a [Arc<Log>],
    /// By flow, samples of the kernel's TCP.
    pub(super) samples: &'a [Vec<Sample>],
    /// What the director has measured of all flows.
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
    let mut run =
        Run { duration_s: round(end_s, 3), totals, marks, lateness: raw.report.lateness, ..raw.flows };
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
    /// What each flow did in all, programs excepted: the wire does not see their connections' ends.
    fn totals(&self) -> Vec<Totals> {
        let flows = self.scenario.flow.iter().zip(self.logs).enumerate();
        let flows = flows.filter(|(_, (flow, _))| !flow.traffic.is_command());
        let of_flow = |(index, (flow, log)): (usize, (&Flow, &Arc<Log>))| {
            let ended = self.ended.iter().find(|ended| ended.flow == index);
            ended.map_or_else(|| totals(flow, &log.lock()), |ended| ended.totals.clone())
        };
        flows.map(of_flow).collect()
    }

    /// Curves of windows, round-trip times and the kernel's counters.
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
                started.into_iter().chain(log.stopped.map(|at| mark(at, "stop"))).collect::<Vec<_>>()
            })
            .collect();
        marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        marks
    }
}
