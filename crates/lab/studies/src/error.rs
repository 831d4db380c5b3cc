//! Errors of studies.

use afteryou_scenario_file::FileError;
use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that a study has no verdict. The message names the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of a paper's data is not what it must be.
    #[error("{paper}: {reason}: mend the file of the paper")]
    Data {
        /// The paper.
        paper: String,
        /// The entry or the key, and its fault.
        reason: String,
    },
    /// No entry has this name.
    #[error("there is no study {name:?}{nearest}: afteryou study --list prints all")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The nearest one, as words.
        nearest: String,
    },
    /// None of the entries that were named is in the bed set.
    #[error("none of these is in the bed set: afteryou study --engine bed --list prints it")]
    NotInBedSet,
    /// A measure found nothing to measure in a result.
    #[error("{0}")]
    NoReading(String),
    /// A scenario of a study is refused; the message shows the line.
    #[error(transparent)]
    Scenario(#[from] FileError),
    /// A run failed.
    #[error(transparent)]
    Lab(#[from] afteryou_engines::Error),
}

impl Error {
    pub(crate) fn data(paper: &str, reason: impl Into<String>) -> Error {
        Error::Data { paper: paper.to_owned(), reason: reason.into() }
    }
}
