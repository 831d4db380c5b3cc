//! Files under temporary names, and what is said of those that cannot be written.

use crate::error::{advice_on_writing, Error};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

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

pub(crate) fn stage(dir: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = temporary(dir)?;
    file.write_all(content)?;
    file.flush()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A new file beside `path`.
pub(crate) fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    temporary(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
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
    let is_plain = reason.raw_os_error().is_some() || reason.get_ref().is_some_and(|why| why.is::<Refused>());
    if is_plain {
        reason
    } else {
        kind.into()
    }
}

/// A block device that is not written.
#[derive(Debug, thiserror::Error)]
#[error("it is a block device")]
pub(crate) struct Refused;
