//! Reading ahead: small reads in a row are served from larger ones.
//!
//! # Model
//! A tree is encoded in reads of 16 KiB of content and 64 bytes of hashes. Two reads that follow each other double what is
//! asked of the system, up to [`MOST`]. A read elsewhere begins again with no more than it asks for, so that scattered
//! ranges cost nothing more.
//!
//! # Constants
//! 128 KiB stay in a core's cache until they have been copied on, and make the calls themselves cheap. Each client of `serve` has
//! such a buffer.

use bao_tree::io::sync::ReadAt;
use std::cell::RefCell;
use std::io;

/// Bytes that are asked for at once.
const MOST: usize = 128 * 1024;

/// Reads ahead.
pub(super) struct Ahead<R> {
    from: R,
    read: RefCell<Window>,
}

/// The bytes of the last read.
#[derive(Default)]
struct Window {
    /// Offset of the first byte.
    start: u64,
    /// Bytes of the buffer that are content.
    held: usize,
    buffer: Vec<u8>,
}

impl<R: ReadAt> Ahead<R> {
    pub(super) fn of(from: R) -> Self {
        Self { from, read: RefCell::default() }
    }

    /// Returns the bytes from this offset on, without copying them.
    pub(super) fn exactly(&mut self, offset: u64, bytes: usize) -> io::Result<&[u8]> {
        let Self { from, read } = self;
        let read = read.get_mut();
        if read.at(offset).len() < bytes {
            read.fill(from, offset, bytes)?;
        }
        read.at(offset).get(..bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Window {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.held as u64)
    }

    /// Returns the held bytes from this offset on.
    fn at(&self, offset: u64) -> &[u8] {
        let skipped = offset.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| self.buffer[..self.held].get(skipped..)).unwrap_or_default()
    }

    /// Reads `least` bytes or more from this offset on, unless there are fewer.
    fn fill(&mut self, from: &impl ReadAt, offset: u64, least: usize) -> io::Result<()> {
        let follows = self.held > 0 && (self.start..=self.end()).contains(&offset);
        let bytes = if follows { (2 * self.held).min(MOST).max(least) } else { least };
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        (self.start, self.held) = (offset, 0);
        while self.held < least {
            match from.read_at(offset.saturating_add(self.held as u64), &mut self.buffer[self.held..bytes]) {
                Ok(0) => break,
                Ok(count) => self.held += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<R: ReadAt> ReadAt for Ahead<R> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.read.borrow_mut();
        if read.at(offset).is_empty() {
            read.fill(&self.from, offset, buffer.len())?;
        }
        let held = read.at(offset);
        let count = held.len().min(buffer.len());
        buffer[..count].copy_from_slice(&held[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts the calls and the bytes that were asked for.
    struct Counted<'a>(&'a [u8], Cell<(usize, usize)>);

    impl ReadAt for Counted<'_> {
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            let (calls, bytes) = self.1.get();
            self.1.set((calls + 1, bytes + buffer.len()));
            self.0.read_at(offset, buffer)
        }
    }

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn what_is_read_in_a_row_is_asked_for_in_few_calls_and_scattered_reads_ask_for_no_more() {
        let content = content(4_000_000);
        let ahead = Ahead::of(Counted(&content, Cell::default()));
        let mut buffer = [0; 16_384];
        for start in (0..3_900_000).step_by(buffer.len()) {
            ahead.read_exact_at(start as u64, &mut buffer).expect("it is there");
            assert_eq!(buffer[..], content[start..][..buffer.len()]);
        }
        assert!(ahead.from.1.get().0 <= 40, "{:?}", ahead.from.1);
        ahead.from.1.set((0, 0));
        for start in [3_000_000, 1_000_000, 2_000_000, 5_000] {
            ahead.read_exact_at(start, &mut buffer).expect("it is there");
        }
        assert_eq!(ahead.from.1.get(), (4, 4 * buffer.len()));
    }

    #[test]
    fn bytes_that_lie_across_two_reads_are_there_in_one_piece() {
        let content = content(1_000_000);
        let mut ahead = Ahead::of(&content[..]);
        for (offset, bytes) in [(0, 100), (90, 100), (150, 500), (600, 0), (640, 400_000), (400_640, 599_360)]
        {
            let there = ahead.exactly(offset, bytes).expect("it is there");
            assert_eq!(there, &content[offset as usize..][..bytes], "{offset}");
        }
        let error = ahead.exactly(999_000, 1001).expect_err("too short");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_end_of_a_file_is_found_and_one_that_grows_is_read_on() {
        let content = content(100_000);
        let short = Ahead::of(&content[..50_000]);
        let mut buffer = [0; 16_384];
        for start in [0, 16_384, 32_768] {
            short.read_exact_at(start, &mut buffer).expect("it is there");
        }
        assert_eq!(short.read_at(49_152, &mut buffer).expect("the rest"), 848);
        assert_eq!(short.read_at(50_000, &mut buffer).expect("the end"), 0);
        let error = short.read_exact_at(49_152, &mut buffer).expect_err("too short");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(short.read_at(u64::MAX, &mut buffer).expect("far beyond"), 0);
    }
}
