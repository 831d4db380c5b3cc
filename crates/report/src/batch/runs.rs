//! The link at each point of a sweep.

use super::{are_identical, estimate, mbit, without_idle_columns, Brief, Points, WINDOW};
use crate::format::{count, ms, percent};
use crate::table::{Cell, Column, Table};
use afteryou_scenario::outcome::WindowFigures;
use afteryou_scenario::Role;

/// A figure of a window: what it is called, how it is read off and written.
struct Figure {
    column: Column,
    read: fn(&WindowFigures) -> Option<f64>,
    write: fn(f64) -> String,
}

const FIGURES: &[Figure] = &[
    Figure { column: Column::numbers("utilisation"), read: |w| Some(w.utilisation), write: percent },
    Figure {
        column: Column::numbers("queue, mean"),
        read: |w| w.queuing_delay.map(|delay| delay.mean_ms),
        write: ms,
    },
    Figure {
        column: Column::numbers("p95").spare(),
        read: |w| w.queuing_delay.map(|delay| delay.p95_ms),
        write: ms,
    },
    Figure { column: Column::numbers("foreground"), read: |w| goodput(w, Role::Foreground), write: mbit },
    Figure { column: Column::numbers("its fairness").spare(), read: |w| w.foreground_fairness, write: index },
    Figure { column: Column::numbers("background"), read: |w| goodput(w, Role::Background), write: mbit },
    Figure { column: Column::numbers("its fairness").spare(), read: |w| w.fairness, write: index },
];

fn index(value: f64) -> String {
    format!("{value:.3}")
}

fn goodput(window: &WindowFigures, role: Role) -> Option<f64> {
    let mut flows = window.flows.iter().filter(|flow| flow.role == role).peekable();
    flows.peek()?;
    Some(flows.map(|flow| flow.goodput_bit_s).sum())
}

/// The mean over repetitions of each window at each point, with its 95 % interval.
pub(super) fn table(points: &Points) -> Table {
    let rows = points.runs.iter().flat_map(|runs| {
        let windows: Vec<_> = runs[0].windows.iter().map(|window| row(points, runs, window)).collect();
        windows
    });
    // That repetitions are identical must be seen.
    let has_identical = points.runs.iter().any(|runs| runs.len() > 1 && are_identical(runs));
    let mut columns = points.columns();
    columns.push(WINDOW);
    columns.push(Column { spare: !has_identical, ..Column::numbers("runs") });
    columns.extend(FIGURES.iter().map(|figure| figure.column.clone()));
    let note = "Means over the repetitions; ± is the 95 % interval of the mean, where there are three or more and they differ. \
                Foreground and background: goodput of all their flows. Fairness: Jain's index of the goodput of their flows \
                with a controller.";
    let table =
        Table { title: "Runs".to_owned(), note, grouped: points.axes.len(), columns, rows: rows.collect() };
    without_idle_columns(table)
}

/// A window of the repetitions `runs` of a point.
fn row(points: &Points, runs: &[&Brief], window: &WindowFigures) -> Vec<Cell> {
    let number = count(runs.len() as u64);
    let number = match runs.len() > 1 && are_identical(runs) {
        true => format!("{number} identical"),
        false => number,
    };
    let figure = |figure: &Figure| {
        let of = |brief: &&Brief| (figure.read)(brief.window(&window.window)?);
        estimate(runs.iter().filter_map(of), figure.write)
    };
    let mut cells = points.cells(runs);
    cells.extend([Cell::new(&window.window), Cell::new(number)]);
    cells.extend(FIGURES.iter().map(figure));
    cells
}
