//! Removal of what a source does not have.
//!
//! # Model
//! A job's mirror keeps a keyed hash of each path that was settled well, and the directories among them. When the source
//! has offered everything, what else lies in those directories goes. Excluded files stay, and so do the directories above
//! them. The source sends the end only if nothing failed and nothing was left out. The number of entries must be the same on
//! both sides, so a receiver that was restarted in the middle of the job removes nothing.
//!
//! # Known bad cases
//! A file that someone else puts into a sent directory during the job is removed, too. A removal that a kill cut short is
//! finished by the next run.

use super::place::{self, writable};
use super::{are_ours, components, Store, STATE};
use crate::entry::{bytes, Entry, EntryPath, Kind};
use crate::error::Error;
use crate::event::Outcome;
use crate::filter::{Filter, Filters};
use crate::wire::{Change, Extent};
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::FileTimes;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The report about each entry that goes, would go, or cannot go.
pub(crate) type Tell<'a> = dyn FnMut(&EntryPath, Outcome) + 'a;

/// The entries of one job.
pub(crate) struct Mirror {
    store: Store,
    seen: Mutex<Seen>,
    /// True when everything else is gone. Held while it goes.
    is_done: Mutex<bool>,
}

#[derive(Default)]
struct Seen {
    hashers: [RandomState; 2],
    paths: HashSet<[u64; 2]>,
    directories: Vec<EntryPath>,
}

impl Seen {
    /// 128 bits with keys that no peer knows.
    fn hash(&self, path: &EntryPath) -> [u64; 2] {
        [self.hashers[0].hash_one(path), self.hashers[1].hash_one(path)]
    }
}

impl Mirror {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, seen: Mutex::default(), is_done: Mutex::default() }
    }

    /// This entry lies at its place, or would.
    pub(crate) fn saw(&self, entry: &Entry) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = seen.hash(&entry.path);
        if seen.paths.insert(hash) && entry.kind == Kind::Directory {
            seen.directories.push(entry.path.clone());
        }
    }

    /// A file lies at its place.
    pub(crate) fn saw_file(&self, path: &EntryPath) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = seen.hash(path);
        seen.paths.insert(hash);
    }

    /// Removes everything else. Blocks.
    ///
    /// # Errors
    /// Nothing was removed, and why.
    pub(crate) fn remove_others(&self, extent: &Extent, tell: &mut Tell<'_>) -> Result<(), Error> {
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_done {
            return Ok(());
        }
        let lists = extent.patterns.iter().cloned().map(Filter::new).collect::<Result<_, _>>()?;
        let filters = Filters::new(extent.below.clone(), lists);
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if extent.entries != seen.paths.len() as u64 {
            return Err(Error::Paths(
                "nothing was removed: the receiving side was restarted during the job; run the same command again"
                    .to_owned(),
            ));
        }
        let mut sweep = Sweep { store: &self.store, seen: &seen, filters, tell };
        let root = extent.whole.then(EntryPath::default);
        for directory in root.iter().chain(&seen.directories) {
            sweep.directory(directory);
        }
        *is_done = true;
        Ok(())
    }
}

struct Sweep<'a, 'b> {
    store: &'a Store,
    seen: &'a Seen,
    filters: Filters,
    tell: &'a mut Tell<'b>,
}

fn modified(dir: &Dir) -> Option<SystemTime> {
    Some(dir.dir_metadata().ok()?.modified().ok()?.into_std())
}

/// The next run sets a time that cannot be set now.
fn set_modified(dir: &Dir, time: Option<SystemTime>) {
    if let (Ok(dir), Some(time)) = (dir.open("."), time) {
        _ = dir.into_std().set_times(FileTimes::new().set_modified(time));
    }
}

impl Sweep<'_, '_> {
    /// The contents of a directory that was sent.
    fn directory(&mut self, path: &EntryPath) {
        let root = &self.store.inner.root;
        let steps = if path.0.is_empty() { Ok(Vec::new()) } else { components(path) };
        // A directory that a dry run would make is not there.
        let Some(dir) = steps.ok().and_then(|steps| place::find(root, &steps).ok().flatten()) else { return };
        let before = modified(&dir);
        self.content(&dir, path);
        // Its time is the source's already, and a removal changes it.
        if before.is_some() && modified(&dir) != before {
            set_modified(&dir, before);
        }
    }

    /// True if nothing stays in the directory.
    fn content(&mut self, dir: &Dir, path: &EntryPath) -> bool {
        let names = dir
            .entries()
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let mut names = match names {
            Ok(names) => names,
            Err(error) => {
                self.failed(path, &error);
                return false;
            }
        };
        names.sort_unstable();
        let mut is_empty = true;
        for name in names {
            is_empty &= self.entry(dir, &name, path.join(&bytes(&name)));
        }
        is_empty
    }

    /// True if it is gone, or would be.
    fn entry(&mut self, dir: &Dir, name: &OsStr, path: EntryPath) -> bool {
        if self.is_state(dir, name, &path)
            || self.seen.paths.contains(&self.seen.hash(&path))
            || self.holds_backups(&path)
        {
            return false;
        }
        let is_directory = dir.symlink_metadata(name).is_ok_and(|metadata| metadata.is_dir());
        if self.filters.exclude(&path, is_directory) {
            return false;
        }
        match is_directory {
            true => self.whole_directory(dir, name, path),
            false => self.gone(&path, || self.store.put_away(dir, name, &path)),
        }
    }

    /// A directory of partial files: that of the receiving directory, or one on another disk.
    fn is_state(&self, dir: &Dir, name: &OsStr, path: &EntryPath) -> bool {
        if !bytes(name).eq_ignore_ascii_case(STATE.as_bytes()) {
            return false;
        }
        let names = dir.open_dir_nofollow(name).and_then(|state| {
            state.entries()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()
        });
        path.0.len() == STATE.len()
            || names.is_ok_and(|names| are_ours(names.iter().map(|name| name.as_os_str())))
    }

    fn whole_directory(&mut self, parent: &Dir, name: &OsStr, path: EntryPath) -> bool {
        let dir = match parent.open_dir_nofollow(name) {
            Ok(dir) => dir,
            Err(error) => {
                self.failed(&path, &error);
                return false;
            }
        };
        self.content(&dir, &path) && self.gone(&path, || writable(parent, || parent.remove_dir(name)))
    }

    /// The directory of backups, what lies in it, or a directory above it.
    fn holds_backups(&self, path: &EntryPath) -> bool {
        let Some(backup) = &self.store.wishes.backup else { return false };
        let is_below = |path: &EntryPath, above: &EntryPath| {
            path.0.strip_prefix(above.0.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/'))
        };
        path == backup || is_below(path, backup) || is_below(backup, path)
    }

    fn gone(&mut self, path: &EntryPath, remove: impl FnOnce() -> io::Result<()>) -> bool {
        if self.store.wishes.dry_run {
            (self.tell)(path, Outcome::Would(Change::Remove));
            return true;
        }
        match remove() {
            Ok(()) => (self.tell)(path, Outcome::Removed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                self.failed(path, &error);
                return false;
            }
        }
        true
    }

    fn failed(&mut self, path: &EntryPath, error: &io::Error) {
        (self.tell)(path, Outcome::Failed(format!("it cannot be removed: {error}")));
    }
}
