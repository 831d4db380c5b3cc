//! The directory of partial files.

use super::path::STATE;
use super::unnamed;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// End of a partial file's name.
pub(super) const PART: &str = ".part";

/// Times that a file may slip away between being opened and being locked before we call it busy.
pub(super) const ATTEMPTS: usize = 16;

/// The directory of partial files, open once for all of them as long as there is one.
#[derive(Debug)]
pub(crate) struct State {
    root: Dir,
    open: Mutex<Weak<Dir>>,
    /// Whether files can be made that have no name at first.
    makes_unnamed: OnceLock<bool>,
}

impl State {
    pub(crate) fn of(root: &Dir) -> io::Result<Self> {
        Ok(Self { root: root.try_clone()?, open: Mutex::default(), makes_unnamed: OnceLock::new() })
    }

    pub(super) fn get(&self) -> io::Result<Arc<Dir>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dir) = open.upgrade() {
            return Ok(dir);
        }
        let dir = Arc::new(open_or_make(&self.root)?);
        *open = Arc::downgrade(&dir);
        Ok(dir)
    }

    /// The directory has gone: the next opens it anew.
    pub(super) fn forget(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Weak::new();
    }

    /// As where the system makes no files without a name.
    #[cfg(test)]
    pub(super) fn only_named(&self) {
        self.makes_unnamed.set(false).expect("no file was made yet");
    }

    /// A file without a name, if there can be one here.
    pub(super) fn unnamed(&self, mode: Option<u32>) -> Option<File> {
        let trial = || format!("{}-{}{PART}", any_hash(), any_hash());
        let works = || self.get().is_ok_and(|dir| unnamed::works_in(&dir, &trial()));
        self.makes_unnamed.get_or_init(works).then(|| unnamed::create(&self.root, mode).ok()).flatten()
    }
}

/// Opens the directory of partial files and makes it if it is not there.
pub(super) fn open_or_make(root: &Dir) -> io::Result<Dir> {
    for _ in 0..ATTEMPTS {
        match root.open_dir_nofollow(STATE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        #[cfg(unix)]
        let made = {
            use cap_std::fs::{DirBuilder, DirBuilderExt};
            root.create_dir_with(STATE, DirBuilder::new().mode(0o700))
        };
        #[cfg(not(unix))]
        let made = root.create_dir(STATE);
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    root.open_dir_nofollow(STATE)
}

/// As long as half a hash, and nobody else's.
pub(super) fn any_hash() -> String {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", half(), half())
}
