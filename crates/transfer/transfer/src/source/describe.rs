//! A file's content, in hashes, for a sink that has an older version.

use super::prepare::{EncodeError, Prepared};
use crate::chunks;
use crate::entry::{Kind, Wanted, GROUP_BYTES};
use crate::wire::How;
use bao_tree::io::sync::ReadAt;
use blake3::hazmat;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

impl Prepared {
    /// Writes the description of these ranges.
    ///
    /// # Errors
    /// An entry that is no file, and ranges that it does not have. A file that changed, is gone or cannot be read, and an `out` that fails.
    pub fn describe(&self, how: How, ranges: &Wanted, mut out: impl Write) -> Result<(), EncodeError> {
        let Kind::File { size, .. } = self.entry().kind else { return Err(EncodeError::Ranges) };
        let described = match how {
            How::Groups if size <= GROUP_BYTES => return Err(EncodeError::Ranges),
            How::Groups => {
                let hashes = self.open_hashes()?;
                Groups { hashes, wanted: ranges, out }.subtree(0..size, 0, None)
            }
            How::Chunks => {
                let mut file = self.open()?;
                let described = ranges.0.iter().try_for_each(|&(from, to)| {
                    file.seek(SeekFrom::Start(from))?;
                    chunks::each((&file).take(to - from), size, |chunk| {
                        out.write_all(&chunk.hash)?;
                        out.write_all(&chunk.length.to_be_bytes()).map(|()| true)
                    })
                });
                self.check(&file)?;
                described
            }
        };
        described.map_err(EncodeError::Io)
    }
}

/// The leaves of a tree, from left to right.
struct Groups<'a, W> {
    hashes: Box<dyn ReadAt + 'a>,
    wanted: &'a Wanted,
    out: W,
}

impl<W: Write> Groups<'_, W> {
    /// Writes the hashes of the requested groups in `range`, whose topmost parent has the number `parent` in pre-order.
    fn subtree(&mut self, range: Range<u64>, parent: u64, hash: Option<[u8; 32]>) -> io::Result<()> {
        if !self.is_wanted(&range) {
            return Ok(());
        }
        let length = range.end - range.start;
        if length <= GROUP_BYTES {
            return hash.map_or(Ok(()), |hash| self.out.write_all(&chunks::short(&hash)));
        }
        let mut pair = [0; 64];
        self.hashes.read_exact_at(parent * 64, &mut pair)?;
        let half = |from: usize| {
            let mut hash = [0; 32];
            hash.copy_from_slice(&pair[from..from + 32]);
            Some(hash)
        };
        let left = hazmat::left_subtree_len(length);
        let middle = range.start + left;
        self.subtree(range.start..middle, parent + 1, half(0))?;
        self.subtree(middle..range.end, parent + left / GROUP_BYTES, half(32))
    }

    fn is_wanted(&self, range: &Range<u64>) -> bool {
        let after = self.wanted.0.partition_point(|&(_, to)| to <= range.start);
        self.wanted.0.get(after).is_some_and(|&(from, _)| from < range.end)
    }
}
