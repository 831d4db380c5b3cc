//! Standard input as a file to send, and a file that was got as standard output.
//!
//! # Temporary files
//! Standard input is kept in the file system of the directory of temporary files (`TMPDIR`) until it was sent, without a name
//! (see [`Input`]). Received content waits in a directory there. It is removed at each end of the job that this process sees, the second
//! signal among them.
//!
//! # Known bad cases
//! A job that is ended cannot continue where it was, since its input is gone. A kill leaves what was got.

use afteryou_base::lock::EvenPoisoned;
use afteryou_terminal::failure::reason;
use afteryou_terminal::Failure;
use afteryou_transfer::source::Input;
use afteryou_transfer::store;
use anyhow::{anyhow, Context};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use tempfile::TempDir;

/// The word that means standard input or output.
pub const STANDARD: &str = "-";

/// Keeps everything that `input` gives.
pub fn keep(input: impl Read) -> Result<Input, Failure> {
    let dir = std::env::temp_dir();
    Ok(Input::keep(&dir, input).map_err(|error| {
        let advice = "set TMPDIR to a directory with room";
        anyhow!("cannot keep standard input in {}: {}; {advice}", dir.display(), reason(&error))
    })?)
}

/// The directories that this process would leave.
static DIRECTORIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn directories() -> MutexGuard<'static, Vec<PathBuf>> {
    DIRECTORIES.lock().even_poisoned()
}

/// A directory of temporary files that goes when it is dropped.
pub struct Temporary(TempDir);

impl Temporary {
    /// Makes the directory where what is got waits to be printed.
    pub fn new() -> Result<Self, Failure> {
        let dir =
            tempfile::tempdir().context("cannot make a temporary directory, set TMPDIR to one with room")?;
        directories().push(dir.path().to_owned());
        Ok(Self(dir))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A peer may have made it deeper than the standard library removes.
        _ = store::empty(self.0.path());
        _ = std::fs::remove_dir(self.0.path());
        directories().retain(|path| path != self.0.path());
    }
}

/// Removes all such directories when the process ends at once, and drops nothing.
pub fn remove_all() {
    for path in directories().drain(..) {
        _ = store::empty(&path);
        _ = std::fs::remove_dir(&path);
    }
}

/// Writes the one file in a directory to `out`.
pub fn pour(dir: &Temporary, mut out: impl Write) -> Result<(), Failure> {
    let first = std::fs::read_dir(dir.path()).ok().and_then(|mut entries| entries.next()?.ok());
    let Some(entry) = first else { return Ok(()) };
    let file = File::open(entry.path()).context("cannot open what was received")?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(anyhow!("what was received is a directory: - takes one file").into());
    }
    let poured = io::copy(&mut &file, &mut out).and_then(|_| out.flush());
    match poured {
        // A reader that has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_got_comes_out_and_its_directory_goes() {
        let dir = Temporary::new().unwrap();
        let path = dir.path().to_owned();
        std::fs::write(path.join("x.tar"), b"some bytes").unwrap();
        let mut out = Vec::new();
        pour(&dir, &mut out).unwrap();
        assert_eq!(out, b"some bytes");
        std::fs::remove_file(path.join("x.tar")).unwrap();
        std::fs::create_dir_all(path.join("d/e")).unwrap();
        assert!(pour(&dir, &mut out).unwrap_err().to_string().contains("a directory"));
        assert!(directories().contains(&path));
        drop(dir);
        assert!(!path.exists() && !directories().contains(&path));
    }
}
