//! The queues' handling of the packets of each class.

use crate::links::{self, LINK};
use crate::table::{Cell, Column, Table};
use crate::tables::{grouped, quantile_cells, runs, table, RUN};
use afteryou_notation::format::{count, number};
use afteryou_scenario::outcome::{ClassCounts, ClassFigures, LinkFigures, Outcome, WindowFigures};

/// Tabulates each class at the bottleneck's queue in every window.
pub fn classes(outcome: &Outcome) -> Option<Table> {
    let row = |run: &str, window: &WindowFigures, link: &LinkFigures, class: &ClassFigures| {
        let mut cells =
            vec![Cell::new(&window.window), Cell::new(&link.link), Cell::new(&class.class), Cell::new(run)];
        cells.push(Cell::maybe(class.queue_packets, number));
        cells.extend(quantile_cells(class.queuing_delay));
        cells
    };
    let named = links::are_named(outcome);
    let mut rows = Vec::new();
    let mut has_packets = false;
    for (run, window, link) in links::in_windows(outcome) {
        rows.extend(link.classes.iter().map(|class| row(run, window, link, class)));
        has_packets |= link.classes.iter().any(|class| class.queue_packets.is_some());
    }
    let columns = [
        (Column::words("window"), true),
        (LINK, named),
        (Column::words("class"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("packets"), has_packets),
        (Column::numbers("mean"), true),
        (Column::numbers("p50").spare(), true),
        (Column::numbers("p95"), true),
        (Column::numbers("p99").spare(), true),
        (Column::numbers("max").spare(), true),
    ];
    let note = "Packets: mean number in the queue. Delays: time that packets waited. Lower effort: packets that claim DSCP LE, \
                which most queues do not read.";
    grouped(2 + usize::from(named), table("Queue by class", note, &columns, rows))
}

/// Tabulates each queue's counters of the whole run.
pub fn counts(outcome: &Outcome) -> Option<Table> {
    let row = |(run, link, class): (&str, &str, &ClassCounts)| {
        let numbers = [
            class.arrived,
            class.dequeued,
            class.dropped_full,
            class.dropped_early,
            class.dropped_head,
            class.marked,
            class.backlog_packets,
        ];
        let mut cells = vec![Cell::new(link), Cell::new(&class.class), Cell::new(run)];
        cells.extend(numbers.map(|number| Cell::new(count(number))));
        cells
    };
    let all = runs(outcome).flat_map(|(run, figures)| {
        figures
            .links
            .iter()
            .flat_map(move |link| link.classes.iter().map(move |class| (run, link.link.as_str(), class)))
    });
    let columns = [
        (Column::words("link"), true),
        (Column::words("class"), true),
        (RUN, outcome.baseline.is_some()),
        (Column::numbers("arrived"), true),
        (Column::numbers("sent on"), true),
        (Column::numbers("no room"), true),
        (Column::numbers("dropped early"), true),
        (Column::numbers("at the head"), true),
        (Column::numbers("marked"), true),
        (Column::numbers("left"), true),
    ];
    let note =
        "Packets. No room: the buffer was full. Early and at the head: the discipline dropped by choice.";
    table("Queues in the whole run", note, &columns, all.map(row).collect())
}
