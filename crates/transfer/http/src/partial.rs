//! The partial file, and what is needed to continue it.
//!
//! # Model
//! Two files are in the directory of the download: `.afteryou-url-KEY.part` has the content from its beginning, and `.afteryou-url-KEY.json`
//! the URL, length and validator that it belongs to. KEY is a hash of URL and name, so that the same command finds them. The description
//! is written before the first byte, and emptying comes before another description: content never has the description of another version.
//! The partial file is locked while it is written.
//!
//! # Known bad case
//! After a power failure some file systems have a file's length before its content. Only a digest finds that.

use crate::error::Error;
use afteryou_files::lock;
use ring::digest::{digest, SHA256};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// Longest description that is read, bytes.
const LONGEST: u64 = 64 << 10;

/// The version of a file that partial content belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Version {
    /// The URL of the command line.
    pub url: String,
    /// Bytes, if the server knows.
    pub length: Option<u64>,
    /// The strong entity tag.
    pub etag: Option<String>,
    /// Last-Modified, if it identifies the version: see [`validator`](Version::validator).
    pub last_modified: Option<String>,
    /// The header Repr-Digest.
    pub repr_digest: Option<String>,
    /// The name in Content-Disposition, made safe.
    pub name: Option<String>,
}

impl Version {
    /// Returns the value of If-Range, with which a server sends the rest of this version only.
    pub fn validator(&self) -> Option<&str> {
        self.etag.as_deref().or(self.last_modified.as_deref())
    }
}

/// A partial file that this process writes.
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    description: PathBuf,
    version: Version,
    /// Bytes in the file.
    have: u64,
    is_settled: bool,
}

impl Partial {
    /// Opens the partial file for `what` in `dir`, or makes it.
    ///
    /// # Errors
    /// A directory that cannot be written, and a file that another process writes.
    pub fn open(dir: &Path, what: &str) -> Result<Partial, Error> {
        std::fs::create_dir_all(dir).map_err(|reason| Error::of_file(dir, reason))?;
        let hash = digest(&SHA256, what.as_bytes());
        let key = data_encoding::HEXLOWER.encode(&hash.as_ref()[..8]);
        let path = dir.join(format!("{}url-{key}.part", afteryou_files::TEMPORARY));
        let description = path.with_extension("json");
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let file = opened.map_err(|reason| Error::of_file(&path, reason))?;
        if !lock::take(&file) {
            return Err(Error::InUse { path });
        }
        let have = file.metadata().map_err(|reason| Error::of_file(&path, reason))?.len();
        let version = if have > 0 { read(&description).unwrap_or_default() } else { Version::default() };
        Ok(Partial { file, path, description, version, have, is_settled: false })
    }

    /// Returns the bytes that are there.
    pub fn have(&self) -> u64 {
        self.have
    }

    /// Returns the version that they belong to.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns the path of the partial file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Empties the file, for content of another version.
    pub fn begin(&mut self, version: Version) -> Result<(), Error> {
        let failed = |reason| Error::of_file(&self.path, reason);
        self.file.set_len(0).map_err(failed)?;
        self.have = 0;
        write(&self.description, &version).map_err(failed)?;
        self.version = version;
        Ok(())
    }

    /// Sets the length of the file, which is known by now.
    pub fn set_length(&mut self, length: u64) {
        self.version.length = Some(length);
    }

    /// Cuts the file to its first bytes: the rest is wrong.
    pub fn cut(&mut self, have: u64) -> Result<(), Error> {
        self.file.set_len(have).map_err(|reason| Error::of_file(&self.path, reason))?;
        self.have = have;
        Ok(())
    }

    /// Returns another handle, for a writer.
    pub fn handle(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|reason| Error::of_file(&self.path, reason))
    }

    /// Looks how much a writer has written.
    pub fn refresh(&mut self) -> Result<u64, Error> {
        self.have = self.file.metadata().map_err(|reason| Error::of_file(&self.path, reason))?.len();
        Ok(self.have)
    }

    /// Gives the file, which is flushed, its final name; `replace` allows that there is one.
    pub fn settle(&mut self, place: &Path, replace: bool) -> Result<(), Error> {
        let temporary =
            TempPath::try_from_path(&self.path).map_err(|reason| Error::of_file(place, reason))?;
        let named = if replace { temporary.persist(place) } else { temporary.persist_noclobber(place) };
        if let Err(failed) = named {
            // Its path would be removed when it is dropped.
            _ = failed.path.keep();
            return Err(match failed.error.kind() {
                io::ErrorKind::AlreadyExists if !replace => Error::Exists { path: place.to_owned() },
                _ => Error::of_file(place, failed.error),
            });
        }
        self.is_settled = true;
        _ = std::fs::remove_file(&self.description);
        sync_directory(place);
        Ok(())
    }
}

/// Leaves nothing behind if nothing arrived.
impl Drop for Partial {
    fn drop(&mut self) {
        if self.is_settled || !self.file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            return;
        }
        _ = std::fs::remove_file(&self.description);
        _ = std::fs::remove_file(&self.path);
    }
}

fn read(description: &Path) -> Option<Version> {
    let is_short = std::fs::metadata(description).is_ok_and(|metadata| metadata.len() <= LONGEST);
    is_short.then(|| serde_json::from_slice(&std::fs::read(description).ok()?).ok()).flatten()
}

/// Writes the description whole. It is for the user's eyes alone, since a URL may hold a secret.
fn write(description: &Path, version: &Version) -> io::Result<()> {
    let dir = description.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::with_prefix_in(afteryou_files::TEMPORARY, dir)?;
    file.write_all(&serde_json::to_vec(version)?)?;
    file.as_file().sync_all()?;
    file.persist(description).map(drop).map_err(|failed| failed.error)
}

/// Flushes a new name. A file system that cannot do that does so by itself.
fn sync_directory(place: &Path) {
    let dir = place.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) {
        _ = File::open(dir).and_then(|dir| dir.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(etag: &str) -> Version {
        Version { etag: Some(etag.to_owned()), ..Version::default() }
    }

    fn names(dir: &Path) -> usize {
        std::fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn the_next_run_finds_content_and_version() {
        let dir = tempfile::tempdir().unwrap();
        let mut partial = Partial::open(dir.path(), "x").unwrap();
        partial.begin(version("\"1\"")).unwrap();
        partial.handle().unwrap().write_all(b"half").unwrap();
        drop(partial);
        let mut partial = Partial::open(dir.path(), "x").unwrap();
        assert_eq!((partial.have(), partial.version().validator()), (4, Some("\"1\"")));
        assert_eq!(Partial::open(dir.path(), "y").unwrap().have(), 0);
        partial.begin(version("\"2\"")).unwrap();
        assert_eq!((partial.have(), partial.refresh().unwrap()), (0, 0));
        drop(partial);
        assert_eq!(names(dir.path()), 0, "nothing arrived");
    }

    #[test]
    fn one_process_writes_it() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Partial::open(dir.path(), "x").unwrap();
        assert!(matches!(Partial::open(dir.path(), "x"), Err(Error::InUse { .. })));
    }

    #[test]
    fn a_description_that_is_damaged_describes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut partial = Partial::open(dir.path(), "x").unwrap();
        partial.begin(version("\"1\"")).unwrap();
        partial.handle().unwrap().write_all(b"half").unwrap();
        std::fs::write(&partial.description, "{\"etag\": 3").unwrap();
        drop(partial);
        let partial = Partial::open(dir.path(), "x").unwrap();
        assert_eq!((partial.have(), partial.version()), (4, &Version::default()));
    }

    #[test]
    fn a_final_name_replaces_a_file_only_if_it_may() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("a");
        std::fs::write(&place, "old").unwrap();
        let mut partial = Partial::open(dir.path(), "x").unwrap();
        partial.begin(version("\"1\"")).unwrap();
        partial.handle().unwrap().write_all(b"new").unwrap();
        assert!(matches!(partial.settle(&place, false), Err(Error::Exists { .. })));
        assert_eq!(std::fs::read(&place).unwrap(), b"old");
        partial.settle(&place, true).unwrap();
        drop(partial);
        assert_eq!((std::fs::read(&place).unwrap().as_slice(), names(dir.path())), (&b"new"[..], 1));
    }
}
