//! How long transfers took, with the background and without: those of flows that end, and those of applications that make several.

use crate::groups::{members, MOST_ROWS};
use crate::table::{Cell, Column, Table};
use crate::tables::{flow_cell, grouped, quantile_cells, runs, table, RUN};
use afteryou_notation::format::{count, number, seconds};
use afteryou_plot::names::{shown_as, sizes};
use afteryou_scenario::outcome::{
    CompletionCost, CompletionTimes, Completions, Outcome, Quantiles, Run, Totals,
};
use afteryou_scenario::{Flow, Role, Traffic};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Completion times of a transfer, of transfers that were written together, or of those of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The flow, or the name that several flows have in common.
    pub flow: String,
    /// The role of the flow.
    pub role: Role,
    /// The word for the transfers of a flow that makes several: "pages".
    pub called: Option<String>,
    /// The window in which they began; none of flows that end, whose time is that of the whole run.
    pub window: Option<String>,
    /// How many flows there are.
    pub flows: usize,
    /// In the run.
    pub run: Times,
    /// In the baseline, if there is one and they are part of it.
    pub baseline: Option<Times>,
}

impl Completion {
    /// Returns the times with the background beside those without.
    pub fn cost(&self) -> CompletionCost {
        CompletionCost::of(Some(self.run.brief()), self.baseline.as_ref().map(Times::brief))
    }

    /// Returns whether it counts one transfer alone.
    pub fn is_one(&self) -> bool {
        self.called.is_none() && self.flows == 1
    }
}

/// The distribution of completion times by nearest rank. Of flows that end, a quantile among transfers without an end is none, and so
/// is the mean of transfers of which one has none. Of applications the completed transfers count alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many transfers there are.
    pub transfers: u64,
    /// The number of them that were completed.
    pub complete: u64,
    /// Mean, s.
    pub mean_s: Option<f64>,
    /// Median, s.
    pub median_s: Option<f64>,
    /// 95th percentile, s.
    pub p95_s: Option<f64>,
    /// Longest, s.
    pub longest_s: Option<f64>,
}

impl Times {
    /// Counts transfers that took this time, or were not completed.
    fn of(times_s: &[Option<f64>]) -> Times {
        let mut known: Vec<f64> = times_s.iter().copied().flatten().collect();
        known.sort_by(f64::total_cmp);
        let n = times_s.len();
        let rank = |p: usize| known.get((p * n).div_ceil(100).max(1) - 1).copied();
        let are_all = n > 0 && known.len() == n;
        Times {
            transfers: n as u64,
            complete: known.len() as u64,
            mean_s: are_all.then(|| known.iter().sum::<f64>() / n as f64),
            median_s: rank(50),
            p95_s: rank(95),
            longest_s: rank(100),
        }
    }

    /// Counts an application's transfers.
    fn counted(transfers: u64, complete: u64, time: Option<Quantiles>) -> Times {
        let seconds = |ms: fn(Quantiles) -> f64| time.map(|time| ms(time) / 1e3);
        Times {
            transfers,
            complete,
            mean_s: seconds(|time| time.mean_ms),
            median_s: seconds(|time| time.p50_ms),
            p95_s: seconds(|time| time.p95_ms),
            longest_s: seconds(|time| time.max_ms),
        }
    }

    /// Counts several applications together: their quantiles do not give those of all.
    fn together(all: &[Times]) -> Times {
        if let [one] = all {
            return one.clone();
        }
        let complete = all.iter().map(|times| times.complete).sum();
        let sum_s = |times: &Times| times.mean_s.unwrap_or_default() * times.complete as f64;
        let longest_s = all.iter().filter_map(|times| times.longest_s).reduce(f64::max);
        Times {
            transfers: all.iter().map(|times| times.transfers).sum(),
            complete,
            mean_s: (complete > 0).then(|| all.iter().map(sum_s).sum::<f64>() / complete as f64),
            longest_s,
            ..Times::default()
        }
    }

    /// Returns the part of the transfers that were completed.
    pub fn completed_part(&self) -> f64 {
        self.complete as f64 / self.transfers.max(1) as f64
    }

    fn brief(&self) -> CompletionTimes {
        let Times { transfers, complete: completed, mean_s, p95_s, .. } = *self;
        CompletionTimes { transfers, completed, mean_s, p95_s }
    }
}

/// Returns the completion times of all transfers: of each flow by itself, or of those of one table of the file together.
/// Flows that end come first, then those whose application makes several, in each window.
pub fn completions(outcome: &Outcome, together: bool) -> Vec<Completion> {
    let is_sized = |flow: &&Flow| matches!(flow.traffic, Traffic::Size(_));
    let (sized, others): (Vec<&Flow>, Vec<&Flow>) = outcome.scenario.flow.iter().partition(is_sized);
    let runs = [Some(&outcome.run), outcome.baseline.as_ref()].map(|run| run.map(by_flow));
    let mut all = Vec::new();
    for (name, flows) in members(&sized, |flow| shown_as(flow, together)) {
        let [run, baseline] = runs.each_ref().map(|run| times_of_sized(run.as_ref()?, &flows));
        all.extend(run.map(|run| made(name, &flows, None, run, baseline)));
    }
    let others = members(&others, |flow| shown_as(flow, together));
    for window in &outcome.run.windows {
        let window = window.window.as_str();
        for (name, flows) in &others {
            let [run, baseline] = runs.each_ref().map(|run| times_in(window, run.as_ref()?, flows));
            all.extend(run.map(|run| made(name, flows, Some(window), run, baseline)));
        }
    }
    all.retain(|one| {
        [Some(&one.run), one.baseline.as_ref()].into_iter().flatten().any(|run| run.transfers > 0)
    });
    all
}

fn made(
    name: &str,
    flows: &[&&Flow],
    window: Option<&str>,
    run: Times,
    baseline: Option<Times>,
) -> Completion {
    Completion {
        flow: name.to_owned(),
        role: flows[0].role,
        called: window.map(|_| called(&flows[0].traffic).to_owned()),
        window: window.map(str::to_owned),
        flows: flows.len(),
        run,
        baseline,
    }
}

/// Returns the transfers of an application in a word.
fn called(traffic: &Traffic) -> &'static str {
    match traffic {
        Traffic::Web(_) => "pages",
        Traffic::Bursts { .. } => "segments",
        Traffic::Chunk(_) | Traffic::Peers { .. } | Traffic::Swarm(_) => "chunks",
        _ => "transfers",
    }
}

type ByFlow<'a> = HashMap<&'a str, &'a Totals>;

/// Returns the counts of each flow. Engines that do not count totals have none.
fn by_flow(run: &Run) -> ByFlow<'_> {
    run.totals.iter().map(|totals| (totals.flow.as_str(), totals)).collect()
}

/// Returns the times of flows with a size; `None` if a flow was not part of the run.
fn times_of_sized(totals: &ByFlow<'_>, flows: &[&&Flow]) -> Option<Times> {
    let took_s = flows.iter().map(|flow| Some(totals.get(flow.name.as_str())?.completed_in_s));
    Some(Times::of(&took_s.collect::<Option<Vec<_>>>()?))
}

/// Returns the times of the transfers that began in a window. Formats before 4 count the whole run alone.
fn times_in(window: &str, totals: &ByFlow<'_>, flows: &[&&Flow]) -> Option<Times> {
    let of_flow = |flow: &&&Flow| {
        let completions = totals.get(flow.name.as_str())?.completions.as_ref()?;
        let Completions { begun, completed, time, .. } = completions;
        Some(match completions.windows.iter().find(|of| of.window == window) {
            Some(of) => Times::counted(of.begun, of.completed, of.time),
            None => Times::counted(*begun, *completed, *time),
        })
    };
    Some(Times::together(&flows.iter().map(of_flow).collect::<Option<Vec<_>>>()?))
}

/// Returns whether there are completion times of the foreground.
pub fn lead(outcome: &Outcome) -> bool {
    completions(outcome, true).iter().any(|completion| completion.role == Role::Foreground)
}

/// Tabulates the completion times.
pub fn table_of(outcome: &Outcome) -> Option<Table> {
    let completions = completions(outcome, outcome.scenario.flow.len() > MOST_ROWS);
    let rows = completions.iter().flat_map(|completion| {
        let cost = completion.cost();
        let runs = [("with", Some(&completion.run)), ("without", completion.baseline.as_ref())];
        runs.into_iter().filter_map(|(run, times)| Some((run, times?))).map(move |(run, times)| {
            let complete = format!("{} of {}", count(times.complete), count(times.transfers));
            let ratio = |ratio: Option<f64>| Cell::maybe(ratio.filter(|_| run == "with"), number);
            vec![
                flow_cell(&outcome.scenario, &completion.flow),
                Cell::maybe(completion.window.as_deref(), str::to_owned),
                Cell::new(run),
                Cell::new(complete),
                Cell::maybe(times.mean_s, seconds),
                ratio(cost.completion_mean_ratio),
                Cell::maybe(times.median_s, seconds),
                Cell::maybe(times.p95_s, seconds),
                ratio(cost.completion_p95_ratio),
                Cell::maybe(times.longest_s, seconds),
            ]
        })
    });
    let many = completions.iter().any(|completion| !completion.is_one());
    let has_windows =
        outcome.run.windows.len() > 1 && completions.iter().any(|completion| completion.window.is_some());
    let has_ratio = completions.iter().any(|completion| completion.baseline.is_some());
    let columns = [
        (Column::words("flow"), true),
        (Column::words("window"), has_windows),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("complete"), true),
        (Column::numbers(if many { "mean" } else { "after" }), true),
        (Column::numbers("ratio"), has_ratio),
        (Column::numbers("median").spare(), many),
        (Column::numbers("p95"), many),
        (Column::numbers("its ratio"), many && has_ratio),
        (Column::numbers("longest").spare(), many),
    ];
    let note = "From a transfer's start, its handshake included, until its last byte has arrived. Ratio: with the background over \
                without. A flow that had not ended with the run counts as longer than all others; of an application the completed \
                transfers count that began in the window.";
    grouped(1 + usize::from(has_windows), table("Completion times", note, &columns, rows.collect()))
}

/// Tabulates the transfers of applications that make several, by size: how long they took.
pub fn by_size(outcome: &Outcome) -> Option<Table> {
    let mut rows = Vec::new();
    for (run, figures) in runs(outcome) {
        for totals in &figures.totals {
            let Some(completions) = &totals.completions else { continue };
            let mut add = |sizes: String, time: Quantiles, late: Option<u64>| {
                let flow = flow_cell(&outcome.scenario, &totals.flow);
                let late = Cell::maybe(late, count);
                let mut row =
                    vec![flow, Cell::new(run), Cell::new(sizes), Cell::new(count(time.samples)), late];
                row.extend(quantile_cells(Some(time)));
                rows.push(row);
            };
            if let Some(time) = completions.time {
                add("all".to_owned(), time, completions.late);
            }
            for class in &completions.classes {
                add(sizes(class), class.time, None);
            }
        }
    }
    let has_late = runs(outcome)
        .flat_map(|(_, run)| &run.totals)
        .any(|totals| totals.completions.as_ref().is_some_and(|completions| completions.late.is_some()));
    let columns = [
        (Column::words("flow"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::words("sizes"), true),
        (Column::numbers("complete"), true),
        (Column::numbers("late segments"), has_late),
        (Column::numbers("mean"), true),
        (Column::numbers("median"), true),
        (Column::numbers("p95"), true),
        (Column::numbers("p99").spare(), true),
        (Column::numbers("longest").spare(), true),
    ];
    let note = "From the beginning of a transfer, its handshake included, until its last byte has arrived; transfers under way at \
                the end are left out. A late segment had not arrived when the next one was due.";
    grouped(2, table("Completion times by size", note, &columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_among_transfers_without_an_end_is_not_known() {
        let times = Times::of(&[Some(3.0), None, Some(1.0), Some(2.0)]);
        assert_eq!((times.complete, times.median_s, times.p95_s, times.mean_s), (3, Some(2.0), None, None));
        assert_eq!(Times::of(&[Some(2.5)]).longest_s, Some(2.5));
        assert_eq!(Times::of(&[]), Times::default());
    }
}
