//! Content that came together and is written together.
//!
//! # Constants
//! 128 KiB make a call's own cost small beside that of its bytes. With more at a time, more of what has come would be in memory
//! alone.

use bytes::Bytes;
use std::fs::File;
use std::io;

/// Bytes that wait at most.
const MOST: usize = 128 * 1024;

/// Leaves that follow each other.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// Offset of the first.
    start: u64,
    bytes: usize,
    leaves: Vec<Bytes>,
}

impl Burst {
    /// True if the leaf follows the others, and there is room for it.
    pub(super) fn takes(&self, offset: u64, leaf: &Bytes) -> bool {
        self.bytes == 0 || (offset == self.start + self.bytes as u64 && self.bytes + leaf.len() <= MOST)
    }

    pub(super) fn add(&mut self, offset: u64, leaf: Bytes) {
        if self.bytes == 0 {
            self.start = offset;
        }
        self.bytes += leaf.len();
        self.leaves.push(leaf);
    }

    /// Writes and forgets them, also if that fails.
    pub(super) fn write_to(&mut self, file: &mut File) -> io::Result<()> {
        let leaves = std::mem::take(&mut self.leaves);
        self.bytes = 0;
        write_all_at(file, self.start, &leaves)
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
            assert!(burst.takes(offset, &leaf));
            burst.add(offset, leaf);
        }
        for (offset, length) in [(129, 1), (131, 1), (0, 10), (130, MOST)] {
            assert!(!burst.takes(offset, &Bytes::from(vec![0; length])), "{offset} {length}");
        }
        burst.write_to(&mut file).expect("writes");
        assert!(burst.takes(7, &Bytes::from_static(b"anywhere")), "nothing waits any more");
        burst.write_to(&mut file).expect("nothing to write");
        let content = [[0; 100].as_slice(), &[1; 10], &[2; 10], &[3; 10]].concat();
        assert_eq!(read(&file), content);
    }

    fn read(mut file: &File) -> Vec<u8> {
        let mut content = Vec::new();
        io::Seek::rewind(&mut file)
            .and_then(|()| io::Read::read_to_end(&mut file, &mut content))
            .expect("reads");
        content
    }
}
