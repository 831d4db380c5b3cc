//! The tables of an outcome.

use crate::groups;
use crate::table::{Cell, Column, Table, Tone};
use afteryou_notation::format::{
    bound, checked, count, ms, number, percent, rate, seconds, signed_ms, size, NOTHING,
};
use afteryou_plot::palette;
use afteryou_scenario::outcome::{
    Check, CompletionCost, FlowFigures, Outcome, Quantiles, Run, WindowFigures,
};
use afteryou_scenario::{Role, Scenario};

pub(crate) const RUN: Column = Column::words("background");

/// Returns the runs of an outcome with their names, the baseline last.
pub(crate) fn runs(outcome: &Outcome) -> impl Iterator<Item = (&'static str, &Run)> {
    let name = if outcome.baseline.is_some() { "with" } else { "" };
    let baseline = outcome.baseline.as_ref().map(|run| ("without", run));
    std::iter::once((name, &outcome.run)).chain(baseline)
}

/// Returns a table in which a column is left out unless `keep` has it.
pub(crate) fn table(
    title: &str,
    note: &'static str,
    columns: &[(Column, bool)],
    rows: Vec<Vec<Cell>>,
) -> Option<Table> {
    if rows.is_empty() {
        return None;
    }
    let kept = |row: Vec<Cell>| {
        row.into_iter().zip(columns).filter(|(_, (_, keep))| *keep).map(|(cell, _)| cell).collect()
    };
    Some(Table {
        title: title.to_owned(),
        note,
        grouped: 0,
        columns: columns.iter().filter(|(_, keep)| *keep).map(|(column, _)| column.clone()).collect(),
        rows: rows.into_iter().map(kept).collect(),
    })
}

/// Returns the table with its first `columns` columns silent where they repeat themselves.
pub(crate) fn grouped(columns: usize, table: Option<Table>) -> Option<Table> {
    table.map(|table| Table { grouped: columns, ..table })
}

fn always(columns: &[Column]) -> Vec<(Column, bool)> {
    columns.iter().map(|column| (column.clone(), true)).collect()
}

pub(crate) fn flow_cell(scenario: &Scenario, name: &str) -> Cell {
    Cell::new(name).styled(palette::style(scenario, name))
}

/// Returns the role in one word.
pub fn role(role: Role) -> &'static str {
    match role {
        Role::Foreground => "foreground",
        Role::Background => "background",
    }
}

/// Returns the reasons to doubt the figures, and the advice.
pub fn warning(outcome: &Outcome) -> Option<(&'static str, &'static str)> {
    let spoiled = |run: &Run| run.lateness.is_some_and(|late| late.spoiled());
    runs(outcome).any(|(_, run)| spoiled(run)).then_some((
        "This machine was too slow for the emulation.",
        "The figures measure the machine rather than the network: run again with less load, or with a lower link rate.",
    ))
}

/// Tabulates values held against their bounds.
pub fn checks(outcome: &Outcome) -> Option<Table> {
    let note = "A value marked “for information” does not decide the verdict.";
    let columns = always(&[
        Column::words("check"),
        Column::numbers("value"),
        Column::words("bound"),
        Column::words("result"),
    ]);
    let note = if outcome.checks.iter().all(|check| check.counts) { "" } else { note };
    table("Checks", note, &columns, outcome.checks.iter().map(check_row).collect())
}

fn check_row(check: &Check) -> Vec<Cell> {
    let bounds: Vec<f64> = check.at_least.into_iter().chain(check.at_most).collect();
    let value = Cell::maybe(check.value, |value| checked(value, &check.unit, &bounds));
    let limit = match (check.at_least, check.at_most) {
        (Some(least), Some(most)) => {
            format!("{} to {}", bound(least, &check.unit), bound(most, &check.unit))
        }
        (Some(least), None) => format!("at least {}", bound(least, &check.unit)),
        (None, Some(most)) => format!("at most {}", bound(most, &check.unit)),
        (None, None) => "none".to_owned(),
    };
    let result = match (check.met(), check.value.is_some(), check.counts) {
        (true, _, true) => Cell::new("✓ met").toned(Tone::Good),
        (false, true, true) => Cell::new("✗ not met").toned(Tone::Bad),
        (false, false, true) => Cell::new("✗ not measured").toned(Tone::Bad),
        (true, _, false) => Cell::new("met, for information").toned(Tone::Faint),
        (false, true, false) => Cell::new("not met, for information").toned(Tone::Faint),
        (false, false, false) => Cell::new("not measured, for information").toned(Tone::Faint),
    };
    vec![Cell::new(&check.what), value, Cell::new(limit), result]
}

/// Tabulates every flow in every window.
pub fn flows(outcome: &Outcome) -> Option<Table> {
    let rows = window_names(outcome).into_iter().flat_map(|name| flow_rows(outcome, name)).collect();
    let mut shown = runs(outcome).flat_map(|(_, run)| &run.windows).flat_map(|window| &window.flows);
    let delays = shown.any(|flow| flow.queuing_delay.is_some());
    let columns = [
        (Column::words("window"), true),
        (Column::words("flow"), true),
        (Column::words("role").spare(), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("goodput"), true),
        (Column::numbers("share"), true),
        (Column::numbers("delay, mean").spare(), delays),
        (Column::numbers("p50").spare(), delays),
        (Column::numbers("p95"), delays),
        (Column::numbers("p99").spare(), delays),
        (Column::numbers("max").spare(), delays),
    ];
    let note = "Goodput: payload that arrived for the first time. Share: goodput over what the link could carry of it. \
                Delay: beyond the propagation delay, for flows that measure it.";
    grouped(3, table("Flows in each window", note, &columns, rows))
}

/// Returns each window of each run: those of one window together.
pub(crate) fn window_pairs(outcome: &Outcome) -> impl Iterator<Item = (&'static str, &WindowFigures)> {
    window_names(outcome).into_iter().flat_map(move |name| windows_named(outcome, name))
}

fn window_names(outcome: &Outcome) -> Vec<&str> {
    let mut names = Vec::new();
    for window in runs(outcome).flat_map(|(_, run)| &run.windows) {
        if !names.contains(&window.window.as_str()) {
            names.push(window.window.as_str());
        }
    }
    names
}

/// Returns the window called `name` of each run.
fn windows_named<'a>(
    outcome: &'a Outcome,
    name: &'a str,
) -> impl Iterator<Item = (&'static str, &'a WindowFigures)> {
    let of_run = move |(run, figures): (&'static str, &'a Run)| {
        let windows = figures.windows.iter().filter(move |window| window.window == name);
        windows.map(move |window| (run, window))
    };
    runs(outcome).flat_map(of_run)
}

/// Returns the rows of every flow of the window called `name`, each with the background and without.
fn flow_rows(outcome: &Outcome, name: &str) -> Vec<Vec<Cell>> {
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    for (run, window) in windows_named(outcome, name) {
        for flow in groups::figures(&outcome.scenario, &window.flows).iter() {
            let row = flow_row(outcome, run, name, flow);
            let after = rows.iter().rposition(|(other, _)| *other == flow.flow);
            rows.insert(after.map_or(rows.len(), |last| last + 1), (flow.flow.clone(), row));
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn flow_row(outcome: &Outcome, run: &str, window: &str, flow: &FlowFigures) -> Vec<Cell> {
    let mut cells = vec![
        Cell::new(window),
        flow_cell(&outcome.scenario, &flow.flow),
        Cell::new(role(flow.role)),
        Cell::new(run),
        Cell::new(rate(flow.goodput_bit_s)),
        Cell::new(percent(flow.share_of_payload_capacity)),
    ];
    cells.extend(quantile_cells(flow.queuing_delay));
    cells
}

/// Returns mean, median, p95, p99 and largest.
pub(crate) fn quantile_cells(quantiles: Option<Quantiles>) -> [Cell; 5] {
    let cell = |of: fn(Quantiles) -> f64| Cell::maybe(quantiles, |q| ms(of(q)));
    [cell(|q| q.mean_ms), cell(|q| q.p50_ms), cell(|q| q.p95_ms), cell(|q| q.p99_ms), cell(|q| q.max_ms)]
}

/// Tabulates the run against the baseline.
pub fn comparison(outcome: &Outcome) -> Option<Table> {
    let compared = groups::comparison(outcome);
    let rows = compared.iter().map(|compared| {
        let cost = &compared.completion;
        let times = [
            change([cost.baseline_completion_mean_s, cost.completion_mean_s], cost.completion_mean_ratio),
            change([cost.baseline_completion_p95_s, cost.completion_p95_s], cost.completion_p95_ratio),
        ];
        let [mean, p95] = times;
        vec![
            Cell::new(&compared.window),
            flow_cell(&outcome.scenario, &compared.flow),
            mean,
            p95,
            Cell::maybe(compared.kept, percent),
            Cell::maybe(compared.added_delay_mean_ms, signed_ms),
            Cell::maybe(compared.added_delay_p95_ms, signed_ms),
        ]
    });
    let has = |part: fn(&CompletionCost) -> Option<f64>| {
        compared.iter().any(|compared| part(&compared.completion).is_some())
    };
    let has_times = has(|cost| cost.baseline_completion_mean_s.or(cost.completion_mean_s));
    let columns = [
        (Column::words("window"), true),
        (Column::words("flow"), true),
        (Column::numbers("completion, mean"), has_times),
        (Column::numbers("p95").spare(), has_times),
        (Column::numbers("kept"), true),
        (Column::numbers("added delay, mean"), true),
        (Column::numbers("p95"), true),
    ];
    let note = match has_times {
        true => {
            "Completion: how long transfers took without the background → with it, and the ratio. Kept: goodput with the background \
             over goodput without it; none for a flow that is absent from the window, or has sent all it had before the window ends. \
             Added delay: delay with the background minus delay without it."
        }
        false => {
            "Kept: goodput with the background over goodput without it; none for a flow that is absent from the window, or \
             has sent all it had before the window ends. Added delay: delay with the background minus delay without it."
        }
    };
    grouped(1, table("What the background cost", note, &columns, rows.collect()))
}

/// Formats a change: "1.260 s → 1.610 s (×1.28)".
fn change([without, with]: [Option<f64>; 2], ratio: Option<f64>) -> Cell {
    if without.is_none() && with.is_none() {
        return Cell::maybe(None::<f64>, seconds);
    }
    let time = |s: Option<f64>| s.map_or_else(|| NOTHING.to_owned(), seconds);
    let ratio = ratio.map(|ratio| format!(" (×{})", number(ratio))).unwrap_or_default();
    Cell::new(format!("{} → {}{ratio}", time(without), time(with)))
}

/// Transfers whose two ends were compared.
pub fn transfers(outcome: &Outcome) -> Option<Table> {
    let rows = outcome.transfers.iter().map(|transfer| {
        let hash: String = transfer.sent_blake3.chars().take(12).collect();
        let received = &transfer.received_blake3;
        let identical = match transfer.identical() {
            true => Cell::new("✓ identical").toned(Tone::Good),
            false => Cell::new("✗ different").toned(Tone::Bad),
        };
        vec![
            flow_cell(&outcome.scenario, &transfer.flow),
            Cell::new(size(transfer.sent_bytes)).of_whole(&format!("{} B", count(transfer.sent_bytes))),
            Cell::new(size(transfer.received_bytes))
                .of_whole(&format!("{} B", count(transfer.received_bytes))),
            Cell::new(hash).of_whole(&format!("sent {}, received {received}", transfer.sent_blake3)),
            identical,
        ]
    });
    let columns = always(&[
        Column::words("flow"),
        Column::numbers("sent"),
        Column::numbers("received"),
        Column::words("BLAKE3 of what was sent").spare(),
        Column::words("what arrived"),
    ]);
    table("Transfers", "", &columns, rows.collect())
}

/// Tabulates how late a real-time emulation was.
pub fn lateness(outcome: &Outcome) -> Option<Table> {
    let rows = runs(outcome).filter_map(|(run, figures)| {
        let late = figures.lateness?;
        let verdict = match late.spoiled() {
            false => Cell::new("✓ in time").toned(Tone::Good),
            true => Cell::new("✗ too late").toned(Tone::Bad),
        };
        let mut cells = vec![Cell::new(run), Cell::new(count(late.departures.samples))];
        cells.extend(quantile_cells(Some(late.departures)));
        cells.extend([Cell::new(ms(late.bound_ms)), verdict]);
        Some(cells)
    });
    let columns = [
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("packets").spare(), true),
        (Column::numbers("mean"), true),
        (Column::numbers("p50").spare(), true),
        (Column::numbers("p95").spare(), true),
        (Column::numbers("p99"), true),
        (Column::numbers("max").spare(), true),
        (Column::numbers("bound of p99"), true),
        (Column::words("the machine was"), true),
    ];
    let note =
        "Actual minus scheduled departure of packets. Above the bound, the run tells about the machine, \
                not about the network.";
    table("Lateness of the emulation", note, &columns, rows.collect())
}
