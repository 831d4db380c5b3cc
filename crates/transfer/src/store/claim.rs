//! Receptions under way in a store, and those that wait for them.

use super::partial;
use super::path::STATE;
use super::place::{self, Attributes};
use super::Inner;
use crate::entry::EntryPath;
use cap_std::fs::Dir;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

/// Receptions under way.
#[derive(Default)]
pub(super) struct Active {
    /// Paths that are being considered or received, and how often.
    paths: BTreeMap<Vec<u8>, usize>,
    /// Roots of small files that will be stored when they have come, by their paths.
    expected: HashMap<Vec<u8>, [u8; 32]>,
    /// Directories whose attributes wait for what is under way below them.
    waiting: BTreeMap<Vec<u8>, Attributes>,
    /// How many partial files from earlier there are of a path, by what their names begin with.
    older: HashMap<String, usize>,
}

impl Active {
    pub(super) fn with_older(bases: &[String]) -> Self {
        let mut active = Self::default();
        for base in bases {
            *active.older.entry(partial::path_part(base).to_owned()).or_default() += 1;
        }
        active
    }

    /// True if something is under way below this directory.
    fn is_below(&self, directory: &[u8]) -> bool {
        let prefix = [directory, b"/"].concat();
        let next = self.paths.range(prefix.clone()..).next();
        next.is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Keeps the attributes of a directory for later if something is under way below it.
    pub(super) fn postpone(&mut self, directory: &EntryPath, attributes: &Attributes) -> bool {
        let postponed = self.is_below(&directory.0);
        if postponed {
            self.waiting.insert(directory.0.clone(), attributes.clone());
        }
        postponed
    }

    /// Directories above this path that need wait no longer, the deepest first.
    fn ready(&mut self, path: &[u8]) -> Vec<(EntryPath, Attributes)> {
        let mut ready = Vec::new();
        if self.waiting.is_empty() {
            return ready;
        }
        for end in (0..path.len()).rev().filter(|&at| path[at] == b'/') {
            if self.is_below(&path[..end]) {
                break;
            }
            if let Some(attributes) = self.waiting.remove(&path[..end]) {
                ready.push((EntryPath(path[..end].to_vec()), attributes));
            }
        }
        ready
    }
}

/// A path is under way as long as this lives.
#[derive(Debug)]
pub(super) struct Claim {
    inner: Arc<Inner>,
    path: EntryPath,
    is_expected: bool,
}

/// Whether a small file may come without a partial file.
pub(super) enum Expected {
    /// Nothing of its path is under way or left from earlier, as far as this process knows.
    New(Claim),
    /// Another session of this process is receiving the same.
    UnderWay,
    /// Something else is, or was.
    Unclear,
}

impl Claim {
    pub(super) fn new(inner: Arc<Inner>, path: &EntryPath) -> Self {
        *inner.active().paths.entry(path.0.clone()).or_default() += 1;
        Self { inner, path: path.clone(), is_expected: false }
    }

    /// Claims the path of a small file.
    pub(super) fn expect(inner: Arc<Inner>, path: &EntryPath, root: &[u8; 32]) -> Expected {
        let mut active = inner.active();
        if active.expected.get(&path.0) == Some(root) {
            return Expected::UnderWay;
        }
        let is_left = |active: &Active| active.older.contains_key(partial::path_part(&partial::prefix(path)));
        if active.paths.contains_key(&path.0) || (!active.older.is_empty() && is_left(&active)) {
            return Expected::Unclear;
        }
        active.paths.insert(path.0.clone(), 1);
        active.expected.insert(path.0.clone(), *root);
        drop(active);
        Expected::New(Self { inner, path: path.clone(), is_expected: true })
    }

    pub(super) fn root(&self) -> &Dir {
        &self.inner.root
    }

    /// Returns when what was done to these directories is on the disk.
    pub(super) fn sync(&self, dirs: Vec<Dir>) -> io::Result<()> {
        self.inner.directories.sync(dirs)
    }

    /// A partial file was made or left behind; the next that commits this path looks for it.
    pub(super) fn left_behind(&self) {
        let key = partial::path_part(&partial::prefix(&self.path)).to_owned();
        *self.inner.active().older.entry(key).or_default() += 1;
    }

    /// True if partial files of this path may lie there. Says so once.
    pub(super) fn take_older(&self) -> bool {
        let mut active = self.inner.active();
        if active.older.is_empty() {
            return false;
        }
        active.older.remove(partial::path_part(&partial::prefix(&self.path))).is_some()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut active = self.inner.active();
        if self.is_expected {
            active.expected.remove(&self.path.0);
        }
        if let Some(count) = active.paths.get_mut(&self.path.0) {
            *count -= 1;
            if *count == 0 {
                active.paths.remove(&self.path.0);
            }
        }
        let ready = active.ready(&self.path.0);
        let idle = active.paths.is_empty();
        drop(active);
        for (directory, attributes) in ready {
            // The entry was settled long ago: nobody is left to be told.
            _ = set(&self.inner.root, &directory, attributes);
        }
        if idle {
            // Succeeds only when it is empty.
            _ = self.inner.root.remove_dir(STATE);
        }
    }
}

fn set(root: &Dir, directory: &EntryPath, attributes: Attributes) -> Option<()> {
    let steps = super::path::components(directory).ok()?;
    attributes.apply_to_directory(&place::find(root, &steps).ok()??).ok().map(drop)
}
