//! Errors of figures.

use afteryou_scenario::outcome::ReadError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a figure was not drawn, or what it is made of not read. The message names the file, the reason and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file was not read.
    #[error("cannot read {}: {reason}; {advice}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
        /// The advice.
        advice: &'static str,
    },
    /// A file that is larger than any outcome.
    #[error("{} is larger than {most_gb} GB, which no result is: give the result.json that a run wrote", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size that is read, GB.
        most_gb: u64,
    },
    /// A file that holds no outcome, or one of a later format.
    #[error("{}: {reason}", path.display())]
    NotAnOutcome {
        /// The file.
        path: PathBuf,
        /// The reason and the advice.
        reason: ReadError,
    },
    /// A file or folder without rows to plot.
    #[error("{}: {reason}; give a table of a sweep, a result.json, or a folder with one", path.display())]
    NotATable {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The figure that was asked for cannot be made of the rows.
    #[error("{0}")]
    Plot(String),
    /// The figure was not drawn.
    #[error("the figure cannot be drawn: {0}; report it with the result.json")]
    Figure(String),
}

/// Returns the advice about `reason`, an error of reading.
pub(crate) fn advice_on_reading(reason: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    match reason.kind() {
        Kind::NotFound => "check the name",
        Kind::PermissionDenied => "allow yourself to read it",
        Kind::IsADirectory => "give the result.json in it",
        Kind::InvalidData => "give the result.json that a run wrote",
        _ => "check the file",
    }
}
