//! Errors of a report.

use afteryou_scenario::outcome::ReadError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a report was not drawn, written or read. The message names the file, the reason and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder for the files cannot be made or holds no new file.
    #[error("cannot write into the folder {}: {reason}; {advice}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
        /// The advice.
        advice: &'static str,
    },
    /// Another run has the folder.
    #[error("another run is writing to {}: wait for its end, or choose another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A file was not written. Nothing of it is left.
    #[error("cannot write {}: {reason}; {advice}", path.display())]
    Write {
        /// The file under its final name.
        path: PathBuf,
        /// The operating system's error.
        reason: std::io::Error,
        /// The advice.
        advice: &'static str,
    },
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
    /// An outcome with a number that JSON cannot hold, so that nobody could read it back.
    #[error(
        "the outcome cannot be written as JSON: {0}; this is a mistake of the engine that made it, report it"
    )]
    Json(serde_json::Error),
    /// A packet trace was not written.
    #[error("cannot write the packet trace: {0}; free some space or choose another file")]
    Capture(String),
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

/// Returns the advice about `reason`, an error of writing.
pub(crate) fn advice_on_writing(reason: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    match reason.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => "free some space or choose a folder on another disk",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "choose a folder that you may write to",
        Kind::NotADirectory | Kind::AlreadyExists => "a file is in the way: choose another folder",
        Kind::IsADirectory => "a folder has this name: rename it or choose another folder",
        _ => "choose another folder",
    }
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
