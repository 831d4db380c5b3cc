//! Curves for other programs: a point of a curve in a line.

#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub use parquet::{series_parquet, write_series};

use crate::rows::{Columns, Csv, Row};
use afteryou_scenario::outcome::{round, Outcome, Run};
use std::io;

/// Returns the curves of an outcome as CSV: `run,time_s,of,quantity,unit,value`.
pub fn series_csv(outcome: &Outcome) -> String {
    let columns = columns();
    // A vector takes everything.
    let written = || {
        let mut table = Csv::new(&columns, Vec::new())?;
        rows(outcome).try_for_each(|row| table.write(&row))?;
        table.finish()
    };
    let bytes: io::Result<Vec<u8>> = written();
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// Returns the columns, also where there is no curve.
fn columns() -> Columns {
    let mut columns = Columns::default();
    columns.add(&row("run", 0.5, ["flow", "quantity", "unit"], 0.5));
    columns
}

fn row(run: &str, time_s: f64, [of, quantity, unit]: [&str; 3], value: f64) -> Row {
    let mut row = Row::default();
    row.add("run", run);
    row.add("time_s", time_s);
    row.add("of", of);
    row.add("quantity", quantity);
    row.add("unit", unit);
    row.add("value", value);
    row
}

fn rows(outcome: &Outcome) -> impl Iterator<Item = Row> + '_ {
    let runs: [(&str, Option<&Run>); 2] =
        [("run", Some(&outcome.run)), ("baseline", outcome.baseline.as_ref())];
    let curves = runs.into_iter().flat_map(|(name, run)| {
        run.into_iter().flat_map(move |run| run.series.iter().map(move |series| (name, series)))
    });
    curves.flat_map(|(name, series)| {
        let words = [series.of.as_str(), &series.quantity, &series.unit];
        let points = series.values.iter().enumerate().filter_map(|(i, value)| Some((i, (*value)?)));
        // Each value has the time of the end of its step.
        points.map(move |(i, value)| {
            row(name, round(series.start_s + (i + 1) as f64 * series.step_s, 6), words, value)
        })
    })
}
