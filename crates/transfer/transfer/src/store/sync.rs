//! To the disk, several at a time.
//!
//! # Contents of small files
//! From [`TOGETHER`] files of one file system on, one `syncfs` of it takes them to the disk (Linux, from 5.8 on, which
//! reports what could not be written). If it fails, each file is flushed by itself, and reports whether that was its own
//! error. Without it, each is flushed by itself at once.
//!
//! # Known bad case
//! `syncfs` waits for all that others have written to that file system, too.
//!
//! # Directories
//! A file that got its final name is safe when its directory is on the disk. With many small files a journal commit for
//! each would cost more than their bytes. So a file that comes while one is under way joins the next: one commit then serves
//! all of them.

use super::file_system::identity;
use afteryou_base::lock::EvenPoisoned;
use cap_std::fs::Dir;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

/// Files for which one flush of the file system costs less than their own.
const TOGETHER: usize = 4;

/// Returns when the contents of these files are on the disk; what failed, by file.
pub(crate) fn contents(files: &[&File]) -> Vec<io::Result<()>> {
    let mut results: Vec<_> = files.iter().map(|_| Ok(())).collect();
    for together in by_device(files) {
        // Of the file that was opened first: it has seen every error since.
        if together.len() < TOGETHER || !file_system(files[together[0]]) {
            together.into_iter().for_each(|at| results[at] = files[at].sync_all());
        }
    }
    results
}

/// Returns the indices of the files on each device, in order.
fn by_device(files: &[&File]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Option<u64>, Vec<usize>)> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let device = device(file);
        match groups.iter_mut().find(|(known, _)| *known == device) {
            Some((_, group)) => group.push(at),
            None => groups.push((device, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(unix)]
fn device(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|metadata| metadata.dev())
}

#[cfg(not(unix))]
fn device(_: &File) -> Option<u64> {
    None
}

/// Flushes a file system. False if that is not possible, or an error may have gone unseen.
#[cfg(target_os = "linux")]
fn file_system(file: &File) -> bool {
    use std::sync::LazyLock;
    static REPORTS: LazyLock<bool> = LazyLock::new(|| {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
        (next(), next()) >= (5, 8)
    });
    *REPORTS && rustix::fs::syncfs(file).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn file_system(_: &File) -> bool {
    false
}

/// How a batch ended: the kind and words of its first error.
type Outcome = Option<(io::ErrorKind, String)>;

#[derive(Default)]
struct Batch {
    dirs: Vec<Dir>,
    outcome: Arc<OnceLock<Outcome>>,
}

#[derive(Default)]
struct State {
    next: Batch,
    under_way: bool,
}

/// Takes directories to the disk in batches.
#[derive(Default)]
pub(crate) struct Directories {
    state: Mutex<State>,
    done: Condvar,
}

impl Directories {
    /// Returns when what was done to these directories is on the disk.
    pub(crate) fn sync(&self, dirs: Vec<Dir>) -> io::Result<()> {
        let mut state = self.state.lock().even_poisoned();
        state.next.dirs.extend(dirs);
        let mine = state.next.outcome.clone();
        loop {
            if let Some(outcome) = mine.get() {
                return match outcome {
                    None => Ok(()),
                    Some((kind, words)) => Err(io::Error::new(*kind, words.clone())),
                };
            }
            if state.under_way {
                state = self.done.wait(state).even_poisoned();
                continue;
            }
            state.under_way = true;
            let batch = std::mem::take(&mut state.next);
            drop(state);
            let outcome = flush(batch.dirs).err().map(|error| (error.kind(), error.to_string()));
            state = self.state.lock().even_poisoned();
            _ = batch.outcome.set(outcome);
            state.under_way = false;
            self.done.notify_all();
        }
    }
}

/// Takes these directories to the disk.
pub(super) fn flush(dirs: Vec<Dir>) -> io::Result<()> {
    let mut seen = HashSet::new();
    for dir in dirs {
        if seen.insert(identity(&dir.dir_metadata()?)) {
            sync(&dir)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn sync(dir: &Dir) -> io::Result<()> {
    // The handle itself may only name the directory (`O_PATH`), which cannot be synced.
    dir.open(".")?.sync_all()
}

/// Does nothing: Windows has no such call, and its file systems write names to the journal themselves.
#[cfg(not(unix))]
fn sync(_dir: &Dir) -> io::Result<()> {
    Ok(())
}
