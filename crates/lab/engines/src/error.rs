//! Errors of plans and runs.

use afteryou_scenario::support::Unsupported;
use afteryou_scenario_file::FileError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of an engine.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// The reason that there is no result. The message names the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A name that no engine has.
    #[error(transparent)]
    UnknownEngine(afteryou_scenario::Error),
    /// The file is wrong, or asks for a feature that the engine does not have; the message shows the line.
    #[error(transparent)]
    File(#[from] FileError),
    /// The scenario asks for a feature that the engine does not have.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The scenario contradicts itself, or is too much for the engine.
    #[error(transparent)]
    Refused(Source),
    /// The scenario was fine and the engine failed.
    #[error(transparent)]
    Failed(Source),
    /// The engine does not look at single packets.
    #[error("the engine {engine} does not look at single packets: only sim traces them")]
    NoPackets {
        /// The engine.
        engine: String,
    },
    /// The engine has no senders with packets.
    #[error("the engine {engine} has no senders of packets: sim and bed do")]
    NoSenders {
        /// The engine.
        engine: String,
    },
    /// A point of a plan was made for another engine, or for another version of it.
    #[error(
        "this point is for the engine {planned} and was given to {given}: run it there, or plan it anew"
    )]
    OtherEngine {
        /// The engine that the point names, and its version.
        planned: String,
        /// The engine that got it, and its version.
        given: String,
    },
    /// A folder of a sweep holds something else. The message has the remedy.
    #[error("{0}")]
    OtherSweep(String),
    /// Another process is writing to the same folder.
    #[error("{} is in use by another process: wait for its end, or choose another folder", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A file of a sweep's folder cannot be read or written.
    #[error("cannot use {}: {reason}; check the folder, its permissions and the space on its disk", path.display())]
    Disk {
        /// The file or the folder.
        path: PathBuf,
        /// The reason of the operating system.
        reason: std::io::Error,
    },
}

impl Error {
    /// Returns whether the input is at fault, and not the engine or the machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Error::Interrupted | Error::Failed(_) | Error::InUse { .. } | Error::Disk { .. })
    }

    pub(crate) fn disk(path: &Path, reason: std::io::Error) -> Error {
        Error::Disk { path: path.to_owned(), reason }
    }
}
