//! The closed forms of the fluid engine.

use crate::errors;
use crate::scenario::Scenario;
use crate::table::Table;
use afteryou_fluid::{Error, Options};
use afteryou_report::rows::{Columns, Row};
use pyo3::prelude::*;

/// Computes every closed form that applies to a scenario, without running it.
///
/// Returns a table with the columns `point` (where the scenario varies settings), `of`, `what`, `value`, `unit` and `formula`, and a
/// list of sentences that follow from the numbers.
#[pyfunction]
pub fn explain(py: Python<'_>, scenario: &Scenario) -> PyResult<(Table, Vec<String>)> {
    let experiment = &scenario.experiment;
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for run in experiment.runs(None, Some(1)).map_err(|error| errors::of_file(py, &error))? {
        let analysis = py.detach(|| afteryou_fluid::explain(&run.scenario, &Options::of(&run.scenario)));
        let analysis = analysis.map_err(|error| match error {
            Error::Unsupported(what) => errors::of_file(py, &experiment.refused(&run, &what)),
            other => errors::other(py, &other),
        })?;
        let point: Vec<String> = run.point.iter().map(|(name, value)| format!("{name}={value}")).collect();
        for quantity in &analysis.quantities {
            let mut row = Row::default();
            if !point.is_empty() {
                row.add("point", point.join(", ").as_str());
            }
            row.add("of", quantity.of.as_str());
            row.add("what", quantity.what);
            row.add("value", quantity.value);
            row.add("unit", quantity.unit);
            row.add("formula", quantity.formula);
            rows.push(row);
        }
        notes.extend(analysis.notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    }
    Ok((Table::of_rows(py, Columns::default(), &rows)?, notes))
}
