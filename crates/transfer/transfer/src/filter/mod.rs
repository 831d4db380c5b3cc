//! Patterns of files to leave out: gitignore's, with git's meaning.
//!
//! # Model
//! A pattern without a slash matches a name in any directory, one with a slash a path from the root; `*` stops at a slash,
//! `**` does not; a slash at the end matches directories only; `!` takes back. The last pattern that matches decides. Nothing
//! below an excluded directory is looked at, so nothing below it can be taken back.
//!
//! # Bounds
//! A peer chooses patterns, too. Every text is a pattern; nothing is compiled. A list keeps its own bytes and 24 more for each
//! pattern, at most 160 KiB. How long a match takes: see `pattern.rs`.
//!
//! # Source
//! gitignore(5), section "Pattern format", and git beside it: `tests/all/git.rs`.
//!
//! # Not implemented
//! Files `.gitignore` in directories are not read.

mod pattern;
mod patterns;

use crate::entry::EntryPath;
use pattern::{Bytes, Pattern};
pub use patterns::Patterns;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

/// Most bytes of all patterns of a job, with [`EACH`] for each: they fit a message with room for the rest.
pub const MAX_PATTERNS: usize = 32 * 1024;

/// Bytes that a pattern counts beyond its own.
pub const EACH: usize = 8;

/// More than [`MAX_PATTERNS`] bytes of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the patterns have more than {MAX_PATTERNS} bytes: use fewer")]
pub struct TooLong;

/// A list of patterns. Clones share the record of which have matched.
#[derive(Clone, Debug, Default)]
pub struct Filter(Arc<List>);

#[derive(Debug, Default)]
struct List {
    patterns: Patterns,
    parsed: Vec<Pattern>,
    /// Which have matched something.
    matched: Vec<AtomicBool>,
    /// This number of first ones need not match anything.
    optional: usize,
}

impl Filter {
    /// Creates a filter of patterns in the order in which they apply. The first `optional` of them need not match anything.
    ///
    /// # Errors
    /// More than [`MAX_PATTERNS`].
    pub fn new(patterns: Patterns, optional: usize) -> Result<Self, TooLong> {
        let (mut bytes, mut ranges) = (0, Vec::with_capacity(patterns.count()));
        for pattern in patterns.iter() {
            ranges.push(bytes..bytes + pattern.len());
            bytes += pattern.len() + 1;
        }
        if bytes + ranges.len() * (EACH - 1) > MAX_PATTERNS {
            return Err(TooLong);
        }
        let parsed: Vec<_> = ranges.into_iter().map(|range| Pattern::new(patterns.bytes(), range)).collect();
        let matched = parsed.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self(Arc::new(List { patterns, parsed, matched, optional })))
    }

    /// Returns the patterns.
    pub fn patterns(&self) -> &Patterns {
        &self.0.patterns
    }

    /// Returns the patterns that have matched nothing, of those that should.
    pub fn unmatched(&self) -> Vec<EntryPath> {
        let should = self.0.patterns.iter().zip(&self.0.matched).skip(self.0.optional);
        should
            .filter(|(_, matched)| !matched.load(Relaxed))
            .map(|(text, _)| EntryPath(text.to_vec()))
            .collect()
    }

    /// Returns the positions of the patterns that have matched nothing.
    pub(crate) fn unmatched_at(&self) -> Vec<u32> {
        let all = (0..).zip(&self.0.matched);
        all.filter(|(_, matched)| !matched.load(Relaxed)).map(|(at, _)| at).collect()
    }

    /// Notes that a peer found something for each pattern but for those at these positions.
    pub(crate) fn found_but(&self, unmatched: &[u32]) {
        let unmatched: HashSet<_> = unmatched.iter().collect();
        let all = (0..).zip(&self.0.matched);
        all.filter(|(at, _)| !unmatched.contains(at)).for_each(|(_, matched)| matched.store(true, Relaxed));
    }

    fn is_empty(&self) -> bool {
        self.0.parsed.is_empty()
    }

    /// Returns whether the last pattern that matches excludes this path. Its parents are not looked at.
    fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        let List { patterns, parsed, matched, optional } = &*self.0;
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let (has, path_has) = (Bytes::of(name), Bytes::of(path));
        let mut verdict = None;
        for (index, (pattern, matched)) in parsed.iter().zip(matched).enumerate().rev() {
            // Those before the last that matches are asked for the record only.
            if verdict.is_some() && (index < *optional || matched.load(Relaxed)) {
                continue;
            }
            if pattern.may_match(has, path_has, is_directory) && pattern.matches(patterns.bytes(), path, name)
            {
                matched.store(true, Relaxed);
                verdict = verdict.or(Some(!pattern.negated));
            }
        }
        verdict.unwrap_or(false)
    }
}

/// The patterns of a job. A path is excluded if one of the two lists excludes it.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Directory that the paths are in, as seen from where the patterns begin.
    pub(crate) below: EntryPath,
    /// This side's.
    pub(crate) own: Filter,
    /// The peer's.
    pub(crate) peer: Filter,
}

impl Filters {
    /// Creates the filter of two lists, for paths that are in the directory `below`.
    pub fn new(below: EntryPath, own: Filter, peer: Filter) -> Self {
        Self { below, own, peer }
    }

    /// Returns whether a path is excluded whose parents are not.
    pub fn exclude(&self, path: &EntryPath, is_directory: bool) -> bool {
        if path.0.is_empty() || (self.own.is_empty() && self.peer.is_empty()) {
            return false;
        }
        match self.below.0.is_empty() {
            true => self.excludes(&path.0, is_directory),
            false => self.excludes(&self.below.join(&path.0).0, is_directory),
        }
    }

    /// Returns whether a directory above these components is excluded.
    pub(crate) fn exclude_parents_of(&self, path: &EntryPath) -> bool {
        let mut ends = (0..path.0.len()).filter(|&at| path.0[at] == b'/');
        ends.any(|end| self.excludes(&path.0[..end], true))
    }

    /// Returns whether a path is excluded, and lets the peer learn which of its patterns match. They are not asked about
    /// what this side keeps to itself.
    fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        self.own.excludes(path, is_directory) || self.peer.excludes(path, is_directory)
    }
}

#[cfg(test)]
mod tests;
