//! A file of records that grows. It is closed between two writes, so that a run with thousands of senders needs no thousand open
//! files.

use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use tempfile::TempPath;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Begins each record (RFC 7464).
const SEPARATOR: u8 = 0x1e;

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
        let temporary = Some(crate::folder::temporary(folder)?.into_temp_path());
        Ok(File { temporary, records: 0, buffer: Vec::new(), broken: None })
    }

    /// Adds a record.
    pub fn write(&mut self, record: &impl Serialize) {
        if self.broken.is_some() || self.temporary.is_none() {
            return;
        }
        self.records += 1;
        self.buffer.push(SEPARATOR);
        self.broken = serde_json::to_writer(&mut self.buffer, record).err().map(io::Error::from);
        self.buffer.push(b'\n');
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
                temporary.persist(path).map_err(|error| error.error)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
