//! The receiving directory, and what its modes forbid to its owner.
//!
//! # Model
//! A sender's directory may have a mode that forbids its owner to look into it, and a file one that forbids its owner to read it. For root
//! that means nothing. For anyone else such a directory gets the owner's bits while somebody works there ([`RootUse`]), and its mode back
//! when nobody does. A file gets its mode back as soon as it is open. Only the owner's bits change, and never those of another user's file.
//!
//! Each mode is noted in `.afteryou` before it is changed, in a file that is locked as long as the process lives. [`Root::open`] puts back what
//! the notes of a killed process have.
//!
//! # Known bad cases
//! Only Linux with `/proc` can change the mode of what may not be opened; elsewhere such entries fail. Two processes that receive into such a
//! directory take its mode from each other: an entry fails then, and the next run stores it.

use super::names;
use super::state;
use crate::entry::EntryPath;
use afteryou_base::lock::EvenPoisoned;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// The receiving directory.
#[derive(Debug)]
pub(crate) struct Root {
    dir: Dir,
    opened: Mutex<Opened>,
}

impl Deref for Root {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

/// Somebody works below a root as long as this lives.
#[derive(Debug)]
pub(crate) struct RootUse(Arc<Root>);

impl RootUse {
    pub(crate) fn begin(root: &Arc<Root>) -> Self {
        root.opened().workers += 1;
        Self(root.clone())
    }
}

impl Drop for RootUse {
    fn drop(&mut self) {
        let mut opened = self.0.opened();
        opened.workers -= 1;
        if opened.workers == 0 && opened.notes.is_some() {
            opened.put_back(&self.0.dir);
        }
    }
}

#[derive(Debug, Default)]
struct Opened {
    workers: usize,
    /// Directories that have other modes now.
    changed: Vec<Changed>,
    notes: Option<Notes>,
}

/// The mode of an entry before it was changed, and since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Changed {
    path: EntryPath,
    before: u32,
    since: u32,
}

/// A locked file with the modes that were changed.
#[derive(Debug)]
struct Notes {
    file: File,
    name: String,
}

impl Root {
    /// Opens the directory, after what a killed process left was put right.
    pub(crate) fn open(dir: Dir) -> io::Result<Arc<Self>> {
        put_back_earlier(&dir)?;
        Ok(Arc::new(Self { dir, opened: Mutex::default() }))
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().even_poisoned()
    }

    /// Opens a directory to work in, not through a link.
    pub(crate) fn enter(&self, parent: &Dir, name: &OsStr) -> io::Result<Dir> {
        let dir = parent.open_dir_nofollow(name)?;
        self.allow(&dir)?;
        Ok(dir)
    }

    /// Lets this user work in an open directory, if it is theirs.
    pub(crate) fn allow(&self, dir: &Dir) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if !linux::is_privileged() {
            return self.allow_to_enter(dir);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = dir;
        Ok(())
    }

    /// Opens the file under a name of one component, which cannot lead out of `parent`, for reading. Not through a link, and without
    /// waiting for a pipe.
    pub(crate) fn read(&self, parent: &Dir, name: &OsStr) -> io::Result<File> {
        match open(parent, name) {
            #[cfg(target_os = "linux")]
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.read_by_its_owner(parent, name).map_err(|_| error)
            }
            other => other,
        }
    }

    /// Notes that the directory has the mode that it should have.
    pub(crate) fn settle(&self, path: &EntryPath) {
        self.opened().changed.retain(|changed| changed.path != *path);
    }
}

#[cfg(unix)]
fn open(dir: &Dir, name: &OsStr) -> io::Result<File> {
    use rustix::fs::{openat, Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(dir, name, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(dir: &Dir, name: &OsStr) -> io::Result<File> {
    use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
    let mut options = cap_std::fs::OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    Ok(dir.open_with(name, &options)?.into_std())
}

impl Opened {
    /// Gives all modes back, of what is deeper first.
    fn put_back(&mut self, root: &Dir) {
        self.changed.sort_unstable_by(|a, b| b.path.cmp(&a.path));
        for changed in self.changed.drain(..) {
            _ = put_back(root, &changed);
        }
        if let Some(notes) = self.notes.take() {
            if let Ok(dir) = root.open_dir_nofollow(super::STATE) {
                _ = dir.remove_file(&notes.name);
            }
            // Succeeds only when it is empty.
            _ = root.remove_dir(super::STATE);
        }
    }
}

impl Changed {
    fn note(&self) -> Vec<u8> {
        [format!("{:o} {:o} ", self.before, self.since).as_bytes(), &self.path.0, b"\0"].concat()
    }

    /// Reads all whole notes of a file.
    fn read(notes: &[u8]) -> Vec<Changed> {
        let whole = notes.iter().rposition(|&byte| byte == 0).map_or(&[][..], |end| &notes[..end]);
        let read = |note: &[u8]| {
            let mut parts = note.splitn(3, |&byte| byte == b' ');
            let mut mode = || u32::from_str_radix(std::str::from_utf8(parts.next()?).ok()?, 8).ok();
            let (before, since) = (mode()?, mode()?);
            Some(Changed { before, since, path: EntryPath(parts.next()?.to_vec()) })
        };
        whole.split(|&byte| byte == 0).filter_map(read).collect()
    }
}

/// Puts back what killed processes have noted.
fn put_back_earlier(root: &Dir) -> io::Result<()> {
    let Ok(dir) = root.open_dir_nofollow(super::STATE) else { return Ok(()) };
    for name in names::names_in(&dir)?.iter().filter(|name| name.ends_with(names::MODES)) {
        let Ok(file) = open(&dir, name.as_ref()) else { continue };
        // The process that made it is still running.
        if !state::lock(&file)? {
            continue;
        }
        let mut notes = Vec::new();
        io::Read::read_to_end(&mut &file, &mut notes)?;
        let mut changed = Changed::read(&notes);
        changed.sort_by(|a, b| b.path.cmp(&a.path));
        changed.iter().for_each(|changed| _ = put_back(root, changed));
        dir.remove_file(name)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
use linux::put_back;

#[cfg(not(target_os = "linux"))]
fn put_back(_: &Dir, _: &Changed) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{names, open, state, Changed, Notes, Opened, Root};
    use crate::entry::EntryPath;
    use crate::store::components;
    use cap_fs_ext::DirExt;
    use cap_std::fs::Dir;
    use rustix::fs::{fstat, openat, FileType, Mode, OFlags, Stat};
    use std::ffi::OsStr;
    use std::fs::{File, Permissions};
    use std::io::{self, Write};
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::sync::LazyLock;

    /// Returns whether modes forbid nothing.
    pub(super) fn is_privileged() -> bool {
        static IS: LazyLock<bool> = LazyLock::new(|| {
            use rustix::thread::{capabilities, CapabilitySet};
            capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::DAC_OVERRIDE))
        });
        *IS
    }

    fn itself(fd: impl AsFd) -> PathBuf {
        format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into()
    }

    fn set_mode(fd: impl AsFd, mode: u32) -> io::Result<()> {
        std::fs::set_permissions(itself(fd), Permissions::from_mode(mode))
    }

    fn is_own(stat: &Stat) -> bool {
        stat.st_uid == rustix::process::geteuid().as_raw()
    }

    /// Opens an entry itself, be it forbidden or a link.
    fn handle(parent: &Dir, name: &OsStr) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(parent, name, flags, Mode::empty())?)
    }

    /// Gives an entry its mode back, unless somebody has given it another.
    pub(super) fn put_back(root: &Dir, changed: &Changed) -> io::Result<()> {
        let mut steps = components(&changed.path).map_err(io::Error::other)?;
        let Some(name) = steps.pop() else { return Ok(()) };
        let mut parent = root.try_clone()?;
        for step in steps {
            parent = parent.open_dir_nofollow(step)?;
        }
        let entry = handle(&parent, &name)?;
        let stat = fstat(&entry)?;
        let is_link = FileType::from_raw_mode(stat.st_mode).is_symlink();
        match !is_link && is_own(&stat) && stat.st_mode & 0o7777 == changed.since {
            true => set_mode(&entry, changed.before),
            false => Ok(()),
        }
    }

    impl Root {
        /// Returns where an open entry is.
        fn path_of(&self, fd: impl AsFd) -> Option<EntryPath> {
            let path = std::fs::read_link(itself(fd)).ok()?;
            let below = path.strip_prefix(std::fs::read_link(itself(&self.dir)).ok()?).ok()?;
            Some(EntryPath(below.as_os_str().as_bytes().to_vec()))
        }

        /// Gives a directory of this user all bits of its owner if it lacks those to look into it.
        pub(super) fn allow_to_enter(&self, dir: &Dir) -> io::Result<()> {
            // Quick, and without a lock.
            if fstat(dir)?.st_mode & 0o500 == 0o500 {
                return Ok(());
            }
            let mut opened = self.opened();
            let stat = fstat(dir)?;
            if stat.st_mode & 0o500 == 0o500 || !is_own(&stat) || opened.workers == 0 {
                return Ok(());
            }
            let Some(path) = self.path_of(dir) else { return Ok(()) };
            let before = stat.st_mode & 0o7777;
            let changed = Changed { path, before, since: before | 0o700 };
            opened.note(&self.dir, &changed)?;
            set_mode(dir, changed.since)?;
            opened.changed.retain(|other| other.path != changed.path);
            opened.changed.push(changed);
            Ok(())
        }

        pub(super) fn read_by_its_owner(&self, parent: &Dir, name: &OsStr) -> io::Result<File> {
            let mut opened = self.opened();
            let entry = handle(parent, name)?;
            let stat = fstat(&entry)?;
            let forbidden = FileType::from_raw_mode(stat.st_mode).is_file()
                && is_own(&stat)
                && stat.st_mode & 0o400 == 0
                && opened.workers > 0;
            let path = self.path_of(&entry).filter(|_| forbidden);
            let path = path.ok_or(io::ErrorKind::PermissionDenied)?;
            let before = stat.st_mode & 0o7777;
            let changed = Changed { path, before, since: before | 0o400 };
            opened.note(&self.dir, &changed)?;
            set_mode(&entry, changed.since)?;
            let file = File::open(itself(&entry));
            set_mode(&entry, before)?;
            file
        }
    }

    impl Opened {
        /// Notes a mode before it is changed.
        fn note(&mut self, root: &Dir, changed: &Changed) -> io::Result<()> {
            let notes = match &mut self.notes {
                Some(notes) => notes,
                none => none.insert(Notes::begin(root)?),
            };
            notes.file.write_all(&changed.note())
        }
    }

    impl Notes {
        fn begin(root: &Dir) -> io::Result<Self> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            for _ in 0..state::ATTEMPTS {
                let dir = state::open_or_make(root)?;
                let name = format!("{}{}", names::any_base(&EntryPath::default()), names::MODES);
                let file = match openat(&dir, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
                    // Another process has removed the empty directory.
                    Err(rustix::io::Errno::NOENT) => continue,
                    file => File::from(file?),
                };
                // Before it was locked, a process that began then may have taken it for a left one.
                if state::lock(&file)? && open(&dir, name.as_ref()).is_ok() {
                    return Ok(Self { file, name });
                }
            }
            Err(io::ErrorKind::ResourceBusy.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_was_cut_short_is_none() {
        let changed =
            |path: &[u8], before| Changed { path: EntryPath(path.to_vec()), before, since: before | 0o700 };
        let all = [changed(b"a b/c \xff\n", 0o40), changed(b"d", 0)];
        let notes: Vec<u8> = all.iter().flat_map(Changed::note).collect();
        assert_eq!(Changed::read(&notes), all);
        let first = all[0].note().len();
        for end in 0..notes.len() {
            assert_eq!(Changed::read(&notes[..end]).len(), usize::from(end >= first), "{end}");
        }
        assert_eq!(Changed::read(b"nonsense\0 \x00 8 9 x\0"), []);
    }
}
