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
        let names: Vec<&str> = self.point.keys().map(String::as_str).collect();
        let word = |(name, value): (&&str, &String)| {
            format!("{} {}", short_name(name, &names), cut(value, LONGEST_VALUE))
        };
        match self.point.is_empty() {
            true => "all".to_owned(),
            false => names.iter().zip(self.point.values()).map(word).collect::<Vec<_>>().join(", "),
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

/// A varied setting without the way to it, if that tells it apart from the others: "rtt" of "flow.backup.rtt".
fn short_name<'a>(name: &'a str, all: &[&str]) -> &'a str {
    fn last(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or_default()
    }
    match all.iter().filter(|other| last(other) == last(name)).count() {
        0 | 1 => last(name),
        _ => name,
    }
}

/// The varied settings, those first that change least from point to point, so that few cells say something new.
fn axes<'a>(points: &[Vec<&'a Brief>]) -> Vec<&'a str> {
    let first = points.first().into_iter().flat_map(|runs| runs[0].point.keys());
    let mut axes: Vec<&str> = first.map(String::as_str).collect();
    let value = |runs: &[&'a Brief], name: &str| runs[0].point.get(name);
    axes.sort_by_cached_key(|name| {
        points.windows(2).filter(|pair| value(&pair[0], name) != value(&pair[1], name)).count()
    });
    axes
}

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
    let points = by_point(briefs);
    let axes = axes(&points);
    let rows: Vec<Vec<Cell>> = points
        .iter()
        .flat_map(|runs| runs[0].windows.iter().map(|window| row(runs, window, &axes)).collect::<Vec<_>>())
        .collect();
    let mut columns: Vec<Column> = axes.iter().map(|name| Column::named(short_name(name, &axes))).collect();
    columns.extend([Column::words("window"), Column::numbers("runs").spare()]);
    columns.extend(FIGURES.iter().map(|figure| figure.column.clone()));
    let note = "Means over the repetitions; ± is the 95 % interval of the mean. Foreground and background: goodput of all \
                their flows. Kept: the foreground's goodput over that without the background, mean over its flows.";
    let grouped = axes.len();
    without_idle_columns(Table { title: "Runs".to_owned(), note, grouped, columns, rows })
}

/// A window of the repetitions `runs` of a point.
fn row(runs: &[&Brief], window: &WindowFigures, axes: &[&str]) -> Vec<Cell> {
    let value = |name: &&str| {
        let value = runs[0].point.get(*name).map_or("", String::as_str);
        match value.chars().count() > LONGEST_VALUE {
            true => Cell::new(cut(value, LONGEST_VALUE)).of_whole(value),
            false => Cell::new(value),
        }
    };
    let figure = |figure: &Figure| {
        let of = |brief: &&Brief| (figure.read)(brief, brief.window(&window.window)?);
        let values: Vec<f64> = runs.iter().filter_map(of).collect();
        Cell::maybe(Estimate::of(&values), |estimate| estimate.written(figure.write))
    };
    let named = [Cell::new(&window.window), Cell::new(count(runs.len() as u64))];
    axes.iter().map(value).chain(named).chain(FIGURES.iter().map(figure)).collect()
}

/// The table without figures that nobody has, and without the window where there is only one.
fn without_idle_columns(mut table: Table) -> Table {
    let (nothing, window) = (Cell::maybe(None::<f64>, |_| String::new()), table.grouped);
    for i in (window..table.columns.len()).rev() {
        let all = |cell: &Cell| table.rows.iter().all(|row| row[i] == *cell);
        let is_idle = all(&nothing) || i == window && table.rows.first().is_none_or(|row| all(&row[i]));
        if is_idle {
            table.columns.remove(i);
            table.rows.iter_mut().for_each(|row| drop(row.remove(i)));
        }
    }
    table
}

/// The repetitions of each point, in the order of the points.
fn by_point(briefs: &[Brief]) -> Vec<Vec<&Brief>> {
    let (mut points, mut places) = (Vec::<Vec<&Brief>>::new(), BTreeMap::new());
    for brief in briefs {
        let place = *places.entry(&brief.point).or_insert(points.len());
        match points.get_mut(place) {
            Some(runs) => runs.push(brief),
            None => points.push(vec![brief]),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(point: &[(&str, &str)], utilisation: f64) -> Brief {
        let point = point.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let window = WindowFigures { window: "all".to_owned(), utilisation, ..WindowFigures::default() };
        let (name, folder, windows) = (String::new(), String::new(), vec![window]);
        Brief { name, folder, point, repetition: 0, seed: 1, windows, comparison: Vec::new() }
    }

    fn told(table: &Table) -> Vec<String> {
        let heads = table.columns.iter().map(|column| column.name.as_ref()).collect::<Vec<_>>().join("|");
        let words = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|");
        std::iter::once(heads).chain(table.rows.iter().map(words)).collect()
    }

    #[test]
    fn settings_have_columns_of_their_own_the_slowest_first() {
        let at = |rtt, rate, utilisation| brief(&[("flow.a.rtt", rtt), ("link.rate", rate)], utilisation);
        let table = summary(&[
            at("1 ms", "5", 0.5),
            at("2 ms", "5", 0.6),
            at("1 ms", "9", 0.7),
            at("2 ms", "9", 0.8),
        ]);
        let expected = [
            "rate|rtt|runs|utilisation",
            "5|1 ms|1|50.0 %",
            "5|2 ms|1|60.0 %",
            "9|1 ms|1|70.0 %",
            "9|2 ms|1|80.0 %",
        ];
        assert_eq!(told(&table).join("\n").replace('\u{a0}', " "), expected.join("\n"));
        assert_eq!(table.grouped, 2);
    }

    #[test]
    fn settings_with_the_same_last_word_keep_the_whole_name() {
        let table = summary(&[brief(&[("flow.a.rtt", "1 ms"), ("flow.b.rtt", "1 ms")], 1.0)]);
        assert_eq!(told(&table)[0], "flow.a.rtt|flow.b.rtt|runs|utilisation");
    }

    #[test]
    fn repetitions_alone_are_one_row() {
        let table = summary(&[brief(&[], 0.4), brief(&[], 0.6)]);
        assert_eq!(told(&table)[0], "runs|utilisation");
        assert!(told(&table)[1].starts_with("2|50.0 ± "), "{:?}", told(&table));
        assert!(summary(&[]).rows.is_empty());
    }
}
