//! A league that has been judged.

use crate::errors;
use crate::table::Table;
use afteryou_files::{check_writable, write_file};
use afteryou_league::{page, rows, Draw, Order, Scores, Season, Slices, GOALS};
use afteryou_report::rows::Columns;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The order of the controllers, and every cell.
#[pyclass(frozen, module = "afteryou")]
pub struct League {
    season: Season,
    scores: Scores,
    slices: Option<Slices>,
    name: String,
    command: String,
}

impl League {
    /// Judges a season, with slices if its probing cells were played. `name` is that of the draw, `command` repeats the league.
    pub fn new(season: Season, probes: Option<&Season>, name: String, command: String) -> League {
        let scores = Scores::of(&season, &[1.0; GOALS.len()]);
        let slices = probes.map(|probes| Slices::of(&season, probes));
        League { season, scores, slices, name, command }
    }
}

#[pymethods]
impl League {
    /// The controllers, the best first: score, its standard error, the score of each goal, and failed runs.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_rows(py, Columns::default(), &Order::of(&self.season, &self.scores).rows(|number| number))
    }

    /// A row for each controller in each cell: the network, numbers and scores of goals, and why a run failed.
    #[getter]
    fn cells(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_rows(py, Columns::default(), &rows::rows(&self.season, &self.scores))
    }

    /// A row for each controller and slice: bound, mean, its standard error, and cells. None without `slices=True`.
    #[getter]
    fn slices(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let table = |slices: &Slices| Table::of_rows(py, Columns::default(), &slices.rows());
        self.slices.as_ref().map(table).transpose()
    }

    /// Sentences about what went wrong beside the runs.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let not_kept = self.season.not_kept.iter();
        not_kept.map(|reason| format!("the figures of this league are not all kept: {reason}")).collect()
    }

    /// Writes the page, the summary, tables and the scenario files of the worst cells into a folder, and returns the page.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let (season, scores) = (&self.season, &self.scores);
        let draw = Draw { name: self.name.clone(), season, scores, slices: self.slices.as_ref() };
        let files = py.detach(|| page::files(&[draw], &self.command));
        for file in files.map_err(|error| errors::other(py, &error))? {
            let path = folder.join(&file.name);
            let written = check_writable(path.parent().unwrap_or(Path::new(".")))
                .and_then(|()| write_file(&path, &file.bytes));
            written.map_err(|error| errors::other(py, &error))?;
        }
        Ok(folder.join("index.html"))
    }

    fn __repr__(&self) -> String {
        let (controllers, cells) = (self.season.entrants.len(), self.season.cells.len());
        format!("League({controllers} controllers × {cells} cells)")
    }
}
