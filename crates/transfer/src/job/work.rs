//! A source's offers: prepared ahead by a thread, shared by all sessions of the job.
//!
//! # Model
//! A thread walks and hashes, and stops when [`PREPARED`] entries wait. A session takes an entry, and either settles it or
//! gives it back when its connection breaks. So a job goes on where it was, however often connections come and go, and
//! several sessions share its entries without knowing of each other.
//!
//! A directory waits until everything below it is settled: what is stored there changes its time of modification. A hard
//! link waits until its first name is settled: before that the sink has nothing to link to. There
//! is nothing more to offer when everything is settled, and not before: until then something may come back.
//!
//! # Known bad cases
//! The tail of a deep tree costs a round trip for each level of directories. A file is hashed whole before it is offered: the
//! first byte of a single huge file waits for that (about a second for each GB).

use super::start_thread;
use super::tally::Tally;
use crate::entry::{EntryPath, Kind};
use crate::error::Error;
use crate::event::{Event, Outcome};
use crate::session::printable;
use crate::source::{Item, Prepared, Source, Stopper, Totals};
use crate::wire::{Extent, LeftOut};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{watch, Notify};

/// Entries that are prepared ahead.
const PREPARED: usize = 256;
/// Times that a file which changes is prepared again.
const AGAIN: u32 = 3;
const HELD_POLL: Duration = Duration::from_millis(10);

/// Characters of a reason that a sink receives.
const REASON: usize = 500;

/// An entry in a session's hands. Goes back to the job by [`Work::settle`], [`Work::fail`], [`Work::give_back`] or
/// [`Work::changed`].
pub(crate) struct Offer {
    serial: u64,
    tries: u32,
    pub(crate) prepared: Arc<Prepared>,
}

impl Offer {
    fn path(&self) -> &EntryPath {
        &self.prepared.entry().path
    }
}

/// The job's size, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) entries: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) complete: bool,
}

/// The entries of a job. The thread ends when this is dropped.
pub(crate) struct Work {
    shared: Arc<Shared>,
    plan: watch::Receiver<Plan>,
    source: Source,
    stopper: Stopper,
}

struct Shared {
    state: Mutex<State>,
    /// For the thread: fewer entries wait.
    room: Condvar,
    /// For sessions: something may be taken, or all is settled.
    wake: Notify,
    tally: Arc<Tally>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Offer>,
    /// Directories, and how many entries below them are not settled.
    held: Vec<(Offer, usize)>,
    /// Hard links whose first names are not settled, by these.
    links: HashMap<EntryPath, Vec<Offer>>,
    /// How many these are.
    waiting_links: usize,
    /// Paths of all that is not settled, by serial number.
    open: HashMap<u64, EntryPath>,
    next_serial: u64,
    exhausted: bool,
    abandoned: bool,
    /// Entries that the sink has by its own answers.
    stored: u64,
    /// Facts that only this side has, for the sink.
    failed: LeftOut,
    skipped: LeftOut,
}

impl Work {
    /// Starts to prepare.
    pub(crate) fn start(source: Source, tally: Arc<Tally>) -> Result<Work, Error> {
        let (source, stopper) = source.stoppable();
        let shared =
            Arc::new(Shared { state: Mutex::default(), room: Condvar::new(), wake: Notify::new(), tally });
        let (plan, plans) = watch::channel(Plan::default());
        let counting = (source.clone(), stopper.clone(), shared.tally.clone());
        // Both threads end by themselves; nobody waits for them.
        start_thread("scan", move || {
            let (source, stopper, tally) = counting;
            let Totals { entries, files, bytes } = source.scan();
            if stopper.is_stopped() {
                return;
            }
            tracing::debug!(entries, files, bytes, "looked through everything");
            tally.tell(Event::Plan { entries, files, bytes, complete: true });
            _ = plan.send(Plan { entries, files, bytes, complete: true });
        })?;
        let preparing = shared.clone();
        let prepared = source.clone();
        start_thread("prepare", move || preparing.prepare(&prepared))?;
        Ok(Work { shared, plan: plans, source, stopper })
    }

    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.shared.tally
    }

    pub(crate) fn plan(&self) -> watch::Receiver<Plan> {
        self.plan.clone()
    }

    /// The next entry to offer; None when everything is settled. When cancelled, nothing is taken.
    pub(crate) async fn next(&self) -> Option<Offer> {
        loop {
            let woken = self.shared.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            {
                let mut state = self.shared.state();
                if let Some(offer) = state.ready.pop_front() {
                    self.shared.room.notify_one();
                    return Some(offer);
                }
                if state.exhausted && state.open.is_empty() {
                    return None;
                }
            }
            woken.await;
        }
    }

    /// The facts that a sink learns only when everything is settled: failures here, and omitted entries.
    pub(crate) fn left_out(&self) -> (LeftOut, LeftOut) {
        let state = self.shared.state();
        (state.failed.clone(), state.skipped.clone())
    }

    /// All that was offered, when everything is settled; None if something failed or was left out.
    pub(crate) fn extent(&self) -> Option<Extent> {
        let summary = self.tally().summary();
        let stored = self.shared.state().stored;
        (summary.failed == 0 && summary.skipped == 0).then(|| self.source.extent(stored))
    }

    /// The entry cannot be sent, for a reason of this side's own.
    pub(crate) fn fail(&self, offer: Offer, reason: String) {
        self.shared.fail(offer.serial, &offer.prepared.entry().path, reason);
    }

    /// The entry came to its end by the sink's answer.
    pub(crate) fn settle(&self, offer: Offer, outcome: Outcome) {
        self.shared.settle(offer.serial, &offer.prepared, outcome);
    }

    /// The connection broke; another may try.
    pub(crate) fn give_back(&self, offer: Offer) {
        tracing::debug!(path = %offer.path(), "not settled when its connection ended: another may take it");
        self.shared.state().ready.push_front(offer);
        self.shared.wake.notify_waiters();
    }

    /// The file is not what was offered any more: it is looked at again.
    pub(crate) fn changed(&self, offer: Offer) {
        let Offer { serial, tries, prepared } = offer;
        tracing::debug!(path = %prepared.entry().path, tries, "it changed while it was being sent");
        if tries >= AGAIN {
            let reason = "it changes while it is being sent; send it again when it holds still".into();
            return self.shared.fail(serial, &prepared.entry().path, reason);
        }
        let (shared, again) = (self.shared.clone(), prepared.clone());
        if let Err(error) = start_thread("again", move || shared.again(serial, tries + 1, again)) {
            self.shared.fail(serial, &prepared.entry().path, error.to_string());
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stopper.stop();
        self.shared.state().abandoned = true;
        self.shared.room.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The thread.
    fn prepare(&self, source: &Source) {
        let _exhausted = Exhausted(self);
        for item in source.entries() {
            match item {
                Item::Entry(prepared) => self.add(prepared),
                Item::Skipped { path, reason } => self.leave_out(&path, Outcome::Skipped(reason)),
                Item::Failed { path, reason } => self.leave_out(&path, Outcome::Failed(reason)),
            }
            if !self.wait_for_room() {
                return;
            }
        }
    }

    /// False if nobody requests more.
    fn wait_for_room(&self) -> bool {
        let full =
            |state: &mut State| state.ready.len() + state.waiting_links >= PREPARED && !state.abandoned;
        let state = self.room.wait_while(self.state(), full).unwrap_or_else(|poisoned| poisoned.into_inner());
        !state.abandoned
    }

    fn add(&self, prepared: Prepared) {
        let mut state = self.state();
        let path = prepared.entry().path.clone();
        let offer = Offer { serial: state.next_serial, tries: 0, prepared: Arc::new(prepared) };
        let first = offer.prepared.entry().link.clone();
        let first = first.filter(|first| state.open.values().any(|other| other == first));
        let below = match offer.prepared.entry().kind {
            Kind::Directory => state.open.values().filter(|other| is_below(other, &path)).count(),
            _ => 0,
        };
        state.next_serial += 1;
        state.open.insert(offer.serial, path);
        match (first, below) {
            (Some(first), _) => {
                state.links.entry(first).or_default().push(offer);
                state.waiting_links += 1;
            }
            (None, 0) => state.ready.push_back(offer),
            (None, _) => state.held.push((offer, below)),
        }
        drop(state);
        self.wake.notify_waiters();
    }

    fn settle(&self, serial: u64, prepared: &Prepared, outcome: Outcome) {
        let entry = prepared.entry();
        self.state().stored += u64::from(!matches!(outcome, Outcome::Failed(_)));
        self.tally.settled(&entry.path, entry.content(), outcome);
        self.close(serial, &entry.path);
    }

    fn fail(&self, serial: u64, path: &EntryPath, reason: String) {
        self.leave_out(path, Outcome::Failed(reason));
        self.close(serial, path);
    }

    fn close(&self, serial: u64, path: &EntryPath) {
        let mut state = self.state();
        state.open.remove(&serial);
        state.release(path);
        drop(state);
        self.wake.notify_waiters();
    }

    /// Counts the outcomes that the sink does not learn by itself.
    fn leave_out(&self, path: &EntryPath, outcome: Outcome) {
        match &outcome {
            Outcome::Failed(reason) => self.state().failed.add(path, &printable(reason, REASON)),
            Outcome::Skipped(reason) => self.state().skipped.add(path, &printable(reason, REASON)),
            _ => {}
        }
        self.tally.settled(path, None, outcome);
    }

    fn again(&self, serial: u64, tries: u32, prepared: Arc<Prepared>) {
        let prepared = alone(prepared);
        let path = prepared.entry().path.clone();
        match prepared.again() {
            Item::Entry(prepared) => {
                self.state().ready.push_front(Offer { serial, tries, prepared: Arc::new(prepared) });
                self.wake.notify_waiters();
            }
            _ if self.state().abandoned => {}
            Item::Skipped { reason, .. } | Item::Failed { reason, .. } => {
                self.fail(serial, &path, reason);
            }
        }
    }
}

impl State {
    /// Something at `path` is settled: its hard links may be offered, and directories above it if it was the last.
    fn release(&mut self, path: &EntryPath) {
        let links = self.links.remove(path).unwrap_or_default();
        self.waiting_links -= links.len();
        self.ready.extend(links);
        for (directory, below) in &mut self.held {
            if is_below(path, directory.path()) {
                *below -= 1;
            }
        }
        while let Some(index) = self.held.iter().position(|(_, below)| *below == 0) {
            let (directory, _) = self.held.remove(index);
            self.ready.push_back(directory);
        }
    }
}

/// Waits until nobody else holds it: the thread of a session that ended may still be in the middle of a read.
fn alone(mut prepared: Arc<Prepared>) -> Prepared {
    loop {
        match Arc::try_unwrap(prepared) {
            Ok(prepared) => return prepared,
            Err(held) => prepared = held,
        }
        std::thread::sleep(HELD_POLL);
    }
}

/// Whatever ends the thread that prepares, nobody waits for it any more.
struct Exhausted<'a>(&'a Shared);

impl Drop for Exhausted<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("the thread that looks for files panicked: a mistake in afteryou");
            let reason = "looking for files failed; this is a mistake in afteryou, see its log".into();
            self.0.leave_out(&EntryPath::default(), Outcome::Failed(reason));
        }
        self.0.state().exhausted = true;
        self.0.wake.notify_waiters();
    }
}

fn is_below(path: &EntryPath, directory: &EntryPath) -> bool {
    path.0.strip_prefix(directory.0.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/'))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::source::SourceOptions;
    use std::time::Instant;

    #[test]
    fn dropped_in_the_middle_of_a_huge_file_its_threads_end_within_a_second() {
        let dir = tempfile::tempdir().expect("a directory");
        // A hole: hashing it would take minutes.
        let huge = std::fs::File::create(dir.path().join("huge")).expect("a file");
        huge.set_len(300_000_000_000).expect("a length");
        let source = Source::below(dir.path(), b"", SourceOptions::default()).expect("a source");
        let tally = Arc::new(Tally::new(Arc::new(|_| {}), false));
        let work = Work::start(source, tally.clone()).expect("starts");
        std::thread::sleep(Duration::from_millis(300));
        let thread = Arc::downgrade(&work.shared);
        let dropped = Instant::now();
        drop(work);
        while thread.upgrade().is_some() {
            assert!(dropped.elapsed() < Duration::from_secs(1), "it still hashes");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(tally.summary().failed, 0, "nothing failed");
    }
}
