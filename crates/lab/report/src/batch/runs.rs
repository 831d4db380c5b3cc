//! The links at each point of a sweep: those that data cross.

use super::brief::LinkBrief;
use super::{are_identical, estimate, mbit, without_idle_columns, Brief, Points, WINDOW};
use crate::links::LINK;
use crate::table::{Cell, Column, Table};
use afteryou_notation::format::{count, ms, percent};
use afteryou_scenario::outcome::{FlowFigures, LinkFigures, WindowFigures};
use afteryou_scenario::Role;

/// A link in a window of a run.
struct Place<'a> {
    link: &'a LinkBrief,
    figures: &'a LinkFigures,
    window: &'a WindowFigures,
}

/// A figure of a link in a window: what it is called, how it is read off and written.
struct Figure {
    column: Column,
    read: fn(&Place<'_>) -> Option<f64>,
    write: fn(f64) -> String,
}

const FIGURES: &[Figure] = &[
    Figure {
        column: Column::numbers("utilisation"),
        read: |place| Some(place.figures.utilisation),
        write: percent,
    },
    Figure {
        column: Column::numbers("queue, mean"),
        read: |place| place.figures.queuing_delay.map(|delay| delay.mean_ms),
        write: ms,
    },
    Figure {
        column: Column::numbers("p95").spare(),
        read: |place| place.figures.queuing_delay.map(|delay| delay.p95_ms),
        write: ms,
    },
    Figure {
        column: Column::numbers("foreground"),
        read: |place| place.goodput(Role::Foreground),
        write: mbit,
    },
    Figure {
        column: Column::numbers("its fairness").spare(),
        read: |place| place.figures.foreground_fairness,
        write: index,
    },
    Figure {
        column: Column::numbers("background"),
        read: |place| place.goodput(Role::Background),
        write: mbit,
    },
    Figure {
        column: Column::numbers("its fairness").spare(),
        read: |place| place.figures.fairness,
        write: index,
    },
];

fn index(value: f64) -> String {
    format!("{value:.3}")
}

impl Place<'_> {
    /// Returns the goodput of all flows of this role whose data cross the link.
    fn goodput(&self, role: Role) -> Option<f64> {
        let crosses = |flow: &&FlowFigures| flow.role == role && self.link.carries(&flow.flow);
        let mut flows = self.window.flows.iter().filter(crosses).peekable();
        flows.peek()?;
        Some(flows.map(|flow| flow.goodput_bit_s).sum())
    }
}

/// Tabulates the mean over repetitions of each window at each point, with its 95 % interval.
pub(super) fn table(points: &Points) -> Table {
    let links = |runs: &[&Brief], window: &WindowFigures| {
        runs[0].links.iter().map(|link| row(points, runs, window, link)).collect::<Vec<_>>()
    };
    let rows = points
        .runs
        .iter()
        .flat_map(|runs| runs[0].windows.iter().flat_map(|window| links(runs, window)).collect::<Vec<_>>());
    let several = points.runs.iter().flatten().any(|brief| brief.links.len() > 1);
    // That repetitions are identical must be seen.
    let has_identical = points.runs.iter().any(|runs| runs.len() > 1 && are_identical(runs));
    let mut columns = points.columns();
    columns.push(WINDOW);
    columns.push(LINK);
    columns.push(Column { spare: !has_identical, ..Column::numbers("runs") });
    columns.extend(FIGURES.iter().map(|figure| figure.column.clone()));
    let note = "Means over the repetitions; ± is the 95 % interval of the mean, where there are three or more and they differ. \
                Foreground and background: goodput of all their flows. Fairness: Jain's index of the goodput of their flows \
                with a controller.";
    let grouped = points.axes.len();
    let mut table = Table { title: "Runs".to_owned(), note, grouped, columns, rows: rows.collect() };
    if !several {
        table.remove_column(grouped + 1);
    }
    without_idle_columns(table)
}

/// Returns the row of a link in a window of the repetitions `runs` of a point.
fn row(points: &Points, runs: &[&Brief], window: &WindowFigures, link: &LinkBrief) -> Vec<Cell> {
    let number = count(runs.len() as u64);
    let number = match runs.len() > 1 && are_identical(runs) {
        true => format!("{number} identical"),
        false => number,
    };
    let figure = |figure: &Figure| {
        let of = |brief: &&Brief| {
            let (window, link) = (brief.window(&window.window)?, brief.link(&link.name)?);
            (figure.read)(&Place { link, figures: link.figures(window)?, window })
        };
        estimate(runs.iter().filter_map(of), figure.write)
    };
    let mut cells = points.cells(runs);
    cells.extend([Cell::new(&window.window), Cell::new(&link.name), Cell::new(number)]);
    cells.extend(FIGURES.iter().map(figure));
    cells
}
