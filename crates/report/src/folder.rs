//! Files: an outcome and its pictures in a folder, and an outcome read back.

use crate::error::{advice_on_reading, advice_on_writing, Error};
use crate::html::page;
use crate::svg::svg;
use afteryou_scenario::Outcome;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
/// Nothing appears under a final name before all three are safely on the disk; a failure leaves no temporary file.
pub fn write_folder(outcome: &Outcome, dir: &Path) -> Result<Written, Error> {
    write_run(outcome, dir, None)
}

/// The same for a run of a sweep: its page leads to the page `back`, a path from `dir`.
pub(crate) fn write_run(outcome: &Outcome, dir: &Path, back: Option<&str>) -> Result<Written, Error> {
    let contents = [
        ("result.json", json(outcome)?),
        ("report.html", page(outcome, back)?),
        ("figure.svg", svg(outcome)?),
    ];
    write_files(dir, &contents)?;
    let path = |name| dir.join(name);
    Ok(Written { result: path("result.json"), report: path("report.html"), figure: path("figure.svg") })
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
    for (path, file) in staged {
        file.persist(&path).map_err(|error| unwritten(&path, error.error))?;
    }
    Ok(())
}

/// Makes `dir` if it is missing and sees whether it takes a file, so that a long run need not fail at its end.
pub fn check_writable(dir: &Path) -> Result<(), Error> {
    let attempt = std::fs::create_dir_all(dir).and_then(|()| temporary(dir));
    match attempt {
        Ok(_) => Ok(()),
        Err(reason) => {
            let (path, advice) = (dir.to_owned(), advice_on_writing(&reason));
            Err(Error::Folder { path, reason: plain_reason(reason), advice })
        }
    }
}

/// Reads an outcome from a `result.json` of this format or of an earlier one.
pub fn read(path: &Path) -> Result<Outcome, Error> {
    let text = std::fs::read_to_string(path).map_err(|reason| {
        let advice = advice_on_reading(&reason);
        Error::Read { path: path.to_owned(), reason, advice }
    })?;
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

fn stage(dir: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = temporary(dir)?;
    file.write_all(content)?;
    file.flush()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Beginning of the names of files that are not complete.
pub(crate) const TEMPORARY: &str = ".afteryou-";

/// A new file in `dir` that vanishes unless it is given a name.
pub(crate) fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Unasked, temporary files are for their owner's eyes only; a report is an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}

pub(crate) fn unwritten(path: &Path, reason: io::Error) -> Error {
    let advice = advice_on_writing(&reason);
    Error::Write { path: path.to_owned(), reason: plain_reason(reason), advice }
}

/// The reason of the operating system alone: the name of a temporary file helps nobody.
fn plain_reason(reason: io::Error) -> io::Error {
    let kind = reason.kind();
    match reason.raw_os_error() {
        Some(_) => reason,
        None => kind.into(),
    }
}
