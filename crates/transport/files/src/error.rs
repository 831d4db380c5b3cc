//! Errors of writing files.

use std::io::{self, ErrorKind as Kind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder for the files cannot be made or holds no new file.
    #[error("cannot write into the folder {}: {reason}; {advice}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        reason: io::Error,
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
        reason: io::Error,
        /// The advice.
        advice: &'static str,
    },
}

/// A block device that is not written.
#[derive(Debug, Error)]
#[error("it is a block device")]
pub(crate) struct Refused;

/// Returns the error of the file `path`, which was not written.
pub fn unwritten(path: &Path, reason: io::Error) -> Error {
    let advice = advice(&reason);
    Error::Write { path: path.to_owned(), reason: plain(reason), advice }
}

/// Returns the error of the folder `path`, which takes no file.
pub(crate) fn unwritable(path: &Path, reason: io::Error) -> Error {
    let advice = advice(&reason);
    Error::Folder { path: path.to_owned(), reason: plain(reason), advice }
}

/// Returns the reason of the operating system alone: the name of a temporary file helps nobody.
fn plain(reason: io::Error) -> io::Error {
    let kind = reason.kind();
    let is_plain = reason.raw_os_error().is_some() || reason.get_ref().is_some_and(|why| why.is::<Refused>());
    if is_plain {
        reason
    } else {
        kind.into()
    }
}

fn advice(reason: &io::Error) -> &'static str {
    match reason.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => "free some space or choose a folder on another disk",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "choose a folder that you may write to",
        Kind::NotADirectory | Kind::AlreadyExists => "a file is in the way: choose another folder",
        Kind::IsADirectory => "a folder has this name: rename it or choose another folder",
        _ => "choose another folder",
    }
}
