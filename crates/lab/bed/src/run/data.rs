//! Bytes to send, and the hash that shows whether the same bytes arrived.

use crate::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Where a flow's bytes come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Made up from the scenario's seed, without end. They do not compress.
    #[default]
    Made,
    /// A file's contents.
    File(PathBuf),
}

/// An open source.
pub(crate) enum Bytes {
    Made(blake3::OutputReader),
    File(PathBuf, File),
}

impl Bytes {
    /// Opens the source of the flow named `flow`.
    pub(crate) fn open(source: &Source, seed: u64, flow: &str) -> Result<Bytes, Error> {
        match source {
            Source::Made => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&seed.to_le_bytes()).update(flow.as_bytes());
                Ok(Bytes::Made(hasher.finalize_xof()))
            }
            Source::File(path) => {
                let file = File::open(path).map_err(|source| Error::File { path: path.clone(), source })?;
                Ok(Bytes::File(path.clone(), file))
            }
        }
    }

    /// Fills `buf` with the next bytes and returns how many; 0 at the end.
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        match self {
            Bytes::Made(reader) => {
                reader.fill(buf);
                Ok(buf.len())
            }
            Bytes::File(path, file) => {
                file.read(buf).map_err(|source| Error::File { path: path.clone(), source })
            }
        }
    }
}

/// Counts and hashes one end of a transfer.
#[derive(Default)]
pub(crate) struct Digest {
    hasher: blake3::Hasher,
    pub(crate) bytes: u64,
}

impl Digest {
    pub(crate) fn update(&mut self, data: &[u8]) {
        self.hasher.update(data);
        self.bytes += data.len() as u64;
    }

    pub(crate) fn hex(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, flow: &str) -> [u8; 32] {
        let mut buf = [0; 32];
        Bytes::open(&Source::Made, seed, flow).unwrap().read(&mut buf).unwrap();
        buf
    }

    #[test]
    fn made_bytes_depend_on_seed_and_flow_alone() {
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let source = Source::File("no/such/file".into());
        let error = Bytes::open(&source, 1, "a").err().unwrap().to_string();
        assert!(error.starts_with("cannot read no/such/file: "), "{error}");
    }
}
