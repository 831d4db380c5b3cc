//! Which file systems set a file's times at each change of its content.
//!
//! # Model
//! The kernel sets the times of a file when a program first writes to a page of a memory map, and makes the page writable for
//! that program until the page goes to the disk. A further write to it before that sets no time. So the source takes a file
//! to the disk (`fdatasync`) before it reads the times and the content: every later write sets the times anew.
//!
//! That holds for the file systems in [`SET_TIMES`]: each sets the times when a page becomes writable. `tmpfs` and `ramfs` do not, and
//! have no disk that the pages go to. On a network file system other machines write, and their clocks set the times. Of `overlay`
//! and FUSE nobody sees which file system is below. On FAT a program can set the time of change back.
//!
//! # Cost
//! A flush takes 0.1 ms to 10 ms, whether or not there is anything to write. So after [`ONE_BY_ONE`] files the whole file system is
//! flushed once. That serves all files whose times are older than that flush: since then no program has written to them.
//!
//! # Source
//! Linux 6.12, `fs/*/file.c`: operation `page_mkwrite`, by way of `file_update_time`; numbers from `linux/magic.h`.
//!
//! # Not implemented
//! Elsewhere than on Linux every file system counts as one that sets times.

use super::place::Facts;
use afteryou_base::lock::EvenPoisoned;
use std::collections::HashMap;
use std::fs::File;
use std::sync::Mutex;
use std::time::SystemTime;

/// ext2, ext3 and ext4; XFS; Btrfs; F2FS; bcachefs; NILFS2; JFS.
#[cfg(target_os = "linux")]
const SET_TIMES: [u32; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0xca45_1a4e, 0x3434, 0x3153_464a];

/// Files that are flushed by themselves before all are.
const ONE_BY_ONE: usize = 64;

/// A file system.
#[derive(Debug)]
struct Known {
    sets_times: bool,
    /// Files that were flushed by themselves since all were.
    flushed: usize,
    /// A moment before all were flushed.
    all_flushed: Option<SystemTime>,
}

/// The file systems of a job, by device.
#[derive(Debug, Default)]
pub(super) struct FileSystems(Mutex<HashMap<u64, Known>>);

impl FileSystems {
    /// Takes a file to the disk that was settled at `now`, a moment ago. True if each later change sets its times.
    pub(super) fn flush(&self, file: &File, facts: &Facts, now: SystemTime) -> bool {
        let Some((device, _)) = facts.id else { return false };
        let mut known = self.0.lock().even_poisoned();
        let known = known.entry(device).or_insert_with(|| Known {
            sets_times: sets_times(file),
            flushed: 0,
            all_flushed: None,
        });
        if !known.sets_times {
            return false;
        }
        if known.all_flushed.is_some_and(|then| facts.settled(then)) {
            return true;
        }
        known.flushed += 1;
        if known.flushed > ONE_BY_ONE && flush_all(file) {
            (known.flushed, known.all_flushed) = (0, Some(now));
            return true;
        }
        file.sync_data().is_ok()
    }
}

#[cfg(target_os = "linux")]
fn flush_all(file: &File) -> bool {
    rustix::fs::syncfs(file).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn flush_all(_: &File) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn sets_times(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|system| SET_TIMES.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn sets_times(_: &File) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::entry::Mtime;

    #[test]
    fn a_file_in_memory_is_never_remembered() {
        let Ok(file) = tempfile::tempfile_in("/dev/shm") else {
            println!("SKIPPED: no /dev/shm to make a file in");
            return;
        };
        // Docker may have something else there.
        let is_tmpfs = rustix::fs::fstatfs(&file).is_ok_and(|system| system.f_type as u32 == 0x0102_1994);
        let facts = Facts::of(&file).expect("facts");
        let flushed = FileSystems::default().flush(&file, &facts, SystemTime::now());
        assert_eq!(flushed, !is_tmpfs && sets_times(&file));
    }
    #[test]
    fn many_files_are_flushed_together_and_one_that_changed_since_by_itself() {
        let Ok(file) = tempfile::tempfile() else { panic!("a file") };
        if !sets_times(&file) {
            println!("SKIPPED: the temporary files are on a file system that is never relied upon");
            return;
        }
        let (systems, now) = (FileSystems::default(), SystemTime::now());
        let young = Facts::of(&file).expect("facts");
        let second = |seconds| Some(Mtime { seconds, nanos: 0 });
        let old = Facts { mtime: second(1).unwrap_or_default(), ctime: second(1), ..young.clone() };
        let (device, _) = old.id.expect("an inode");
        let flushed = || systems.0.lock().expect("no panic")[&device].flushed;
        for count in 1..=ONE_BY_ONE {
            assert!(systems.flush(&file, &old, now));
            assert_eq!(flushed(), count);
        }
        for _ in 0..3 {
            assert!(systems.flush(&file, &old, now));
            assert_eq!(flushed(), 0, "all were flushed");
        }
        assert!(systems.flush(&file, &young, now));
        assert_eq!(flushed(), 1, "its times are younger than that");
    }
}
