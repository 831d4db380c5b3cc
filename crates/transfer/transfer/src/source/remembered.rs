//! Roots of files from run to run.
//!
//! # Model
//! One file for each job, named by a hash of the paths that the job sends. It has a record of each file that was read, in the order of
//! the walk: path, root and check. The check is a hash of both and of what identifies the content without reading it: device,
//! inode, size, mtime and ctime. The kernel sets ctime at every change, and no program can set it back. The next run reads the
//! records as it walks, so a tree of any size needs no memory for them. A record whose check differs has no effect: the file has
//! changed, or the record is damaged.
//!
//! A run that finds every file as it was writes nothing. Otherwise it copies the records so far, continues with its own, and
//! replaces the old file when the walk has ended.
//!
//! A file whose times were less than 2 s old when it was read is not remembered: it might change once more and keep them,
//! because clocks of file systems have steps. Nor is one that a memory map could change without new times: see
//! [`super::file_systems`].
//!
//! # Known bad cases
//! A change that leaves size and times as they were goes unseen: a clock that jumps back to the very nanosecond, a write to the
//! disk below the file system, a defect of the disk. A sink that has the old content keeps
//! it. For any other sink, sending fails, the file is hashed anew, and the job's records are removed. A change of mode costs
//! reading anew. A walk that is interrupted remembers nothing of what it read.
//!
//! # Not implemented
//! Systems without inodes or ctime (Windows): each run reads the files.

use super::cache::Cache;
use super::place::Facts;
use crate::entry::EntryPath;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use tempfile::NamedTempFile;

const MAGIC: &[u8; 16] = b"afteryou roots2\n";
/// Bytes of a check: that of a changed file agrees by chance once in 2^128.
const CHECK: usize = 16;

/// The records of one job.
#[derive(Debug)]
pub(super) struct Remembered {
    cache: Cache,
    path: PathBuf,
    old: Option<BufReader<File>>,
    /// The next record of the old file.
    next: Option<Record>,
    /// Bytes at the old file's beginning that describe what this walk has found.
    kept: u64,
    new: New,
}

/// The file that replaces the old one.
#[derive(Debug)]
enum New {
    /// Nothing differs so far.
    Unneeded,
    Begun(BufWriter<NamedTempFile>),
    /// It cannot be written, or a root was wrong.
    Abandoned,
}

#[derive(Debug)]
struct Record {
    path: Vec<u8>,
    root: [u8; 32],
    check: [u8; CHECK],
}

impl Remembered {
    /// Opens what earlier runs of the job have left. A job is one by its name.
    pub(super) fn open(cache: Cache, job: &[u8; 32]) -> Self {
        let path = cache.roots(job);
        let mut remembered =
            Self { cache, path, old: None, next: None, kept: MAGIC.len() as u64, new: New::Unneeded };
        if let Ok(file) = File::open(&remembered.path) {
            let mut old = BufReader::new(file);
            let mut magic = [0; MAGIC.len()];
            if old.read_exact(&mut magic).is_ok() && &magic == MAGIC {
                remembered.old = Some(old);
                remembered.advance();
            }
        }
        remembered
    }

    fn advance(&mut self) {
        self.next = self.old.as_mut().and_then(|old| Record::read(old).ok());
    }

    /// Returns the root of a file that is as it was. Files come in the order of the walk.
    pub(super) fn find(&mut self, path: &EntryPath, facts: &Facts) -> Option<[u8; 32]> {
        while self.next.as_ref().is_some_and(|next| order(&next.path, &path.0).is_lt()) {
            self.differ();
            self.advance();
        }
        let found = self.next.take_if(|next| next.path == path.0)?;
        let is_valid = check(path, facts, &found.root) == Some(found.check);
        match is_valid {
            true => self.keep(&found),
            false => self.differ(),
        }
        self.advance();
        is_valid.then_some(found.root)
    }

    /// Remembers a file that was read.
    pub(super) fn add(&mut self, path: &EntryPath, facts: &Facts, root: [u8; 32]) {
        let Some(check) = check(path, facts, &root) else { return };
        self.differ();
        self.write(&Record { path: path.0.clone(), root, check });
    }

    /// Keeps an old record.
    fn keep(&mut self, record: &Record) {
        match self.new {
            New::Unneeded => self.kept += record.bytes(),
            _ => self.write(record),
        }
    }

    /// Notes that from here on the records are not those of the old file.
    fn differ(&mut self) {
        if matches!(self.new, New::Unneeded) {
            // A cache that fails costs time, nothing else.
            self.new = self.begin().map_or(New::Abandoned, New::Begun);
        }
    }

    fn begin(&mut self) -> io::Result<BufWriter<NamedTempFile>> {
        let mut new = BufWriter::new(self.cache.begin()?);
        let Some(old) = &mut self.old else {
            new.write_all(MAGIC)?;
            return Ok(new);
        };
        let at = old.stream_position()?;
        old.rewind()?;
        io::copy(&mut old.by_ref().take(self.kept), &mut new)?;
        old.seek(SeekFrom::Start(at))?;
        Ok(new)
    }

    fn write(&mut self, record: &Record) {
        if let New::Begun(new) = &mut self.new {
            if record.write(new).is_err() {
                self.new = New::Abandoned;
            }
        }
    }

    /// Records that the walk has ended.
    pub(super) fn finish(&mut self) {
        if self.next.is_some() {
            self.differ();
        }
        let had_some = self.old.take().is_some();
        match std::mem::replace(&mut self.new, New::Abandoned) {
            New::Begun(new) => _ = new.into_inner().map(|new| new.persist(&self.path)),
            New::Unneeded if had_some => super::cache::mark_used(&self.path),
            New::Unneeded | New::Abandoned => {}
        }
    }

    /// Forgets all records: a root was wrong.
    pub(super) fn forget(&mut self) {
        (self.old, self.next, self.new) = (None, None, New::Abandoned);
        _ = std::fs::remove_file(&self.path);
    }
}

impl Record {
    fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 2];
        from.read_exact(&mut length)?;
        let mut path = vec![0; usize::from(u16::from_be_bytes(length))];
        let (mut root, mut check) = ([0; 32], [0; CHECK]);
        from.read_exact(&mut path)?;
        from.read_exact(&mut root)?;
        from.read_exact(&mut check)?;
        Ok(Self { path, root, check })
    }

    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let length = u16::try_from(self.path.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&self.path)?;
        to.write_all(&self.root)?;
        to.write_all(&self.check)
    }

    fn bytes(&self) -> u64 {
        (2 + self.path.len() + self.root.len() + CHECK) as u64
    }
}

/// Returns the check of a record, `None` where the file system does not report enough.
fn check(path: &EntryPath, facts: &Facts, root: &[u8; 32]) -> Option<[u8; CHECK]> {
    facts.id.zip(facts.ctime)?;
    let mut hasher = facts.content_identity();
    hasher.update(root).update(&path.0);
    hasher.finalize().as_bytes().first_chunk().copied()
}

/// Compares paths in the order of a walk: components one by one, each by its bytes.
fn order(one: &[u8], other: &[u8]) -> Ordering {
    // No name has a zero byte.
    let rank = |&byte: &u8| if byte == b'/' { 0 } else { byte };
    one.iter().map(rank).cmp(other.iter().map(rank))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    struct Yard(tempfile::TempDir);

    impl Yard {
        /// Makes a directory with files, and one for the cache.
        fn with(names: &[&str]) -> Self {
            let yard = Self(tempfile::tempdir().expect("a directory"));
            for name in names {
                yard.write(name, name);
            }
            yard
        }

        fn write(&self, name: &str, content: &str) {
            let path = self.0.path().join("files").join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            std::fs::write(path, content).expect("a file");
        }

        fn remembered(&self) -> Remembered {
            Remembered::open(Cache::open(self.0.path().join("cache")), &[1; 32])
        }

        /// Walks over these names; returns those that were read.
        fn walk<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
            let mut remembered = self.remembered();
            let mut read = Vec::new();
            for name in names {
                let path = EntryPath(name.as_bytes().to_vec());
                let path_of_file = self.0.path().join("files").join(name);
                let facts = Facts::of(&File::open(&path_of_file).expect("opens")).expect("facts");
                let right = *blake3::hash(&std::fs::read(path_of_file).expect("reads")).as_bytes();
                match remembered.find(&path, &facts) {
                    Some(root) => assert_eq!(root, right, "{name}"),
                    None => {
                        read.push(*name);
                        remembered.add(&path, &facts, right);
                    }
                }
            }
            remembered.finish();
            read
        }

        fn kept(&self) -> Vec<PathBuf> {
            let entries = std::fs::read_dir(self.0.path().join("cache")).expect("a directory");
            entries.map(|entry| entry.expect("an entry").path()).collect()
        }
    }

    const NAMES: [&str; 6] = ["a", "b/c", "b/d/e", "b!", "b0", "c"];

    #[test]
    fn a_tree_is_read_once_and_afterwards_only_what_changed() {
        let yard = Yard::with(&NAMES);
        assert_eq!(yard.walk(&NAMES), NAMES);
        assert_eq!(yard.walk(&NAMES), [""; 0]);
        yard.write("b/c", "B/C");
        yard.write("bb", "new");
        std::fs::remove_file(yard.0.path().join("files/b!")).expect("removes");
        let now = ["a", "b/c", "b/d/e", "b0", "bb", "c"];
        assert_eq!(yard.walk(&now), ["b/c", "bb"]);
        assert_eq!(yard.walk(&now), [""; 0]);
        assert_eq!(yard.walk(&now[..4]), [""; 0], "the rest is gone");
        assert_eq!(yard.walk(&now), ["bb", "c"]);
    }

    #[test]
    fn components_are_in_the_order_of_a_walk() {
        assert!(NAMES.is_sorted_by(|one, other| order(one.as_bytes(), other.as_bytes()).is_lt()));
    }

    #[test]
    fn damaged_records_are_read_over_and_no_wrong_root_comes_of_them() {
        let yard = Yard::with(&NAMES);
        yard.walk(&NAMES);
        let [kept] = yard.kept().try_into().expect("one file");
        let whole = std::fs::read(&kept).expect("reads");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            std::fs::write(&kept, &damaged).expect("writes");
            assert!(!yard.walk(&NAMES).is_empty(), "byte {at}");
            std::fs::write(&kept, &whole[..at]).expect("writes");
            yard.walk(&NAMES);
            assert_eq!(yard.walk(&NAMES), [""; 0], "byte {at}");
        }
    }

    #[test]
    fn a_wrong_root_removes_the_records_and_what_this_walk_adds_is_not_kept() {
        let yard = Yard::with(&NAMES);
        yard.walk(&NAMES);
        let mut remembered = yard.remembered();
        remembered.forget();
        let facts = Facts::of(&File::open(yard.0.path().join("files/a")).expect("opens")).expect("facts");
        remembered.add(&EntryPath(b"a".to_vec()), &facts, [7; 32]);
        remembered.finish();
        assert_eq!(yard.kept(), [""; 0].map(PathBuf::from));
    }
}
