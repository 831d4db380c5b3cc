//! Flows that the scenario measures together: their goodput, fairness, starvation and transfers.

use crate::table::{Cell, Column, Table};
use crate::tables::{grouped, runs, table, RUN};
use afteryou_notation::format::{count, interval, ms, percent, rate, seconds};
use afteryou_scenario::outcome::{Outcome, SetFigures};

/// More flows than this are a number.
const MOST_NAMED: usize = 3;

/// Tabulates each set in its window.
pub fn table_of(outcome: &Outcome) -> Option<Table> {
    let sets = || runs(outcome).flat_map(|(run, figures)| figures.sets.iter().map(move |set| (run, set)));
    let has = |part: fn(&SetFigures) -> bool| sets().any(|(_, set)| part(set));
    let columns = [
        (Column::words("window"), true),
        (Column::words("time"), true),
        (Column::words("flows"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("goodput"), true),
        (Column::numbers("share"), true),
        (Column::numbers("fairness"), has(|set| set.fairness.is_some())),
        (Column::numbers("in steps, mean"), has(|set| set.short_term.is_some())),
        (Column::numbers("p5"), has(|set| set.short_term.is_some())),
        (Column::numbers("starved"), has(|set| set.starved.is_some())),
        (Column::numbers("start-up"), has(|set| set.start_up_s.is_some())),
        (Column::numbers("stalls"), has(|set| set.stalls.is_some())),
        (Column::numbers("transfers"), has(|set| set.transfers.is_some())),
        (Column::numbers("their median"), has(|set| set.transfers.is_some())),
    ];
    let note = "Share: goodput over what the link could carry of it. Fairness: Jain's index of the goodputs in the window, then in each \
                step of it. Starved: the longest time that a flow was below a part of its fair share. Start-up: until the flows \
                together reached a part of the link. Every figure is in result.json.";
    let rows = sets().map(|(run, set)| row(run, set)).collect();
    grouped(2, table("Sets of flows", note, &columns, rows))
}

fn row(run: &str, set: &SetFigures) -> Vec<Cell> {
    let index = |index: f64| format!("{index:.4}");
    let transfers = set.transfers.as_ref();
    vec![
        Cell::new(&set.window),
        Cell::new(interval(set.from_s, set.to_s)),
        flows(&set.flows),
        Cell::new(run),
        Cell::new(rate(set.goodput_bit_s)),
        Cell::new(percent(set.share_of_payload_capacity)),
        Cell::maybe(set.fairness, index),
        Cell::maybe(set.short_term.map(|index| index.mean), index),
        Cell::maybe(set.short_term.map(|index| index.p5), index),
        Cell::maybe(set.starved.as_ref().map(|starved| starved.longest_s), seconds),
        Cell::maybe(set.start_up_s, seconds),
        Cell::maybe(set.stalls.map(|stalls| stalls.count), count),
        Cell::maybe(transfers.map(|transfers| transfers.completed), count),
        Cell::maybe(transfers.and_then(|transfers| transfers.time).map(|time| time.p50_ms), ms),
    ]
}

/// Returns their names, or how many there are.
fn flows(names: &[String]) -> Cell {
    match names.len() {
        0..=MOST_NAMED => Cell::new(names.join(", ")),
        many => Cell::new(format!("{many} flows")).of_whole(&names.join(", ")),
    }
}
