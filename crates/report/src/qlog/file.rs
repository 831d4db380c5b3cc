//! A file of records that grows. It is closed between two writes, so that a run with thousands of senders needs no thousand open
//! files.

use crate::output::settle;
use afteryou_dump::qlog::Output;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// A file of records under a temporary name.
#[derive(Debug)]
pub struct File {
    /// None after the end.
    temporary: Option<TempPath>,
    records: u64,
    buffer: Vec<u8>,
    /// The first error. Nothing is written after it.
    broken: Option<io::Error>,
}

impl File {
    /// A new file in `folder` that vanishes unless it is [finished](File::finish).
    ///
    /// # Errors
    /// The reason of the operating system.
    pub fn new(folder: &Path) -> io::Result<File> {
        let temporary = Some(crate::staged::temporary(folder)?.into_temp_path());
        Ok(File { temporary, records: 0, buffer: Vec::new(), broken: None })
    }

    /// Adds a record.
    pub fn write(&mut self, record: &[u8]) {
        if self.broken.is_some() || self.temporary.is_none() {
            return;
        }
        self.records += 1;
        self.buffer.extend_from_slice(record);
        if self.buffer.len() >= BUFFER {
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
    pub fn finish_early(&mut self, path: &Path) {
        if let Err(error) = self.finish(path) {
            self.broken = Some(error);
        }
    }

    /// Gives the file its name, unless it has nothing but a header. Returns whether it is there.
    ///
    /// # Errors
    /// The reason of the operating system, of an earlier write, too.
    pub fn finish(&mut self, path: &Path) -> io::Result<bool> {
        self.flush();
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        match self.temporary.take() {
            Some(temporary) if self.records > 1 => {
                settle(temporary, path)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// The file of a sender that is still there.
#[derive(Debug)]
pub struct Growing {
    file: Arc<Mutex<File>>,
    /// The name that the file gets with the sender's end; if none, it gets one later.
    path: Option<PathBuf>,
}

impl Growing {
    /// Writes to `file`, and calls it `path` at the end.
    pub fn new(file: Arc<Mutex<File>>, path: Option<PathBuf>) -> Growing {
        Growing { file, path }
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Output for Growing {
    fn write(&mut self, record: &[u8]) {
        self.file().write(record);
    }
}

impl Drop for Growing {
    /// The sender is gone, perhaps long before the run's end: its memory is given back.
    fn drop(&mut self) {
        match &self.path {
            Some(path) => self.file().finish_early(path),
            None => self.file().flush(),
        }
    }
}
