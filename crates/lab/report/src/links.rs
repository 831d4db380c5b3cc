//! Links: which of them are shown, their figures in each window, their packets, and the cost of the background there.
//!
//! Shown are links that data cross. Where the scenario has no other, as most have not, no table names it.

use crate::table::{Cell, Column, Table};
use crate::tables::{grouped, quantile_cells, runs, table, window_pairs, RUN};
use afteryou_notation::format::{count, interval, number, part, percent, signed_ms};
use afteryou_plot::names::are_several;
use afteryou_scenario::outcome::{DataLink, LinkComparison, LinkFigures, LinkTotals, Outcome, WindowFigures};

/// The column that names the link.
pub(crate) const LINK: Column = Column::words("link");

/// Returns whether tables name the links: there are several to show, or the one to show is one of several in the scenario.
pub(crate) fn are_named(outcome: &Outcome) -> bool {
    are_several(outcome) || outcome.scenario.has_named_links()
}

/// A link in a window of a run: the run's name, the window, the link.
pub(crate) type Place<'a> = (&'static str, &'a WindowFigures, &'a LinkFigures);

/// Returns the links to show of each window: each with the background and without.
pub(crate) fn in_windows(outcome: &Outcome) -> Vec<Place<'_>> {
    let shown = outcome.data_links();
    let mut places: Vec<(usize, Place<'_>)> = Vec::new();
    let mut begins = 0;
    for (run, window) in window_pairs(outcome) {
        // Runs of one window are neighbours here, and within it those of one link shall be.
        if places.get(begins).is_none_or(|(_, (_, first, _))| first.window != window.window) {
            begins = places.len();
        }
        let place = |index| Some((index, (run, window, window.links.get(index)?)));
        places.extend(shown.iter().filter_map(|link| place(link.index)));
        places[begins..].sort_by_key(|(index, _)| *index);
    }
    places.into_iter().map(|(_, place)| place).collect()
}

/// Tabulates the links in every window.
pub fn figures(outcome: &Outcome) -> Option<Table> {
    let row = |(run, window, link): &Place<'_>| {
        let mut cells = vec![
            Cell::new(&window.window),
            Cell::new(interval(window.from_s, window.to_s)),
            Cell::new(&link.link),
            Cell::new(*run),
            Cell::new(percent(link.utilisation)),
        ];
        cells.extend(quantile_cells(link.queuing_delay));
        cells.push(Cell::maybe(link.queue_packets, number));
        cells
    };
    let links = in_windows(outcome);
    let named = are_named(outcome);
    let columns = [
        (Column::words("window"), true),
        (Column::words("time"), true),
        (LINK, named),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("utilisation"), true),
        (Column::numbers("queue, mean"), true),
        (Column::numbers("p50").spare(), true),
        (Column::numbers("p95"), true),
        (Column::numbers("p99").spare(), true),
        (Column::numbers("max").spare(), true),
        (Column::numbers("packets").spare(), links.iter().any(|(.., link)| link.queue_packets.is_some())),
    ];
    let note = "Utilisation: bytes sent over what the link could have sent. Queue: time that packets waited. Packets: mean \
                number in the queue over time, the one being sent not counted.";
    let title = if are_several(outcome) { "Links in each window" } else { "The link in each window" };
    grouped(2 + usize::from(named), table(title, note, &columns, links.iter().map(row).collect()))
}

/// Tabulates the links with the background against the links without; `None` where there is one, whose flows have the same.
pub fn comparison(outcome: &Outcome) -> Option<Table> {
    if !are_several(outcome) {
        return None;
    }
    let row = |compared: &LinkComparison| {
        vec![
            Cell::new(&compared.window),
            Cell::new(&compared.link),
            Cell::maybe(compared.kept, percent),
            Cell::maybe(compared.added_delay_mean_ms, signed_ms),
            Cell::maybe(compared.added_delay_p95_ms, signed_ms),
        ]
    };
    let columns = [
        (Column::words("window"), true),
        (LINK, true),
        (Column::numbers("kept"), true),
        (Column::numbers("added to its queue, mean"), true),
        (Column::numbers("p95"), true),
    ];
    let note = "Kept: goodput with the background over goodput without it, of all foreground flows whose data cross the link. \
                Added: time in its queue with the background minus time without it.";
    let rows = outcome.link_comparison.iter().map(row).collect();
    grouped(1, table("What the background cost on each link", note, &columns, rows))
}

/// Tabulates the packets at the links.
pub fn packets(outcome: &Outcome) -> Option<Table> {
    let shown = outcome.data_links();
    let row = |(run, link): (&str, &LinkTotals)| {
        let packets = link.packets?;
        let of_arrived = |n: u64| match n {
            0 => Cell::new("0"),
            n => Cell::new(format!("{} ({})", count(n), part(n, packets.arrived))),
        };
        Some(vec![
            Cell::new(&link.link),
            Cell::new(run),
            Cell::new(count(packets.arrived)),
            Cell::new(count(packets.delivered)),
            of_arrived(packets.dropped),
            of_arrived(packets.lost),
            Cell::new(count(packets.unfinished)),
        ])
    };
    let of_link = |link: &DataLink<'_>| {
        let index = link.index;
        runs(outcome).filter_map(move |(run, figures)| Some((run, figures.links.get(index)?)))
    };
    let rows = shown.iter().flat_map(of_link).filter_map(row).collect();
    let (several, named) = (shown.len() > 1, are_named(outcome));
    let columns = [
        (LINK, named),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("arrived"), true),
        (Column::numbers("delivered"), true),
        (Column::numbers("dropped by the queue"), true),
        (Column::numbers("lost at random"), true),
        (Column::numbers("unfinished").spare(), true),
    ];
    let title = match (several, named) {
        (true, _) => "Packets at each link that data cross",
        (false, true) => "Packets at the link",
        (false, false) => "Packets at the bottleneck, forward direction",
    };
    grouped(usize::from(named), table(title, "", &columns, rows))
}
