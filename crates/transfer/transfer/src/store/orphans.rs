//! Partial files that nobody works on.
//!
//! # Model
//! A job that never comes back leaves its partial files. Each goes [`KEPT`] after its last write, when a store is opened and when a job
//! begins while no other runs. Those of paths under way stay, and so do those that another process has locked. That holds
//! for the receiving directory and for the disks that are mounted below it.
//!
//! # Known bad case
//! A btrfs subvolume is no mount: partial files there go only by number and size.
//!
//! # Bounds
//! When one more is left, and there are a quarter more than [`MOST`], the oldest go until there are [`MOST`]. They also go if all together take more
//! than a quarter of the file system; the newest may take more alone. So a peer that begins file after file and never ends one leaves that many.

use super::names::{self, LINK, PART, TREE};
use super::partial;
use super::state::StateDir;
use super::{Inner, Store, STATE};
use afteryou_base::lock::EvenPoisoned;
use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, Metadata};
use std::collections::HashSet;
use std::io;
use std::time::{Duration, SystemTime};

/// Partial files stay so long after their last write.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Partial files that nobody works on, in one directory.
pub(super) const MOST: usize = 1024;

/// Partial files that nobody works on, as `afteryou ctl` shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abandoned {
    /// The number of partial files.
    pub files: u64,
    /// Bytes that they take on the disk.
    pub bytes: u64,
}

struct Orphan {
    name: String,
    /// Of the last write, seconds since 1970.
    written: i64,
    bytes: u64,
}

/// Path parts of the names of those that are under way in this process.
type UnderWay = HashSet<String>;

/// Removes what is too old or too much. Returns how many are left.
fn tidy(dir: &Dir, under_way: &UnderWay, now: SystemTime) -> io::Result<usize> {
    let mut orphans = list(dir, under_way)?;
    orphans.sort_by_key(|orphan| orphan.written);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let room = room(dir);
    let (mut left, mut bytes) = (orphans.len(), orphans.iter().map(|orphan| orphan.bytes).sum::<u64>());
    for orphan in &orphans {
        let is_too_old = now.saturating_sub(orphan.written) > KEPT.as_secs() as i64;
        if !is_too_old && left <= MOST && (bytes <= room || left == 1) {
            break;
        }
        match orphan.name.ends_with(PART) {
            // Another process may hold it.
            true => partial::remove_unheld(dir, &orphan.name)?,
            false => dir.remove_file(&orphan.name)?,
        }
        tracing::debug!(name = orphan.name, "removed a partial file of an abandoned job");
        (left, bytes) = (left - 1, bytes.saturating_sub(orphan.bytes));
    }
    Ok(left)
}

/// Lists partial files, trees without one, and links that never got to their place.
fn list(dir: &Dir, under_way: &UnderWay) -> io::Result<Vec<Orphan>> {
    let all: HashSet<String> = names::names_in(dir)?.into_iter().collect();
    let has_part = |base: &str| all.contains(&format!("{base}{PART}"));
    let is_alone = |name: &String| match name.strip_suffix(TREE) {
        Some(base) => !has_part(base),
        None => name.ends_with(PART) || name.ends_with(LINK),
    };
    let is_idle = |name: &&String| !under_way.contains(names::path_part(name));
    let look = |name: &String| {
        let there = dir.symlink_metadata(name).ok()?;
        let tree =
            name.strip_suffix(PART).and_then(|base| dir.symlink_metadata(format!("{base}{TREE}")).ok());
        let written = written(&there, tree.as_ref());
        Some(Orphan { name: name.clone(), written, bytes: bytes(&there) })
    };
    Ok(all.iter().filter(|name| is_alone(name)).filter(is_idle).filter_map(look).collect())
}

/// Returns the time of the last write. A whole file has the time of the source's already, and so has a link: then the tree's
/// time counts, or that of the inode's change.
#[cfg(unix)]
fn written(there: &Metadata, tree: Option<&Metadata>) -> i64 {
    use cap_std::fs::MetadataExt;
    let other = match tree {
        Some(tree) => tree.mtime(),
        None if there.len() > 0 => there.ctime(),
        None => i64::MIN,
    };
    there.mtime().max(other)
}

#[cfg(not(unix))]
fn written(there: &Metadata, tree: Option<&Metadata>) -> i64 {
    let time = |there: &Metadata| {
        there.modified().map(|time| crate::entry::Mtime::from_system(time.into_std()).seconds)
    };
    time(there).unwrap_or(i64::MAX).max(tree.and_then(|tree| time(tree).ok()).unwrap_or(i64::MAX))
}

#[cfg(unix)]
fn bytes(there: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    there.blocks() * 512
}

#[cfg(not(unix))]
fn bytes(there: &Metadata) -> u64 {
    there.len()
}

/// Returns the bytes that they may take together.
#[cfg(unix)]
fn room(dir: &Dir) -> u64 {
    rustix::fs::fstatvfs(dir).map_or(u64::MAX, |found| found.f_blocks.saturating_mul(found.f_frsize) / 4)
}

#[cfg(not(unix))]
fn room(_: &Dir) -> u64 {
    u64::MAX
}

/// Returns the directories that are mounted below `root`.
#[cfg(target_os = "linux")]
fn mounted_below(root: &Dir) -> Vec<Dir> {
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::ffi::OsStrExt;
    let itself = std::fs::read_link(format!("/proc/self/fd/{}", root.as_fd().as_raw_fd()));
    let (Ok(itself), Ok(mounts)) = (itself, std::fs::read("/proc/self/mountinfo")) else { return Vec::new() };
    let open = |line: &[u8]| {
        let point = unescaped(line.split(|&byte| byte == b' ').nth(4)?);
        let below = std::path::Path::new(std::ffi::OsStr::from_bytes(&point)).strip_prefix(&itself).ok()?;
        let mut steps = below.iter();
        let first = root.open_dir_nofollow(steps.next()?).ok()?;
        steps.try_fold(first, |dir, step| dir.open_dir_nofollow(step)).ok()
    };
    mounts.split(|&byte| byte == b'\n').filter_map(open).collect()
}

/// Returns a path without its escapes: blanks and backslashes are three octal digits there.
#[cfg(target_os = "linux")]
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = path;
    while let Some((&first, others)) = rest.split_first() {
        let digits = others.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &others[3..] } else { others };
    }
    plain
}

#[cfg(not(target_os = "linux"))]
fn mounted_below(_: &Dir) -> Vec<Dir> {
    Vec::new()
}

/// Notes that one more partial file was left: the oldest go if there are too many.
pub(super) fn left_one_more(inner: &Inner, state: &StateDir) {
    let mut left = state.left.lock().even_poisoned();
    let known = left.map(|left| left + 1);
    if known.is_some_and(|known| known <= MOST + MOST / 4) {
        *left = known;
        return;
    }
    *left = state.get().and_then(|dir| tidy(&dir, &inner.under_way(), SystemTime::now())).ok();
}

impl Inner {
    fn under_way(&self) -> UnderWay {
        let active = self.active();
        let path_part = |path| names::path_part(&names::prefix(&path)).to_owned();
        active.paths().map(path_part).collect()
    }

    /// Returns the open directories of partial files, each with the directory that it is in.
    fn all_partial_files(&self) -> Vec<(Dir, Dir)> {
        let mut above = mounted_below(&self.root);
        above.extend(self.root.try_clone());
        let with_state = |above: Dir| Some((above.open_dir_nofollow(STATE).ok()?, above));
        above.into_iter().filter_map(with_state).collect()
    }

    /// Removes what is too old or too much.
    pub(super) fn tidy(&self, now: SystemTime) {
        let under_way = self.under_way();
        for (dir, above) in self.all_partial_files() {
            if let Err(error) = tidy(&dir, &under_way, now) {
                tracing::debug!(%error, "cannot tidy up among partial files");
            }
            drop(dir);
            // Succeeds only when it is empty.
            _ = above.remove_dir(STATE);
        }
    }
}

impl Store {
    /// Returns the partial files in the directory on which this process does not work now.
    pub fn abandoned(&self) -> Abandoned {
        let inner = self.home.opened();
        let under_way = inner.under_way();
        let all = inner.all_partial_files().into_iter();
        let orphans = all.flat_map(|(dir, _)| list(&dir, &under_way).unwrap_or_default());
        orphans.fold(Abandoned::default(), |sum, orphan| Abandoned {
            files: sum.files + 1,
            bytes: sum.bytes + orphan.bytes,
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::path::PathBuf;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn name(path: usize, end: &str) -> String {
        format!("{path:032x}-{:032x}{end}", 7)
    }

    /// Returns a directory with partial files of these ages in days.
    fn yard(now: SystemTime, days: &[u32]) -> (tempfile::TempDir, Dir) {
        let yard = tempfile::tempdir().expect("a directory");
        for (path, days) in days.iter().enumerate() {
            for end in [PART, TREE] {
                let file = File::create(yard.path().join(name(path, end))).expect("made");
                let times = FileTimes::new().set_modified(now - *days * DAY);
                file.set_times(times).expect("set");
            }
        }
        let dir = Dir::open_ambient_dir(yard.path(), cap_std::ambient_authority()).expect("opens");
        (yard, dir)
    }

    fn left(dir: &Dir) -> Vec<usize> {
        let mut names = names::names_in(dir).expect("reads");
        names.retain(|name| name.ends_with(PART));
        let mut left: Vec<_> =
            names.iter().map(|name| usize::from_str_radix(&name[..32], 16).unwrap()).collect();
        left.sort_unstable();
        left
    }

    #[test]
    fn they_go_thirty_days_after_their_last_write_unless_somebody_works_on_them() {
        let now = SystemTime::now();
        let (yard, dir) = yard(now, &[0, 29, 31, 31, 400, 31]);
        // In another process, and in this one.
        let held = File::open(yard.path().join(name(3, PART))).expect("opens");
        assert!(super::super::lock(&held).expect("locks"));
        let under_way = [format!("{:032x}", 5)].into();
        let tree = FileTimes::new().set_modified(now - 31 * DAY);
        File::create(yard.path().join(name(9, TREE))).expect("made").set_times(tree).expect("set");
        let all = tidy(&dir, &under_way, now).expect("tidied");
        assert_eq!(left(&dir), [0, 1, 3, 5]);
        let trees = names::names_in(&dir).expect("reads").len() - left(&dir).len();
        assert_eq!((all, trees), (2, 4), "a tree goes with its file, and one without a file goes, too");
    }

    #[test]
    fn of_too_many_the_oldest_go() {
        let now = SystemTime::now();
        let ages: Vec<u32> = (0..MOST as u32 + 100).map(|n| n % 25).collect();
        let (_yard, dir) = yard(now, &ages);
        assert_eq!(tidy(&dir, &HashSet::new(), now).expect("tidied"), MOST);
        let left = left(&dir);
        let oldest = left.iter().map(|path| ages[*path]).max();
        assert!(left.len() == MOST && oldest <= Some(23), "{} and {oldest:?}", left.len());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_of_mounts_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescaped(br"/a\040b\134c\x/d"), br"/a b\c\x/d");
        assert_eq!(unescaped(br"end\04"), br"end\04");
        let root = Dir::open_ambient_dir("/", cap_std::ambient_authority()).expect("opens");
        let proc: PathBuf = "/proc".into();
        let is_proc = |dir: &Dir| dir.exists("self/mountinfo");
        assert!(!proc.exists() || mounted_below(&root).iter().any(is_proc));
    }
}
