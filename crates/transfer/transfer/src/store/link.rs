//! Symbolic links that a peer sends.

use super::path::link_stays_inside;
use super::place::{self, refused, why, There};
use super::root::Root;
use super::{extras, names, times, Store, Target, Verdict};
use crate::entry::Mtime;
use crate::wire::Why;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns a link's text as the system has it, if it may be made here.
pub(super) fn check(store: &Store, target: &Target, to: &[u8]) -> Result<OsString, Why> {
    let as_is = store.wishes.links_as_is;
    if !as_is {
        link_stays_inside(target.parents.len(), to).map_err(|reason| refused(&target.path, reason))?;
    }
    let to = native(to).map_err(|reason| refused(&target.path, reason))?;
    if !as_is && leaves_by_another_link(&store.inner.root, target, &to) {
        return Err(refused(&target.path, "the link leads outside the directory by way of another link"));
    }
    Ok(to)
}

/// Returns whether this link is at its place and may be kept.
pub(super) fn is_there(store: &Store, parent: &Dir, target: &Target, to: &OsStr) -> bool {
    let is_same = parent.read_link_contents(&target.name).is_ok_and(|there| there.as_os_str() == to);
    let is_taken =
        || There::named(parent, &target.name).is_ok_and(|there| store.taken.by_another(target, &there));
    is_same && !is_taken()
}

/// Makes the link unless it is there. An entry that is no directory gives way to it.
pub(super) fn consider(store: &Store, target: &Target, to: &[u8]) -> Result<Verdict, Why> {
    let to = check(store, target, to)?;
    let _claim = store.claim(&target.path);
    let parent = store.make(&target.parents, None)?;
    if parent.symlink_metadata(&target.name).is_ok_and(|there| there.is_dir()) {
        return Err(target.is_directory());
    }
    let is_there = is_there(store, &parent, target, &to);
    if !is_there {
        store.back_up(&parent, &target.name, &target.path).map_err(|error| why("keep a backup", error))?;
        place_atomically(store, target, &to, &parent).map_err(|error| why("make the link", error))?;
    }
    let owned = match target.attributes.owner() {
        Some(owner) => {
            extras::give_link(&parent, &target.name, owner).map_err(|error| ("set its owner", error))
        }
        None => Ok(()),
    };
    let timed = set_time(&parent, &target.name, target.attributes.mtime)
        .map_err(|error| ("set its mode and time", error));
    let verdict = if is_there { Verdict::Have } else { Verdict::Made };
    Ok(verdict(place::kept(owned.and(timed))?.noting(&target.note)))
}

/// Returns whether the target passes a link of the user's own that leads outside. (A peer's links cannot.)
fn leaves_by_another_link(root: &Root, target: &Target, to: &OsStr) -> bool {
    // `..` comes first, where it leaves directories, which may not be there yet.
    let mut steps = target.parents.clone();
    for step in Path::new(to).components() {
        match step {
            Component::ParentDir => _ = steps.pop(),
            Component::Normal(name) => steps.push(name.to_owned()),
            _ => {}
        }
    }
    let resolved = steps.iter().collect::<PathBuf>();
    if resolved.as_os_str().is_empty() {
        return false;
    }
    // The target need not be a directory.
    steps.pop();
    // The sandbox's refusal to leave has the same kind as the system's refusal to look.
    let is_refused =
        || root.metadata(&resolved).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    // Once more when the directories on the way have been opened for their owner.
    is_refused() && (place::find(root, &steps).is_err() || is_refused())
}

/// Makes a link under a name of its own first, then moves it in one step to its place.
fn place_atomically(store: &Store, target: &Target, to: &OsStr, parent: &Dir) -> io::Result<()> {
    let name = format!(
        "{}{}",
        names::base(&target.path, blake3::hash(to.as_encoded_bytes()).as_bytes()),
        names::LINK
    );
    store.by_way_of_state(&target.parents, parent, |state| {
        let dir = state.make(&name, |dir| symlink(to, dir, &name))?;
        let placed = place::writable(parent, || dir.rename(&name, parent, &target.name));
        if placed.is_err() {
            _ = dir.remove_file(&name);
        }
        placed
    })
}

#[cfg(unix)]
fn native(to: &[u8]) -> Result<OsString, &'static str> {
    use std::os::unix::ffi::OsStrExt;
    Ok(OsStr::from_bytes(to).to_os_string())
}

#[cfg(not(unix))]
fn native(to: &[u8]) -> Result<OsString, &'static str> {
    let text = std::str::from_utf8(to).map_err(|_| "the link's target is not UTF-8")?;
    Ok(text.replace('/', "\\").into())
}

#[cfg(unix)]
pub(super) fn symlink(to: &OsStr, dir: &Dir, name: &str) -> io::Result<()> {
    dir.symlink_contents(to, name)
}

#[cfg(not(unix))]
pub(super) fn symlink(to: &OsStr, dir: &Dir, name: &str) -> io::Result<()> {
    dir.symlink_file(to, name)
}

#[cfg(unix)]
pub(super) fn set_time(dir: &Dir, name: &OsStr, mtime: Mtime) -> io::Result<()> {
    use rustix::fs::{utimensat, AtFlags, Timespec, Timestamps, UTIME_OMIT};
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.seconds, tv_nsec: mtime.nanos.min(999_999_999).into() },
    };
    utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    match (mtime.to_system(), place::There::named(dir, name)?.mtime.to_system()) {
        (Some(asked), Some(kept)) => times::check(asked, kept),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn set_time(_dir: &Dir, _name: &OsStr, _mtime: Mtime) -> io::Result<()> {
    Ok(())
}
