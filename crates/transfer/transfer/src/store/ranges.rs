//! Ranges of bytes as they travel, ranges of chunks as the tree counts them.

use crate::entry::{Wanted, GROUP_BYTES};
use bao_tree::{ChunkNum, ChunkRanges};
use std::ops::Range;

/// Bytes of a BLAKE3 chunk.
const CHUNK_BYTES: u64 = 1024;

/// Largest file, bytes. Nothing stores more, and below it no arithmetic on a peer's numbers can overflow.
pub(crate) const MAX_SIZE: u64 = 1 << 56;

/// Most ranges that are asked for: with two numbers of ten bytes each they fit a control message.
pub(crate) const MAX_RANGES: usize = 2000;

/// Returns the ranges for the tree; `None` if they break the rules of [`Wanted`].
pub(crate) fn to_chunks(wanted: &Wanted, size: u64) -> Option<ChunkRanges> {
    if size == 0 {
        return (wanted.0 == [(0, 0)]).then(ChunkRanges::all);
    }
    let mut boundaries: Vec<u64> = Vec::with_capacity(2 * wanted.0.len());
    let mut end = 0;
    for &(from, to) in &wanted.0 {
        let whole = from % GROUP_BYTES == 0 && (to % GROUP_BYTES == 0 || to == size);
        if !whole || from < end || to <= from || to > size {
            return None;
        }
        match from == end && !boundaries.is_empty() {
            true => _ = boundaries.pop(),
            false => boundaries.push(from / CHUNK_BYTES),
        }
        boundaries.push(to.div_ceil(CHUNK_BYTES));
        end = to;
    }
    // An open end is how the tree writes "to the end of the file".
    if end == size {
        boundaries.pop();
    }
    ChunkRanges::new(boundaries.into_iter().map(ChunkNum).collect())
}

/// Returns the missing ranges between `have`, which is ascending and disjoint, and the whole.
pub(crate) fn missing(have: &[Range<u64>], size: u64) -> Wanted {
    if size == 0 {
        return Wanted(vec![(0, 0)]);
    }
    let mut wanted = Vec::new();
    let mut at = 0;
    for range in have {
        if range.start > at {
            wanted.push((at, range.start));
        }
        at = range.end;
    }
    if at < size {
        wanted.push((at, size));
    }
    Wanted(wanted)
}

/// Merges ranges to at most `most`: the smallest gaps are asked for once more.
pub(crate) fn merge(wanted: Wanted, most: usize) -> Wanted {
    let ranges = wanted.0;
    if ranges.len() <= most {
        return Wanted(ranges);
    }
    let mut gaps: Vec<(u64, usize)> =
        (1..ranges.len()).map(|i| (ranges[i].0.saturating_sub(ranges[i - 1].1), i)).collect();
    gaps.sort_unstable();
    let mut joined = vec![false; ranges.len()];
    for &(_, i) in &gaps[..ranges.len() - most] {
        joined[i] = true;
    }
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(most);
    for (range, joined) in ranges.into_iter().zip(joined) {
        match merged.last_mut() {
            Some(last) if joined => last.1 = range.1,
            _ => merged.push(range),
        }
    }
    Wanted(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: u64 = GROUP_BYTES;

    #[test]
    fn ranges_that_break_the_rules_are_not_accepted() {
        let size = 10 * G + 5;
        for bad in [
            vec![(0, 1)],
            vec![(1, G)],
            vec![(G, G)],
            vec![(2 * G, G)],
            vec![(0, 2 * G), (G, 3 * G)],
            vec![(4 * G, 5 * G), (0, G)],
            vec![(10 * G, 10 * G + 6)],
            vec![(0, u64::MAX)],
        ] {
            assert!(to_chunks(&Wanted(bad.clone()), size).is_none(), "{bad:?}");
        }
        assert!(to_chunks(&Wanted(vec![]), 0).is_none());
        assert!(to_chunks(&Wanted(vec![(0, 0)]), 0).is_some());
        assert!(to_chunks(&Wanted(vec![(0, G), (G, 2 * G), (10 * G, size)]), size).is_some());
    }

    #[test]
    fn what_is_missing_is_the_rest() {
        assert_eq!(missing(&[], 0), Wanted(vec![(0, 0)]));
        assert_eq!(missing(&[], 5), Wanted(vec![(0, 5)]));
        assert_eq!(missing(&[0..G, 3 * G..4 * G], 5 * G), Wanted(vec![(G, 3 * G), (4 * G, 5 * G)]));
        assert_eq!(missing(&[0..G, G..G + 1], G + 1), Wanted(vec![]));
    }

    #[test]
    fn too_many_ranges_are_merged_over_the_smallest_gaps() {
        let wanted = Wanted(vec![(0, G), (2 * G, 3 * G), (9 * G, 10 * G), (12 * G, 13 * G)]);
        assert_eq!(merge(wanted.clone(), 4), wanted);
        assert_eq!(merge(wanted.clone(), 3), Wanted(vec![(0, 3 * G), (9 * G, 10 * G), (12 * G, 13 * G)]));
        assert_eq!(merge(wanted.clone(), 2), Wanted(vec![(0, 3 * G), (9 * G, 13 * G)]));
        assert_eq!(merge(wanted, 1), Wanted(vec![(0, 13 * G)]));
    }

    #[test]
    fn the_most_ranges_fit_a_control_message() {
        let want = crate::wire::FromSink::Want {
            id: u64::MAX,
            ranges: Wanted(vec![(u64::MAX, u64::MAX); MAX_RANGES]),
        };
        assert!(postcard::to_allocvec(&want).expect("encodes").len() <= crate::wire::MAX_MESSAGE);
    }
}
