//! Files: an outcome and its pictures in a folder, and an outcome read back.

use crate::error::{advice_on_reading, Error};
use crate::html::page;
use crate::result_folder::{persist_all, ResultFolder};
use crate::staged::{check_writable, stage, unwritten};
use crate::svg::svg;
use afteryou_scenario::Outcome;
use std::fs::File;
use std::io::Read;
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
/// wrote into `dir` and this one does not are removed: see [`ResultFolder`] for a run with more files.
pub fn write_folder(outcome: &Outcome, dir: &Path) -> Result<Written, Error> {
    let mut folder = ResultFolder::open(dir)?;
    let written = folder.write_outcome(outcome)?;
    folder.finish()?;
    Ok(written)
}

impl ResultFolder {
    /// Writes `result.json`, `report.html` and `figure.svg`.
    ///
    /// # Errors
    /// A file that cannot be written, or an outcome that cannot be drawn.
    pub fn write_outcome(&mut self, outcome: &Outcome) -> Result<Written, Error> {
        self.write_run(outcome, None)
    }

    /// The same for a run of a sweep: its page leads to the page `back`, a path from the folder.
    pub(crate) fn write_run(&mut self, outcome: &Outcome, back: Option<&str>) -> Result<Written, Error> {
        let contents = [
            ("result.json", json(outcome)?),
            ("report.html", page(outcome, back)?),
            ("figure.svg", svg(outcome)?),
        ];
        self.write(&contents)?;
        let path = |name| self.dir().join(name);
        Ok(Written { result: path("result.json"), report: path("report.html"), figure: path("figure.svg") })
    }
}

/// Writes files with these names and contents into `dir`, which is made if it is missing.
///
/// Nothing appears under a final name before all are safely on the disk; a failure leaves no temporary file.
pub fn write_files<T: AsRef<[u8]>>(dir: &Path, contents: &[(&str, T)]) -> Result<(), Error> {
    check_writable(dir)?;
    let mut staged = Vec::new();
    for (name, content) in contents {
        let path = dir.join(name);
        let file = stage(dir, content.as_ref()).map_err(|reason| unwritten(&path, reason))?;
        staged.push((path, file));
    }
    persist_all(staged)
}

/// Largest file that is read as an outcome, GB: ten thousand flows with a curve each take less.
const MOST_GB: u64 = 1;

/// Reads an outcome from a `result.json` of this format or of an earlier one.
///
/// # Errors
/// A file that cannot be read, is larger than any outcome, or holds none.
pub fn read(path: &Path) -> Result<Outcome, Error> {
    let mut text = String::new();
    let most = MOST_GB * 1_000_000_000;
    let read = File::open(path).and_then(|file| match file.metadata()?.len() {
        large if large > most => Ok(usize::MAX), // without reading it
        _ => file.take(most + 1).read_to_string(&mut text),
    });
    let length = read.map_err(|reason| {
        let advice = advice_on_reading(&reason);
        Error::Read { path: path.to_owned(), reason, advice }
    })?;
    if length as u64 > most {
        return Err(Error::TooLarge { path: path.to_owned(), most_gb: MOST_GB });
    }
    Outcome::from_json(&text).map_err(|reason| Error::NotAnOutcome { path: path.to_owned(), reason })
}

/// `outcome` for a file, sure to be readable again: JSON has no infinity, and would keep silent about one.
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
