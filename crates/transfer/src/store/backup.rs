//! Copies of what is replaced or removed, below a directory that the job names.
//!
//! # Model
//! The file at a place gets a second name below the backup directory, under its own path, before the new file takes the
//! place. So a kill at any moment leaves the old file or the new one there, and never nothing. An older backup of the
//! same path is replaced.

use super::place::{self, writable};
use super::{components, Store};
use crate::entry::EntryPath;
use crate::wire::Why;
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io;

impl Store {
    /// Keeps what lies under a name, if the job has a backup directory and there is something.
    pub(super) fn back_up(&self, parent: &Dir, name: &OsStr, path: &EntryPath) -> io::Result<()> {
        let Some(backup) = &self.wishes.backup else { return Ok(()) };
        if parent.symlink_metadata(name).is_err() {
            return Ok(());
        }
        let whole = EntryPath([&backup.0, &b"/"[..], &path.0].concat());
        let mut steps = components(&whole).map_err(io::Error::other)?;
        let Some(last) = steps.pop() else { return Ok(()) };
        let shelf = place::make(&self.inner.root, &steps, &mut Vec::new()).map_err(|why| match why {
            Why::DiskFull => io::ErrorKind::StorageFull.into(),
            Why::Refused(reason) | Why::Io(reason) => io::Error::other(reason),
            _ => io::Error::other("the backup directory cannot be made"),
        })?;
        writable(&shelf, || match shelf.remove_file(&last) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => parent.hard_link(name, &shelf, &last),
        })
    }

    /// Removes a file or link, to the backups if there are any.
    pub(super) fn put_away(&self, parent: &Dir, name: &OsStr, path: &EntryPath) -> io::Result<()> {
        self.back_up(parent, name, path)?;
        writable(parent, || parent.remove_file(name))
    }
}
