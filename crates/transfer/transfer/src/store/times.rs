//! Times of modification that a file system cannot hold.
//!
//! # Model
//! File systems round times down to their steps, 2 s at most (FAT). Such a time counts as the one that was set. Beyond its range
//! a file system keeps its first or last time, and the system call succeeds: 2038 for 2100 on ext4 with inodes of 128 bytes.
//! So a time is read back after it was set.

use super::unnamed;
use cap_std::fs::Dir;
use std::fs::FileTimes;
use std::io;
use std::time::{Duration, SystemTime};

/// The same sentence for a job and a dry run.
pub(super) const NOT_HELD: &str =
    "cannot set its mode and time: its file system cannot hold that time of modification, and keeps another";

/// The longest steps.
const STEP: Duration = Duration::from_secs(2);

/// Returns whether a file system that was given `asked` may answer with `kept`, and holds it.
fn is_rounded(asked: SystemTime, kept: SystemTime) -> bool {
    asked.duration_since(kept).is_ok_and(|less| less < STEP)
}

/// Refuses a time that was read back and is another than the one that was set.
pub(super) fn check(asked: SystemTime, kept: SystemTime) -> io::Result<()> {
    match is_rounded(asked, kept) {
        true => Ok(()),
        false => {
            Err(io::Error::other("its file system cannot hold that time of modification, and keeps another"))
        }
    }
}

/// How the time of an entry compares with the one that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// They are the same, as far as the file system goes.
    Same,
    /// It is what the file system makes of the offered one, and not the same.
    AsFarAsPossible,
    /// Setting it would change it.
    Differs,
}

/// Compares without changing anything: a file without a name in `dir` shows what its file system makes of a time.
pub(super) fn compare(dir: &Dir, asked: SystemTime, there: SystemTime) -> Held {
    if asked == there {
        return Held::Same;
    }
    let trial = || {
        let file = unnamed::create(dir, None)?;
        file.set_times(FileTimes::new().set_modified(asked))?;
        file.metadata()?.modified()
    };
    match trial() {
        Ok(kept) if kept != there => Held::Differs,
        Ok(_) if is_rounded(asked, there) => Held::Same,
        Ok(_) => Held::AsFarAsPossible,
        // No such files there: the steps of FAT are known.
        Err(_) if is_rounded(asked, there) && is_whole(there) => Held::Same,
        Err(_) => Held::Differs,
    }
}

fn is_whole(time: SystemTime) -> bool {
    time.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|time| time.subsec_nanos() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_rounded_down_is_held_and_one_at_the_end_of_a_range_is_not() {
        let at = |seconds, nanos| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        for (asked, kept, held) in [
            (at(5, 7), at(5, 7), true),
            (at(5, 7), at(5, 0), true),
            (at(5, 7), at(4, 0), true),
            (at(5, 7), at(3, 0), false),
            (at(5, 7), at(5, 8), false),
            (at(4_102_444_800, 0), at(2_147_483_647, 0), false),
            (at(5, 0), at(315_532_800, 0), false),
        ] {
            assert_eq!(check(asked, kept).is_ok(), held, "{asked:?} {kept:?}");
        }
    }

    #[test]
    fn a_time_that_can_be_set_differs_and_nothing_is_left_of_the_trial() {
        let folder = tempfile::tempdir().expect("a directory");
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).expect("opens");
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(compare(&dir, at(1_000_000), at(1_000_000)), Held::Same);
        assert_eq!(compare(&dir, at(1_000_000), at(2_000_000)), Held::Differs);
        assert_eq!(std::fs::read_dir(folder.path()).expect("reads").count(), 0);
    }
}
