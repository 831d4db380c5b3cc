//! A set of segments as ranges: what has arrived out of order.

use std::collections::VecDeque;

/// Disjoint half-open ranges, ascending, never touching.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    ranges: VecDeque<(u64, u64)>,
    count: u64,
}

impl Ranges {
    /// Returns whether there is no segment in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of segments in it.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gives back the places of ranges that have left.
    pub fn release_memory(&mut self) {
        self.ranges.shrink_to_fit();
    }

    /// Returns the ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// Returns the end of the highest range.
    pub fn end(&self) -> Option<u64> {
        self.ranges.back().map(|(_, end)| *end)
    }

    /// Returns whether `seq` is in it.
    pub fn contains(&self, seq: u64) -> bool {
        self.around(seq).is_some()
    }

    /// Returns the range that holds `seq`.
    pub fn around(&self, seq: u64) -> Option<(u64, u64)> {
        let highest = *self.ranges.back()?;
        if seq >= highest.0 {
            return (seq < highest.1).then_some(highest);
        }
        let after = self.ranges.partition_point(|(start, _)| *start <= seq);
        let (start, end) = *self.ranges.get(after.checked_sub(1)?)?;
        (seq < end).then_some((start, end))
    }

    /// Adds `start..end` and passes `new` the parts that were not in it.
    pub fn insert(&mut self, start: u64, end: u64, new: &mut dyn FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // Most packets arrive beyond all others, or in the highest range.
        match self.ranges.back_mut() {
            Some(highest) if start < highest.0 => {}
            Some(highest) if start <= highest.1 => {
                if end > highest.1 {
                    new(highest.1, end);
                    self.count += end - highest.1;
                    highest.1 = end;
                }
                return;
            }
            _ => {
                new(start, end);
                self.count += end - start;
                self.ranges.push_back((start, end));
                return;
            }
        }
        // The ranges that overlap or touch it: first..last. Most reports repeat what is known.
        let first = self.ranges.partition_point(|(_, other)| *other < start);
        if self.ranges.get(first).is_some_and(|(from, to)| *from <= start && end <= *to) {
            return;
        }
        let last = self.ranges.partition_point(|(other, _)| *other <= end);
        let (mut from, mut merged) = (start, (start, end));
        for (other_start, other_end) in self.ranges.range(first..last).copied() {
            if from < other_start {
                new(from, other_start);
                self.count += other_start - from;
            }
            from = from.max(other_end);
            merged = (merged.0.min(other_start), merged.1.max(other_end));
        }
        if from < end {
            new(from, end);
            self.count += end - from;
        }
        if last == first {
            self.ranges.insert(first, merged);
            return;
        }
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
    }

    /// Takes out everything below `seq`.
    pub fn remove_below(&mut self, seq: u64) {
        while let Some((start, end)) = self.ranges.front_mut() {
            if *start >= seq {
                return;
            }
            self.count -= seq.min(*end) - *start;
            if *end > seq {
                *start = seq;
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// Returns the `n`-th highest segment, counted from 1.
    pub fn nth_highest(&self, n: u64) -> Option<u64> {
        let mut left = n;
        for (start, end) in self.ranges.iter().rev() {
            if end - start >= left {
                return Some(end - left);
            }
            left -= end - start;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbours_join_and_only_what_is_new_is_told() {
        let mut ranges = Ranges::default();
        let mut told = Vec::new();
        for (start, end) in [(5, 7), (9, 10), (1, 2), (6, 9), (0, 12)] {
            ranges.insert(start, end, &mut |a, b| told.push((a, b)));
        }
        assert_eq!(told, [(5, 7), (9, 10), (1, 2), (7, 9), (0, 1), (2, 5), (10, 12)]);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(0, 12)]);
    }

    proptest! {
        #[test]
        fn it_is_the_set_that_it_says(steps in prop::collection::vec((0u64..60, 0u64..8, any::<bool>()), 1..60)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (start, len, remove) in steps {
                if remove {
                    ranges.remove_below(start);
                    set = set.split_off(&start);
                } else {
                    ranges.insert(start, start + len, &mut |a, b| {
                        (a..b).for_each(|seq| assert!(set.insert(seq), "{seq} was not new"));
                    });
                }
                prop_assert_eq!(ranges.iter().flat_map(|(a, b)| a..b).collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(ranges.count(), set.len() as u64);
                prop_assert!((0..70).all(|seq| ranges.contains(seq) == set.contains(&seq)));
                for n in 1..10 {
                    prop_assert_eq!(ranges.nth_highest(n), set.iter().rev().nth(n as usize - 1).copied());
                }
                prop_assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
