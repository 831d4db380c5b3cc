//! Content that came together and is written together.
//!
//! # Bounds
//! All files of the process hold [`MOST`] bytes together, so a kill or a full disk costs that and one chunk group of each file under
//! way, however many there are. A file that finds no room writes each group at once. So do all files after a write has failed, or
//! each would lose a burst to the same full disk.
//!
//! # Constants
//! 96 KiB make a call's own cost small beside that of its bytes. A disk that has taken 1 MiB since a failure has room again.

use bytes::Bytes;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that wait at most.
const MOST: usize = 96 * 1024;

/// Bytes that must be written after a failure before others wait again.
const PROVEN: usize = 1024 * 1024;

/// Bytes that wait now.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Bytes written since a write failed, as far as they count.
static SINCE_FAILURE: AtomicUsize = AtomicUsize::new(PROVEN);

/// Leaves that follow each other.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// Offset of the first.
    start: u64,
    bytes: usize,
    leaves: Vec<Bytes>,
}

impl Burst {
    /// Returns whether a leaf at this offset follows the others.
    pub(super) fn takes(&self, offset: u64) -> bool {
        self.bytes == 0 || offset == self.start + self.bytes as u64
    }

    /// Adds a leaf. True if there was no room for it to wait.
    pub(super) fn add(&mut self, offset: u64, leaf: Bytes) -> bool {
        if self.bytes == 0 {
            self.start = offset;
        }
        let more = leaf.len();
        self.bytes += more;
        self.leaves.push(leaf);
        let waiting = WAITING.fetch_add(more, Ordering::Relaxed) + more;
        waiting > MOST || SINCE_FAILURE.load(Ordering::Relaxed) < PROVEN
    }

    /// Writes and forgets them, also if that fails.
    pub(super) fn write_to(&mut self, file: &mut File) -> io::Result<()> {
        let Self { start, bytes, leaves } = &*self;
        let result = write_all_at(file, *start, leaves);
        match &result {
            Ok(()) if SINCE_FAILURE.load(Ordering::Relaxed) >= PROVEN => {}
            Ok(()) => _ = SINCE_FAILURE.fetch_add(*bytes, Ordering::Relaxed),
            Err(_) => SINCE_FAILURE.store(0, Ordering::Relaxed),
        }
        *self = Self::default();
        result
    }
}

impl Drop for Burst {
    fn drop(&mut self) {
        WAITING.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(unix)]
fn write_all_at(file: &mut File, mut offset: u64, leaves: &[Bytes]) -> io::Result<()> {
    let mut slices: Vec<_> = leaves.iter().map(|leaf| io::IoSlice::new(leaf)).collect();
    let mut left = slices.as_mut_slice();
    while !left.is_empty() {
        let written = match rustix::io::pwritev(&*file, left, offset) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            other => other?,
        };
        offset += written as u64;
        io::IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}

#[cfg(not(unix))]
fn write_all_at(file: &mut File, mut offset: u64, leaves: &[Bytes]) -> io::Result<()> {
    for leaf in leaves {
        bao_tree::io::sync::WriteAt::write_all_at(file, offset, leaf)?;
        offset += leaf.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_that_follow_each_other_are_written_where_they_belong() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut burst = Burst::default();
        for (offset, byte) in [(100, 1), (110, 2), (120, 3)] {
            let leaf = Bytes::from(vec![byte; 10]);
            assert!(burst.takes(offset));
            burst.add(offset, leaf);
        }
        assert!(![129, 131, 0].into_iter().any(|offset| burst.takes(offset)) && burst.takes(130));
        burst.write_to(&mut file).expect("writes");
        assert!(burst.takes(7), "nothing waits any more");
        burst.write_to(&mut file).expect("nothing to write");
        let content = [[0; 100].as_slice(), &[1; 10], &[2; 10], &[3; 10]].concat();
        assert_eq!(read(&file), content);
    }

    #[test]
    fn all_bursts_have_room_together_and_a_dropped_one_leaves_its_own() {
        let leaf = || Bytes::from(vec![1; MOST]);
        let (mut one, mut other) = (Burst::default(), Burst::default());
        one.add(0, leaf());
        assert!(other.add(0, Bytes::from_static(b"no room")));
        drop(one);
        other.write_to(&mut tempfile::tempfile().expect("a file")).expect("writes");
        assert!(Burst::default().add(0, Bytes::from(vec![1; MOST + 1])), "more than there ever is");
    }

    fn read(mut file: &File) -> Vec<u8> {
        let mut content = Vec::new();
        io::Seek::rewind(&mut file)
            .and_then(|()| io::Read::read_to_end(&mut file, &mut content))
            .expect("reads");
        content
    }
}
