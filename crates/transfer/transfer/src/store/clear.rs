//! Entries that give way to a directory.
//!
//! # Model
//! A directory takes the place of a file, as another file would. A symbolic link gives way only in a job that removes what was not
//! sent: it may be the user's own, and lead to where they keep what is below it. A directory gives way to nothing but the removal
//! (see [`super::mirror`]).

use super::place::{self, There};
use super::Store;
use crate::entry::{bytes, EntryPath};
use crate::wire::Why;
use afteryou_base::lock::EvenPoisoned;
use cap_std::fs::Dir;
use std::ffi::OsString;
use std::io;
use std::sync::Mutex;

/// Returns the path that steps lead to.
pub(super) fn path(steps: &[OsString]) -> EntryPath {
    EntryPath(steps.iter().map(|step| bytes(step)).collect::<Vec<_>>().join(&b'/'))
}

impl Store {
    /// Returns whether a directory takes the place of this.
    pub(super) fn gives_way(&self, there: &There) -> bool {
        !there.is_directory && (!there.is_link || self.wishes.delete)
    }

    /// Opens the directory that these steps lead to. None: it is not there, or will take the place of something.
    pub(super) fn find(&self, steps: &[OsString]) -> Result<Option<Dir>, Why> {
        place::find_unless(&self.inner.root, steps, |there| self.gives_way(there))
    }

    /// Removes what is at the place of a directory, to the backups if there are any. False if it must not be removed.
    pub(super) fn clear(&self, dir: &Dir, steps: &[OsString], there: &There) -> io::Result<bool> {
        let (Some(name), true) = (steps.last(), self.gives_way(there)) else { return Ok(false) };
        // One at a time: the second finds it cleared, or a directory in its place.
        static CLEARED: Mutex<()> = Mutex::new(());
        let _one = CLEARED.lock().even_poisoned();
        if There::if_any(dir, name)?.is_none_or(|there| there.is_directory) {
            return Ok(true);
        }
        match self.put_away(dir, name, &path(steps)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(true),
        }
    }
}
