//! The common content of a file and its older version, which lies at the same place.
//!
//! # Model
//! The source describes the ranges that are missing (see [`crate::chunks`]). Groups that the older version has are
//! copied to the partial file, and the rest is requested. Copied bytes are not verified one by one: the whole file is
//! hashed before it gets its name. They have no parents in the tree file either, so a run that was cut short copies
//! them again.

use super::place;
use super::reception::Reception;
use super::{ranges, Kept, Verdict};
use crate::chunks::{self, HASH, LEAST, LONGEST, RUN};
use crate::entry::{Wanted, GROUP_BYTES};
use crate::wire::{How, Why};
use bao_tree::io::sync::ReadAt;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;

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
    /// The ranges are requested at once if there is no older version, or too little of the file is missing to make use
    /// of it.
    pub(super) fn of(reception: Reception) -> Verdict {
        let (size, missing) = (reception.content().size, reception.wanted().bytes());
        if size.min(missing) < LEAST || reception.older_version().is_none() {
            return Verdict::Want(reception);
        }
        let ranges = reception.wanted().clone();
        Verdict::Describe(Delta { reception, how: How::Groups, ranges })
    }

    /// The ranges that the source should describe.
    pub fn asks_for(&self) -> (How, &Wanted) {
        (self.how, &self.ranges)
    }

    /// Takes a description and copies what the older version has. Blocks.
    pub fn described(mut self, mut description: impl Read) -> Result<Next, Why> {
        // It may be gone by now: then nothing is copied.
        let Some(older) = self.reception.older_version() else { return Ok(Next::Want(self.reception)) };
        let copied = match self.how {
            How::Groups => self.groups(&older, &mut description),
            How::Chunks => self.chunks(&older, &mut description),
        };
        let copied = copied.map_err(|error| place::why("copy from the older version", error))?;
        let wanted = without(self.reception.wanted(), &copied, self.reception.content().size);
        self.reception.copied(ranges::merge(wanted, ranges::MAX_RANGES), !copied.is_empty());
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

    fn groups(&mut self, older: &File, description: &mut impl Read) -> io::Result<Vec<Range<u64>>> {
        let mut copied = Vec::new();
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
                    add(&mut copied, start..start + group.len() as u64);
                }
            }
        }
        Ok(copied)
    }

    fn chunks(&mut self, mut older: &File, description: &mut impl Read) -> io::Result<Vec<Range<u64>>> {
        let mut index = HashMap::new();
        let mut at = 0;
        io::Seek::rewind(&mut older)?;
        chunks::each(older, self.reception.content().size, |chunk| {
            index.insert((chunk.hash, chunk.length), at);
            at += u64::from(chunk.length);
            Ok(())
        })?;
        let mut copied = Vec::new();
        let mut buffer = Vec::new();
        for &(from, to) in &self.ranges.0 {
            let mut start = from;
            while start < to {
                let (mut hash, mut length) = ([0; HASH], [0; 4]);
                description.read_exact(&mut hash)?;
                description.read_exact(&mut length)?;
                let length = u32::from_be_bytes(length);
                let end = start + u64::from(length);
                if length == 0 || length > LONGEST || end > to {
                    return Err(ErrorKind::InvalidData.into());
                }
                if let Some(&at) = index.get(&(hash, length)) {
                    buffer.resize(length as usize, 0);
                    if is_there(older, at, &mut buffer)? {
                        self.reception.put(start, &buffer)?;
                        add(&mut copied, start..end);
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

/// Ranges that touch become one.
fn add(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Returns the ranges to request of a file of `size` bytes, except for groups that were copied whole. Both ascend.
fn without(wanted: &Wanted, copied: &[Range<u64>], size: u64) -> Wanted {
    let whole = copied.iter().filter_map(|range| {
        let start = range.start.next_multiple_of(GROUP_BYTES);
        let end = if range.end == size { size } else { range.end / GROUP_BYTES * GROUP_BYTES };
        (start < end).then_some((start, end))
    });
    let whole: Vec<(u64, u64)> = whole.collect();
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
            let copied: Vec<_> = copied.into_iter().map(|(from, to)| from..to).collect();
            assert_eq!(without(&all, &copied, size), Wanted(left), "{copied:?}");
        }
        let some = Wanted(vec![(0, 2 * G), (4 * G, 6 * G)]);
        assert_eq!(
            without(&some, std::slice::from_ref(&(G..5 * G)), size),
            Wanted(vec![(0, G), (5 * G, 6 * G)])
        );
    }
}
