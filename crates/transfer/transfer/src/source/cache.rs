//! Trees of large files from run to run.
//!
//! # Model
//! One file for each content: a header (magic, root, hash of what follows) and the hashes in pre-order. Its name is a
//! hash of what identifies the content without reading it: device, inode, size, mtime, ctime, path. The kernel sets ctime
//! at every change, and no program can set it back. A file whose times were less than 2 s old when hashing began is not
//! remembered: it might change once more and keep them, because clocks of file systems have steps. A damaged tree is found out by its header and hashed anew. One that is wrong and looks right is found out when it is used,
//! because everything that is sent is checked against it.
//!
//! A tree that is being made has a name of its own and is locked (`flock`) until it is whole. The next process to start removes those that
//! nobody has locked: their process was killed. Outside Unix nothing is locked, and they stay for 30 days.
//!
//! # Known bad cases
//! A change that leaves size and times as they were goes unseen. A sink that has the old content reports so, and keeps
//! it; for any other sink, sending fails and the file is hashed anew. It takes a system without ctime (Windows) and a
//! program that sets mtime back, a clock that jumps back to the very nanosecond, or a write to the disk below the file
//! system. A file that a memory map could change without new times has no tree here: see [`super::file_systems`]. A change of mode or of the number of hard links costs hashing anew.

use super::hashes::{Hashes, Region};
use super::place::Facts;
use crate::entry::{EntryPath, GROUP};
use crate::store::lock;
use bao_tree::BaoTree;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;

const MAGIC: &[u8; 16] = b"afteryou tree 3\n";

/// Magic, root, hash of the rest.
const HEADER_BYTES: u64 = 16 + 32 + 32;

/// Entries that were unused for so long are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// End of the files' names.
const SUFFIX: &str = ".tree";
/// End of the names of those with roots.
const ROOTS: &str = ".roots";
/// How the names of those begin that are not finished.
const NEW: &str = "new-";
/// Times that a new file may be removed before it is locked.
const ATTEMPTS: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Uses a directory, which is made if it is not there, and removes what is old. Where that fails nothing is cached.
    pub(super) fn open(dir: PathBuf) -> Self {
        _ = make(&dir);
        let cache = Self { dir };
        _ = cache.trim(SystemTime::now());
        cache
    }

    fn trim(&self, now: SystemTime) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Nothing but our own.
            if ![SUFFIX, ROOTS].iter().any(|suffix| name.ends_with(suffix)) {
                continue;
            }
            // Another process may have removed it just now.
            let Ok(used) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
            let is_old = now.duration_since(used).is_ok_and(|age| age > KEPT);
            match name.starts_with(NEW) {
                true if cfg!(unix) => remove_unlocked(&entry.path()),
                _ if is_old => _ = std::fs::remove_file(entry.path()),
                _ => {}
            }
        }
        Ok(())
    }

    fn path(&self, path: &EntryPath, facts: &Facts) -> PathBuf {
        let mut hasher = facts.content_identity();
        hasher.update(&path.0);
        self.dir.join(format!("{}{SUFFIX}", &hasher.finalize().to_hex()[..32]))
    }

    /// Returns the file of a job's roots.
    pub(super) fn roots(&self, job: &[u8; 32]) -> PathBuf {
        self.dir.join(format!("{}{ROOTS}", &blake3::Hash::from_bytes(*job).to_hex()[..32]))
    }

    /// Returns root and hashes of a file, if they are there and undamaged.
    pub(super) fn find(&self, path: &EntryPath, facts: &Facts) -> Option<([u8; 32], Hashes)> {
        let path = self.path(path, facts);
        let mut file = File::open(&path).ok()?;
        let length = HEADER_BYTES + BaoTree::new(facts.size, GROUP).outboard_size();
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() != length {
            return None;
        }
        let (mut magic, mut root, mut sum) = ([0; 16], [0; 32], [0; 32]);
        file.read_exact(&mut magic).ok()?;
        file.read_exact(&mut root).ok()?;
        file.read_exact(&mut sum).ok()?;
        if &magic != MAGIC || checksum(&root, &file).ok()? != sum {
            _ = std::fs::remove_file(&path);
            return None;
        }
        mark_used(&path);
        Some((root, Hashes::Cached(path, HEADER_BYTES)))
    }

    /// Begins a new file; the hashes of a tree go to [`Self::region`].
    pub(super) fn begin(&self) -> io::Result<NamedTempFile> {
        for _ in 0..ATTEMPTS {
            let file = tempfile::Builder::new().prefix(NEW).suffix(SUFFIX).tempfile_in(&self.dir)?;
            // Another process may come upon it before it is locked, and remove it.
            if lock(file.as_file())? && file.path().exists() {
                return Ok(file);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(super) fn region<'a>(&self, file: &'a mut NamedTempFile) -> Region<&'a mut File> {
        Region(file.as_file_mut(), HEADER_BYTES)
    }

    /// Keeps a new file when all hashes are in it.
    pub(super) fn keep(
        &self,
        mut file: NamedTempFile,
        path: &EntryPath,
        facts: &Facts,
        root: &[u8; 32],
    ) -> io::Result<Hashes> {
        file.seek(SeekFrom::Start(HEADER_BYTES))?;
        let sum = checksum(root, file.as_file())?;
        file.rewind()?;
        file.write_all(&[&MAGIC[..], root, &sum].concat())?;
        let path = self.path(path, facts);
        file.persist(&path)?;
        Ok(Hashes::Cached(path, HEADER_BYTES))
    }

    /// Removes what is kept of a file.
    pub(super) fn forget(&self, path: &EntryPath, facts: &Facts) {
        _ = std::fs::remove_file(self.path(path, facts));
    }
}

/// Marks a file as used: nothing is removed that was used a short time ago.
pub(super) fn mark_used(path: &Path) {
    if let Ok(used) = File::options().append(true).open(path) {
        _ = used.set_modified(SystemTime::now());
    }
}

/// Removes an unfinished tree that no process is making. The lock is held meanwhile, so that none begins to.
fn remove_unlocked(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    if lock(&file).is_ok_and(|locked| locked) {
        _ = std::fs::remove_file(path);
    }
}

/// Returns the checksum of the root and everything from the file's position to its end, where the position returns to.
fn checksum(root: &[u8; 32], mut file: &File) -> io::Result<[u8; 32]> {
    let from = file.stream_position()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(root);
    hasher.update_reader(BufReader::with_capacity(256 * 1024, file))?;
    file.seek(SeekFrom::Start(from))?;
    Ok(*hasher.finalize().as_bytes())
}

fn make(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir)
}
