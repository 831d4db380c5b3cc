//! Files under temporary names.

use crate::error::{unwritable, Error};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Makes `dir` if it is missing and checks that it takes a file, so that a long run need not fail at its end.
///
/// # Errors
/// A folder that takes no file.
pub fn check_writable(dir: &Path) -> Result<(), Error> {
    let attempt = std::fs::create_dir_all(dir).and_then(|()| temporary(dir));
    attempt.map(drop).map_err(|reason| unwritable(dir, reason))
}

pub(crate) fn stage(dir: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = temporary(dir)?;
    file.write_all(content)?;
    file.flush()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Returns a new file beside `path`.
pub(crate) fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    temporary(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Beginning of the names of files that are not complete.
pub const TEMPORARY: &str = ".afteryou-";

/// Makes a file in `dir` that vanishes unless it is given a name.
///
/// # Errors
/// The reason of the operating system.
pub fn temporary(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Unasked, temporary files are for their owner's eyes only; a report is an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}
