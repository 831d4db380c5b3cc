//! Format 1 of an outcome, read only. It has figures of one link, the bottleneck, and counts of its reverse path, under
//! the key `way_back`.

use super::schema2::FromZero;
use super::{
    Check, ClassCounts, ClassFigures, Comparison, FlowFigures, Lateness, Ledger, LinkFigures, LinkTotals,
    Mark, Outcome, Packets, Quantiles, Run, Series, Totals, Transfer, Verdict, WindowFigures, BOTTLENECK,
    REVERSE_PATH,
};
use crate::scenario::Scenario;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name of the reverse path in format 1.
const WAY_BACK: &str = "way back";

#[derive(Deserialize)]
pub(super) struct Outcome1 {
    afteryou_version: String,
    engine: String,
    scenario: Scenario,
    #[serde(default)]
    point: BTreeMap<String, String>,
    #[serde(default)]
    repetition: FromZero,
    run: Run1,
    baseline: Option<Run1>,
    comparison: Vec<Comparison>,
    transfers: Vec<Transfer>,
    checks: Vec<Check>,
    verdict: Option<Verdict>,
}

#[derive(Deserialize)]
struct Run1 {
    duration_s: f64,
    windows: Vec<WindowFigures1>,
    series: Vec<Series>,
    marks: Vec<Mark>,
    packets: Packets,
    lateness: Option<Lateness>,
    #[serde(default)]
    totals: Vec<Totals>,
    #[serde(default)]
    ledger: Vec<Ledger1>,
    #[serde(default)]
    queues: Vec<QueueFigures1>,
}

#[derive(Deserialize)]
struct WindowFigures1 {
    window: String,
    from_s: f64,
    to_s: f64,
    utilisation: f64,
    queuing_delay: Option<Quantiles>,
    queue_packets: Option<f64>,
    #[serde(default)]
    classes: Vec<ClassFigures>,
    fairness: Option<f64>,
    foreground_fairness: Option<f64>,
    harvest: Option<f64>,
    foreground_share: Option<f64>,
    flows: Vec<FlowFigures>,
}

#[derive(Deserialize)]
struct Ledger1 {
    link: String,
    #[serde(flatten)]
    ledger: Ledger,
}

#[derive(Deserialize)]
struct QueueFigures1 {
    link: String,
    discipline: String,
    classes: Vec<ClassCounts>,
}

impl From<Outcome1> for Outcome {
    fn from(old: Outcome1) -> Outcome {
        let run = old.run.into_run(&old.scenario);
        let baseline = old.baseline.map(|baseline| baseline.into_run(&old.scenario));
        // Flows stay compared as the program of that version did it.
        let link_comparison = baseline
            .as_ref()
            .map(|baseline| Outcome::compare_links(&old.scenario, &run, baseline, &old.comparison));
        Outcome {
            point: old.point,
            repetition: old.repetition.counted_from_one(),
            baseline,
            comparison: old.comparison,
            link_comparison: link_comparison.unwrap_or_default(),
            transfers: old.transfers,
            checks: old.checks,
            verdict: old.verdict,
            ..Outcome::new(&old.engine, &old.afteryou_version, old.scenario, run, None)
        }
    }
}

impl Run1 {
    fn into_run(self, scenario: &Scenario) -> Run {
        let capacity_bit_s = scenario.link.rate.bits_per_second() as f64;
        Run {
            duration_s: self.duration_s,
            windows: self.windows.into_iter().map(|window| window.into_figures(capacity_bit_s)).collect(),
            series: self.series.into_iter().map(|curve| renamed(curve, scenario)).collect(),
            marks: self.marks,
            links: links(scenario, self.packets, self.ledger, self.queues),
            lateness: self.lateness,
            totals: self.totals,
            ..Run::default()
        }
    }
}

/// Returns the name of a link in this format.
fn link_name(old: &str) -> &str {
    if old == WAY_BACK {
        return REVERSE_PATH;
    }
    old
}

/// Renames a curve to the name that its link has in this format. A flow keeps its name, whatever it is.
fn renamed(mut curve: Series, scenario: &Scenario) -> Series {
    if scenario.flow.iter().all(|flow| flow.name != curve.of) {
        curve.of = link_name(&curve.of).to_owned();
    }
    curve
}

/// Returns the bottleneck, and the reverse path where it has a ledger or a queue. Format 1 counts packets at the bottleneck
/// only.
fn links(
    scenario: &Scenario,
    packets: Packets,
    ledgers: Vec<Ledger1>,
    queues: Vec<QueueFigures1>,
) -> Vec<LinkTotals> {
    let link = |name: &str, index: usize| {
        let spec = if index == 0 { scenario.link.clone() } else { scenario.link.back() };
        LinkTotals {
            link: name.to_owned(),
            capacity_bit_s: spec.rate.bits_per_second() as f64,
            discipline: spec.queue.kind,
            ..LinkTotals::default()
        }
    };
    let mut links = vec![LinkTotals { packets: Some(packets), ..link(BOTTLENECK, 0) }];
    let mut place = |name: &str| {
        let name = link_name(name);
        links.iter().position(|link| link.link == name).unwrap_or_else(|| {
            links.push(link(name, links.len()));
            links.len() - 1
        })
    };
    let ledgers: Vec<_> = ledgers.into_iter().map(|old| (place(&old.link), old.ledger)).collect();
    let queues: Vec<_> = queues.into_iter().map(|old| (place(&old.link), old)).collect();
    for (place, ledger) in ledgers {
        links[place].ledger = Some(ledger);
    }
    for (place, queue) in queues {
        links[place].discipline = queue.discipline;
        links[place].classes = queue.classes;
    }
    links
}

impl WindowFigures1 {
    fn into_figures(self, capacity_bit_s: f64) -> WindowFigures {
        let link = LinkFigures {
            link: BOTTLENECK.to_owned(),
            capacity_bit_s,
            utilisation: self.utilisation,
            queuing_delay: self.queuing_delay,
            queue_packets: self.queue_packets,
            classes: self.classes,
            fairness: self.fairness,
            foreground_fairness: self.foreground_fairness,
            harvest: self.harvest,
            foreground_share: self.foreground_share,
            ..LinkFigures::default()
        };
        WindowFigures {
            window: self.window,
            from_s: self.from_s,
            to_s: self.to_s,
            links: vec![link],
            flows: self.flows,
            ..WindowFigures::default()
        }
    }
}
