//! The directories of partial files: one on each file system.
//!
//! # Model
//! No rename leads from one [file system](FileSystem) to another, so a partial file is on that of its name: in `.afteryou` of the topmost
//! directory on the way to the name that is on the same file system. If this process may not write there, the next one below serves.
//! The same path leads to the same place in the next run, as long as the same disks are mounted.
//!
//! The directory is made for the first partial file, and removed when it is empty and nobody uses it. Below the receiving directory it is
//! open only that long, so that a disk can be unmounted.

use super::file_system::{identity, is_border, FileSystem};
use super::names::{self, any_hash, PART};
use super::path::STATE;
use super::{unnamed, Store};
use crate::beneath;
use afteryou_base::lock::EvenPoisoned;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// Times that a file may slip away between being opened and being locked before we call it busy.
pub(super) const ATTEMPTS: usize = 16;

/// Those of a store.
#[derive(Debug)]
pub(super) struct States {
    root: Dir,
    system: FileSystem,
    top: Arc<StateDir>,
    /// Those that somebody uses.
    below: Mutex<HashMap<FileSystem, Weak<StateDir>>>,
}

impl States {
    pub(super) fn of(root: &Dir) -> io::Result<Self> {
        let (system, top) = (FileSystem::of(root)?, Arc::new(StateDir::of(root)?));
        Ok(Self { root: root.try_clone()?, system, top, below: Mutex::default() })
    }

    /// Behaves as where the system makes no files without a name.
    #[cfg(test)]
    pub(super) fn only_named(&self) {
        self.top.makes_unnamed.set(false).expect("no file was made yet");
    }

    /// Returns the state of files in the directory that these steps lead to. `found` is called with the bases of the partial
    /// files that are there from earlier.
    fn at(&self, steps: &[OsString], found: impl FnOnce(&[String])) -> io::Result<Arc<StateDir>> {
        let Some((system, dir)) = self.topmost(steps)? else { return Ok(self.top.clone()) };
        let mut below = self.below.lock().even_poisoned();
        if let Some(state) = below.get(&system).and_then(Weak::upgrade) {
            return Ok(state);
        }
        below.retain(|_, state| state.strong_count() > 0);
        let state = Arc::new(StateDir::in_dir(dir));
        below.insert(system, Arc::downgrade(&state));
        if let Ok(dir) = state.root.open_dir_nofollow(STATE) {
            found(&names::bases(&dir)?);
        }
        Ok(state)
    }

    /// Returns the topmost directory of the file system that these steps lead to, unless that is the receiving directory's.
    /// Steps that are missing will be made where those before them are.
    fn topmost(&self, steps: &[OsString]) -> io::Result<Option<(FileSystem, Dir)>> {
        let (mut system, mut topmost): (_, Option<Dir>) = (self.system, None);
        // No border is on the way to a directory of the same device and mount.
        let (mut below, taken) = match beneath::far_along(&self.root, steps) {
            Some((dir, taken)) if FileSystem::of(&dir)? == system => (Some(dir), taken),
            _ => (None, 0),
        };
        for step in &steps[taken..] {
            let Ok(next) = below.as_ref().unwrap_or(&self.root).open_dir_nofollow(step) else { break };
            let here = FileSystem::of(&next)?;
            let is_better = |topmost: &Dir| !may_write(topmost) && may_write(&next);
            if here != system {
                topmost = if here == self.system { None } else { Some(next.try_clone()?) };
                system = here;
            } else if topmost.as_ref().is_some_and(is_better) {
                topmost = Some(next.try_clone()?);
            }
            below = Some(next);
        }
        Ok(topmost.map(|dir| (system, dir)))
    }

    /// Returns whether one of these steps is a directory of partial files, or would be taken for one.
    pub(super) fn is_among(&self, steps: &[OsString]) -> bool {
        let is_state = |name: &OsStr| name.as_encoded_bytes().eq_ignore_ascii_case(STATE.as_bytes());
        let mut named = (0..steps.len()).filter(|&at| is_state(&steps[at]));
        // One that cannot be looked at is none of the sender's business either.
        named.any(|at| self.is_topmost(&steps[..at]).unwrap_or(true))
    }

    /// Returns whether partial files may be in the directory that these steps lead to.
    fn is_topmost(&self, steps: &[OsString]) -> io::Result<bool> {
        let Some((_, dir)) = self.topmost(steps)? else { return Ok(steps.is_empty()) };
        let mut there = self.root.try_clone()?;
        for step in steps {
            there = match there.open_dir_nofollow(step) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                next => next?,
            };
        }
        Ok(identity(&dir.dir_metadata()?) == identity(&there.dir_metadata()?))
    }
}

#[cfg(unix)]
fn may_write(dir: &Dir) -> bool {
    use rustix::fs::{accessat, Access, AtFlags};
    accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty()).is_ok()
}

#[cfg(not(unix))]
fn may_write(_: &Dir) -> bool {
    true
}

impl Store {
    /// Returns the directory of partial files of what gets its name in the directory that these steps lead to.
    pub(super) fn state(&self, steps: &[OsString]) -> io::Result<Arc<StateDir>> {
        self.inner.states.at(steps, |bases| self.inner.active().left_earlier(bases))
    }

    /// Makes something among the partial files and then gives it its name in `parent`, to which these steps lead. At a border that showed
    /// only now, `make` is called once more, with the next best place.
    pub(super) fn by_way_of_state(
        &self,
        steps: &[OsString],
        parent: &Dir,
        make: impl Fn(&StateDir) -> io::Result<()>,
    ) -> io::Result<()> {
        match make(&*self.state(steps)?) {
            Err(error) if is_border(&error) => make(&StateDir::of(parent)?),
            other => other,
        }
    }
}

/// A directory of partial files, open once for all of them as long as there is one.
#[derive(Debug)]
pub(crate) struct StateDir {
    root: Dir,
    open: Mutex<Weak<Dir>>,
    /// Whether files can be made that have no name at first.
    makes_unnamed: OnceLock<bool>,
    /// Partial files that were left there, once they were counted.
    pub(super) left: Mutex<Option<usize>>,
}

impl StateDir {
    pub(crate) fn of(root: &Dir) -> io::Result<Self> {
        Ok(Self::in_dir(root.try_clone()?))
    }

    fn in_dir(root: Dir) -> Self {
        Self { root, open: Mutex::default(), makes_unnamed: OnceLock::new(), left: Mutex::default() }
    }

    pub(super) fn get(&self) -> io::Result<Arc<Dir>> {
        let mut open = self.open.lock().even_poisoned();
        if let Some(dir) = open.upgrade() {
            return Ok(dir);
        }
        let dir = Arc::new(open_or_make(&self.root)?);
        *open = Arc::downgrade(&dir);
        Ok(dir)
    }

    /// Forgets the directory, which has gone: the next opens it anew.
    pub(super) fn forget(&self) {
        *self.open.lock().even_poisoned() = Weak::new();
    }

    /// Makes an entry with a name of its own in it, and returns it. Something of that name was left by a killed process, or another
    /// session does the same.
    pub(super) fn make(&self, name: &str, make: impl Fn(&Dir) -> io::Result<()>) -> io::Result<Arc<Dir>> {
        let mut attempts = ATTEMPTS;
        loop {
            let dir = self.get()?;
            attempts -= 1;
            match make(&dir) {
                Ok(()) => return Ok(dir),
                Err(error) if attempts > 0 && error.kind() == io::ErrorKind::AlreadyExists => {
                    _ = dir.remove_file(name);
                }
                // Another session has removed the empty directory.
                Err(error) if attempts > 0 && error.kind() == io::ErrorKind::NotFound => self.forget(),
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes a file without a name, if there can be one here.
    pub(super) fn unnamed(&self, mode: Option<u32>) -> Option<File> {
        let trial = || format!("{}-{}{PART}", any_hash(), any_hash());
        let works = || self.get().is_ok_and(|dir| unnamed::works_in(&dir, &trial()));
        self.makes_unnamed.get_or_init(works).then(|| unnamed::create(&self.root, mode).ok()).flatten()
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        // Succeeds only when it is empty.
        _ = self.root.remove_dir(STATE);
    }
}

/// Opens the directory of partial files and makes it if it is not there.
pub(super) fn open_or_make(root: &Dir) -> io::Result<Dir> {
    for _ in 0..ATTEMPTS {
        match root.open_dir_nofollow(STATE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        match make(root) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    root.open_dir_nofollow(STATE)
}

#[cfg(unix)]
fn make(root: &Dir) -> io::Result<()> {
    use cap_std::fs::{DirBuilder, DirBuilderExt};
    root.create_dir_with(STATE, DirBuilder::new().mode(0o700))
}

#[cfg(not(unix))]
fn make(root: &Dir) -> io::Result<()> {
    root.create_dir(STATE)
}

/// Locks a file. Returns `false` if another has locked it.
#[cfg(unix)]
pub(crate) fn lock(file: &File) -> io::Result<bool> {
    use rustix::fs::{flock, FlockOperation};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(unix)]
pub(super) fn unlock(file: &File) {
    // Does not fail for an open file; if it did, closing it would do the same a little later.
    _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
}

#[cfg(not(unix))]
pub(crate) fn lock(_file: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
pub(super) fn unlock(_file: &File) {}
