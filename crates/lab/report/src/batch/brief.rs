//! The part of a run that is kept when its curves have been written.

use super::short_name;
use crate::completions::{completions, Completion};
use crate::groups::members;
use afteryou_plot::names::{engine_in_words, shown_as};
use afteryou_scenario::outcome::{
    Comparison, DataLink, FlowFigures, LinkFigures, Outcome, Run, WindowFigures,
};
use afteryou_scenario::{Flow, Role};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The part of a run that is kept when its curves have been written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The scenario's name.
    pub name: String,
    /// The engine, in words.
    pub engine: String,
    /// The folder of its files, relative to the page; empty if there are none.
    pub folder: String,
    /// Where in the sweep it is.
    pub point: BTreeMap<String, String>,
    /// The repetition's number, from 1.
    pub repetition: u32,
    /// The run's seed.
    pub seed: u64,
    /// Figures of each window.
    pub windows: Vec<WindowFigures>,
    /// The links to show: those that data cross.
    pub(super) links: Vec<LinkBrief>,
    /// Held against its baseline.
    pub comparison: Vec<Comparison>,
    /// When each transfer with an end was complete, s: in the run, in the baseline.
    pub completed_in_s: BTreeMap<String, [Option<f64>; 2]>,
    /// Each flow in each window, those of one table of the file together.
    pub(super) flows: Vec<FlowBrief>,
    /// Completion times, those of one table of the file together.
    pub(super) completions: Vec<Completion>,
}

/// A flow in a window, or flows that were written together: sums of goodput, means of the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FlowBrief {
    pub(super) window: String,
    /// The flow, or the name that several flows have in common.
    pub(super) flow: String,
    /// How many flows there are, if they were written together.
    pub(super) count: Option<usize>,
    pub(super) role: Role,
    pub(super) goodput_bit_s: f64,
    pub(super) kept: Option<f64>,
    pub(super) added_delay_mean_ms: Option<f64>,
    pub(super) added_delay_p95_ms: Option<f64>,
}

/// A link that data cross.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LinkBrief {
    /// Its place among the links of a window.
    index: usize,
    pub(super) name: String,
    /// The flows whose data cross it.
    flows: BTreeSet<String>,
}

impl LinkBrief {
    fn all(outcome: &Outcome) -> Vec<LinkBrief> {
        let name = |index: usize| {
            let of_window = outcome.run.windows.first().and_then(|window| window.links.get(index));
            let of_run = outcome.run.links.get(index).map(|link| link.link.as_str());
            of_window.map(|link| link.link.as_str()).or(of_run).unwrap_or_default().to_owned()
        };
        let brief = |DataLink { index, flows }| LinkBrief {
            index,
            name: name(index),
            flows: flows.into_iter().map(str::to_owned).collect(),
        };
        outcome.data_links().into_iter().map(brief).collect()
    }

    /// Returns its figures in a window.
    pub(super) fn figures<'a>(&self, window: &'a WindowFigures) -> Option<&'a LinkFigures> {
        window.links.get(self.index)
    }

    /// Returns whether the data of this flow cross it.
    pub(super) fn carries(&self, flow: &str) -> bool {
        self.flows.contains(flow)
    }
}

impl Brief {
    /// Takes the figures of `outcome`, whose files are in `folder`.
    pub fn of(outcome: &Outcome, folder: &str) -> Brief {
        Brief {
            name: outcome.scenario.name.clone(),
            engine: engine_in_words(outcome).to_owned(),
            folder: folder.to_owned(),
            point: outcome.point.clone(),
            repetition: outcome.repetition,
            seed: outcome.scenario.seed,
            windows: outcome.run.windows.clone(),
            links: LinkBrief::all(outcome),
            comparison: outcome.comparison.clone(),
            completed_in_s: completed(outcome),
            flows: flows(outcome),
            completions: completions(outcome, true),
        }
    }

    /// Returns the point in words: "rtt 20 ms, upload none".
    pub(super) fn setting(&self) -> String {
        let names: Vec<&str> = self.point.keys().map(String::as_str).collect();
        let word = |(name, value): (&&str, &String)| format!("{} {value}", short_name(name, &names));
        match self.point.is_empty() {
            true => "all".to_owned(),
            false => names.iter().zip(self.point.values()).map(word).collect::<Vec<_>>().join(", "),
        }
    }

    /// Returns whether there are completion times of the foreground.
    pub(super) fn has_completions(&self) -> bool {
        self.of_foreground().next().is_some()
    }

    /// Returns the completion times of the foreground.
    pub(super) fn of_foreground(&self) -> impl Iterator<Item = &Completion> {
        self.completions.iter().filter(|completion| completion.role == Role::Foreground)
    }

    /// Returns the link called `name`.
    pub(super) fn link(&self, name: &str) -> Option<&LinkBrief> {
        self.links.iter().find(|link| link.name == name)
    }

    pub(super) fn window(&self, name: &str) -> Option<&WindowFigures> {
        self.windows.iter().find(|window| window.window == name)
    }

    /// Returns whether both measured the same to the last digit.
    pub(super) fn measured_as(&self, other: &Brief) -> bool {
        self.windows == other.windows
            && self.comparison == other.comparison
            && self.completed_in_s == other.completed_in_s
    }
}

fn completed(outcome: &Outcome) -> BTreeMap<String, [Option<f64>; 2]> {
    let mut completed: BTreeMap<String, [Option<f64>; 2]> = BTreeMap::new();
    let runs: [Option<&Run>; 2] = [Some(&outcome.run), outcome.baseline.as_ref()];
    for (place, run) in runs.into_iter().enumerate() {
        for totals in run.into_iter().flat_map(|run| &run.totals) {
            if totals.completed_in_s.is_some() {
                completed.entry(totals.flow.clone()).or_default()[place] = totals.completed_in_s;
            }
        }
    }
    completed
}

fn flows(outcome: &Outcome) -> Vec<FlowBrief> {
    let known: HashMap<&str, &Flow> =
        outcome.scenario.flow.iter().map(|flow| (flow.name.as_str(), flow)).collect();
    let shown = |name| known.get(name).map_or(name, |flow| shown_as(flow, true));
    let mut briefs = Vec::new();
    for window in &outcome.run.windows {
        let of_window = outcome.comparison.iter().filter(|compared| compared.window == window.window);
        let compared: HashMap<&str, &Comparison> =
            of_window.map(|compared| (compared.flow.as_str(), compared)).collect();
        let brief = |(name, members): (&str, Vec<&FlowFigures>)| {
            let mean = |pick: fn(&Comparison) -> Option<f64>| {
                let of = |flow: &&FlowFigures| compared.get(flow.flow.as_str()).and_then(|of| pick(of));
                let values: Vec<f64> = members.iter().filter_map(of).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            let is_group = known.get(members[0].flow.as_str()).is_some_and(|flow| flow.group.is_some());
            FlowBrief {
                window: window.window.clone(),
                flow: name.to_owned(),
                count: is_group.then_some(members.len()),
                role: members[0].role,
                goodput_bit_s: members.iter().map(|flow| flow.goodput_bit_s).sum(),
                kept: mean(|compared| compared.kept),
                added_delay_mean_ms: mean(|compared| compared.added_delay_mean_ms),
                added_delay_p95_ms: mean(|compared| compared.added_delay_p95_ms),
            }
        };
        briefs.extend(members(&window.flows, |flow| shown(&flow.flow)).into_iter().map(brief));
    }
    briefs
}
