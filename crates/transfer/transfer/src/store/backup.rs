//! Copies of what is replaced or removed, below a directory that the job names.
//!
//! # Model
//! The file at a place gets a second name among the partial files, and that one goes below the backup directory, under its own path,
//! before the new file takes the place. If the backup directory is on another file system, a copy with the same attributes goes there,
//! which was on the disk before. So a kill at any moment leaves the old file or the new one, and the older backup or the newer. An older
//! backup is replaced, also one that is a directory where the new one is a file, or the other way round.
//!
//! # Known bad case
//! Pipes, sockets and devices are not copied to another file system. They are left where they are, and the entry fails.

use super::file_system::is_border;
use super::place::{self, writable, There};
use super::root::{Root, RootUse};
use super::{components, descent, link, names, partial, Store};
use crate::entry::{Entry, EntryPath, Kind};
use crate::extras::Keep;
use crate::wire::Why;
use crate::xattrs;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io;

impl Store {
    /// Makes the directory of backups, if it is not there.
    ///
    /// # Errors
    /// The directory of backups is none, or cannot be made.
    pub(super) fn check_backups(&self, directory: &EntryPath) -> Result<(), String> {
        let refused = |reason| format!("\"{directory}\" is refused: {reason}");
        let steps = self.steps(directory).map_err(refused)?;
        let _work = RootUse::begin(&self.inner.root);
        match place::find(&self.inner.root, &steps) {
            Err(Why::Refused(reason) | Why::Io(reason)) => Err(format!("no backups can be kept: {reason}")),
            _ => Ok(()),
        }
    }

    /// Refuses what would take the place of the backups.
    pub(super) fn keep_backups_apart(&self, entry: &Entry) -> Result<(), Why> {
        let Some(backup) = self.wishes.backup.as_ref().filter(|_| entry.kind != Kind::Directory) else {
            return Ok(());
        };
        let rest = backup.0.strip_prefix(entry.path.0.as_slice());
        match rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/') {
            true => Err(place::refused(&entry.path, "backups are kept there")),
            false => Ok(()),
        }
    }

    /// Keeps what is under a name, if the job has a backup directory and there is something.
    pub(super) fn back_up(&self, parent: &Dir, name: &OsStr, path: &EntryPath) -> io::Result<()> {
        let Some(backup) = &self.wishes.backup else { return Ok(()) };
        if parent.symlink_metadata(name).is_err() {
            return Ok(());
        }
        let whole = EntryPath([&backup.0, &b"/"[..], &path.0].concat());
        let mut steps = self.steps(&whole).map_err(io::Error::other)?;
        let top = steps.len() - components(path).map_or(0, |steps| steps.len());
        let Some(last) = steps.pop() else { return Ok(()) };
        let clear_way = |dir: &Dir, steps: &[OsString], _: &There| match steps.last() {
            Some(name) if steps.len() > top => clear_file(dir, name).map(|()| true),
            _ => Ok(false),
        };
        let made = place::make(&self.inner.root, &steps, None, &mut 0, clear_way);
        let shelf = made.map_err(|why| match why {
            Why::DiskFull => io::ErrorKind::StorageFull.into(),
            Why::Refused(reason) | Why::Io(reason) => io::Error::other(reason),
            _ => io::Error::other("the backup directory cannot be made"),
        })?;
        clear_directory(&shelf, &last)?;
        let new = format!("{}{}", names::any_base(&whole), names::LINK);
        self.by_way_of_state(&steps, &shelf, |state| {
            let dir = state.make(&new, |dir| match parent.hard_link(name, dir, &new) {
                Err(error) if is_border(&error) => copy(&self.inner.root, parent, name, dir, &new),
                linked => linked,
            })?;
            let placed = writable(&shelf, || dir.rename(&new, &shelf, &last));
            // Also after a rename: between two names of one file that does nothing.
            _ = dir.remove_file(&new);
            placed
        })
    }

    /// Removes a file or link, to the backups if there are any.
    pub(super) fn put_away(&self, parent: &Dir, name: &OsStr, path: &EntryPath) -> io::Result<()> {
        self.back_up(parent, name, path)?;
        writable(parent, || parent.remove_file(name))
    }
}

/// Removes a file or a link, unless it is gone or a directory has its place: many entries are backed up together.
fn clear_file(dir: &Dir, name: &OsStr) -> io::Result<()> {
    match writable(dir, || dir.remove_file(name)) {
        Err(_) if There::if_any(dir, name)?.is_none_or(|there| there.is_directory) => Ok(()),
        removed => removed,
    }
}

/// Copies a file or a link to another file system, with its attributes as far as they can be set there.
fn copy(root: &Root, parent: &Dir, name: &OsStr, dir: &Dir, new: &str) -> io::Result<()> {
    let there = There::named(parent, name)?;
    if there.is_file {
        let copied = copy_file(root, parent, name, dir, new);
        if copied.is_err() {
            _ = dir.remove_file(new);
        }
        return copied;
    }
    match parent.read_link_contents(name) {
        Ok(to) => {
            link::symlink(to.as_os_str(), dir, new)?;
            _ = link::set_time(dir, OsStr::new(new), there.mtime);
            Ok(())
        }
        Err(_) => {
            Err(io::Error::other("it is neither a file nor a link, and the backups are on another disk"))
        }
    }
}

fn copy_file(root: &Root, parent: &Dir, name: &OsStr, dir: &Dir, new: &str) -> io::Result<()> {
    let from = root.read(parent, name)?;
    let seen = from.metadata()?;
    let mut to = partial::create(dir, new, Some(0o600))?;
    place::copy(&from, &mut to, seen.len())?;
    keep_attributes(&from, &seen, &to);
    to.sync_all()
}

/// Keeps the attributes, as far as it can: a file system may lack some of them, and not everyone may give files away.
fn keep_attributes(from: &File, seen: &std::fs::Metadata, to: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        _ = std::os::unix::fs::fchown(to, Some(seen.uid()), Some(seen.gid()));
    }
    let keep = Keep { owner: None, xattrs: true, acls: true };
    if let Ok(all) = xattrs::read(from, keep) {
        _ = xattrs::write(to, keep, &all);
    }
    _ = to.set_permissions(seen.permissions());
    if let Ok(modified) = seen.modified() {
        _ = to.set_times(FileTimes::new().set_modified(modified));
    }
}

/// Removes an older backup that is a directory.
fn clear_directory(shelf: &Dir, name: &OsStr) -> io::Result<()> {
    if There::if_any(shelf, name)?.is_some_and(|there| there.is_directory) {
        descent::empty(&shelf.open_dir_nofollow(name)?)?;
        writable(shelf, || shelf.remove_dir(name))?;
    }
    Ok(())
}
