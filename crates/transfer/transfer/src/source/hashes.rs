//! The hashes of one file: in memory, in the cache, or in a temporary file.

use bao_tree::io::sync::{ReadAt, WriteAt};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The storage of a file's hashes, in pre-order.
#[derive(Debug)]
pub(super) enum Hashes {
    Memory(Vec<u8>),
    /// In the spool, from this offset on.
    Spool(Arc<File>, u64),
    /// In a file of the cache, from this offset on.
    Cached(PathBuf, u64),
}

/// A file from an offset on.
#[derive(Debug)]
pub(super) struct Region<F>(pub(super) F, pub(super) u64);

impl<F: AsRef<File>> ReadAt for Region<F> {
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.as_ref().read_at(self.1.saturating_add(at), buffer)
    }
}

impl WriteAt for Region<&mut File> {
    fn write_at(&mut self, at: u64, buffer: &[u8]) -> io::Result<usize> {
        self.0.write_at(self.1.saturating_add(at), buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Hashes {
    /// Opens the hashes for reading.
    pub(super) fn open(&self) -> io::Result<Box<dyn ReadAt + '_>> {
        Ok(match self {
            Self::Memory(bytes) => Box::new(bytes.as_slice()),
            Self::Spool(file, from) => Box::new(Region(file.clone(), *from)),
            Self::Cached(path, from) => Box::new(Region(Arc::new(File::open(path)?), *from)),
        })
    }
}
