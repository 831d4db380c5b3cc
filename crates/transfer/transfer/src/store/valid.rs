//! Which parts of a file are what they should be: found by hashing them against the tree beside it.
//!
//! # Model
//! BLAKE3 splits an input in two, the left part being the largest power of two that leaves something to the right. The
//! tree file has the two hashes of each parent in pre-order: a node, all of its left part, all of its right part. From the
//! root down, a parent counts if it hashes to what the node above it has, and so does a chunk group, the leaf. Below a
//! parent that does not count nothing is known, and nothing is read.
//!
//! bao-tree has the same behind its feature `validate`, which needs crates that nobody maintains (RUSTSEC-2024-0370).

use crate::entry::GROUP_BYTES;
use bao_tree::io::sync::ReadAt;
use blake3::hazmat::{self, HasherExt, Mode};
use std::io::{self, ErrorKind};
use std::ops::Range;

/// Two hashes.
const PARENT_BYTES: u64 = 64;

/// Returns the ranges of `data`, which should have `size` bytes that hash to `root`, that verify against `parents`.
/// Ascending, and apart from each other.
pub(crate) fn valid_ranges(
    data: &impl ReadAt,
    parents: &impl ReadAt,
    size: u64,
    root: &[u8; 32],
) -> io::Result<Vec<Range<u64>>> {
    let mut check = Check { data, parents, buffer: vec![0; GROUP_BYTES as usize], valid: Vec::new() };
    check.subtree(0..size, 0, Expected::Root(*root))?;
    Ok(check.valid)
}

struct Check<'a, D, P> {
    data: &'a D,
    parents: &'a P,
    buffer: Vec<u8>,
    valid: Vec<Range<u64>>,
}

/// Expected hash of a node. The root is finalised in another way, so that no other node passes for it.
enum Expected {
    Root([u8; 32]),
    Inner([u8; 32]),
}

impl<D: ReadAt, P: ReadAt> Check<'_, D, P> {
    /// Looks at the bytes of `range`; their topmost parent has the number `parent` in pre-order.
    fn subtree(&mut self, range: Range<u64>, parent: u64, expected: Expected) -> io::Result<()> {
        let length = range.end - range.start;
        if length <= GROUP_BYTES {
            return self.group(range, &expected);
        }
        let mut pair = [0; PARENT_BYTES as usize];
        if !is_there(self.parents, parent * PARENT_BYTES, &mut pair)? {
            return Ok(());
        }
        let (mut left, mut right) = ([0; 32], [0; 32]);
        left.copy_from_slice(&pair[..32]);
        right.copy_from_slice(&pair[32..]);
        let is_right = match expected {
            Expected::Root(root) => {
                *hazmat::merge_subtrees_root(&left, &right, Mode::Hash).as_bytes() == root
            }
            Expected::Inner(hash) => hazmat::merge_subtrees_non_root(&left, &right, Mode::Hash) == hash,
        };
        if !is_right {
            return Ok(());
        }
        let left_length = hazmat::left_subtree_len(length);
        let middle = range.start + left_length;
        // A tree has one parent less than leaves, and the left part has whole groups only.
        let left_parents = left_length / GROUP_BYTES - 1;
        self.subtree(range.start..middle, parent + 1, Expected::Inner(left))?;
        self.subtree(middle..range.end, parent + 1 + left_parents, Expected::Inner(right))
    }

    fn group(&mut self, range: Range<u64>, expected: &Expected) -> io::Result<()> {
        let group = &mut self.buffer[..(range.end - range.start) as usize];
        if !is_there(self.data, range.start, group)? {
            return Ok(());
        }
        let is_right = match expected {
            Expected::Root(root) => blake3::hash(group) == *root,
            Expected::Inner(hash) => {
                blake3::Hasher::new().set_input_offset(range.start).update(group).finalize_non_root() == *hash
            }
        };
        if is_right {
            match self.valid.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => self.valid.push(range),
            }
        }
        Ok(())
    }
}

/// Fills `buffer`; false if the file ends before.
fn is_there(file: &impl ReadAt, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact_at(at, buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::GROUP;
    use bao_tree::io::outboard::PreOrderMemOutboard;

    const G: u64 = GROUP_BYTES;

    /// Returns `size` bytes, the parents of their tree in bao-tree's order, and the root.
    fn tree(size: u64) -> (Vec<u8>, Vec<u8>, [u8; 32]) {
        let mut state = size | 1;
        let data: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(size as usize)
        .collect();
        let outboard = PreOrderMemOutboard::create(&data, GROUP);
        assert_eq!(outboard.root, blake3::hash(&data));
        (data, outboard.data, *outboard.root.as_bytes())
    }

    /// From one byte to four levels, each with a last group that is full, nearly full, or just begun.
    const SIZES: [u64; 15] = [
        1,
        1_024,
        1_025,
        G - 1,
        G,
        G + 1,
        2 * G,
        2 * G + 1,
        3 * G,
        4 * G - 1,
        5 * G + 1_024,
        7 * G + 7,
        8 * G,
        8 * G + 1,
        16 * G + 1,
    ];

    fn rest(ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
        ranges.into_iter().filter(|range| !range.is_empty()).collect()
    }

    #[test]
    fn all_of_a_whole_file_is_valid() {
        for size in SIZES {
            let (data, parents, root) = tree(size);
            assert_eq!(valid_ranges(&data, &parents, size, &root).unwrap(), rest(Some(0..size)), "{size}");
        }
    }

    #[test]
    fn a_wrong_byte_costs_its_chunk_group() {
        for size in SIZES {
            let (data, parents, root) = tree(size);
            for group in 0..size.div_ceil(G) {
                let hole = group * G..(group * G + G).min(size);
                for at in [hole.start, hole.end - 1] {
                    let mut data = data.clone();
                    data[at as usize] ^= 1;
                    let expected = rest([0..hole.start, hole.end..size]);
                    assert_eq!(valid_ranges(&data, &parents, size, &root).unwrap(), expected, "{size}, {at}");
                }
            }
        }
    }

    #[test]
    fn a_file_that_ends_early_is_valid_up_to_its_last_whole_group() {
        for size in SIZES {
            let (data, parents, root) = tree(size);
            for length in
                [0, 1, G - 1, G, G + 1, size / 2, size - 1].into_iter().filter(|length| *length < size)
            {
                let whole = length / G * G;
                let expected = rest(Some(0..whole));
                let data = data[..length as usize].to_vec();
                assert_eq!(
                    valid_ranges(&data, &parents, size, &root).unwrap(),
                    expected,
                    "{length} of {size}"
                );
            }
        }
    }

    #[test]
    fn a_wrong_parent_costs_what_lies_below_it() {
        // Eight groups: the parents are 0 (all), 1 (the left half), 2 and 3 (its quarters), 4, 5 and 6.
        let (data, parents, root) = tree(8 * G);
        for (parent, lost) in [(0, 0..8), (1, 0..4), (2, 0..2), (3, 2..4), (4, 4..8), (5, 4..6), (6, 6..8)] {
            let mut parents = parents.clone();
            parents[parent * 64 + 40] ^= 1;
            let expected = rest([0..lost.start * G, lost.end * G..8 * G]);
            assert_eq!(valid_ranges(&data, &parents, 8 * G, &root).unwrap(), expected, "{parent}");
        }
        let cut = parents[..5 * 64].to_vec();
        assert_eq!(
            valid_ranges(&data, &cut, 8 * G, &root).unwrap(),
            rest(Some(0..4 * G)),
            "5 and 6 are not there"
        );
    }

    #[test]
    fn a_tree_of_another_file_makes_nothing_valid() {
        let (data, parents, _) = tree(5 * G);
        assert_eq!(valid_ranges(&data, &parents, 5 * G, &[7; 32]).unwrap(), []);
        assert_eq!(valid_ranges(&data, &parents, 4 * G, blake3::hash(&data).as_bytes()).unwrap(), []);
    }
}
