//! A way through a tree with one open directory, however deep the tree is.
//!
//! # Model
//! The way down opens the next directory and closes the one above it. The way up opens `..` and compares device and inode
//! with those of the directory that was left. A directory that somebody moved meanwhile leads elsewhere, and the way ends
//! there. So neither the stack nor the number of descriptors grows with the depth, and nothing beside the tree is reached.
//!
//! # Known bad case
//! A directory that somebody moves out of the tree while it is the open one stays open: its own entries are reached there.
//!
//! # Not implemented
//! Outside Unix nothing identifies a directory, and those above stay open.

use super::place::{writable, There};
use super::root::Root;
use crate::entry::bytes;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::io;

/// The directory above an open one.
#[cfg(unix)]
type Above = Option<(u64, u64)>;
#[cfg(not(unix))]
type Above = Dir;

/// An open directory, and the directories above it on the way from the first.
pub(super) struct Descent<'a> {
    /// Opens what modes forbid to their owner.
    root: Option<&'a Root>,
    dir: Dir,
    above: Vec<Above>,
}

impl<'a> Descent<'a> {
    /// Begins at an open directory.
    pub(super) fn from(top: &Dir) -> io::Result<Self> {
        Ok(Self { root: None, dir: top.try_clone()?, above: Vec::new() })
    }

    /// Begins at the receiving directory.
    pub(super) fn below(root: &'a Root) -> io::Result<Self> {
        Ok(Self { root: Some(root), ..Self::from(root)? })
    }

    /// Returns the open directory.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the names in the open directory, sorted by their bytes.
    pub(super) fn names(&self) -> io::Result<std::vec::IntoIter<OsString>> {
        let entries = self.dir.entries()?;
        let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort_by_cached_key(|name| bytes(name));
        Ok(names.into_iter())
    }

    /// Opens the directory that was found under a name.
    pub(super) fn enter(&mut self, name: &OsStr, found: &There) -> io::Result<()> {
        let next = open(&self.dir, name)?;
        if identity(&next)? != found.identity {
            return Err(io::Error::other("another directory has taken its place"));
        }
        if let Some(root) = self.root {
            root.allow(&next)?;
        }
        #[cfg(unix)]
        self.above.push(identity(&self.dir)?);
        #[cfg(not(unix))]
        self.above.push(self.dir.try_clone()?);
        self.dir = next;
        Ok(())
    }

    /// Opens the directory above, from which this one was entered.
    ///
    /// # Errors
    /// This one was moved, or the one above cannot be opened. The way is lost then.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        let above = self.above.pop().ok_or(io::ErrorKind::NotFound)?;
        #[cfg(unix)]
        {
            let up = open(&self.dir, OsStr::new(".."))?;
            if identity(&up)? != above {
                return Err(io::Error::other("somebody moved it meanwhile"));
            }
            self.dir = up;
        }
        #[cfg(not(unix))]
        {
            self.dir = above;
        }
        Ok(())
    }
}

/// Removes everything that is in a directory.
pub(crate) fn empty(top: &Dir) -> io::Result<()> {
    let mut way = Descent::from(top)?;
    let mut levels = vec![(OsString::new(), way.names()?)];
    while let Some((_, names)) = levels.last_mut() {
        match names.next() {
            Some(name) => {
                let there = There::named(way.dir(), &name)?;
                if there.is_directory {
                    way.enter(&name, &there)?;
                    levels.push((name, way.names()?));
                } else {
                    writable(way.dir(), || way.dir().remove_file(&name))?;
                }
            }
            None => {
                let (name, _) = levels.pop().ok_or(io::ErrorKind::NotFound)?;
                if !levels.is_empty() {
                    way.leave()?;
                    writable(way.dir(), || way.dir().remove_dir(&name))?;
                }
            }
        }
    }
    Ok(())
}

fn identity(dir: &Dir) -> io::Result<Option<(u64, u64)>> {
    Ok(super::file_system::identity(&dir.dir_metadata()?))
}

/// Opens a directory by one component, and no link: one call, where the sandbox makes several and refuses `..`.
#[cfg(unix)]
fn open(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    use rustix::fs::{openat, Mode, OFlags};
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY;
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(dir, name, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    use cap_fs_ext::DirExt;
    dir.open_dir_nofollow(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn entered(way: &mut Descent, name: &str) -> io::Result<()> {
        let found = There::named(way.dir(), OsStr::new(name))?;
        way.enter(OsStr::new(name), &found)
    }

    #[test]
    fn a_directory_that_was_moved_ends_the_way_up() {
        let yard = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(yard.path().join("top/a/b")).expect("directories");
        std::fs::create_dir(yard.path().join("beside")).expect("a directory");
        let top =
            Dir::open_ambient_dir(yard.path().join("top"), cap_std::ambient_authority()).expect("opens");
        let mut way = Descent::from(&top).expect("opens");
        entered(&mut way, "a").expect("enters");
        entered(&mut way, "b").expect("enters");
        way.leave().expect("back in a");
        assert_eq!(way.names().expect("reads").collect::<Vec<_>>(), ["b"]);
        entered(&mut way, "b").expect("enters");
        std::fs::rename(yard.path().join("top/a/b"), yard.path().join("beside/b")).expect("moved");
        assert!(way.leave().is_err(), "what lies above it now is another directory");
    }

    #[test]
    fn a_link_and_a_directory_that_was_exchanged_are_not_entered() {
        let yard = tempfile::tempdir().expect("a directory");
        for name in ["top/a", "other"] {
            std::fs::create_dir_all(yard.path().join(name)).expect("directories");
        }
        let top =
            Dir::open_ambient_dir(yard.path().join("top"), cap_std::ambient_authority()).expect("opens");
        let mut way = Descent::from(&top).expect("opens");
        let a = There::named(&top, OsStr::new("a")).expect("it is there");
        std::fs::rename(yard.path().join("top/a"), yard.path().join("away")).expect("moved");
        std::os::unix::fs::symlink("../other", yard.path().join("top/a")).expect("a link");
        assert!(way.enter(OsStr::new("a"), &a).is_err());
        std::fs::remove_file(yard.path().join("top/a")).expect("removed");
        std::fs::rename(yard.path().join("other"), yard.path().join("top/a")).expect("moved");
        assert!(way.enter(OsStr::new("a"), &a).is_err());
        entered(&mut way, "a").expect("it is what was found");
    }
}
