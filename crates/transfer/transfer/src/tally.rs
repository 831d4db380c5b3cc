//! A job's totals so far, and their reports.
//!
//! # Model
//! Bytes count as done while they need not be sent any more: what the sink had, and what moved. A lost connection takes
//! back what it had credited for unsettled files; the next one credits what the sink really has. The rate is that of
//! the bytes moved over the last two seconds.
//!
//! A sink may be offered the same entries again after a reconnect. It counts each path once. The source reports omitted
//! entries at the end, over each connection the same; the tally counts them once, too.

use crate::entry::EntryPath;
use crate::event::{shown, Event, Listener, Outcome, Summary};
use crate::filter::Filter;
use crate::printable::printable;
use crate::wire::{Change, LeftOut, Spared};
use afteryou_base::lock::EvenPoisoned;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// The interval of progress reports.
const TICK: Duration = Duration::from_millis(200);
/// Ticks that the rate is measured over.
const TICKS: usize = 10;

impl Summary {
    pub(crate) fn and(&self, other: Summary) -> Summary {
        Summary {
            stored: self.stored + other.stored,
            stored_files: self.stored_files + other.stored_files,
            had: self.had + other.had,
            // A peer may have told of any number.
            skipped: self.skipped.saturating_add(other.skipped),
            incomplete: self.incomplete + other.incomplete,
            failed: self.failed.saturating_add(other.failed),
            removed: self.removed + other.removed,
            would_change: self.would_change + other.would_change,
            would_adjust: self.would_adjust + other.would_adjust,
            would_remove: self.would_remove + other.would_remove,
            would_bytes: self.would_bytes + other.would_bytes,
            bytes_moved: self.bytes_moved + other.bytes_moved,
            spared: other.spared.or_else(|| self.spared.clone()),
        }
    }
}

/// Counts for all sessions of a job.
pub(crate) struct Tally {
    counts: Mutex<Counts>,
    listener: Listener,
    groups: bool,
    hasher: RandomState,
    /// Patterns that should match something.
    named: Filter,
}

#[derive(Default)]
struct Counts {
    entries_done: u64,
    files_done: u64,
    bytes_done: u64,
    summary: Summary,
    /// Hashes of the paths that were counted.
    seen: HashSet<u64>,
    /// The source has reported what it leaves out.
    told: bool,
}

impl Tally {
    pub(crate) fn new(listener: Listener, groups: bool) -> Tally {
        Tally {
            counts: Mutex::default(),
            listener,
            groups,
            hasher: RandomState::new(),
            named: Filter::default(),
        }
    }

    /// Returns the same tally for a job that names the patterns which matched nothing.
    pub(crate) fn naming(self, named: Filter) -> Tally {
        Tally { named, ..self }
    }

    /// Returns the patterns that should match something.
    pub(crate) fn named(&self) -> &Filter {
        &self.named
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().even_poisoned()
    }

    /// Reports to the listener.
    pub(crate) fn tell(&self, event: Event) {
        (self.listener)(event);
    }

    /// Counts bytes that need not be sent.
    pub(crate) fn credit(&self, bytes: u64) {
        self.counts().bytes_done += bytes;
    }

    /// Takes bytes back that were credited or moved for a file that is not settled.
    pub(crate) fn uncredit(&self, bytes: u64) {
        let mut counts = self.counts();
        counts.bytes_done = counts.bytes_done.saturating_sub(bytes);
    }

    /// Counts bytes of content that moved.
    pub(crate) fn moved(&self, bytes: u64) {
        let mut counts = self.counts();
        counts.bytes_done += bytes;
        counts.summary.bytes_moved += bytes;
    }

    /// Counts a chunk group that arrived.
    pub(crate) fn group(&self, path: &EntryPath, offset: u64, bytes: u64) {
        self.moved(bytes);
        if self.groups {
            self.tell(Event::Group { path: shown(path), offset, bytes });
        }
    }

    /// Records the end of an entry: a file with `content` bytes, or something else.
    pub(crate) fn settled(&self, path: &EntryPath, content: Option<u64>, outcome: Outcome) {
        if !self.count(path, content, &outcome) {
            return;
        }
        tracing::debug!(%path, content, ?outcome, "settled");
        self.tell(Event::File { path: shown(path), outcome });
    }

    /// Counts an entry; returns `false` if it was counted before.
    fn count(&self, path: &EntryPath, content: Option<u64>, outcome: &Outcome) -> bool {
        let (files, size) = (u64::from(content.is_some()), content.unwrap_or(0));
        let mut counts = self.counts();
        if !matches!(outcome, Outcome::Skipped(_) | Outcome::Failed(_) | Outcome::Removed) {
            if !counts.seen.insert(self.hasher.hash_one(path)) {
                return false;
            }
            if *outcome != Outcome::Would(Change::Remove) {
                counts.entries_done += 1;
                counts.files_done += files;
                counts.bytes_done += size;
            }
        }
        let summary = &mut counts.summary;
        match outcome {
            Outcome::Stored => {
                summary.stored += 1;
                summary.stored_files += files;
            }
            Outcome::Had | Outcome::Newer => summary.had += 1,
            Outcome::Incomplete(_) => summary.incomplete += 1,
            Outcome::Skipped(_) => summary.skipped = summary.skipped.saturating_add(1),
            Outcome::Failed(_) => summary.failed = summary.failed.saturating_add(1),
            Outcome::Removed => summary.removed += 1,
            Outcome::Would(Change::Remove) => summary.would_remove += 1,
            Outcome::Would(Change::Adjust) => summary.would_adjust += 1,
            Outcome::Would(Change::Create | Change::Replace) => {
                summary.would_change += 1;
                summary.would_bytes += size;
            }
        }
        true
    }

    /// Counts the entries that the source leaves out, for reasons of its own. The same for all connections of the job.
    pub(crate) fn left_out(&self, failed: LeftOut, skipped: LeftOut) {
        {
            let mut counts = self.counts();
            if std::mem::replace(&mut counts.told, true) {
                return;
            }
            let summary = &mut counts.summary;
            summary.failed = summary.failed.saturating_add(failed.count);
            summary.skipped = summary.skipped.saturating_add(skipped.count);
        }
        let tell = |(path, reason): (EntryPath, String), outcome: fn(String) -> Outcome| {
            self.tell(Event::File { path: shown(&path), outcome: outcome(printable(&reason, 500)) });
        };
        failed.first.into_iter().for_each(|one| tell(one, Outcome::Failed));
        skipped.first.into_iter().for_each(|one| tell(one, Outcome::Skipped));
    }

    /// Notes that nothing was removed, for this reason.
    pub(crate) fn spared(&self, spared: Spared) {
        self.counts().summary.spared = Some(spared);
    }

    pub(crate) fn summary(&self) -> Summary {
        self.counts().summary.clone()
    }

    /// Reports the progress, without end.
    pub(crate) async fn report(&self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut samples = VecDeque::from([(Instant::now(), self.summary().bytes_moved)]);
        loop {
            tick.tick().await;
            self.progress(&mut samples);
        }
    }

    fn progress(&self, samples: &mut VecDeque<(Instant, u64)>) {
        let (entries_done, files_done, bytes_done, bytes_moved) = {
            let counts = self.counts();
            (counts.entries_done, counts.files_done, counts.bytes_done, counts.summary.bytes_moved)
        };
        let now = Instant::now();
        let (then, moved_then) = samples.front().copied().unwrap_or((now, bytes_moved));
        let seconds = (now - then).as_secs_f64();
        let rate = match seconds > 0.0 {
            true => ((bytes_moved - moved_then) as f64 / seconds) as u64,
            false => 0,
        };
        samples.push_back((now, bytes_moved));
        if samples.len() > TICKS {
            samples.pop_front();
        }
        self.tell(Event::Progress { entries_done, files_done, bytes_done, bytes_moved, rate });
    }

    /// Reports the last progress and the end.
    pub(crate) fn finish(&self) -> Summary {
        self.progress(&mut VecDeque::new());
        for pattern in self.named.unmatched() {
            self.tell(Event::Unmatched { pattern: shown(&pattern) });
        }
        let summary = self.summary();
        let Summary { stored, had, skipped, incomplete, failed, removed, bytes_moved, .. } = &summary;
        tracing::info!(stored, had, skipped, incomplete, failed, removed, bytes_moved, "the job is complete");
        self.tell(Event::Finished(summary.clone()));
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn tally() -> (Arc<Mutex<Vec<Event>>>, Tally) {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let listener = events.clone();
        (events, Tally::new(Arc::new(move |event| listener.lock().unwrap().push(event)), false))
    }

    #[test]
    fn a_path_counts_once() {
        let (events, tally) = tally();
        let path = EntryPath(b"a".to_vec());
        tally.settled(&path, Some(5), Outcome::Stored);
        tally.settled(&path, Some(5), Outcome::Had);
        assert_eq!(tally.summary(), Summary { stored: 1, stored_files: 1, ..Summary::default() });
        assert_eq!(events.lock().unwrap().len(), 1);
    }

    #[test]
    fn files_are_counted_apart_from_other_entries() {
        let (events, tally) = tally();
        let path = |name: &[u8]| EntryPath(name.to_vec());
        tally.settled(&path(b"a/file"), Some(0), Outcome::Stored);
        tally.settled(&path(b"a"), None, Outcome::Stored);
        assert_eq!(tally.finish(), Summary { stored: 2, stored_files: 1, ..Summary::default() });
        let progress = |event: &Event| match event {
            Event::Progress { entries_done, files_done, .. } => Some((*entries_done, *files_done)),
            _ => None,
        };
        assert_eq!(events.lock().unwrap().iter().find_map(progress), Some((2, 1)));
    }

    #[test]
    fn what_the_source_leaves_out_counts_once_and_is_told_without_control_characters() {
        let (events, tally) = tally();
        let mut failed = LeftOut::default();
        failed.add(&EntryPath(b"a".to_vec()), "no\x1b[2J right");
        failed.count = u64::MAX;
        tally.left_out(failed.clone(), LeftOut::default());
        tally.left_out(failed, LeftOut::default());
        tally.settled(&EntryPath(b"b".to_vec()), None, Outcome::Failed(String::new()));
        assert_eq!(tally.summary(), Summary { failed: u64::MAX, ..Summary::default() });
        let told = Event::File { path: "a".into(), outcome: Outcome::Failed("no\\u{1b}[2J right".into()) };
        assert_eq!(events.lock().unwrap()[..1], [told]);
        assert_eq!(events.lock().unwrap().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_is_that_of_the_last_two_seconds() {
        let (events, tally) = tally();
        tally.moved(1_000_000_000);
        let steps = async {
            for _ in 0..100 {
                tally.moved(1000);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! { () = steps => {}, () = tally.report() => {} }
        let Some(Event::Progress { rate, .. }) = events.lock().unwrap().last().cloned() else { panic!() };
        assert!((9_000..11_000).contains(&rate), "{rate}");
    }
}
