//! Entries that are handed over together.

use crate::source::Prepared;
use std::time::{Duration, Instant};

/// Entries that are handed over together at most.
pub(super) const MOST: usize = 256;
/// How long the first waits for the others: less than a packet takes to any other place.
pub(super) const WAIT: Duration = Duration::from_millis(2);

/// Entries that wait for others.
#[derive(Default)]
pub(super) struct Gathered {
    entries: Vec<Prepared>,
    since: Option<Instant>,
}

impl Gathered {
    pub(super) fn add(&mut self, prepared: Prepared) {
        self.since.get_or_insert_with(Instant::now);
        self.entries.push(prepared);
    }

    /// Returns whether they have waited long enough.
    pub(super) fn is_due(&self) -> bool {
        self.entries.len() >= MOST || self.since.is_some_and(|since| since.elapsed() >= WAIT)
    }

    pub(super) fn take(&mut self) -> impl Iterator<Item = Prepared> + '_ {
        self.since = None;
        self.entries.drain(..)
    }
}
