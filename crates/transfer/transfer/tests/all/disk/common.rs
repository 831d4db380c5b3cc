//! What the tests of the two disks share.

use afteryou_transfer::entry::{Entry, EntryPath, Kind, Wanted};
use afteryou_transfer::source::{Item, Prepared, Served, Source, SourceOptions};
use afteryou_transfer::store::{Kept, Store, StoreOptions, Verdict};
use afteryou_transfer::wire::Why;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns bytes that look like nothing in particular and depend on the seed.
pub fn content(bytes: usize, seed: u64) -> Vec<u8> {
    let mut out = vec![0; bytes];
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    blake3::Hasher::new_keyed(&key).finalize_xof().fill(&mut out);
    out
}

/// A directory to send and one to receive into, with another beside it that nobody may touch.
pub struct Pair {
    pub base: tempfile::TempDir,
}

impl Pair {
    pub fn new() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        for name in ["from", "to", "beside"] {
            std::fs::create_dir(base.path().join(name)).expect("a directory");
        }
        std::fs::write(base.path().join("beside/canary"), b"untouched").expect("a canary");
        Self { base }
    }

    pub fn from(&self) -> PathBuf {
        self.base.path().join("from")
    }

    pub fn to(&self) -> PathBuf {
        self.base.path().join("to")
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.from().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, bytes).expect("a file");
    }

    /// Returns everything that is in `from`, as a served directory.
    pub fn source(&self) -> Source {
        Source::below(&self.from(), b"", SourceOptions::default()).expect("a source")
    }

    pub fn served(&self) -> Served {
        Served::open(&self.from()).expect("a directory")
    }

    pub fn store(&self) -> Store {
        Store::open(&self.to(), StoreOptions::default()).expect("a store")
    }

    /// Asserts that both directories hold the same.
    pub fn assert_same(&self) {
        let (from, to) = (tree(&self.from()), tree(&self.to()));
        assert_eq!(from.keys().collect::<Vec<_>>(), to.keys().collect::<Vec<_>>());
        for (name, there) in &from {
            assert!(there == &to[name], "{name:?} differs");
        }
    }

    /// Asserts the same, when there are other directories beside them.
    pub fn assert_same_files(&self) {
        assert_eq!(tree(&self.from()), tree(&self.to()));
    }

    /// Returns the contents of the directory of partial files.
    pub fn leftovers(&self) -> Vec<String> {
        names(&self.to().join(".afteryou"))
    }

    pub fn assert_canary(&self) {
        assert_eq!(names(&self.base.path().join("beside")), ["canary"]);
        assert_eq!(std::fs::read(self.base.path().join("beside/canary")).expect("the canary"), b"untouched");
        assert_eq!(names(self.base.path()), ["beside", "from", "to"]);
    }
}

pub fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns every file's content, every link's target; directories as `None`.
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(next) = todo.pop() {
        for entry in std::fs::read_dir(&next).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(dir).expect("below").to_path_buf();
            let metadata = path.symlink_metadata().expect("metadata");
            let what = if metadata.is_dir() {
                todo.push(path);
                None
            } else if metadata.is_symlink() {
                Some(std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes())
            } else {
                Some(std::fs::read(&path).expect("a file"))
            };
            found.insert(name, what);
        }
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Stored,
    /// A directory or link that is new.
    Made,
    Had,
    Incomplete,
    Busy,
    Skipped(String),
    Failed(Why),
}

/// Moves everything, one entry after the other.
pub fn move_all(source: &Source, store: &Store) -> Vec<(String, Outcome)> {
    let mut outcomes = Vec::new();
    for item in source.entries() {
        outcomes.push(match item {
            Item::Skipped { path, reason } | Item::Failed { path, reason } => {
                (path.to_string(), Outcome::Skipped(reason))
            }
            Item::Entry(prepared) => (prepared.entry().path.to_string(), move_one(&prepared, store)),
        });
    }
    outcomes
}

pub fn move_one(prepared: &Prepared, store: &Store) -> Outcome {
    match store.consider(prepared.entry()) {
        Err(why) => Outcome::Failed(why),
        Ok(Verdict::Have(Kept::All)) => Outcome::Had,
        Ok(Verdict::Made(Kept::All)) => Outcome::Made,
        Ok(Verdict::Have(Kept::ContentOnly(_)) | Verdict::Made(Kept::ContentOnly(_))) => Outcome::Incomplete,
        Ok(Verdict::Busy) => Outcome::Busy,
        Ok(Verdict::Want(reception)) => {
            let encoded = encode(prepared, reception.wanted());
            match reception.receive(&encoded[..], &mut |_, _| {}) {
                Ok(Kept::All) => Outcome::Stored,
                Ok(Kept::ContentOnly(_)) => Outcome::Incomplete,
                Err(why) => Outcome::Failed(why),
            }
        }
        Ok(other) => panic!("only a job that asks for it gets {other:?}"),
    }
}

pub fn encode(prepared: &Prepared, wanted: &Wanted) -> Vec<u8> {
    let mut encoded = Vec::new();
    prepared.encode(wanted, &mut encoded).expect("encodes");
    encoded
}

/// Returns the only file of a source.
pub fn single(source: &Source) -> Prepared {
    let mut found = source.entries().filter_map(|item| match item {
        Item::Entry(prepared) if matches!(prepared.entry().kind, Kind::File { .. }) => Some(prepared),
        _ => None,
    });
    found.next().expect("a file")
}

pub fn entry(path: &[u8], kind: Kind) -> Entry {
    Entry {
        path: EntryPath(path.to_vec()),
        kind,
        mode: Some(0o644),
        mtime: Default::default(),
        link: None,
        extras: None,
    }
}

pub fn link(path: &[u8], target: &[u8]) -> Entry {
    entry(path, Kind::Symlink { target: target.to_vec() })
}

/// Returns a file's entry for a content, and that content encoded whole.
pub fn file(path: &[u8], bytes: &[u8]) -> (Entry, Vec<u8>) {
    use afteryou_transfer::entry::GROUP;
    use bao_tree::io::outboard::PreOrderMemOutboard;
    let outboard = PreOrderMemOutboard::create(bytes, GROUP);
    let mut encoded = Vec::new();
    bao_tree::io::sync::encode_ranges_validated(
        bytes,
        &outboard,
        &bao_tree::ChunkRanges::all(),
        &mut encoded,
    )
    .expect("encodes");
    let kind = Kind::File { size: bytes.len() as u64, root: *outboard.root.as_bytes() };
    (entry(path, kind), encoded)
}
