//! Errors of a report.

#[cfg(feature = "parquet")]
use std::{io, path::Path};
use thiserror::Error;

/// Why a report was not drawn, written or read. The message names the file, the reason and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A figure was not drawn, or what it is made of not read.
    #[error(transparent)]
    Figure(#[from] afteryou_plot::Error),
    /// A file was not written.
    #[error(transparent)]
    File(#[from] afteryou_files::Error),
    /// An outcome with a number that JSON cannot hold, so that nobody could read it back.
    #[error(
        "the outcome cannot be written as JSON: {0}; this is a mistake of the engine that made it, report it"
    )]
    Json(serde_json::Error),
    /// A packet trace was not written.
    #[error("cannot write the packet trace: {0}; free some space or choose another file")]
    Capture(String),
}

/// Returns the error of the file `path`, which was not written.
#[cfg(feature = "parquet")]
pub(crate) fn unwritten(path: &Path, reason: io::Error) -> Error {
    afteryou_files::unwritten(path, reason).into()
}
