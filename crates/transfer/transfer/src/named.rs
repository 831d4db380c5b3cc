//! A directory that the user named, and where its name leads now.
//!
//! # Model
//! `receive` and `serve` may wait for months. Meanwhile the directory may be removed and made anew, a link in its path may be
//! switched, a disk may be mounted over it. The name counts: each job opens it anew, and a job that runs keeps the
//! directory that it opened. Two open directories are the same if device, inode and, on Linux, mount are the same. An inode of a directory that
//! is open is not given to another one, so a directory that was made anew is never taken for the old one.

use crate::error::Error;
use cap_fs_ext::MetadataExt;
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};

/// A directory by its name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    path: PathBuf,
    /// For messages: "served".
    role: &'static str,
}

impl Named {
    /// Remembers the name, and opens it for the first time.
    pub(crate) fn open_first(path: &Path, role: &'static str) -> io::Result<(Self, Dir)> {
        let dir = open(path)?;
        // A relative name would stay below the present directory wherever that moves. It is used where the directories above
        // the present one forbid the absolute name.
        let absolute = std::path::absolute(path).ok();
        let leads_here = |path: &PathBuf| open(path).is_ok_and(|other| is_same(&dir, &other));
        let path = absolute.filter(leads_here).unwrap_or_else(|| path.to_owned());
        Ok((Self { path, role }, dir))
    }

    /// Opens the directory to which the name leads now.
    pub(crate) fn open(&self) -> Result<Dir, Error> {
        open(&self.path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::Gone { role: self.role },
            // Without the path, which peers do not learn.
            _ => Error::File { doing: "open", path: format!("the {} directory", self.role), source },
        })
    }
}

fn open(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

/// Returns whether both are one directory, reached through one mount.
pub(crate) fn is_same(a: &Dir, b: &Dir) -> bool {
    identity(a).is_some_and(|identity_of_a| identity(b) == Some(identity_of_a))
}

/// Returns device, inode, and mount where the system has it.
fn identity(dir: &Dir) -> Option<(u64, u64, Option<u64>)> {
    let metadata = dir.dir_metadata().ok()?;
    Some((metadata.dev(), metadata.ino(), mount(dir)))
}

#[cfg(target_os = "linux")]
fn mount(dir: &Dir) -> Option<u64> {
    use rustix::fs::{statx, AtFlags, StatxFlags};
    // Since Linux 5.8.
    let found = statx(dir, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID).then_some(found.stx_mnt_id)
}

#[cfg(not(target_os = "linux"))]
fn mount(_: &Dir) -> Option<u64> {
    None
}

/// Returns whether the directory has no name any more.
pub(crate) fn is_removed(dir: &Dir) -> bool {
    #[cfg(unix)]
    {
        dir.dir_metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    fn first(path: &Path) -> (Named, Dir) {
        Named::open_first(path, "served").expect("opens")
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mount_of_a_directory_over_itself_is_another_directory() {
        let yard = tempfile::tempdir().expect("a directory");
        let (name, before) = first(yard.path());
        let run = |program, first: &str| {
            let mut command = std::process::Command::new(program);
            command.args([first.as_ref(), yard.path().as_os_str()]);
            command
        };
        if !run("mount", "--bind").arg(yard.path()).output().is_ok_and(|run| run.status.success()) {
            println!("SKIPPED: mounting needs root");
            return;
        }
        let after = name.open();
        assert!(run("umount", "--lazy").status().is_ok_and(|status| status.success()));
        assert!(!is_same(&before, &after.expect("opens")), "device and inode are the same, the mount is not");
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_seen_however_it_came_to_that() {
        let yard = tempfile::tempdir().expect("a directory");
        let [old, new, link] = ["old", "new", "link"].map(|name| yard.path().join(name));
        fs::create_dir(&old).expect("a directory");
        fs::create_dir(&new).expect("a directory");
        std::os::unix::fs::symlink("old", &link).expect("a link");
        let ((by_name, dir), (by_link, _)) = (first(&old), first(&link));
        assert!(is_same(&by_name.open().expect("opens"), &dir), "nothing happened");
        assert!(is_same(&by_link.open().expect("opens"), &dir), "through the link, too");

        fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink("new", &link).expect("a link");
        assert!(!is_same(&by_link.open().expect("opens"), &dir), "the link was switched");

        fs::remove_dir(&old).expect("removed");
        assert!(is_removed(&dir));
        assert!(matches!(by_name.open(), Err(Error::Gone { role: "served" })), "nothing has the name");
        fs::create_dir(&old).expect("a directory");
        assert!(!is_same(&by_name.open().expect("opens"), &dir), "it was made anew");

        fs::rename(&old, yard.path().join("moved")).expect("renamed");
        fs::write(&old, "").expect("a file");
        assert!(matches!(by_name.open(), Err(Error::Gone { .. })), "a file has the name");
    }
}
