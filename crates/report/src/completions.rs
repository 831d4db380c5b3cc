//! How long transfers with an end took, with the background and without.

use crate::format::{count, seconds, size};
use crate::groups::{members, MOST_ROWS};
use crate::table::{Cell, Column, Table};
use crate::tables::{flow_cell, grouped, quantile_cells, runs, table, RUN};
use afteryou_scenario::outcome::{Outcome, Quantiles, Run, SizeClass};
use afteryou_scenario::{Flow, Role, Traffic};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Completion times of a transfer, or of transfers that were written together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The flow, or the name that several flows have in common.
    pub flow: String,
    /// Their role.
    pub role: Role,
    /// How many flows there are.
    pub flows: usize,
    /// In the run.
    pub run: Times,
    /// In the baseline, if there is one and they are part of it.
    pub baseline: Option<Times>,
}

/// The distribution of completion times by nearest rank. A quantile that falls among transfers without an end is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many transfers came to their end.
    pub complete: usize,
    /// Median, s.
    pub median_s: Option<f64>,
    /// 95th percentile, s.
    pub p95_s: Option<f64>,
    /// Longest, s.
    pub longest_s: Option<f64>,
}

impl Times {
    /// Of transfers that took so long, or did not come to their end.
    fn of(times_s: &[Option<f64>]) -> Times {
        let mut known: Vec<f64> = times_s.iter().copied().flatten().collect();
        known.sort_by(f64::total_cmp);
        let n = times_s.len();
        let rank = |p: usize| known.get((p * n).div_ceil(100).max(1) - 1).copied();
        Times { complete: known.len(), median_s: rank(50), p95_s: rank(95), longest_s: rank(100) }
    }
}

/// Completion times of all transfers with an end: each by itself, or those of one table of the file together.
pub fn completions(outcome: &Outcome, together: bool) -> Vec<Completion> {
    let sized: Vec<&Flow> =
        outcome.scenario.flow.iter().filter(|flow| matches!(flow.traffic, Traffic::Size(_))).collect();
    let runs = [Some(&outcome.run), outcome.baseline.as_ref()].map(|run| run.map(by_flow));
    let times = |run: &Option<HashMap<&str, Option<f64>>>, members: &[&&Flow]| {
        let known = run.as_ref()?;
        let times: Option<Vec<Option<f64>>> =
            members.iter().map(|flow| known.get(flow.name.as_str()).copied()).collect();
        times.map(|times| Times::of(&times))
    };
    let completion = |(name, members): (&str, Vec<&&Flow>)| {
        Some(Completion {
            flow: name.to_owned(),
            role: members[0].role,
            flows: members.len(),
            run: times(&runs[0], &members)?,
            baseline: times(&runs[1], &members),
        })
    };
    members(&sized, |flow| shown_as(flow, together)).into_iter().filter_map(completion).collect()
}

/// The name of `flow`, or of the table that it was written in together with others.
pub fn shown_as(flow: &Flow, together: bool) -> &str {
    flow.group.as_deref().filter(|_| together).unwrap_or(&flow.name)
}

/// When each flow of a run was complete, s, if it was. Engines that do not count totals know nothing of it.
fn by_flow(run: &Run) -> HashMap<&str, Option<f64>> {
    run.totals.iter().map(|totals| (totals.flow.as_str(), totals.completed_in_s)).collect()
}

/// The table of completion times.
pub fn table_of(outcome: &Outcome) -> Option<Table> {
    let completions = completions(outcome, outcome.scenario.flow.len() > MOST_ROWS);
    let rows = completions.iter().flat_map(|completion| {
        let runs = [("with", Some(&completion.run)), ("without", completion.baseline.as_ref())];
        runs.into_iter().filter_map(|(run, times)| Some((run, times?))).map(|(run, times)| {
            let complete = format!("{} of {}", count(times.complete as u64), count(completion.flows as u64));
            vec![
                flow_cell(&outcome.scenario, &completion.flow),
                Cell::new(run),
                Cell::new(complete),
                Cell::maybe(times.median_s, seconds),
                Cell::maybe(times.p95_s, seconds),
                Cell::maybe(times.longest_s, seconds),
            ]
        })
    });
    let many = completions.iter().any(|completion| completion.flows > 1);
    let columns = [
        (Column::words("flow"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("complete"), true),
        (Column::numbers(if many { "median" } else { "after" }), true),
        (Column::numbers("p95"), many),
        (Column::numbers("longest"), many),
    ];
    let note = "From a transfer's start until its last byte has arrived. A transfer that had not ended with the run counts as \
                longer than all others.";
    grouped(1, table("Completion times", note, &columns, rows.collect()))
}

/// Transfers of applications that make several, by size: how long they took.
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

/// "10.0 kB to 100 kB", "10.0 MB and more".
pub fn sizes(class: &SizeClass) -> String {
    match class.to_bytes {
        Some(to) if class.from_bytes == 0 => format!("below {}", size(to)),
        Some(to) => format!("{} to {}", size(class.from_bytes), size(to)),
        None => format!("{} and more", size(class.from_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_among_transfers_without_an_end_is_not_known() {
        let times = Times::of(&[Some(3.0), None, Some(1.0), Some(2.0)]);
        assert_eq!((times.complete, times.median_s, times.p95_s), (3, Some(2.0), None));
        assert_eq!(Times::of(&[Some(2.5)]).longest_s, Some(2.5));
        assert_eq!(Times::of(&[]), Times::default());
    }
}
