//! The experiments of the papers.

use crate::errors;
use crate::signals::Signals;
use crate::table::Table;
use afteryou_engines::Pool;
use afteryou_report::rows::{Columns, Row};
use afteryou_scenario::content::ContentHash;
use afteryou_studies::{choice, Cache, EntryVerdict, Error, Extent, Setting};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;

/// The word for every paper.
const ALL: &str = "all";

/// Runs experiments of the papers and returns their findings, a value in a row beside the published one.
///
/// ids: papers ("gong2012") or entries ("gong2012/fig2"), or ["all"], which takes hours.
/// quick: thinner grids and fewer seeds, never shorter runs.
///
/// All cores are used. Readings are kept in memory alone: the command `afteryou study` keeps them on the disk.
#[pyfunction]
#[pyo3(signature = (ids, quick = false))]
pub fn study(py: Python<'_>, ids: Vec<String>, quick: bool) -> PyResult<Table> {
    let named = match &ids[..] {
        [] if !quick => {
            let reason =
                "all experiments take hours: name some of them, use quick=True, or write study([\"all\"])";
            return Err(PyValueError::new_err(reason));
        }
        [only] if only == ALL => &[],
        ids => ids,
    };
    let chosen = choice::named(named).map_err(|error| errors::other(py, &error))?;
    let stop = AtomicBool::new(false);
    let setting = Setting {
        extent: if quick { Extent::Quick } else { Extent::Usual },
        pool: Pool::default(),
        // Keys of a cache that lives as long as this call.
        build: ContentHash::of_text(env!("CARGO_PKG_VERSION")),
        figures: false,
        stop: &stop,
        cpu_s: || 0.0,
    };
    let mut signals = Signals::default();
    let verdicts = py.detach(|| {
        afteryou_studies::run(&chosen, &setting, &mut Cache::in_memory(), &mut |_, _, _| signals.stop(&stop))
    });
    match (verdicts, signals.take()) {
        (_, Some(raised)) => Err(raised),
        (Err(error), None) => Err(failed(py, &error)),
        (Ok(verdicts), None) => {
            let rows: Vec<Row> = verdicts.iter().flat_map(rows).collect();
            Table::of_rows(py, Columns::default(), &rows)
        }
    }
}

fn failed(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Lab(error) => errors::of_run(py, error),
        error => errors::other(py, error),
    }
}

fn rows(entry: &EntryVerdict) -> Vec<Row> {
    let row = |finding: &afteryou_studies::Finding| {
        let mut row = Row::default();
        row.add("entry", entry.name().as_str());
        row.add("check", finding.check.as_str());
        row.add("what", finding.what.as_str());
        row.add("at", finding.at.as_str());
        let numbers = [
            ("value", finding.value),
            ("half_width", finding.half_width),
            ("band_min", finding.band.min),
            ("band_max", finding.band.max),
        ];
        numbers.into_iter().for_each(|(name, number)| match number {
            Some(number) => row.add(name, number),
            None => row.add(name, afteryou_report::rows::Value::Missing),
        });
        row.add("unit", finding.unit.as_str());
        row.add("seeds", finding.seeds as u64);
        row.add("published", finding.published.as_deref().unwrap_or_default());
        row.add("verdict", finding.verdict.word());
        row.add("explained", finding.explained.as_ref().map_or("", |(_, why)| why.as_str()));
        row
    };
    entry.findings.iter().map(row).collect()
}
