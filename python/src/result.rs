//! The result of a run: tables, figures, the file.

use crate::errors;
use crate::table::Table;
use afteryou_files::ResultFolder;
use afteryou_report::rows::{self, Columns, Identity, Row, Rows};
use afteryou_scenario::outcome::{Outcome, Run};
use arrow_array::builder::{Float64Builder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Columns of a terminal, for text.
const WIDTH: usize = 100;

/// The result of a run.
#[pyclass(frozen, module = "afteryou")]
pub struct Result {
    outcome: Arc<Outcome>,
    /// The curves as a table, once somebody has asked for it: there may be millions of points.
    series: OnceLock<RecordBatch>,
}

impl Result {
    pub fn new(outcome: Outcome) -> Result {
        Result { outcome: Arc::new(outcome), series: OnceLock::new() }
    }

    fn rows(&self) -> Rows {
        Rows::of(&self.outcome, Identity { run: 1, key: self.outcome.content_hash })
    }
}

#[pymethods]
impl Result {
    /// Reads a `result.json`, or the one in a folder that a command saved.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Result> {
        let path = if path.is_dir() { path.join("result.json") } else { path };
        let read = py.detach(|| afteryou_plot::read(&path));
        read.map(Result::new).map_err(|error| errors::other(py, &error))
    }

    /// Writes `result.json`, `report.html`, `figure.svg` and the curves into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let written = py.detach(|| {
            let mut folder = ResultFolder::open(&folder)?;
            afteryou_report::write_outcome(&mut folder, &self.outcome)?;
            afteryou_report::write_series(&mut folder, &self.outcome, false)?;
            Ok::<_, afteryou_report::Error>(folder.finish()?)
        });
        written.map_err(|error| errors::other(py, &error))
    }

    /// One row for each flow in each window.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_rows(py, rows::flows(), &self.rows().flows)
    }

    /// One row for each link that data cross in each window: utilisation, queuing delay, drops.
    #[getter]
    fn windows(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_rows(py, rows::links(), &self.rows().links)
    }

    /// One row for each set of flows that the scenario measures together.
    #[getter]
    fn sets(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_rows(py, rows::sets(), &self.rows().sets)
    }

    /// One row for each window and foreground flow: the run beside the same run without its background flows. Completion times come
    /// first, for flows that end or make several transfers.
    #[getter]
    fn comparison(&self, py: Python<'_>) -> PyResult<Table> {
        let rows: Vec<Row> = self.outcome.comparison.iter().map(Row::of_comparison).collect();
        Table::of_rows(py, rows::comparison(), &rows)
    }

    /// One row for each link in the whole run: its rate, its queue, its packets.
    #[getter]
    fn queues(&self, py: Python<'_>) -> PyResult<Table> {
        let rows: Vec<Row> = self.outcome.run.links.iter().map(Row::of).collect();
        Table::of_rows(py, Columns::default(), &rows)
    }

    /// The curves, a point in a row: `run`, `time_s`, `of`, `quantity`, `unit`, `value`. Words are dictionary-encoded.
    #[getter]
    fn series(&self, py: Python<'_>) -> PyResult<Table> {
        if let Some(series) = self.series.get() {
            return Ok(Table::of_batch(series.clone()));
        }
        let made = py.detach(|| series(&self.outcome)).map_err(|error| errors::other(py, &error))?;
        Ok(Table::of_batch(self.series.get_or_init(|| made).clone()))
    }

    /// The name of the run: the same wherever the same program runs the same scenario with the same seed.
    #[getter]
    fn key(&self) -> String {
        self.outcome.content_hash.to_string()
    }

    /// The engine that ran it.
    #[getter]
    fn engine(&self) -> &str {
        &self.outcome.engine
    }

    /// The seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.outcome.scenario.seed
    }

    /// Sentences about whatever makes the figures doubtful.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.outcome.warnings.clone()
    }

    /// Returns the figure of rates and queuing delay.
    ///
    /// format: "svg" returns text, "png" bytes.
    #[pyo3(signature = (format = "svg"))]
    fn figure<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyAny>> {
        let failed = |error| errors::other(py, &error);
        let svg = py.detach(|| afteryou_plot::svg(&self.outcome)).map_err(failed)?;
        match format {
            "svg" => Ok(svg.into_pyobject(py)?.into_any()),
            "png" => {
                let png = py.detach(|| afteryou_plot::png(&svg)).map_err(failed)?;
                Ok(PyBytes::new(py, &png).into_any())
            }
            other => {
                Err(PyValueError::new_err(format!("there is no format {other:?}: use \"svg\" or \"png\"")))
            }
        }
    }

    /// Returns the whole page as one HTML document that works offline.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| afteryou_report::html(&self.outcome)).map_err(|error| errors::other(py, &error))
    }

    /// Returns the outcome as JSON, as in `result.json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&*self.outcome)).map_err(|error| errors::other(py, &error))
    }

    /// Returns the figure and the key numbers for a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let svg =
            py.detach(|| afteryou_plot::svg(&self.outcome)).map_err(|error| errors::other(py, &error))?;
        let text = escaped(&afteryou_report::text(&self.outcome, WIDTH, false));
        Ok(format!("{svg}<details><summary>Figures</summary><pre>{text}</pre></details>"))
    }

    fn __str__(&self) -> String {
        afteryou_report::text(&self.outcome, WIDTH, false)
    }

    fn __repr__(&self) -> String {
        let Outcome { engine, scenario, .. } = &*self.outcome;
        format!("Result({:?}, engine={engine:?}, seed={})", scenario.name, scenario.seed)
    }

    fn __eq__(&self, other: &Result) -> bool {
        self.outcome == other.outcome
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = py.get_type::<Result>().getattr("_restore")?;
        Ok((restore, (self.json(py)?,)))
    }

    #[staticmethod]
    fn _restore(py: Python<'_>, json: &str) -> PyResult<Result> {
        let outcome = py.detach(|| Outcome::from_json(json));
        outcome.map(Result::new).map_err(|error| errors::other(py, &error))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns every point of every curve. A value has the time of the end of its step.
fn series(outcome: &Outcome) -> std::result::Result<RecordBatch, arrow_schema::ArrowError> {
    let runs: [(&str, Option<&Run>); 2] =
        [("run", Some(&outcome.run)), ("baseline", outcome.baseline.as_ref())];
    let curves: Vec<_> = runs
        .into_iter()
        .flat_map(|(name, run)| {
            run.into_iter().flat_map(move |run| run.series.iter().map(move |curve| (name, curve)))
        })
        .collect();
    let points = curves.iter().map(|(_, curve)| curve.values.iter().flatten().count()).sum();
    let mut words = [(); 4].map(|()| StringDictionaryBuilder::<Int32Type>::with_capacity(points, 16, 256));
    let mut numbers = [(); 2].map(|()| Float64Builder::with_capacity(points));
    for (run, curve) in curves {
        let count = curve.values.iter().flatten().count();
        let [of_run, of, quantity, unit] = &mut words;
        for (column, word) in
            [(of_run, run), (of, &curve.of), (quantity, &curve.quantity), (unit, &curve.unit)]
        {
            column.append_n(word, count)?;
        }
        let [times, values] = &mut numbers;
        for (i, value) in curve.values.iter().enumerate() {
            let Some(value) = value else { continue };
            times.append_value(microseconds(curve.start_s + (i + 1) as f64 * curve.step_s));
            values.append_value(*value);
        }
    }
    let [mut runs, mut of, mut quantity, mut unit] = words;
    let [mut times, mut values] = numbers;
    let word = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = vec![
        Field::new("run", word.clone(), false),
        Field::new("time_s", DataType::Float64, false),
        Field::new("of", word.clone(), false),
        Field::new("quantity", word.clone(), false),
        Field::new("unit", word, false),
        Field::new("value", DataType::Float64, false),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(runs.finish()),
        Arc::new(times.finish()),
        Arc::new(of.finish()),
        Arc::new(quantity.finish()),
        Arc::new(unit.finish()),
        Arc::new(values.finish()),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// Returns a time in seconds, rounded to the microsecond.
fn microseconds(time_s: f64) -> f64 {
    (time_s * 1e6).round() / 1e6
}
