//! Files that have no name before they are whole (Linux).
//!
//! # Model
//! A file of which all is at hand is made without a name (`O_TMPFILE`), written, and linked to its place. Nobody else can reach
//! it meanwhile, so it needs no lock, and a kill leaves nothing of it.
//!
//! # Known bad cases
//! NFS and some others make no such files. A link by descriptor takes Linux 6.10 or the right to read everything, the link by way of
//! `/proc` takes `/proc`. Whether both steps work is tried once for each store, in its directory. Where they do not, a file
//! gets a name among the partial files first.

#[cfg(unix)]
use crate::entry::MODE_BITS;
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::fs::File;
use std::io;

/// Returns the mode that a file is made with if it is to have this one: its owner can write it.
#[cfg(unix)]
pub(super) fn mode_at_first(mode: Option<u32>) -> u32 {
    mode.map_or(0o666, |mode| mode & MODE_BITS | 0o600)
}

/// Makes a file that is to have this mode, in the file system of `dir`.
#[cfg(target_os = "linux")]
pub(super) fn create(dir: &Dir, mode: Option<u32>) -> io::Result<File> {
    use rustix::fs::{openat, Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let mode = Mode::from_bits_truncate(mode_at_first(mode) as _);
    Ok(openat(dir, ".", flags, mode)?.into())
}

/// Gives it a name of one component. An error if something has that name.
#[cfg(target_os = "linux")]
pub(super) fn link(file: &File, dir: &Dir, name: &OsStr) -> io::Result<()> {
    use rustix::fs::{linkat, AtFlags, CWD};
    use rustix::io::Errno;
    use std::os::fd::AsRawFd;
    match linkat(file, "", dir, name, AtFlags::EMPTY_PATH) {
        // Linux reports this where it forbids the flag.
        Err(Errno::NOENT) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            Ok(linkat(CWD, path, dir, name, AtFlags::SYMLINK_FOLLOW)?)
        }
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create(_dir: &Dir, _mode: Option<u32>) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn link(_file: &File, _dir: &Dir, _name: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether such files can be made in `dir` and get a name there.
pub(super) fn works_in(dir: &Dir, name: &str) -> bool {
    let Ok(file) = create(dir, None) else { return false };
    link(&file, dir, OsStr::new(name)).and_then(|()| dir.remove_file(name)).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_without_a_name_is_seen_when_it_is_linked_and_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).expect("opens");
        let mut file = create(&dir, Some(0o640)).expect("made");
        file.write_all(b"content").expect("written");
        let names = || std::fs::read_dir(folder.path()).expect("reads").count();
        assert_eq!(names(), 0);
        link(&file, &dir, OsStr::new("a")).expect("linked");
        assert_eq!(std::fs::read(folder.path().join("a")).expect("there"), b"content");
        let other = create(&dir, None).expect("made");
        let taken = link(&other, &dir, OsStr::new("a")).expect_err("something has that name");
        assert_eq!((taken.kind(), names()), (io::ErrorKind::AlreadyExists, 1));
        drop(other);
        assert!(works_in(&dir, "trial") && names() == 1);
    }
}
