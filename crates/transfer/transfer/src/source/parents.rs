//! Writing hashes: single parents are gathered, and written in runs.
//!
//! # Model
//! A tree is computed from its leaves up, and stored with each parent before its children. So parents come one by one, and
//! not in the order of their offsets, but those of a subtree are side by side. [`MOST`] of them are sorted and written.

use bao_tree::io::sync::WriteAt;
use std::collections::BTreeMap;
use std::io;

/// Bytes of a parent: two hashes.
const PARENT: usize = 64;
/// Parents that wait: of 16 MiB of content.
const MOST: usize = 1024;

/// Gathers parents. A flush writes those that wait; without it they are lost.
pub(super) struct Parents<W> {
    to: W,
    /// By offset.
    waiting: BTreeMap<u64, [u8; PARENT]>,
}

impl<W: WriteAt> Parents<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, waiting: BTreeMap::new() }
    }

    fn write(&mut self) -> io::Result<()> {
        let (mut from, mut run) = (0, Vec::new());
        for (at, parent) in std::mem::take(&mut self.waiting) {
            if at != from + run.len() as u64 {
                self.to.write_all_at(from, &run)?;
                run.clear();
                from = at;
            }
            run.extend_from_slice(&parent);
        }
        self.to.write_all_at(from, &run)
    }
}

impl<W: WriteAt> WriteAt for Parents<W> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let parent = bytes.first_chunk().ok_or(io::ErrorKind::InvalidInput)?;
        self.waiting.insert(at, *parent);
        if self.waiting.len() == MOST {
            self.write()?;
        }
        Ok(PARENT)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write()?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::GROUP;
    use bao_tree::io::outboard::{PreOrderMemOutboard, PreOrderOutboard};
    use bao_tree::io::sync::outboard;
    use bao_tree::BaoTree;

    /// Counts the calls.
    struct Counted<'a>(&'a mut [u8], usize);

    impl WriteAt for Counted<'_> {
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
            self.1 += usize::from(!bytes.is_empty());
            self.0.write_at(at, bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_tree_is_the_same_and_comes_in_few_calls() {
        for bytes in [20_000, 16 * 1024 * 1024 + 1, 70_000_000] {
            let content: Vec<u8> =
                (0..bytes).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let tree = BaoTree::new(content.len() as u64, GROUP);
            let expected = PreOrderMemOutboard::create(&content, GROUP);
            let mut hashes = vec![0; tree.outboard_size() as usize];
            let data = Parents::new(Counted(&mut hashes, 0));
            let mut made = PreOrderOutboard { root: [0; 32].into(), tree, data };
            let root = outboard(&content[..], tree, &mut made).expect("nothing fails");
            made.data.flush().expect("nothing fails");
            let calls = made.data.to.1;
            assert_eq!((root, &hashes), (expected.root, &expected.data));
            assert!(calls <= 20 * hashes.len() / (MOST * PARENT) + 1, "{bytes}: {calls}");
        }
    }
}
