//! Many runs of one experiment: repetitions and the points of a sweep, as a table, a page and a file for other programs.

mod csv;
mod page;
mod statistics;

pub use csv::{runs_csv, series_csv};
pub use page::index_html;

use crate::escape::cut;
use crate::format::{count, ms, number, percent};
use crate::table::{Cell, Column, Table};
use afteryou_scenario::outcome::{Comparison, Outcome, WindowFigures};
use afteryou_scenario::Role;
use statistics::Estimate;
use std::collections::BTreeMap;

/// What is kept of a run when its curves have been written.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// The scenario's name.
    pub name: String,
    /// Where its files are, relative to the page; empty if there are none.
    pub folder: String,
    /// Where in the sweep it is.
    pub point: BTreeMap<String, String>,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Its seed.
    pub seed: u64,
    /// Figures of each window.
    pub windows: Vec<WindowFigures>,
    /// Held against its baseline.
    pub comparison: Vec<Comparison>,
}

impl Brief {
    /// The figures of `outcome`, whose files are in `folder`.
    pub fn of(outcome: &Outcome, folder: &str) -> Brief {
        Brief {
            name: outcome.scenario.name.clone(),
            folder: folder.to_owned(),
            point: outcome.point.clone(),
            repetition: outcome.repetition,
            seed: outcome.scenario.seed,
            windows: outcome.run.windows.clone(),
            comparison: outcome.comparison.clone(),
        }
    }

    /// The point in words: "rtt 20 ms, upload none".
    fn setting(&self) -> String {
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let word = |(name, value): (&String, &String)| {
            let is_told_apart = self.point.keys().filter(|other| last(other) == last(name)).count() == 1;
            let name = if is_told_apart { last(name) } else { name.clone() };
            format!("{name} {}", cut(value, LONGEST_VALUE))
        };
        match self.point.is_empty() {
            true => "all".to_owned(),
            false => self.point.iter().map(word).collect::<Vec<_>>().join(", "),
        }
    }

    fn window(&self, name: &str) -> Option<&WindowFigures> {
        self.windows.iter().find(|window| window.window == name)
    }

    /// Mean of what the foreground flows kept in a window.
    fn kept(&self, window: &str) -> Option<f64> {
        let of_window = self.comparison.iter().filter(|compared| compared.window == window);
        let kept: Vec<f64> = of_window.filter_map(|compared| compared.kept).collect();
        (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
    }
}

/// Longest value of a setting in a table, characters.
const LONGEST_VALUE: usize = 16;

/// Always in the same unit, so that means and intervals can be compared.
fn mbit(bit_s: f64) -> String {
    format!("{} Mbit/s", number(bit_s / 1e6))
}

/// A figure of a window: what it is called, how it is read off and written.
struct Figure {
    column: Column,
    read: fn(&Brief, &WindowFigures) -> Option<f64>,
    write: fn(f64) -> String,
}

const FIGURES: &[Figure] = &[
    Figure { column: Column::numbers("utilisation"), read: |_, w| Some(w.utilisation), write: percent },
    Figure {
        column: Column::numbers("queue, mean"),
        read: |_, w| w.queuing_delay.map(|delay| delay.mean_ms),
        write: ms,
    },
    Figure {
        column: Column::numbers("p95").spare(),
        read: |_, w| w.queuing_delay.map(|delay| delay.p95_ms),
        write: ms,
    },
    Figure { column: Column::numbers("foreground"), read: |_, w| goodput(w, Role::Foreground), write: mbit },
    Figure { column: Column::numbers("background"), read: |_, w| goodput(w, Role::Background), write: mbit },
    Figure { column: Column::numbers("kept"), read: |brief, w| brief.kept(&w.window), write: percent },
    Figure {
        column: Column::numbers("fairness").spare(),
        read: |_, w| w.fairness,
        write: |x| format!("{x:.3}"),
    },
];

fn goodput(window: &WindowFigures, role: Role) -> Option<f64> {
    let mut flows = window.flows.iter().filter(|flow| flow.role == role).peekable();
    flows.peek()?;
    Some(flows.map(|flow| flow.goodput_bit_s).sum())
}

/// The mean over repetitions of each window at each point, with its 95 % interval.
pub(crate) fn summary(briefs: &[Brief]) -> Table {
    let mut rows = Vec::new();
    for runs in by_point(briefs) {
        for window in runs.first().map(|first| first.windows.as_slice()).unwrap_or_default() {
            let mut row = vec![
                Cell::new(runs[0].setting()),
                Cell::new(&window.window),
                Cell::new(count(runs.len() as u64)),
            ];
            row.extend(FIGURES.iter().map(|figure| {
                let of = |brief: &&Brief| (figure.read)(brief, brief.window(&window.window)?);
                let values: Vec<f64> = runs.iter().filter_map(of).collect();
                Cell::maybe(Estimate::of(&values), |estimate| estimate.written(figure.write))
            }));
            rows.push(row);
        }
    }
    let heads = [Column::words("setting"), Column::words("window"), Column::numbers("runs").spare()];
    let mut columns: Vec<Column> =
        heads.into_iter().chain(FIGURES.iter().map(|figure| figure.column)).collect();
    // A figure that nobody has is left out, and the window where there is only one.
    let nothing = Cell::maybe(None::<f64>, |_| String::new());
    for i in (0..columns.len()).rev() {
        let one_window = i == 1 && rows.iter().all(|row: &Vec<Cell>| row[1] == rows[0][1]);
        if one_window || rows.iter().all(|row: &Vec<Cell>| row[i] == nothing) {
            columns.remove(i);
            rows.iter_mut().for_each(|row| drop(row.remove(i)));
        }
    }
    let note = "Means over the repetitions; ± is the 95 % interval of the mean. Foreground and background: goodput of all \
                their flows. Kept: the foreground's goodput over that without the background, mean over its flows.";
    Table { title: "Runs".to_owned(), note, grouped: 1, columns, rows }
}

/// The repetitions of each point, in the order of the points.
fn by_point(briefs: &[Brief]) -> Vec<Vec<&Brief>> {
    let mut points: Vec<Vec<&Brief>> = Vec::new();
    for brief in briefs {
        match points.iter_mut().find(|runs| runs[0].point == brief.point) {
            Some(runs) => runs.push(brief),
            None => points.push(vec![brief]),
        }
    }
    points
}
