//! The entries that a source has prepared, and which of them may be offered.

use super::Offer;
use crate::entry::{EntryPath, Kind};
use crate::source::{Prepared, Totals};
use crate::wire::{LeftOut, Unsettled, MAX_LISTED};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Entries of a job, from their preparation to their end.
#[derive(Default)]
pub(super) struct State {
    pub(super) ready: VecDeque<Offer>,
    /// Directories in which something is not settled, by their paths.
    held: HashMap<EntryPath, Offer>,
    /// For each directory with unsettled entries: how many these are, and how many directories in it have such. So an entry
    /// touches few of the directories above it.
    unsettled: HashMap<EntryPath, usize>,
    /// Hard links whose first names are not settled, by these.
    links: HashMap<EntryPath, Vec<Offer>>,
    /// How many these are.
    pub(super) waiting_links: usize,
    /// Paths of all that is not settled, by serial number.
    pub(super) open: HashMap<u64, EntryPath>,
    next_serial: u64,
    /// Files to read, since the sink has them otherwise.
    pub(super) unread: VecDeque<Offer>,
    /// Entries for which the sink needs room, or the place of others.
    pub(super) later: Vec<Offer>,
    /// A session lists them.
    pub(super) listing: bool,
    /// They were listed, and offered again.
    pub(super) listed: bool,
    /// Of the entries that were prepared.
    pub(super) totals: Totals,
    pub(super) exhausted: bool,
    pub(super) abandoned: bool,
    /// Entries that the sink has by its own answers.
    pub(super) stored: u64,
    /// Facts that only this side has, for the sink.
    pub(super) failed: LeftOut,
    pub(super) skipped: LeftOut,
    /// Named directories in which nothing is.
    pub(super) empty: Vec<EntryPath>,
}

impl State {
    pub(super) fn add(&mut self, prepared: Prepared) {
        let entry = prepared.entry();
        let path = entry.path.clone();
        self.totals.entries += 1;
        self.totals.files += u64::from(matches!(entry.kind, Kind::File { .. }));
        self.totals.bytes += entry.content().unwrap_or(0);
        let offer = Offer { serial: self.next_serial, tries: 0, prepared: Arc::new(prepared) };
        let first = offer.prepared.entry().link.clone();
        let first = first.filter(|first| self.open.values().any(|other| other == first));
        let waits = self.unsettled.contains_key(&path);
        self.next_serial += 1;
        self.begin(&path);
        match (first, waits) {
            (Some(first), _) => {
                self.links.entry(first).or_default().push(offer);
                self.waiting_links += 1;
            }
            (None, false) => self.ready.push_back(offer),
            (None, true) => _ = self.held.insert(path.clone(), offer),
        }
        self.open.insert(self.next_serial - 1, path);
    }

    /// Notes that something at `path` is not settled.
    fn begin(&mut self, path: &EntryPath) {
        for above in path.parents() {
            let count = self.unsettled.entry(above).or_default();
            *count += 1;
            if *count > 1 {
                return;
            }
        }
    }

    /// Notes that it is settled. Directories above it in which everything else is may be offered.
    fn end(&mut self, path: &EntryPath) {
        for above in path.parents() {
            let Some(count) = self.unsettled.get_mut(&above) else { return };
            *count -= 1;
            if *count > 0 {
                return;
            }
            self.unsettled.remove(&above);
            self.ready.extend(self.held.remove(&above));
        }
    }

    pub(super) fn take(&mut self, most: usize, most_bytes: u64) -> Vec<Offer> {
        let (mut offers, mut bytes) = (Vec::new(), 0);
        while offers.len() < most && bytes < most_bytes {
            let Some(offer) = self.ready.pop_front() else { break };
            bytes += offer.prepared.entry().content().unwrap_or(0);
            offers.push(offer);
        }
        offers
    }

    /// Returns whether all else is settled, or waits for them.
    pub(super) fn may_list(&self) -> bool {
        let waiting = self.later.len() + self.held.len() + self.waiting_links;
        self.exhausted && !self.later.is_empty() && !self.listing && self.open.len() == waiting
    }

    /// Returns the entries that are not settled; nothing if that is too much.
    pub(super) fn list(&self) -> Vec<Unsettled> {
        if self.open.len() > MAX_LISTED {
            return Vec::new();
        }
        let offers = self.later.iter().chain(self.held.values()).chain(self.links.values().flatten());
        let unsettled = |offer: &Offer| Unsettled {
            path: offer.path().clone(),
            is_directory: offer.prepared.entry().kind == Kind::Directory,
        };
        offers.map(unsettled).collect()
    }

    /// Returns whether everything is settled.
    pub(super) fn is_over(&self) -> bool {
        self.exhausted && self.open.is_empty()
    }

    /// Releases what waits for `path`, which is settled: its hard links may be offered, and directories above it if it was
    /// the last. True if any may.
    pub(super) fn release(&mut self, path: &EntryPath) -> bool {
        let before = self.ready.len();
        let links = match self.links.is_empty() {
            true => Vec::new(),
            false => self.links.remove(path).unwrap_or_default(),
        };
        self.waiting_links -= links.len();
        self.ready.extend(links);
        self.end(path);
        self.ready.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_waits_for_everything_below_it_and_for_nothing_else() {
        let path = |text: &str| EntryPath(text.as_bytes().to_vec());
        let mut state = State::default();
        let waiting = |state: &State| {
            let mut waiting: Vec<_> = state.unsettled.keys().map(ToString::to_string).collect();
            waiting.sort();
            waiting
        };
        for entry in ["a/b/c/x", "a/b/c/y", "a/b/c", "a/b", "a/z", "top"] {
            state.begin(&path(entry));
        }
        for (settled, expected) in [
            ("a/b/c/y", &["a", "a/b", "a/b/c"][..]),
            ("top", &["a", "a/b", "a/b/c"]),
            ("a/b/c/x", &["a", "a/b"]),
            ("a/b/c", &["a"]),
            ("a/z", &["a"]),
            ("a/b", &[]),
        ] {
            state.end(&path(settled));
            assert_eq!(waiting(&state), expected, "after {settled}");
        }
    }
}
