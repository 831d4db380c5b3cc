//! A simulator's counters beyond those of a real network: shares, totals of flows, and its books.

use crate::groups;
use crate::links::{self, LINK};
use crate::table::{Cell, Column, Table, Tone};
use crate::tables::{flow_cell, grouped, runs, table, RUN};
use afteryou_notation::format::{count, percent, size};
use afteryou_plot::names::are_several;
use afteryou_scenario::outcome::{Ledger, LinkFigures, Outcome, Run, Totals};

/// Tabulates each flow's share of the link in every window.
pub fn shares(outcome: &Outcome) -> Option<Table> {
    let index = |index| format!("{index:.4}");
    let has_shares = |link: &LinkFigures| {
        let figures = [link.fairness, link.foreground_fairness, link.harvest, link.foreground_share];
        figures.iter().any(Option::is_some)
    };
    let row = |(run, window, link): &links::Place<'_>| {
        vec![
            Cell::new(&window.window),
            Cell::new(&link.link),
            Cell::new(*run),
            Cell::maybe(link.foreground_share, percent),
            Cell::maybe(link.harvest, percent),
            Cell::maybe(link.foreground_fairness, index),
            Cell::maybe(link.fairness, index),
        ]
    };
    let figures = links::in_windows(outcome);
    let several = figures.iter().any(|(.., link)| link.foreground_fairness.is_some());
    let several_links = are_several(outcome);
    let columns = [
        (Column::words("window"), true),
        (LINK, several_links),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("foreground's share"), true),
        (Column::numbers("harvest"), true),
        (Column::numbers("foreground's fairness"), several),
        (Column::numbers("background's"), true),
    ];
    let note = "Foreground's share: of all goodput. Harvest: the background's goodput over what the foreground left of the \
                link. Fairness: Jain's index among the flows that have a controller.";
    let rows = figures.iter().filter(|(.., link)| has_shares(link)).map(row).collect();
    grouped(1 + usize::from(several_links), table("Shares in each window", note, &columns, rows))
}

/// Tabulates each flow's totals.
pub fn totals(outcome: &Outcome) -> Option<Table> {
    let rows = runs(outcome).flat_map(|(run, figures)| of_run(outcome, run, figures)).collect();
    let has_lost_handshakes =
        runs(outcome).flat_map(|(_, run)| &run.totals).any(|totals| totals.handshake_timeouts > 0);
    let columns = [
        (Column::words("flow"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("received"), true),
        (Column::numbers("packets"), true),
        (Column::numbers("sent again"), true),
        (Column::numbers("taken for lost").spare(), true),
        (Column::numbers("wrongly").spare(), true),
        (Column::numbers("timeouts"), true),
        (Column::numbers("of handshakes"), has_lost_handshakes),
    ];
    table("Flows in the whole run", "", &columns, rows)
}

fn of_run(outcome: &Outcome, run: &str, figures: &Run) -> Vec<Vec<Cell>> {
    let row = |totals: &Totals| {
        vec![
            flow_cell(&outcome.scenario, &totals.flow),
            Cell::new(run),
            Cell::new(size(totals.received_bytes)).of_whole(&format!("{} B", count(totals.received_bytes))),
            Cell::new(count(totals.packets)),
            Cell::new(count(totals.retransmissions)),
            Cell::new(count(totals.losses)),
            Cell::new(count(totals.spurious)),
            Cell::new(count(totals.timeouts)),
            Cell::new(count(totals.handshake_timeouts)),
        ]
    };
    groups::totals(&outcome.scenario, &figures.totals).iter().map(row).collect()
}

/// Accounts for every byte on each link.
pub fn ledger(outcome: &Outcome) -> Option<Table> {
    let row = |(run, link, ledger): (&str, &str, &Ledger)| {
        let verdict = match ledger.balances() {
            true => Cell::new("✓ balances").toned(Tone::Good),
            false => Cell::new("✗ does not balance").toned(Tone::Bad),
        };
        let bytes = |n: u64| Cell::new(count(n));
        vec![
            Cell::new(link),
            Cell::new(run),
            bytes(ledger.arrived),
            bytes(ledger.delivered),
            bytes(ledger.dropped),
            bytes(ledger.lost),
            bytes(ledger.queued),
            bytes(ledger.in_flight),
            verdict,
        ]
    };
    let columns = [
        (Column::words("link"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("arrived"), true),
        (Column::numbers("delivered"), true),
        (Column::numbers("dropped"), true),
        (Column::numbers("lost"), true),
        (Column::numbers("queued"), true),
        (Column::numbers("in flight"), true),
        (Column::words("the ledger"), true),
    ];
    let rows = runs(outcome).flat_map(|(run, figures)| {
        figures.links.iter().filter_map(move |link| Some((run, link.link.as_str(), link.ledger.as_ref()?)))
    });
    table("Every byte accounted for", "Bytes, headers included.", &columns, rows.map(row).collect())
}
