//! Files: an outcome and its pictures in a folder.

use crate::error::Error;
use crate::html::page;
use afteryou_files::ResultFolder;
use afteryou_plot::svg;
use afteryou_scenario::Outcome;
use std::path::{Path, PathBuf};

/// The files that were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The outcome: `result.json`.
    pub result: PathBuf,
    /// The page: `report.html`.
    pub report: PathBuf,
    /// The figure: `figure.svg`.
    pub figure: PathBuf,
}

/// Writes `result.json`, `report.html` and `figure.svg` into `dir`, which is made if it is missing.
///
/// Nothing appears under a final name before all three are safely on the disk; a failure leaves no temporary file. Files that an earlier run
/// wrote into `dir` and this one does not are removed. A run with more files writes them into a [`ResultFolder`] with [`write_outcome`].
///
/// # Errors
/// A file that cannot be written, or an outcome that cannot be drawn.
pub fn write_folder(outcome: &Outcome, dir: &Path) -> Result<Written, Error> {
    let mut folder = ResultFolder::open(dir)?;
    let written = write_outcome(&mut folder, outcome)?;
    folder.finish()?;
    Ok(written)
}

/// Writes `result.json`, `report.html` and `figure.svg` into a run's folder.
///
/// # Errors
/// A file that cannot be written, or an outcome that cannot be drawn.
pub fn write_outcome(folder: &mut ResultFolder, outcome: &Outcome) -> Result<Written, Error> {
    write_run(folder, outcome, None)
}

/// Writes the folder of a run of a sweep: its page leads to the page `back`, a path from the folder.
pub(crate) fn write_run(
    folder: &mut ResultFolder,
    outcome: &Outcome,
    back: Option<&str>,
) -> Result<Written, Error> {
    let contents = [
        ("result.json", json(outcome)?),
        ("report.html", page(outcome, back)?),
        ("figure.svg", svg(outcome)?),
    ];
    folder.write(&contents)?;
    let path = |name| folder.dir().join(name);
    Ok(Written { result: path("result.json"), report: path("report.html"), figure: path("figure.svg") })
}

/// Returns `outcome` for a file, sure to be readable again: JSON has no infinity, and would keep silent about one.
fn json(outcome: &Outcome) -> Result<String, Error> {
    let json = result_json(outcome)?;
    serde_json::from_str::<Outcome>(&json).map_err(Error::Json)?;
    Ok(json)
}

/// Returns the content of `result.json`.
///
/// # Errors
/// None for an outcome of an engine.
pub fn result_json(outcome: &Outcome) -> Result<String, Error> {
    let json = serde_json::to_string_pretty(outcome).map_err(Error::Json)?;
    Ok(json + "\n")
}
