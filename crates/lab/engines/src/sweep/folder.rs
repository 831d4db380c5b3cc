//! The folder of a sweep, or of a part of one.

use super::journal::Journal;
use super::manifest::Manifest;
use crate::error::Error;
use afteryou_scenario::content::ContentHash;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "sweep.json";
const JOURNAL: &str = "journal";

/// A folder with finished runs of a sweep.
pub struct Folder {
    dir: PathBuf,
    manifest: Manifest,
    journal: Journal,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedRun {
    /// Its index in the sweep, from 0.
    pub index: usize,
    /// The run's [key](super::key).
    pub key: String,
    /// The part of it that was kept.
    pub content: String,
}

impl Folder {
    /// Begins the sweep in `dir`, which is made if it is missing, or continues what is there.
    ///
    /// # Errors
    /// A folder that holds another sweep, that another process is writing to, or that cannot be written.
    pub fn open(dir: &Path, manifest: Manifest) -> Result<Folder, Error> {
        std::fs::create_dir_all(dir).map_err(|error| Error::disk(dir, error))?;
        let path = dir.join(MANIFEST);
        let found = Manifest::read(&path)?;
        if let Some(found) = &found {
            manifest.check_continues(found, dir)?;
        }
        let journal = Journal::open(&dir.join(JOURNAL), manifest.runs)?;
        if found.is_none() && !journal.is_empty() {
            let dir = dir.display();
            let reason =
                format!("{dir} has a journal of runs and no {MANIFEST}: remove it, or choose another folder");
            return Err(Error::OtherSweep(reason));
        }
        if found.is_none() {
            write(&path, &manifest)?;
        }
        Ok(Folder { dir: dir.to_owned(), manifest, journal })
    }

    /// Opens what is in `dir` for reading.
    ///
    /// # Errors
    /// A folder without a sweep, with one in another format, or that cannot be read.
    pub fn open_to_read(dir: &Path) -> Result<Folder, Error> {
        let none = || {
            let dir = dir.display();
            Error::OtherSweep(format!(
                "{dir} holds no sweep: name a folder that a sweep was written to with --out"
            ))
        };
        let manifest = Manifest::read(&dir.join(MANIFEST))?.ok_or_else(none)?;
        manifest.check_format(dir)?;
        let journal = Journal::open_to_read(&dir.join(JOURNAL), manifest.runs)?;
        Ok(Folder { dir: dir.to_owned(), manifest, journal })
    }

    /// Returns whether `dir` has a sweep.
    pub fn holds_sweep(dir: &Path) -> bool {
        dir.join(MANIFEST).is_file()
    }

    /// Refuses `dir` if a sweep is there.
    ///
    /// # Errors
    /// [`Error::OtherSweep`] if one does.
    pub fn refuse_sweep(dir: &Path) -> Result<(), Error> {
        match Folder::holds_sweep(dir) {
            false => Ok(()),
            true => {
                let dir = dir.display();
                Err(Error::OtherSweep(format!(
                    "{dir} holds a sweep, and this is a single run: choose another folder"
                )))
            }
        }
    }

    /// Returns the folder's path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the sweep, and the part of it that the folder is for.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the runs of this part that have not ended, as indices from 0, in order.
    pub fn pending(&self) -> Vec<usize> {
        self.manifest.indices().filter(|index| !self.journal.has(*index)).collect()
    }

    /// Returns whether this run has ended.
    pub fn has(&self, index: usize) -> bool {
        self.journal.has(index)
    }

    /// Keeps a run that has ended. `content` is one line. It is on the disk when this returns: a kill of this process does not
    /// lose it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(&mut self, index: usize, key: &ContentHash, content: &str) -> Result<(), Error> {
        self.journal.append(index, key, content)
    }

    /// Returns the finished runs in the order of the sweep, one in memory at a time.
    pub fn finished(&self) -> impl Iterator<Item = Result<FinishedRun, Error>> + '_ {
        (0..self.manifest.runs).filter_map(|index| self.get(index).transpose())
    }

    /// Returns a finished run.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn get(&self, index: usize) -> Result<Option<FinishedRun>, Error> {
        let Some(line) = self.journal.line(index)? else { return Ok(None) };
        let line = self.journal.parse(&line)?;
        Ok(Some(FinishedRun { index, key: line.key.to_owned(), content: line.content.to_owned() }))
    }

    /// Puts the journal in the order of the runs: the folder's bytes no longer depend on which run ended first.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn sort(&mut self) -> Result<(), Error> {
        self.journal.sort()
    }
}

/// Writes what the folder is for, whole or not at all.
fn write(path: &Path, manifest: &Manifest) -> Result<(), Error> {
    let failed = |error| Error::disk(path, error);
    let mut text = serde_json::to_string_pretty(manifest).map_err(|error| failed(error.into()))?;
    text.push('\n');
    let temporary = path.with_extension("new");
    std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path)).map_err(failed)
}
