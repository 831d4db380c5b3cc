//! Where the trees of what is being sent are: in memory, in the cache, or in a temporary file.
//!
//! Many files may be offered and wait for their turn, so none of them keeps a file open.

use super::cache::Cache;
use super::content::Uses;
use super::file_systems::FileSystems;
use super::hashes::{Hashes, Region};
use super::parents::Parents;
use super::place::Facts;
use super::remembered::Remembered;
use super::turns::{Patient, Stopper, TURNS};
use crate::entry::{EntryPath, GROUP};
use afteryou_base::lock::EvenPoisoned;
use bao_tree::io::outboard::{PreOrderMemOutboard, PreOrderOutboard};
use bao_tree::io::sync::{outboard, WriteAt};
use bao_tree::BaoTree;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// Larger files have their trees in a file: 1/256 of what they hold.
const IN_MEMORY_BYTES: u64 = 64 * 1024 * 1024;

/// Files by device and inode, as they were when they were hashed, and their roots.
type Roots = HashMap<(u64, u64), (Facts, [u8; 32])>;

/// Keeps the trees of one walk.
#[derive(Debug)]
pub(super) struct Trees {
    cache: Option<Cache>,
    /// A file without a name and its length. It goes when the last tree in it goes.
    spool: Mutex<Option<(Arc<File>, u64)>>,
    /// Roots of the files with several names, by device and inode.
    roots: Mutex<Roots>,
    /// Roots of smaller files from earlier runs.
    remembered: Option<Mutex<Remembered>>,
    /// Trees that earlier runs have left are not used.
    verify: bool,
    systems: FileSystems,
    pub(super) stopper: Stopper,
    /// Of the content of small files.
    pub(super) uses: Uses,
}

impl Trees {
    /// Creates the trees. `job`: whose roots are remembered. `verify`: every file is read.
    pub(super) fn new(cache: Option<PathBuf>, job: Option<[u8; 32]>, verify: bool, stopper: Stopper) -> Self {
        let cache = cache.map(Cache::open);
        let remembered = cache.clone().zip(job).map(|(cache, job)| Remembered::open(cache, &job));
        Self {
            cache,
            remembered: remembered.map(Mutex::new),
            verify,
            systems: FileSystems::default(),
            spool: Mutex::new(None),
            roots: Mutex::default(),
            stopper,
            uses: Uses::default(),
        }
    }

    fn cache_for(&self, facts: &Facts) -> Option<&Cache> {
        self.cache.as_ref().filter(|_| facts.size > IN_MEMORY_BYTES)
    }

    /// Returns root and hashes of a file that was hashed in an earlier run.
    pub(super) fn find(&self, path: &EntryPath, facts: &Facts) -> Option<([u8; 32], Hashes)> {
        self.cache_for(facts).filter(|_| !self.verify)?.find(path, facts)
    }

    fn roots(&self) -> MutexGuard<'_, Roots> {
        self.roots.lock().even_poisoned()
    }

    fn remembered(&self) -> Option<MutexGuard<'_, Remembered>> {
        self.remembered.as_ref().map(|remembered| remembered.lock().even_poisoned())
    }

    /// Returns the root of a file that was read in an earlier run.
    pub(super) fn remembered_root(&self, path: &EntryPath, facts: &Facts) -> Option<[u8; 32]> {
        self.remembered().filter(|_| !self.verify)?.find(path, facts)
    }

    /// Returns whether what is read of a file from now on may be remembered, because every change after `now` sets its
    /// times. Takes to the disk what was written to it through a memory map, see [`FileSystems`].
    pub(super) fn may_remember(&self, file: &File, facts: &Facts, now: SystemTime) -> bool {
        let is_kept = match facts.size > IN_MEMORY_BYTES {
            true => self.cache.is_some(),
            false => self.remembered.is_some(),
        };
        is_kept && facts.settled(now) && self.systems.flush(file, facts, now)
    }

    /// Keeps the root of a file for later runs.
    pub(super) fn remember_root(&self, path: &EntryPath, facts: &Facts, root: [u8; 32]) {
        if facts.size > IN_MEMORY_BYTES {
            return;
        }
        if let Some(mut remembered) = self.remembered() {
            remembered.add(path, facts, root);
        }
    }

    /// Records that the walk has ended.
    pub(super) fn finish(&self) {
        if let Some(mut remembered) = self.remembered() {
            remembered.finish();
        }
    }

    /// Returns the root of a file that was hashed under another name.
    pub(super) fn root_of(&self, facts: &Facts) -> Option<[u8; 32]> {
        let roots = self.roots();
        roots.get(&facts.id?).filter(|(known, _)| known.same_content(facts)).map(|(_, root)| *root)
    }

    /// Keeps the root of a file that has other names.
    pub(super) fn remember(&self, facts: &Facts, root: [u8; 32]) {
        if let (Some(id), 2..) = (facts.id, facts.names) {
            self.roots().insert(id, (facts.clone(), root));
        }
    }

    /// Forgets the hashes of a file, which were wrong, or it has changed: `now` has its facts.
    pub(super) fn forget(&self, path: &EntryPath, facts: &Facts, now: &Facts) {
        if let Some(id) = facts.id {
            self.roots().remove(&id);
        }
        if let Some(cache) = self.cache_for(facts) {
            return cache.forget(path, facts);
        }
        // The record of a file that has changed has no effect.
        if facts.same_content(now) {
            if let Some(mut remembered) = self.remembered() {
                remembered.forget();
            }
        }
    }

    /// Hashes a file. `remember`: for later runs, too, if it is large.
    pub(super) fn hash(
        &self,
        file: &File,
        path: &EntryPath,
        facts: &Facts,
        remember: bool,
    ) -> io::Result<([u8; 32], Hashes)> {
        let tree = BaoTree::new(facts.size, GROUP);
        if facts.size <= IN_MEMORY_BYTES {
            let data = vec![0; tree.outboard_size() as usize];
            let mut hashes = PreOrderMemOutboard { root: [0; 32].into(), tree, data };
            let root = outboard(self.patient(file), tree, &mut hashes)?;
            return Ok((*root.as_bytes(), Hashes::Memory(hashes.data)));
        }
        let hash_to = |region: Region<&mut File>| {
            let data = Parents::new(region);
            let mut hashes = PreOrderOutboard { root: [0; 32].into(), tree, data };
            let root = outboard(self.patient(file), tree, &mut hashes)?;
            hashes.data.flush()?;
            io::Result::Ok(*root.as_bytes())
        };
        if let Some((mut kept, cache)) =
            self.cache_for(facts).filter(|_| remember).and_then(|cache| Some((cache.begin().ok()?, cache)))
        {
            let root = hash_to(cache.region(&mut kept))?;
            // A cache that fails costs time, nothing else.
            if let Ok(hashes) = cache.keep(kept, path, facts, &root) {
                return Ok((root, hashes));
            }
            io::Seek::rewind(&mut &*file)?;
        }
        let (spool, from) = self.reserve(tree.outboard_size())?;
        let root = hash_to(Region(&mut spool.try_clone()?, from))?;
        Ok((root, Hashes::Spool(spool, from)))
    }

    fn patient<'a>(&'a self, file: &'a File) -> Patient<'a, &'a File> {
        Patient::new(file, &self.stopper, &TURNS)
    }

    /// Reserves room in the spool.
    fn reserve(&self, bytes: u64) -> io::Result<(Arc<File>, u64)> {
        let mut spool = self.spool.lock().even_poisoned();
        let (file, length) = match spool.take() {
            Some(known) => known,
            None => (Arc::new(tempfile::tempfile()?), 0),
        };
        *spool = Some((file.clone(), length + bytes));
        Ok((file, length))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_verifies_takes_nothing_from_earlier_runs() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("file"), b"content").expect("a file");
        let facts = Facts::of(&File::open(dir.path().join("file")).expect("opens")).expect("facts");
        let path = EntryPath(b"file".to_vec());
        let cache = dir.path().join("cache");
        let trees = |verify| Trees::new(Some(cache.clone()), Some([1; 32]), verify, Stopper::default());
        let first = trees(false);
        first.remember_root(&path, &facts, [7; 32]);
        first.finish();
        assert_eq!(trees(false).remembered_root(&path, &facts), Some([7; 32]));
        let second = trees(true);
        assert_eq!(second.remembered_root(&path, &facts), None);
        second.remember_root(&path, &facts, [8; 32]);
        second.finish();
        assert_eq!(
            trees(false).remembered_root(&path, &facts),
            Some([8; 32]),
            "it remembers what it has read"
        );
    }
}
