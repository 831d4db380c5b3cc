//! Small files: read once, and kept in memory until they are sent.
//!
//! # Model
//! A small file is read and hashed in one go, between two looks at its times. Its content stays in memory as long as there is
//! room, so it need not be read again when the sink requests it. A sink that requests little needs none kept.
//!
//! # Bounds
//! All jobs of the process keep [`MOST`] bytes together. A file beyond that is read again.
//!
//! # Changes
//! A file may change while its content waits, for minutes if ssh asks for a password. So content that waited for [`FRESH`] is
//! sent only if the file's size and times are still the same.

use super::place::{Facts, Here, Place};
use crate::store::with_whole;
use crate::wire::SMALL;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// How long content may wait and be sent without a look at its file: as long as a file may be under way anyhow.
const FRESH: Duration = Duration::from_secs(1);

/// Bytes that are kept.
const MOST: usize = 16 * 1024 * 1024;

/// Files whose content may be kept before the sink has answered.
const UNDER_WAY: usize = 2048;

/// Bytes that are kept now.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// How often content that was kept was used: a sink that has everything needs none.
#[derive(Debug, Default)]
pub(super) struct Uses {
    kept: AtomicUsize,
    used: AtomicUsize,
}

impl Uses {
    fn are_likely(&self) -> bool {
        self.kept.load(Ordering::Relaxed) <= UNDER_WAY + 2 * self.used.load(Ordering::Relaxed)
    }

    fn count_kept(&self, is_kept: bool) {
        self.kept.fetch_add(usize::from(is_kept), Ordering::Relaxed);
    }

    pub(super) fn count_used(&self) {
        self.used.fetch_add(1, Ordering::Relaxed);
    }
}

/// A file's content in memory.
#[derive(Debug)]
pub(super) struct Content {
    bytes: Box<[u8]>,
    read: SystemTime,
}

impl Content {
    /// Keeps what is read at `now`, if there is room.
    fn keep(bytes: &[u8], now: SystemTime) -> Option<Self> {
        let before = KEPT.fetch_add(bytes.len(), Ordering::Relaxed);
        let content = Self { bytes: bytes.into(), read: now };
        (before + content.bytes.len() <= MOST).then_some(content)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether it was read a moment ago. Not if the clock was set back since.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        now.duration_since(self.read).is_ok_and(|waited| waited < FRESH)
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        KEPT.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// The facts of a small file after one look.
pub(super) struct Small {
    pub(super) root: [u8; 32],
    pub(super) facts: Facts,
    pub(super) content: Option<Content>,
    /// A later change sets its times.
    pub(super) may_remember: bool,
}

/// Reads a small file of which these facts were seen a moment ago. None: it is large, or changes.
pub(super) fn read(
    place: &Place,
    here: &Here,
    seen: &Facts,
    uses: &Uses,
    now: SystemTime,
    may_remember: impl FnOnce(&File) -> bool,
) -> io::Result<Option<Small>> {
    if seen.size > SMALL {
        return Ok(None);
    }
    let file = place.open_here(here)?;
    // Facts that are the same before the flush and after the reading were so in between.
    let may_remember = may_remember(&file);
    let read = with_whole(&file, seen.size, |bytes| {
        let content = if uses.are_likely() { Content::keep(bytes, now) } else { None };
        uses.count_kept(content.is_some());
        (*blake3::hash(bytes).as_bytes(), content)
    });
    let (read, facts) = (read?, Facts::of(&file)?);
    let read = read.filter(|_| facts.same_content(seen));
    Ok(read.map(|(root, content)| Small { root, facts, content, may_remember }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_not_kept_and_room_comes_back() {
        let keep = |bytes: &[u8]| Content::keep(bytes, SystemTime::UNIX_EPOCH);
        let large = keep(&vec![0; MOST - 10]).expect("room");
        assert!(keep(&[0; 4096]).is_none());
        drop(large);
        assert!(keep(&[0; 4096]).is_some());
    }

    #[test]
    fn content_is_fresh_for_a_moment_and_not_before_it_was_read() {
        let read = SystemTime::UNIX_EPOCH + 10 * FRESH;
        let content = Content { bytes: Box::default(), read };
        assert!(content.is_fresh(read) && content.is_fresh(read + FRESH / 2));
        assert!(!content.is_fresh(read + FRESH) && !content.is_fresh(read - FRESH / 2));
    }

    #[test]
    fn a_sink_that_has_everything_ends_the_keeping_and_one_that_has_nothing_does_not() {
        let (has, lacks) = (Uses::default(), Uses::default());
        for _ in 0..10_000 {
            for uses in [&has, &lacks] {
                uses.count_kept(uses.are_likely());
            }
            lacks.count_used();
        }
        assert!(!has.are_likely() && lacks.are_likely());
    }
}
