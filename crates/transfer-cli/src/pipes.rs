//! Standard input as a file to send, and a file that was got as standard output.
//!
//! # Known bad case
//! A file has to be hashed before it is offered, so standard input is kept in the directory of temporary files until it was sent
//! (`TMPDIR`). A job that is ended cannot go on where it was, since its input is gone.

use afteryou_terminal::failure::reason;
use afteryou_terminal::Failure;
use anyhow::{anyhow, Context};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use tempfile::TempDir;

/// The word that means standard input or output.
pub const STANDARD: &str = "-";

/// Everything that `input` gives, as a file that lives as long as its directory.
pub fn keep(name: &str, mut input: impl Read) -> Result<(TempDir, PathBuf), Failure> {
    let dir = directory()?;
    let path = dir.path().join(name);
    let kept = File::create(&path).and_then(|mut file| io::copy(&mut input, &mut file));
    kept.map_err(|error| {
        anyhow!("cannot keep standard input in {}: {}", dir.path().display(), reason(&error))
    })?;
    Ok((dir, path))
}

/// Where what is got waits for its way out.
pub fn directory() -> Result<TempDir, Failure> {
    Ok(tempfile::tempdir().context("cannot make a temporary directory, set TMPDIR to one with room")?)
}

/// Writes the one file in a directory to `out`.
pub fn pour(dir: &TempDir, mut out: impl Write) -> Result<(), Failure> {
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
    fn what_is_kept_comes_out_again() {
        let (dir, path) = keep("x.tar", &b"some bytes"[..]).unwrap();
        assert_eq!(path.file_name().unwrap(), "x.tar");
        let mut out = Vec::new();
        pour(&dir, &mut out).unwrap();
        assert_eq!(out, b"some bytes");
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        assert!(pour(&dir, &mut out).unwrap_err().to_string().contains("a directory"));
    }
}
