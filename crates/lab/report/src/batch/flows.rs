//! Each flow at each point of a sweep: what it got, what it kept, how long it took.

use super::brief::FlowBrief;
use super::{estimate, mbit, without_idle_columns, Points, WINDOW};
use crate::completions::{Completion, Times};
use crate::table::{Cell, Column, Table};
use crate::tables::role;
use afteryou_notation::format::{count, number, percent, seconds, signed_ms};
use afteryou_scenario::outcome::CompletionCost;
use afteryou_scenario::Role;

/// A flow that has a row at every point, those without it included; flows written together have one where they are.
struct Known<'a> {
    flow: &'a str,
    role: Role,
    is_group: bool,
}

/// Tabulates every flow in every window at every point.
pub(super) fn table(points: &Points) -> Option<Table> {
    let known = known(points);
    let mut rows = Vec::new();
    for runs in &points.runs {
        for window in &runs[0].windows {
            for flow in &known {
                let is_it = |one: &&FlowBrief| one.window == window.window && one.flow == flow.flow;
                let found: Vec<&FlowBrief> =
                    runs.iter().filter_map(|brief| brief.flows.iter().find(is_it)).collect();
                if !found.is_empty() || !flow.is_group {
                    rows.push(row(points.cells(runs), &window.window, flow, &found));
                }
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns = points.columns();
    columns.extend([
        WINDOW,
        Column::words("flow"),
        Column::words("role").spare(),
        Column::numbers("goodput"),
        Column::numbers("kept"),
        Column::numbers("added delay, mean"),
        Column::numbers("p95"),
    ]);
    let note = "Kept: goodput over that without the background; none for a flow that is absent from the run or the window, or \
                has sent all it had before the window ends. Flows of one table of the file together: sum of their goodput, \
                mean of the rest.";
    let grouped = points.axes.len() + 1;
    Some(without_idle_columns(Table { title: "Flows".to_owned(), note, grouped, columns, rows }))
}

fn known<'a>(points: &Points<'a>) -> Vec<Known<'a>> {
    let mut known: Vec<Known> = Vec::new();
    for brief in points.runs.iter().flatten() {
        for flow in &brief.flows {
            if !known.iter().any(|known| known.flow == flow.flow) {
                known.push(Known { flow: &flow.flow, role: flow.role, is_group: flow.count.is_some() });
            }
        }
    }
    known
}

/// Returns the row of a flow in a window of the repetitions of a point; `found` is empty where it is absent.
fn row(mut cells: Vec<Cell>, window: &str, flow: &Known, found: &[&FlowBrief]) -> Vec<Cell> {
    let name = named(flow.flow, found.first().and_then(|flow| flow.count));
    cells.extend([
        Cell::new(window),
        Cell::new(name),
        Cell::new(role(flow.role)),
        estimate(found.iter().map(|flow| flow.goodput_bit_s), mbit),
        estimate(found.iter().filter_map(|flow| flow.kept), percent),
        estimate(found.iter().filter_map(|flow| flow.added_delay_mean_ms), signed_ms),
        estimate(found.iter().filter_map(|flow| flow.added_delay_p95_ms), signed_ms),
    ]);
    cells
}

/// Returns the flow's name: "upload", "upload (50 flows)".
fn named(flow: &str, count_of_flows: Option<usize>) -> String {
    match count_of_flows {
        Some(flows) => format!("{flow} ({} flows)", count(flows as u64)),
        None => flow.to_owned(),
    }
}

/// Tabulates the completion times at every point.
pub(super) fn completions(points: &Points) -> Option<Table> {
    let mut rows = Vec::new();
    for runs in &points.runs {
        for first in &runs[0].completions {
            let is_it = |one: &&Completion| one.flow == first.flow && one.window == first.window;
            let found: Vec<&Completion> =
                runs.iter().filter_map(|brief| brief.completions.iter().find(is_it)).collect();
            rows.push(completion_row(points.cells(runs), &found));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns = points.columns();
    columns.extend([
        WINDOW,
        Column::words("flow"),
        Column::numbers("complete"),
        Column::numbers("mean"),
        Column::numbers("without"),
        Column::numbers("ratio"),
        Column::numbers("p95"),
        Column::numbers("without"),
        Column::numbers("ratio"),
        Column::numbers("median").spare(),
        Column::numbers("without").spare(),
        Column::numbers("longest").spare(),
        Column::numbers("without").spare(),
    ]);
    let note = "From a transfer's start, its handshake included, until its last byte has arrived; without: in the runs without \
                background. A flow that had not ended with the run counts as longer than all others; of an application the completed \
                transfers count that began in the window.";
    let (title, grouped) = ("Completion times".to_owned(), points.axes.len());
    Some(without_idle_columns(Table { title, note, grouped, columns, rows }))
}

/// Returns the row of the same transfers in the repetitions of a point.
fn completion_row(mut cells: Vec<Cell>, found: &[&Completion]) -> Vec<Cell> {
    let first = &found[0];
    cells.push(Cell::new(first.window.as_deref().unwrap_or_default()));
    cells.push(Cell::new(named(&first.flow, (first.flows > 1).then_some(first.flows))));
    cells.push(estimate(found.iter().map(|one| one.run.completed_part()), percent));
    let figures: [fn(&Times) -> Option<f64>; 4] =
        [|times| times.mean_s, |times| times.p95_s, |times| times.median_s, |times| times.longest_s];
    let ratios: [fn(&CompletionCost) -> Option<f64>; 2] =
        [|cost| cost.completion_mean_ratio, |cost| cost.completion_p95_ratio];
    for (place, figure) in figures.iter().enumerate() {
        cells.push(all(found.iter().map(|one| figure(&one.run)), seconds));
        cells.push(all(found.iter().map(|one| one.baseline.as_ref().and_then(figure)), seconds));
        if let Some(ratio) = ratios.get(place) {
            cells.push(all(found.iter().map(|one| ratio(&one.cost())), number));
        }
    }
    cells
}

/// Returns the mean over repetitions; a dash if one of them has none, since the mean of the others would flatter.
fn all(values: impl Iterator<Item = Option<f64>>, write: fn(f64) -> String) -> Cell {
    let known: Option<Vec<f64>> = values.collect();
    estimate(known.unwrap_or_default().into_iter(), write)
}
