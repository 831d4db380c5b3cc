//! A file of records that grows. It is closed between two writes, so that a run with thousands of senders needs no thousand open
//! files.

use super::Output;
use afteryou_base::lock::EvenPoisoned;
use afteryou_files::{settle, temporary};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tempfile::TempPath;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// A file of records under a temporary name.
#[derive(Debug)]
pub struct File {
    /// None after the end, and before it is made.
    temporary: Option<TempPath>,
    /// The name that the finished file gets.
    path: PathBuf,
    /// The event that it waits for. None: it is made.
    waits: Option<Waits>,
    records: u64,
    buffer: Vec<u8>,
    /// The first error. Nothing is written after it.
    broken: Option<io::Error>,
}

/// A file that is made only if it is worth it.
pub struct Waits {
    /// True when it is.
    pub until: Box<dyn Fn() -> bool + Send>,
    /// Gives it a name.
    pub name: Box<dyn Fn() -> PathBuf + Send>,
}

impl std::fmt::Debug for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waits").finish_non_exhaustive()
    }
}

impl File {
    /// Returns a new file that becomes `path` when it is [finished](File::finish), and vanishes if it is not.
    ///
    /// # Errors
    /// The reason of the operating system.
    pub fn new(path: PathBuf) -> io::Result<File> {
        let temporary = Some(temporary_beside(&path)?);
        Ok(File { temporary, path, waits: None, records: 0, buffer: Vec::new(), broken: None })
    }

    /// Returns the same when it is known to be worth it. Until then the first records are kept in memory, at most [`BUFFER`] bytes, and later
    /// ones are dropped.
    pub fn later(waits: Waits) -> File {
        let path = PathBuf::new();
        File { temporary: None, path, waits: Some(waits), records: 0, buffer: Vec::new(), broken: None }
    }

    /// Returns false if it still waits.
    fn is_made(&mut self) -> bool {
        let Some(waits) = &self.waits else { return true };
        if !(waits.until)() {
            return false;
        }
        self.path = (waits.name)();
        self.waits = None;
        match temporary_beside(&self.path) {
            Ok(temporary) => self.temporary = Some(temporary),
            Err(error) => self.broken = Some(error),
        }
        true
    }

    /// Returns true if there is an error to report.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Returns the name that the finished file gets.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record.
    pub fn write(&mut self, record: &[u8]) {
        let is_made = self.is_made();
        if self.broken.is_some() || (is_made && self.temporary.is_none()) {
            return;
        }
        if !is_made && self.buffer.len() + record.len() > BUFFER {
            return;
        }
        self.records += 1;
        self.buffer.extend_from_slice(record);
        if is_made && self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Writes what is kept back, and gives its memory back.
    pub fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let Some(path) = self.temporary.as_ref().filter(|_| !buffer.is_empty() && self.broken.is_none())
        else {
            return;
        };
        let append = || OpenOptions::new().append(true).open(path)?.write_all(&buffer);
        self.broken = append().err();
    }

    /// Gives the file its name before the others of its folder. [`finish`](File::finish) returns the error, if there is one.
    pub fn finish_early(&mut self) {
        if let Err(error) = self.finish() {
            self.broken = Some(error);
        }
    }

    /// Gives the file its name, unless it has nothing but a header. Returns whether it is there.
    ///
    /// # Errors
    /// The reason of the operating system, of an earlier write, too.
    pub fn finish(&mut self) -> io::Result<bool> {
        if !self.is_made() {
            self.buffer = Vec::new();
            return Ok(false);
        }
        self.flush();
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        match self.temporary.take() {
            Some(temporary) if self.records > 1 => {
                settle(temporary, &self.path)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

fn temporary_beside(path: &Path) -> io::Result<TempPath> {
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(temporary(folder)?.into_temp_path())
}

/// The file of a sender that is still there.
#[derive(Debug)]
pub struct Growing {
    file: Arc<Mutex<File>>,
    /// The file gets its name with the sender's end, and not later.
    one_by_one: bool,
}

impl Growing {
    /// Writes to `file`, and gives it its name at the end of the sender if it is `one_by_one`.
    pub fn new(file: Arc<Mutex<File>>, one_by_one: bool) -> Growing {
        Growing { file, one_by_one }
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().even_poisoned()
    }
}

impl Output for Growing {
    fn write(&mut self, record: &[u8]) {
        self.file().write(record);
    }
}

impl Drop for Growing {
    /// Gives the memory back: the sender is gone, perhaps long before the run's end.
    fn drop(&mut self) {
        match self.one_by_one {
            true => self.file().finish_early(),
            false => self.file().flush(),
        }
    }
}
