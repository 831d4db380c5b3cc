//! Receptions under way in a store, and those that wait for them.

use super::names;
use super::path::STATE;
use super::place::{self, Attributes};
use super::root::{Root, RootUse};
use super::Inner;
use crate::entry::EntryPath;
use cap_std::fs::Dir;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::Arc;

/// Bytes of directories and attributes that wait. Those for which there is no room get theirs at once, and the next run
/// puts right what came below them later.
const WAITING: usize = 16 * 1024 * 1024;

/// Returns the bytes that a directory takes while it waits.
fn bytes_of(directory: &[u8], attributes: &Attributes) -> usize {
    let extras = attributes.extras.as_ref().map_or(0, |extras| extras.bytes());
    directory.len() + std::mem::size_of::<Attributes>() + extras
}

/// Receptions under way.
#[derive(Default)]
pub(super) struct Active {
    /// Paths that are being considered or received, and how often.
    paths: BTreeMap<Vec<u8>, usize>,
    /// Roots of small files that will be stored when they have come, by their paths.
    expected: HashMap<Vec<u8>, [u8; 32]>,
    /// Directories whose attributes wait for what is under way below them.
    waiting: BTreeMap<Vec<u8>, Attributes>,
    /// Bytes of these.
    waiting_bytes: usize,
    /// Paths of which there may be partial files from earlier, by what their names begin with.
    older: HashSet<String>,
}

impl Active {
    /// Notes that there are partial files with these bases.
    pub(super) fn left_earlier(&mut self, bases: &[String]) {
        self.older.extend(bases.iter().map(|base| names::path_part(base).to_owned()));
    }

    /// Returns whether something is under way below this directory.
    fn is_below(&self, directory: &[u8]) -> bool {
        let prefix = [directory, b"/"].concat();
        let next = self.paths.range(prefix.clone()..).next();
        next.is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Returns the paths that are considered or received.
    pub(super) fn paths(&self) -> impl Iterator<Item = EntryPath> + '_ {
        self.paths.keys().map(|path| EntryPath(path.clone()))
    }

    /// Keeps the attributes of a directory for later if something is under way below it and there is [room](WAITING).
    pub(super) fn postpone(&mut self, directory: &EntryPath, attributes: &Attributes) -> bool {
        self.stop_waiting(&directory.0);
        let bytes = bytes_of(&directory.0, attributes);
        let postponed = self.waiting_bytes + bytes <= WAITING && self.is_below(&directory.0);
        if postponed {
            self.waiting_bytes += bytes;
            self.waiting.insert(directory.0.clone(), attributes.clone());
        }
        postponed
    }

    fn stop_waiting(&mut self, directory: &[u8]) -> Option<Attributes> {
        let attributes = self.waiting.remove(directory)?;
        self.waiting_bytes -= bytes_of(directory, &attributes);
        Some(attributes)
    }

    /// Returns the directories above this path that need wait no longer, the deepest first.
    fn ready(&mut self, path: &[u8]) -> Vec<(EntryPath, Attributes)> {
        let mut ready = Vec::new();
        if self.waiting.is_empty() {
            return ready;
        }
        for end in (0..path.len()).rev().filter(|&at| path[at] == b'/') {
            if self.is_below(&path[..end]) {
                break;
            }
            if let Some(attributes) = self.stop_waiting(&path[..end]) {
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
    /// Given up last.
    _work: RootUse,
}

/// Whether a small file may come without a partial file.
pub(super) enum Expected {
    /// Nothing of its path is under way or left from earlier, as far as this process has seen.
    New(Claim),
    /// Another session of this process is receiving the same.
    UnderWay,
    /// Something else is, or was.
    Unclear,
}

impl Claim {
    pub(super) fn new(inner: Arc<Inner>, path: &EntryPath) -> Self {
        *inner.active().paths.entry(path.0.clone()).or_default() += 1;
        let work = RootUse::begin(&inner.root);
        Self { inner, path: path.clone(), is_expected: false, _work: work }
    }

    /// Claims the path of a small file.
    pub(super) fn expect(inner: Arc<Inner>, path: &EntryPath, root: &[u8; 32]) -> Expected {
        let mut active = inner.active();
        if active.expected.get(&path.0) == Some(root) {
            return Expected::UnderWay;
        }
        let is_left = |active: &Active| active.older.contains(names::path_part(&names::prefix(path)));
        if active.paths.contains_key(&path.0) || (!active.older.is_empty() && is_left(&active)) {
            return Expected::Unclear;
        }
        active.paths.insert(path.0.clone(), 1);
        active.expected.insert(path.0.clone(), *root);
        drop(active);
        let work = RootUse::begin(&inner.root);
        Expected::New(Self { inner, path: path.clone(), is_expected: true, _work: work })
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(super) fn root(&self) -> &Root {
        &self.inner.root
    }

    /// Returns when what was done to these directories is on the disk.
    pub(super) fn sync(&self, dirs: Vec<Dir>) -> io::Result<()> {
        self.inner.directories.sync(dirs)
    }

    /// Notes that a partial file was made or left behind; the next that commits this path looks for it.
    pub(super) fn left_behind(&self) {
        let key = names::path_part(&names::prefix(&self.path)).to_owned();
        self.inner.active().older.insert(key);
    }

    /// Returns whether partial files of this path may be there. Says so once.
    pub(super) fn take_older(&self) -> bool {
        let mut active = self.inner.active();
        if active.older.is_empty() {
            return false;
        }
        active.older.remove(names::path_part(&names::prefix(&self.path)))
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
            // The entry was settled long ago: nobody is left for the report.
            _ = set(&self.inner.root, &directory, attributes);
        }
        if idle {
            // Succeeds only when it is empty.
            _ = self.inner.root.remove_dir(STATE);
        }
    }
}

fn set(root: &Root, directory: &EntryPath, attributes: Attributes) -> Option<()> {
    let steps = super::path::components(directory).ok()?;
    attributes.apply_to_directory(&place::find(root, &steps).ok()??).ok()?;
    if attributes.mode.is_some() {
        root.settle(directory);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_wait_as_far_as_there_is_room() {
        let mut active = Active::default();
        let attributes = Attributes { mode: None, mtime: Default::default(), extras: None };
        let path = |n: usize| [&[b'a'; 4000][..], format!("/{n}").as_bytes()].concat();
        let most = 2 * WAITING / 4000;
        (0..most).for_each(|n| _ = active.paths.insert([path(n), b"/f".to_vec()].concat(), 1));
        let postponed = (0..most).filter(|n| active.postpone(&EntryPath(path(*n)), &attributes)).count();
        assert!(
            (most / 3..most / 2 + 1).contains(&postponed) && active.waiting_bytes <= WAITING,
            "{postponed}"
        );
        // The same again takes the place of the first.
        assert!(active.postpone(&EntryPath(path(0)), &attributes));
        (0..most).for_each(|n| _ = active.paths.remove(&[path(n), b"/f".to_vec()].concat()));
        let ready: usize = (0..most).map(|n| active.ready(&[path(n), b"/f".to_vec()].concat()).len()).sum();
        assert_eq!((ready, active.waiting_bytes), (postponed, 0));
    }
}
