//! Owners, extended attributes and access lists that a sink sets.
//!
//! # Model
//! The store refuses extras that the job does not ask for, and jobs that ask for what it does not allow. The extended attributes
//! become those of the source: others of the same namespaces are removed.

use super::Store;
use crate::extras::{Extras, Keep, Xattr};
use crate::xattrs;
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::sync::Arc;

/// Extras as they are set here.
#[derive(Debug)]
pub(crate) struct ToSet {
    /// User and group.
    pub(super) owner: Option<(u32, u32)>,
    /// None: they stay as they are.
    xattrs: Option<Vec<Xattr>>,
    keep: Keep,
}

/// Extras to set, and what the source could not keep of them.
type Asked = (Option<Arc<ToSet>>, Option<String>);

impl Store {
    /// Returns the extras of an entry, if the job may have them.
    pub(super) fn extras(&self, extras: Option<&Extras>) -> Result<Asked, &'static str> {
        let Some(extras) = extras else { return Ok((None, None)) };
        let keep = self.wishes.keep;
        keep.check(extras)?;
        let owner = extras.owner.as_ref().map(|owner| self.accounts.numbers(owner));
        let is_whole = keep.has_xattrs() && extras.lacking.is_none();
        let xattrs = is_whole.then(|| extras.xattrs.clone());
        let lacking = extras.lacking.as_ref().map(|reason| crate::printable::printable(reason, 200));
        Ok((Some(Arc::new(ToSet { owner, xattrs, keep })), lacking))
    }
}

impl ToSet {
    /// Sets them where they differ from what was seen.
    pub(super) fn set(&self, file: &File, seen: &Metadata) -> Result<(), (&'static str, io::Error)> {
        let owned = self.set_owner(file, seen).map_err(|error| ("set its owner", error));
        let xattrs = self.set_xattrs(file).map_err(|error| ("set its extended attributes", error));
        owned.and(xattrs)
    }

    /// Returns the number of bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |one: &Xattr| one.name.len() + one.value.len() + std::mem::size_of::<Xattr>();
        self.xattrs.iter().flatten().map(bytes).sum::<usize>() + std::mem::size_of::<Self>()
    }

    /// Returns whether extended attributes may have to be set.
    pub(super) fn has_xattrs(&self) -> bool {
        self.xattrs.is_some()
    }

    /// Returns whether an extended attribute would be set. Those that cannot be read differ.
    pub(super) fn differs(&self, file: &File) -> bool {
        self.xattrs.as_ref().is_some_and(|wanted| {
            let there = xattrs::read(file, self.keep).unwrap_or_default();
            there.len() != wanted.len() || !wanted.iter().all(|one| there.contains(one))
        })
    }

    fn set_owner(&self, file: &File, seen: &Metadata) -> io::Result<()> {
        match self.owner {
            Some(owner) if owner_of(seen) != Some(owner) => give(file, owner),
            _ => Ok(()),
        }
    }

    fn set_xattrs(&self, file: &File) -> io::Result<()> {
        let Some(wanted) = &self.xattrs else { return Ok(()) };
        match xattrs::write(file, self.keep, wanted) {
            // A mode that forbids its owner to write forbids that, too.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let before = file.metadata()?.permissions();
                if !before.readonly() || file.set_permissions(writable(&before)).is_err() {
                    return Err(error);
                }
                let written = xattrs::write(file, self.keep, wanted);
                file.set_permissions(before)?;
                written
            }
            written => written,
        }
    }
}

#[cfg(unix)]
fn writable(before: &std::fs::Permissions) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(before.mode() & 0o7777 | 0o200)
}

#[cfg(not(unix))]
fn writable(before: &std::fs::Permissions) -> std::fs::Permissions {
    before.clone()
}

#[cfg(unix)]
fn owner_of(seen: &Metadata) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    Some((seen.uid(), seen.gid()))
}

#[cfg(not(unix))]
fn owner_of(_: &Metadata) -> Option<(u32, u32)> {
    None
}

#[cfg(unix)]
fn give(file: &File, (user, group): (u32, u32)) -> io::Result<()> {
    use rustix::fs::{fchown, Gid, Uid};
    Ok(fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?)
}

/// Gives a symbolic link to another owner, where it has another one.
#[cfg(unix)]
pub(super) fn give_link(dir: &Dir, name: &OsStr, (user, group): (u32, u32)) -> io::Result<()> {
    use rustix::fs::{chownat, statat, AtFlags, Gid, Uid};
    let there = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (there.st_uid, there.st_gid) == (user, group) {
        return Ok(());
    }
    let (user, group) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
    Ok(chownat(dir, name, user, group, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(unix))]
fn give(_: &File, _: (u32, u32)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn give_link(_: &Dir, _: &OsStr, _: (u32, u32)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether this process may give files to other users: root, or a process with that capability.
pub(super) fn may_give_away() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Ok(held) = rustix::thread::capabilities(None) {
        return held.effective.contains(rustix::thread::CapabilitySet::CHOWN);
    }
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}
