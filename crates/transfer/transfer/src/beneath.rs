//! Directories below an open one, reached through directories only.
//!
//! # Model
//! On Linux the kernel resolves the whole path in one call and refuses links (`openat2`, since 5.6). Elsewhere, and
//! where a sandbox forbids that call, each component is opened by itself and must be a directory. An open directory
//! stays the same, so a link that takes its place in between changes nothing. No path has `..` in it. So a directory
//! that is exchanged for a link, or renamed away, is not found, and nothing outside is.

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Opens the directory at `path` below `top`; the path of no components is `top` itself.
pub(crate) fn open(top: &Dir, path: &Path) -> io::Result<Dir> {
    at_once(top, path).or_else(|_| step_by_step(top, path))
}

/// Opens a directory by the kernel alone. An error means only that it did not do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn at_once(_: &Dir, _: &Path) -> io::Result<Dir> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens a directory by the kernel alone. An error means only that it did not do.
#[cfg(target_os = "linux")]
pub(crate) fn at_once(top: &Dir, path: &Path) -> io::Result<Dir> {
    use rustix::fs::{openat2, Mode, OFlags, ResolveFlags};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let only_directories = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    Ok(openat2(top, path, flags, Mode::empty(), only_directories)?.into())
}

/// Opens a directory far along these steps in a few calls of the kernel, and returns how many of the steps lead to it. Step by step, a tree
/// costs the square of its depth. Mostly all steps are there, or all but the last. Returns `None` where the kernel opens nothing; single steps
/// show the reason.
pub(crate) fn far_along(top: &Dir, steps: &[OsString]) -> Option<(Dir, usize)> {
    let mut left_out = 0;
    // A single step costs no more than this does.
    while left_out + 1 < steps.len() {
        let count = steps.len() - left_out;
        match at_once(top, &steps[..count].iter().collect::<PathBuf>()) {
            Ok(dir) => return Some((dir, count)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => left_out = 2 * left_out + 1,
            Err(_) => return None,
        }
    }
    None
}

fn step_by_step(top: &Dir, path: &Path) -> io::Result<Dir> {
    let mut dir = top.try_clone()?;
    for component in path.components() {
        match component {
            Component::Normal(name) => dir = dir.open_dir_nofollow(name)?,
            Component::CurDir => {}
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(dir)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::fs::{renameat_with, RenameFlags, CWD};
    use std::sync::atomic::{AtomicBool, Ordering};

    const EXCHANGES: usize = 10_000;

    /// Makes a `top` with `a/b` below, and an `outside` with a `b` that has another file in it.
    fn yard() -> tempfile::TempDir {
        let yard = tempfile::tempdir().expect("a directory");
        for path in ["top/a/b/inside", "outside/b/outside"] {
            std::fs::create_dir_all(yard.path().join(path)).expect("a directory");
        }
        std::os::unix::fs::symlink(yard.path().join("outside"), yard.path().join("link")).expect("a link");
        yard
    }

    fn top(yard: &tempfile::TempDir) -> Dir {
        Dir::open_ambient_dir(yard.path().join("top"), cap_std::ambient_authority()).expect("opens")
    }

    #[test]
    fn both_ways_find_directories_and_nothing_else() {
        let yard = yard();
        let top = top(&yard);
        std::fs::write(yard.path().join("top/file"), b"").expect("a file");
        std::os::unix::fs::symlink("a", yard.path().join("top/inside-link")).expect("a link");
        for way in [at_once, step_by_step] {
            assert!(way(&top, "a/b".as_ref()).expect("a directory").exists("inside"));
            for path in ["inside-link", "inside-link/b", "file", "file/b", "nothing", "..", "a/../..", "/"] {
                assert!(way(&top, path.as_ref()).is_err(), "{path}");
            }
        }
        assert!(open(&top, "".as_ref()).expect("itself").exists("a"));
    }

    #[test]
    fn the_deepest_directories_of_long_ways_are_reached_without_those_above() {
        let yard = yard();
        let top = top(&yard);
        let steps: Vec<OsString> = (0..100).map(|step| step.to_string().into()).collect();
        assert!(far_along(&top, &steps).is_none());
        let path: PathBuf = steps.iter().collect();
        std::fs::create_dir_all(yard.path().join("top").join(path)).expect("directories");
        for (missing, found) in [(0, 100), (1, 100), (2, 99), (3, 100), (10, 95), (90, 63)] {
            let mut longer = steps.clone();
            longer.extend((0..missing).map(|_| "missing".into()));
            let (dir, count) = far_along(&top, &longer).expect("a directory");
            assert_eq!(count, found, "{missing} missing");
            assert_eq!(dir.exists(count.to_string()), count < 100);
        }
        std::fs::write(yard.path().join("top/0/file"), b"").expect("a file");
        assert!(far_along(&top, &["0", "file", "in the way"].map(OsString::from)).is_none());
    }

    #[test]
    fn neither_way_leaves_through_a_directory_that_becomes_a_link_or_is_renamed_away() {
        for way in [at_once, step_by_step] {
            let yard = yard();
            let (top, done) = (top(&yard), AtomicBool::new(false));
            let [a, link, away] = ["top/a", "link", "away"].map(|name| yard.path().join(name));
            let (mut found, mut missed) = (0, 0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..EXCHANGES / 2 {
                        for _ in 0..2 {
                            renameat_with(CWD, &a, CWD, &link, RenameFlags::EXCHANGE).expect("exchanges");
                        }
                        std::fs::rename(&a, &away).expect("renames");
                        std::fs::rename(&away, &a).expect("renames");
                    }
                    done.store(true, Ordering::Relaxed);
                });
                while !done.load(Ordering::Relaxed) {
                    match way(&top, "a/b".as_ref()) {
                        Ok(dir) => {
                            assert!(dir.exists("inside") && !dir.exists("outside"));
                            found += 1;
                        }
                        Err(_) => missed += 1,
                    }
                }
            });
            assert!(found > 0 && missed > 0, "nothing was tried: {found} found, {missed} missed");
        }
    }
}
