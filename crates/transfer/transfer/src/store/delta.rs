//! The common content of a file and its older version, which is at the same place.
//!
//! # Model
//! The source describes the ranges that are missing (see [`crate::chunks`]). Groups that the older version has are
//! copied to the partial file, and the rest is requested. Copied bytes are not verified one by one: the whole file is
//! hashed before it gets its name. They have no parents in the tree file either, so a run that was cut short copies
//! them again.
//!
//! # Bounds
//! A description may not cut a file into pieces that are smaller than the rule makes. Of the copied ranges the largest are kept, as many as
//! a request can leave out ([`MOST`]), and of the older version [`INDEXED`] chunks: 13 MiB of a file while it is described, whatever its peer sends.

use super::place;
use super::reception::Reception;
use super::{ranges, Kept, Verdict};
use crate::chunks::{self, HASH, LEAST, RUN};
use crate::entry::{Wanted, GROUP_BYTES};
use crate::wire::{How, Why};
use bao_tree::io::sync::ReadAt;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// Copied ranges that are kept: when there are twice as many, the smallest go. A request leaves out [`ranges::MAX_RANGES`] at most.
const MOST: usize = ranges::MAX_RANGES;
/// Chunks of the older version that are looked at. One of the same size has 64 Ki on average; more fill a table of 8 MiB.
const INDEXED: usize = 7 << 15;

/// A file of which the sink has an older version.
#[derive(Debug)]
pub struct Delta {
    reception: Reception,
    how: How,
    ranges: Wanted,
}

/// The step after a description.
#[derive(Debug)]
pub enum Next {
    /// Another.
    Describe(Delta),
    /// These ranges are requested.
    Want(Reception),
    /// Nothing: the file has its name.
    Stored(Kept),
}

impl Delta {
    /// Returns the verdict on a reception. The ranges are requested at once if there is no older version, or too little of
    /// the file is missing to make use of it.
    pub(super) fn of(reception: Reception) -> Verdict {
        let (size, missing) = (reception.content().size, reception.wanted().bytes());
        if size.min(missing) < LEAST || reception.older_version().is_none() {
            return Verdict::Want(reception);
        }
        let ranges = reception.wanted().clone();
        Verdict::Describe(Delta { reception, how: How::Groups, ranges })
    }

    /// Returns the ranges that the source should describe.
    pub fn asks_for(&self) -> (How, &Wanted) {
        (self.how, &self.ranges)
    }

    /// Takes a description and copies what the older version has. Blocks.
    ///
    /// # Errors
    /// An older version that cannot be read, a description that breaks off, and a disk that cannot be written. Copied content is kept.
    pub fn described(mut self, mut description: impl Read) -> Result<Next, Why> {
        // It may be gone by now: then nothing is copied.
        let Some(older) = self.reception.older_version() else { return Ok(Next::Want(self.reception)) };
        let copied = match self.how {
            How::Groups => self.groups(&older, &mut description),
            How::Chunks => self.chunks(&older, &mut description),
        };
        let copied = copied.map_err(|error| place::why("copy from the older version", error))?;
        let any = copied.any;
        let wanted = without(self.reception.wanted(), &copied.groups());
        self.reception.copied(ranges::merge(wanted, ranges::MAX_RANGES), any);
        if self.reception.wanted().0.is_empty() {
            return self.reception.finish().map(Next::Stored);
        }
        let runs: Vec<_> =
            self.reception.wanted().0.iter().copied().filter(|(from, to)| to - from >= RUN).collect();
        if self.how == How::Chunks || runs.is_empty() {
            return Ok(Next::Want(self.reception));
        }
        Ok(Next::Describe(Delta { how: How::Chunks, ranges: Wanted(runs), ..self }))
    }

    fn groups(&mut self, older: &File, description: &mut impl Read) -> io::Result<Copied> {
        let mut copied = Copied::of(self.reception.content().size);
        let mut buffer = vec![0; GROUP_BYTES as usize];
        for &(from, to) in &self.ranges.0 {
            for start in (from..to).step_by(GROUP_BYTES as usize) {
                let mut expected = [0; HASH];
                description.read_exact(&mut expected)?;
                let group = &mut buffer[..(to - start).min(GROUP_BYTES) as usize];
                if !is_there(older, start, group)? {
                    continue;
                }
                if chunks::short(&hash(start, group)) == expected {
                    self.reception.put(start, group)?;
                    copied.add(start..start + group.len() as u64);
                }
            }
        }
        Ok(copied)
    }

    fn chunks(&mut self, mut older: &File, description: &mut impl Read) -> io::Result<Copied> {
        let size = self.reception.content().size;
        let mut index = HashMap::new();
        let mut at = 0;
        io::Seek::rewind(&mut older)?;
        chunks::each(older, size, |chunk| {
            index.insert((chunk.hash, chunk.length), at);
            at += u64::from(chunk.length);
            Ok(index.len() < INDEXED)
        })?;
        let lengths = chunks::lengths(size);
        let mut copied = Copied::of(size);
        let mut buffer = Vec::new();
        for &(from, to) in &self.ranges.0 {
            let mut start = from;
            while start < to {
                let (mut hash, mut length) = ([0; HASH], [0; 4]);
                description.read_exact(&mut hash)?;
                description.read_exact(&mut length)?;
                let length = u32::from_be_bytes(length);
                let end = start + u64::from(length);
                // The last of a range is what is left of it.
                let is_too_short = length == 0 || (length < *lengths.start() && end != to);
                if is_too_short || length > *lengths.end() || end > to {
                    return Err(ErrorKind::InvalidData.into());
                }
                if let Some(&at) = index.get(&(hash, length)) {
                    buffer.resize(length as usize, 0);
                    if is_there(older, at, &mut buffer)? {
                        self.reception.put(start, &buffer)?;
                        copied.add(start..end);
                    }
                }
                start = end;
            }
        }
        Ok(copied)
    }
}

fn hash(offset: u64, group: &[u8]) -> [u8; 32] {
    use blake3::hazmat::HasherExt;
    blake3::Hasher::new().set_input_offset(offset).update(group).finalize_non_root()
}

fn is_there(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
    match ReadAt::read_exact_at(file, at, buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The copied parts of a file, in ascending order: whole groups, which need not be requested.
struct Copied {
    size: u64,
    /// Anything at all.
    any: bool,
    groups: Vec<(u64, u64)>,
    /// The range that may still grow.
    last: Range<u64>,
}

impl Copied {
    /// Creates the ranges of a file of this size: nothing yet.
    fn of(size: u64) -> Self {
        Self { size, any: false, groups: Vec::new(), last: 0..0 }
    }

    /// Adds a range; ranges that touch become one.
    fn add(&mut self, range: Range<u64>) {
        self.any = true;
        if self.last.end == range.start {
            self.last.end = range.end;
            return;
        }
        self.close();
        self.last = range;
    }

    /// Closes the last range, which grows no more.
    fn close(&mut self) {
        let Range { start, end } = std::mem::replace(&mut self.last, 0..0);
        let start = start.next_multiple_of(GROUP_BYTES);
        let end = if end == self.size { end } else { end / GROUP_BYTES * GROUP_BYTES };
        if start < end {
            self.groups.push((start, end));
        }
        if self.groups.len() >= 2 * MOST {
            self.groups.select_nth_unstable_by_key(MOST, |(start, end)| std::cmp::Reverse(end - start));
            self.groups.truncate(MOST);
            self.groups.sort_unstable();
        }
    }

    /// Returns the largest ranges.
    fn groups(mut self) -> Vec<(u64, u64)> {
        self.close();
        self.groups
    }
}

/// Returns the ranges to request, except for groups that were copied whole. Both ascend.
fn without(wanted: &Wanted, whole: &[(u64, u64)]) -> Wanted {
    let mut left = Vec::new();
    for &(from, to) in &wanted.0 {
        let mut at = from;
        let first = whole.partition_point(|&(_, end)| end <= from);
        for &(start, end) in whole[first..].iter().take_while(|&&(start, _)| start < to) {
            if start > at {
                left.push((at, start));
            }
            at = end;
        }
        if at < to {
            left.push((at, to));
        }
    }
    Wanted(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: u64 = GROUP_BYTES;

    #[test]
    fn groups_that_were_copied_whole_are_not_wanted() {
        let size = 10 * G + 5;
        let all = Wanted(vec![(0, size)]);
        for (copied, left) in [
            (vec![], vec![(0, size)]),
            (vec![(G, 2 * G)], vec![(0, G), (2 * G, size)]),
            (vec![(1, 3 * G - 1)], vec![(0, G), (2 * G, size)]),
            (vec![(1, G)], vec![(0, size)]),
            (vec![(0, 3 * G + 1), (9 * G, size)], vec![(3 * G, 9 * G)]),
            (vec![(0, size)], vec![]),
        ] {
            assert_eq!(without(&all, &groups(size, copied.clone())), Wanted(left), "{copied:?}");
        }
        let some = Wanted(vec![(0, 2 * G), (4 * G, 6 * G)]);
        assert_eq!(without(&some, &groups(size, vec![(G, 5 * G)])), Wanted(vec![(0, G), (5 * G, 6 * G)]));
    }

    fn groups(size: u64, copied: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let mut all = Copied::of(size);
        copied.into_iter().for_each(|(from, to)| all.add(from..to));
        all.groups()
    }

    #[test]
    fn of_many_copied_ranges_those_are_kept_that_a_request_would_leave_out() {
        // Every third group is copied, of each hundredth triple two: more ranges than are kept.
        let triples = 300_000;
        let size = triples * 3 * G;
        let ranges = (0..triples).map(|at| (3 * at * G, 3 * at * G + if at % 200 == 0 { 2 * G } else { G }));
        let mut copied = Copied::of(size);
        for (from, to) in ranges.clone() {
            copied.add(from..to);
            assert!(copied.groups.len() <= 2 * MOST);
        }
        let all = Wanted(vec![(0, size)]);
        let bounded = ranges::merge(without(&all, &copied.groups()), ranges::MAX_RANGES);
        let unbounded = ranges::merge(without(&all, &ranges.collect::<Vec<_>>()), ranges::MAX_RANGES);
        assert_eq!(bounded.bytes(), unbounded.bytes());
    }
}
