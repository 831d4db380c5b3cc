//! A source's offers: prepared ahead by a thread, shared by all sessions of the job.
//!
//! # Model
//! A thread walks and hashes, and stops when [`PREPARED`] entries wait. A session takes an entry, and either settles it or
//! gives it back when its connection breaks. So a job continues where it was, however often connections come and go, and
//! several sessions share its entries without knowing of each other.
//!
//! A directory waits until everything below it is settled: what is stored there changes its time of modification. A hard
//! link waits until its first name is settled: before that the sink has nothing to link to. There
//! is nothing more to offer when everything is settled, and not before: until then something may come back.
//!
//! Entries are handed over in batches: a session that is woken for each of many small files does little else.
//!
//! A sink that removes what was not sent may put entries off until other entries are gone. When all else is settled or waits for
//! them, one session lists them, and they are offered once more.
//!
//! In a quick job files are offered by size and time first, and read by a second thread if the sink has them otherwise.
//!
//! # Known bad cases
//! The tail of a deep tree costs a round trip for each level of directories. A file is hashed whole before it is offered: the
//! first byte of a single huge file waits for that (about a second for each GB).

mod gather;
mod state;

use crate::entry::EntryPath;
use crate::error::Error;
use crate::event::{Event, Outcome};
use crate::filter::Filters;
use crate::printable::printable;
use crate::source::{Item, Prepared, Source, Stopper, Totals};
use crate::tally::Tally;
use crate::threads::start_thread;
use crate::wire::{Extent, LeftOut, Unsettled, MAX_LISTED};
use afteryou_base::lock::EvenPoisoned;
use gather::Gathered;
use state::State;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{watch, Notify};

/// Entries that are prepared ahead.
const PREPARED: usize = 512;
/// Times that a file which changes is prepared again.
const AGAIN: u32 = 3;
const HELD_POLL: Duration = Duration::from_millis(10);
/// A job that is prepared by then needs no look of its own at its size.
const SCAN_AFTER: Duration = Duration::from_secs(2);

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

/// The next step of a session.
pub(crate) enum Next {
    /// It offers these.
    Offers(Vec<Offer>),
    /// It lists these, since all else is settled: [`Work::go_on`].
    List(Vec<Unsettled>),
    /// Everything is settled.
    Nothing,
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
    /// For the thread that reads what the sink has otherwise.
    unread: Condvar,
    /// For the thread that counts: all is prepared.
    prepared: Condvar,
    /// For sessions: something may be taken, or all is settled.
    wake: Notify,
    tally: Arc<Tally>,
}

impl Work {
    /// Starts to prepare.
    pub(crate) fn start(source: Source, tally: Arc<Tally>) -> Result<Work, Error> {
        let (source, stopper) = source.stoppable();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            room: Condvar::new(),
            unread: Condvar::new(),
            prepared: Condvar::new(),
            wake: Notify::new(),
            tally,
        });
        let (plan, plans) = watch::channel(Plan::default());
        let counting = (source.clone(), stopper.clone(), shared.clone());
        // The threads end by themselves; nobody waits for them.
        start_thread("scan", move || {
            let (source, stopper, shared) = counting;
            let Totals { entries, files, bytes } = shared.totals().unwrap_or_else(|| source.scan());
            if stopper.is_stopped() {
                return;
            }
            tracing::debug!(entries, files, bytes, "looked through everything");
            shared.tally.tell(Event::Plan { entries, files, bytes, complete: true });
            _ = plan.send(Plan { entries, files, bytes, complete: true });
        })?;
        let preparing = shared.clone();
        let prepared = source.clone();
        start_thread("prepare", move || preparing.prepare(&prepared))?;
        if source.is_quick() {
            let reading = shared.clone();
            start_thread("read", move || reading.read_all())?;
        }
        Ok(Work { shared, plan: plans, source, stopper })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.shared.tally
    }

    pub(crate) fn filters(&self) -> &Filters {
        self.source.filters()
    }

    pub(crate) fn plan(&self) -> watch::Receiver<Plan> {
        self.plan.clone()
    }

    /// Returns the next entries to offer: at most `most`, and one more than has `most_bytes`. When cancelled, nothing is taken.
    pub(crate) async fn next(&self, most: usize, most_bytes: u64) -> Next {
        loop {
            let woken = self.shared.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            {
                let mut state = self.shared.state();
                let offers = state.take(most, most_bytes);
                if !offers.is_empty() {
                    self.shared.room.notify_one();
                    if !state.unread.is_empty() {
                        self.shared.unread.notify_one();
                    }
                    return Next::Offers(offers);
                }
                if state.is_over() {
                    return Next::Nothing;
                }
                if state.may_list() {
                    state.listing = true;
                    return Next::List(state.list());
                }
            }
            woken.await;
        }
    }

    /// Queues files that the sink has otherwise: they are read, and offered again.
    pub(crate) fn read(&self, offers: Vec<Offer>) {
        if offers.is_empty() {
            return;
        }
        self.shared.state().unread.extend(offers);
        self.shared.unread.notify_one();
    }

    /// Returns the facts that a sink learns only when everything is settled: failures here, and omitted entries.
    pub(crate) fn left_out(&self) -> (LeftOut, LeftOut) {
        let state = self.shared.state();
        (state.failed.clone(), state.skipped.clone())
    }

    /// Returns all that was offered, when everything is settled; `None` if something failed or was left out.
    pub(crate) fn extent(&self) -> Option<Extent> {
        let summary = self.tally().summary();
        let state = self.shared.state();
        let is_whole = summary.failed == 0 && summary.skipped == 0 && state.open.len() <= MAX_LISTED;
        is_whole.then(|| self.source.extent(state.stored, state.empty.clone()))
    }

    /// Settles an entry that cannot be sent, for a reason of this side's own.
    pub(crate) fn fail(&self, offer: Offer, reason: String) {
        self.shared.fail(offer.serial, &offer.prepared.entry().path, reason);
    }

    /// Records the end of the entry by the sink's answer.
    pub(crate) fn settle(&self, offer: Offer, outcome: Outcome) {
        self.shared.settle(offer.serial, &offer.prepared, outcome);
    }

    /// Settles all of these, which the sink has.
    pub(crate) fn had(&self, offers: &[Offer]) {
        for offer in offers {
            let entry = offer.prepared.entry();
            self.shared.tally.settled(&entry.path, entry.content(), Outcome::Had);
        }
        self.shared.close(offers.len() as u64, offers.iter().map(|offer| (offer.serial, offer.path())));
    }

    /// Keeps an offer that the sink cannot store before others are gone there. Returns `false` if it was informed before,
    /// when they were.
    pub(crate) fn later(&self, offer: Offer) -> bool {
        tracing::debug!(path = %offer.path(), "it waits until other entries are gone at the sink");
        let mut state = self.shared.state();
        let is_first = !state.listed;
        state.later.push(offer);
        drop(state);
        self.shared.wake.notify_waiters();
        is_first
    }

    /// Offers again what waits: the sink has removed what it may.
    pub(crate) fn go_on(&self) {
        let mut state = self.shared.state();
        (state.listing, state.listed) = (false, true);
        let mut later = std::mem::take(&mut state.later);
        later.sort_by_key(|offer| offer.serial);
        state.ready.extend(later);
        drop(state);
        self.shared.wake.notify_waiters();
    }

    /// Allows another list: the connection broke before the sink answered the last one.
    pub(crate) fn list_again(&self) {
        self.shared.state().listing = false;
        self.shared.wake.notify_waiters();
    }

    /// Gives an offer back, which another connection may try: this one broke.
    pub(crate) fn give_back(&self, offer: Offer) {
        tracing::debug!(path = %offer.path(), "not settled when its connection ended: another may take it");
        self.shared.state().ready.push_front(offer);
        self.shared.wake.notify_waiters();
    }

    /// Looks again at a file that is not what was offered any more.
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
        self.shared.unread.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().even_poisoned()
    }

    /// Runs the thread that prepares entries.
    fn prepare(&self, source: &Source) {
        let _exhausted = Exhausted(self);
        let mut entries = source.entries();
        let mut gathered = Gathered::default();
        while let Some(item) = entries.next_before(|| self.hand_over(&mut gathered)) {
            match item {
                Item::Entry(prepared) => gathered.add(prepared),
                Item::Skipped { path, reason } => self.leave_out(&path, Outcome::Skipped(reason)),
                Item::Failed { path, reason } => self.leave_out(&path, Outcome::Failed(reason)),
            }
            if gathered.is_due() {
                self.hand_over(&mut gathered);
                if !self.wait_for_room() {
                    return;
                }
            }
        }
        self.state().empty = entries.empty().to_vec();
        self.hand_over(&mut gathered);
    }

    /// Waits for room. Returns `false` if nobody requests more.
    fn wait_for_room(&self) -> bool {
        let full = |state: &mut State| {
            state.ready.len() + state.waiting_links + state.unread.len() >= PREPARED && !state.abandoned
        };
        let state = self.room.wait_while(self.state(), full).even_poisoned();
        !state.abandoned
    }

    fn hand_over(&self, gathered: &mut Gathered) {
        let mut state = self.state();
        gathered.take().for_each(|prepared| state.add(prepared));
        drop(state);
        self.wake.notify_waiters();
    }

    /// Returns the totals of the entries that were prepared, if these are all and it did not take long.
    fn totals(&self) -> Option<Totals> {
        let waits = |state: &mut State| !state.exhausted;
        let waited = self.prepared.wait_timeout_while(self.state(), SCAN_AFTER, waits);
        let (state, _) = waited.even_poisoned();
        state.exhausted.then_some(state.totals)
    }

    /// Runs the thread that reads what the sink has otherwise.
    fn read_all(&self) {
        loop {
            let idle = |state: &mut State| {
                let is_full = state.ready.len() >= PREPARED;
                (state.unread.is_empty() || is_full) && !state.abandoned && !state.is_over()
            };
            let waited = self.unread.wait_while(self.state(), idle);
            let mut state = waited.even_poisoned();
            if state.abandoned || state.is_over() {
                return;
            }
            let count = state.unread.len().min(gather::MOST);
            let offers: Vec<_> = state.unread.drain(..count).collect();
            drop(state);
            for Offer { serial, tries, prepared } in offers {
                let path = prepared.entry().path.clone();
                self.prepared_again(serial, tries, path, alone(prepared).read());
            }
            self.room.notify_one();
        }
    }

    fn settle(&self, serial: u64, prepared: &Prepared, outcome: Outcome) {
        let entry = prepared.entry();
        let stored = u64::from(!matches!(outcome, Outcome::Failed(_)));
        self.tally.settled(&entry.path, entry.content(), outcome);
        self.close(stored, [(serial, &entry.path)]);
    }

    fn fail(&self, serial: u64, path: &EntryPath, reason: String) {
        self.leave_out(path, Outcome::Failed(reason));
        self.close(0, [(serial, path)]);
    }

    /// Closes these, which are settled; the sink has `stored` of them.
    fn close<'a>(&self, stored: u64, settled: impl IntoIterator<Item = (u64, &'a EntryPath)>) {
        let mut state = self.state();
        state.stored += stored;
        let mut may_be_offered = false;
        for (serial, path) in settled {
            state.open.remove(&serial);
            may_be_offered |= state.release(path);
        }
        let is_over = state.is_over();
        may_be_offered |= state.may_list();
        drop(state);
        if may_be_offered || is_over {
            self.wake.notify_waiters();
        }
        if is_over {
            self.unread.notify_one();
        }
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
        self.prepared_again(serial, tries, path, prepared.again());
    }

    /// Takes in an entry that was looked at once more.
    fn prepared_again(&self, serial: u64, tries: u32, path: EntryPath, item: Item) {
        match item {
            Item::Entry(prepared) => {
                self.state().ready.push_back(Offer { serial, tries, prepared: Arc::new(prepared) });
                self.wake.notify_waiters();
            }
            _ if self.state().abandoned => {}
            Item::Skipped { reason, .. } | Item::Failed { reason, .. } => {
                self.fail(serial, &path, reason);
            }
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
        self.0.prepared.notify_all();
        self.0.unread.notify_all();
        self.0.wake.notify_waiters();
    }
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
