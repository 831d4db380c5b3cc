//! Many runs of one experiment: repetitions and the points of a sweep, as tables, a page and a file for other programs.
//!
//! `headline` states the outcome in a sentence, `pictures` are those of the page, and `brief` is the kept part of each
//! run. `runs` is the table of the whole link, `flows` that of each flow. `folders` has the files, `parts` those that
//! exist before the last run has ended.

mod brief;
mod flows;
#[cfg(feature = "parquet")]
mod folders;
mod headline;
mod page;
#[cfg(feature = "parquet")]
mod parts;
mod pictures;
mod runs;

pub use brief::Brief;
#[cfg(feature = "parquet")]
pub use folders::{FinishedSweep, Folders, Record};
pub(crate) use headline::headline;
pub use page::index_html;
#[cfg(feature = "parquet")]
pub use parts::Parts;

use crate::table::{Cell, Column, Table};
use afteryou_notation::format::{count, number, NOTHING};
use afteryou_plot::estimate::{caption, Estimate, FEWEST_FOR_AN_INTERVAL};
use std::collections::BTreeMap;

/// Most runs that a page and a terminal show; tables for programs have all.
pub const MOST_SHOWN: usize = 2_000;

const WINDOW: Column = Column::words("window");

/// Returns the tables of all runs.
pub(crate) fn tables(briefs: &[Brief]) -> Vec<Table> {
    let points = Points::of(briefs);
    let (rates, times) = ([Some(runs::table(&points)), flows::table(&points)], flows::completions(&points));
    let times_lead = briefs.iter().any(Brief::has_completions);
    let (first, last) = if times_lead { (times, None) } else { (None, times) };
    [first].into_iter().chain(rates).chain([last]).flatten().collect()
}

/// Returns notes on the repetitions, a sentence each; `all` runs were made.
pub(crate) fn remarks(briefs: &[Brief], all: usize) -> Vec<String> {
    let points = Points::of(briefs).runs;
    let repeated: Vec<_> = points.iter().filter(|runs| runs.len() > 1).collect();
    let identical = repeated.iter().filter(|runs| are_identical(runs)).count();
    let mut remarks = Vec::new();
    if briefs.len() < all {
        remarks.push(format!(
            "Shown are the first {} of {} runs; with --out, runs.csv and flows.csv have all of them.",
            count(briefs.len() as u64),
            count(all as u64)
        ));
    }
    match (identical, repeated.len()) {
        (0, _) => {}
        (n, all) if n == all => remarks.push(
            "All repetitions gave identical results: nothing random made a difference.".to_owned(),
        ),
        (n, all) => remarks.push(format!(
            "The repetitions of {} of {} points gave identical results: nothing random made a difference there.",
            count(n as u64),
            count(all as u64)
        )),
    }
    let with_interval =
        repeated.iter().filter(|runs| runs.len() >= FEWEST_FOR_AN_INTERVAL && !are_identical(runs));
    if let Some(caption) = caption(with_interval.map(|runs| runs.len())) {
        remarks.push(format!("± is the interval of the mean over the repetitions ({caption})."));
    }
    if repeated.iter().any(|runs| runs.len() == 2 && !are_identical(runs)) {
        remarks.push("Two repetitions have no interval: repeat three times or more (--repeat 5).".to_owned());
    }
    remarks
}

/// Returns whether all repetitions of a point measured the same to the last digit.
fn are_identical(runs: &[&Brief]) -> bool {
    runs.windows(2).all(|pair| pair[0].measured_as(pair[1]))
}

/// The runs of a sweep by their points.
struct Points<'a> {
    /// The repetitions of each point, in the order of the points.
    runs: Vec<Vec<&'a Brief>>,
    /// The varied settings, those first that change least from point to point, so that few cells are new.
    axes: Vec<&'a str>,
}

impl<'a> Points<'a> {
    fn of(briefs: &'a [Brief]) -> Points<'a> {
        let runs = by_point(briefs);
        let axes = axes(&runs);
        Points { runs, axes }
    }

    /// Returns a column for each varied setting.
    fn columns(&self) -> Vec<Column> {
        self.axes.iter().map(|name| Column::setting(short_name(name, &self.axes))).collect()
    }

    /// Returns a cell for each varied setting.
    fn cells(&self, runs: &[&Brief]) -> Vec<Cell> {
        let value = |name: &&str| Cell::new(runs[0].point.get(*name).map_or("", String::as_str));
        self.axes.iter().map(value).collect()
    }
}

/// Returns the estimate of a figure over the repetitions that have it, or a dash.
fn estimate(values: impl Iterator<Item = f64>, write: fn(f64) -> String) -> Cell {
    let values: Vec<f64> = values.collect();
    Cell::maybe(Estimate::of(&values), |estimate| estimate.written(write))
}

/// Returns a varied setting without its path, if that is unambiguous: "rtt" of "flow.backup.rtt".
fn short_name<'a>(name: &'a str, all: &[&str]) -> &'a str {
    fn last(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or_default()
    }
    match all.iter().filter(|other| last(other) == last(name)).count() {
        0 | 1 => last(name),
        _ => name,
    }
}

fn axes<'a>(points: &[Vec<&'a Brief>]) -> Vec<&'a str> {
    let first = points.first().into_iter().flat_map(|runs| runs[0].point.keys());
    let mut axes: Vec<&str> = first.map(String::as_str).collect();
    let value = |runs: &[&'a Brief], name: &str| runs[0].point.get(name);
    axes.sort_by_cached_key(|name| {
        points.windows(2).filter(|pair| value(&pair[0], name) != value(&pair[1], name)).count()
    });
    axes
}

/// Formats a rate given in bit/s, always in the same unit, so that means and intervals can be compared.
fn mbit(bit_s: f64) -> String {
    format!("{} Mbit/s", number(bit_s / 1e6))
}

/// Returns the table without figures that nobody has, and without the column of windows where there is only one.
fn without_idle_columns(mut table: Table) -> Table {
    for i in (0..table.columns.len()).rev() {
        let mut cells = table.rows.iter().map(|row| &row[i]);
        let has_one_window =
            table.columns[i] == WINDOW && table.rows.iter().all(|row| row[i] == table.rows[0][i]);
        if has_one_window || cells.all(|cell| cell.text == NOTHING) {
            table.remove_column(i);
        }
    }
    table
}

/// Returns the repetitions of each point, in the order of the points.
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
mod tests;
