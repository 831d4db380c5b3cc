//! The source's half of a session.
//!
//! # Model
//! Offers run ahead of the data: as many as the protocol allows and as keep [`AHEAD`] bytes in sight. So the sink can
//! look at its disk while earlier files travel. An answer either settles an offer or orders data, which the
//! [encoder](super::encoder) sends in the order of the answers. Entries that a lost connection leaves unsettled go back
//! to the job, and are offered again on the next one.
//!
//! The limit of quinn's buffer is kept at twice the congestion window: more would make a pause come late.
//!
//! # A file that changes
//! The source withdraws the offer, the sink's answer settles it, and the file is prepared and offered again. So is one whose
//! content did not hash to its root at the sink.
//!
//! # Entries that wait
//! A sink that removes what is not sent may put an entry off, since it does not fit yet. When all else is settled, it gets the list
//! of those that are left, and each is offered once more.
//!
//! # A quick job
//! Files are offered by size and time first (see [`glances`]). Those that the sink has otherwise are read and offered.

mod glances;

use self::glances::Glances;
use super::encoder::{self, Note, Order};
use super::{say, Control, End, StateOf, RECEIVING_GONE};
use crate::entry::{EntryPath, Kind, Wanted, GROUP_BYTES};
use crate::error::Error;
use crate::event::{Event, Outcome};
use crate::pace::{Limit, Owner, Pace};
use crate::printable::printable;
use crate::source::EncodeError;
use crate::wire::{
    Change, FromSink, FromSource, How, Removal, Unsettled, Why, MAX_MESSAGE, MAX_RANGES, MAX_UNSETTLED,
    PAUSED,
};
use crate::work::{Next, Offer, Plan, Work};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// Bytes that are offered and not yet sent, for all connections of a job: 1 Gbit/s for 0.13 s.
const AHEAD: u64 = 16 * 1024 * 1024;
/// Control messages that may wait, bytes, before more offers are made.
const OUTGOING: usize = 128 * 1024;
/// Entries that are taken from the job at a time.
const TAKEN: usize = 256;
/// Bytes of a listed entry beside its path at most.
const LISTED_BYTES: usize = 16;
/// The interval at which the state is sent.
const TICK: Duration = Duration::from_millis(200);

/// The inputs of a source's session beside its connection.
pub(crate) struct Role {
    pub(crate) work: Arc<Work>,
    /// All of these limit it.
    pub(crate) paces: Vec<Pace>,
    /// Which of them the sink sets.
    pub(crate) far_end: Pace,
    pub(crate) state_of: StateOf,
    pub(crate) lane: u16,
    /// The sink removes what is not sent: it gets an extent, and has to report that it is done.
    pub(crate) extent: bool,
    /// Connections that share [`AHEAD`].
    pub(crate) lanes: u16,
    /// Bytes that quinn may hold.
    pub(crate) window: u32,
}

/// The stage of an offer.
enum Stage {
    Offered,
    /// Its data is ordered, under way or sent.
    Ordered,
    /// It cannot be sent as offered; what to do when the sink has answered.
    Withdrawn(Result<(), String>),
}

struct Open {
    offer: Offer,
    stage: Stage,
    /// How it was described.
    described: Vec<How>,
    /// Descriptions that the writer has not reported as sent. The sink may have read one to its end by then, and answered.
    describing: usize,
    /// Bytes of content that are to be sent.
    unsent: u64,
    /// Bytes that count as done.
    credited: u64,
}

/// Runs the session to its end.
pub(crate) async fn run(connection: &quinn::Connection, mut control: Control, role: Role) -> Result<(), End> {
    let (orders, ordered) = mpsc::unbounded_channel();
    let (note, notes) = mpsc::unbounded_channel();
    let writer = encoder::run(connection, ordered, note, role.paces.clone(), role.window);
    let mut session = Session {
        role,
        open: BTreeMap::new(),
        glances: Glances::default(),
        next_id: 0,
        unsent: 0,
        ordered: Vec::new(),
        orders,
        listing: false,
        ended: false,
    };
    tokio::pin!(writer);
    let result = tokio::select! {
        result = session.talk(connection, &mut control, notes) => result,
        Err(end) = &mut writer => Err(end),
    };
    session.give_back();
    let result = match result {
        // Everything was settled: any further report of the sink changes nothing.
        Err(End::Lost(_)) if session.ended && !session.role.extent => Ok(()),
        result => result,
    };
    super::close(connection, &result);
    drop(control);
    result
}

struct Session {
    role: Role,
    /// By id, so in the order of the offers.
    open: BTreeMap<u64, Open>,
    glances: Glances,
    next_id: u64,
    /// Sum over the open offers.
    unsent: u64,
    /// Orders that go to the encoder together.
    ordered: Vec<Order>,
    orders: mpsc::UnboundedSender<Vec<Order>>,
    /// The sink has the list of what is not settled, and has not answered it.
    listing: bool,
    ended: bool,
}

impl Session {
    async fn talk(
        &mut self,
        connection: &quinn::Connection,
        control: &mut Control,
        mut notes: mpsc::UnboundedReceiver<Note>,
    ) -> Result<(), End> {
        let work = self.role.work.clone();
        let mut plan = work.plan();
        plan.mark_changed();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let Control { send, incoming, outgoing } = &mut *control;
            let may_offer = self.may_offer() && outgoing.len() < OUTGOING;
            tokio::select! {
                biased;
                Some(note) = notes.recv() => {
                    if let Some(message) = self.noted(note) {
                        outgoing.push(&message)?;
                    }
                }
                message = incoming.next::<FromSink>() => {
                    let mut message = message?;
                    loop {
                        match message {
                            Some(FromSink::Finished) => return self.finished(),
                            Some(message) => self.answered(message)?,
                            None => return Err(End::violation("the control stream ended too early")),
                        }
                        message = incoming.ready()?;
                        if message.is_none() {
                            break;
                        }
                    }
                    if !self.ordered.is_empty() {
                        // The writer ends with the session.
                        _ = self.orders.send(std::mem::take(&mut self.ordered));
                    }
                }
                sent = outgoing.flush_some(send), if !outgoing.is_empty() => sent?,
                _ = tick.tick() => {
                    if let Some(state) = self.state(connection) {
                        outgoing.push(&state)?;
                    }
                }
                Ok(()) = plan.changed() => {
                    let Plan { entries, files, bytes, complete } = *plan.borrow_and_update();
                    if complete {
                        outgoing.push(&FromSource::Plan { entries, files, bytes, complete })?;
                    }
                }
                offers = work.next(self.room(), self.ahead()), if may_offer => {
                    for message in self.next_messages(offers) {
                        outgoing.push(&message)?;
                    }
                }
            }
        }
    }

    fn may_offer(&self) -> bool {
        let is_idle = self.open.is_empty() && self.glances.is_empty();
        !self.ended && !self.listing && self.room() > 0 && (self.ahead() > 0 || is_idle)
    }

    /// Returns the number of entries that may be offered now.
    fn room(&self) -> usize {
        MAX_UNSETTLED.saturating_sub(self.open.len() + self.glances.len()).min(TAKEN)
    }

    /// Returns the bytes that may be offered now.
    fn ahead(&self) -> u64 {
        (AHEAD / u64::from(self.role.lanes.max(1))).saturating_sub(self.unsent)
    }

    fn next_messages(&mut self, next: Next) -> Vec<FromSource> {
        let offers = match next {
            Next::Offers(offers) => offers,
            Next::List(unsettled) => {
                self.listing = true;
                return self.list(unsettled);
            }
            Next::Nothing => Vec::new(),
        };
        if offers.is_empty() {
            self.ended = true;
            let (failed, skipped) = self.role.work.left_out();
            let extent = if self.role.extent { self.role.work.extent() } else { None };
            let unmatched = self.role.work.filters().peer.unmatched_at();
            return vec![FromSource::EndOfOffers { failed, skipped, extent, unmatched }];
        }
        let (unread, offers): (Vec<_>, Vec<_>) =
            offers.into_iter().partition(|offer| offer.prepared.is_unread());
        let mut messages: Vec<_> = offers.into_iter().map(|offer| self.offer(offer)).collect();
        messages.extend(self.glances.offer(unread, &mut self.next_id));
        messages
    }

    fn offer(&mut self, offer: Offer) -> FromSource {
        let id = self.next_id;
        self.next_id += 1;
        let entry = offer.prepared.entry().clone();
        let unsent = entry.content().unwrap_or(0);
        self.unsent += unsent;
        self.open.insert(
            id,
            Open { offer, stage: Stage::Offered, described: Vec::new(), describing: 0, unsent, credited: 0 },
        );
        FromSource::Offer { id, entry }
    }

    fn finished(&self) -> Result<(), End> {
        match self.ended && self.open.is_empty() && self.glances.is_empty() {
            true => Ok(()),
            false => Err(End::violation("the sink finished before everything was settled")),
        }
    }

    fn answered(&mut self, message: FromSink) -> Result<(), End> {
        match message {
            FromSink::Want { id, ranges } => self.wanted(id, ranges),
            FromSink::Describe { id, how, ranges } => self.describe(id, how, ranges),
            FromSink::Have { id } => self.settle(id, Outcome::Had),
            FromSink::Stored { id } => self.settle(id, Outcome::Stored),
            FromSink::Incomplete { id, reason } => {
                self.settle(id, Outcome::Incomplete(printable(&reason, 500)))
            }
            FromSink::Failed { id, why: Why::DiskFull } => {
                self.settle(id, Outcome::Failed(say(&Why::DiskFull)))?;
                Err(End::Failed(Error::DiskFull))
            }
            FromSink::Failed { id, why: Why::Gone } => {
                self.settle(id, Outcome::Failed(say(&Why::Gone)))?;
                Err(End::Failed(RECEIVING_GONE))
            }
            FromSink::Newer { id } => self.settle(id, Outcome::Newer),
            FromSink::Later { id } => self.later(id),
            FromSink::Continue => self.goes_on(),
            FromSink::Would { id, change } => self.settle(id, Outcome::Would(change)),
            FromSink::Removed { path, removal } => self.removed(&path, removal),
            FromSink::Spared(spared) => {
                self.may_remove()?;
                self.role.work.tally().spared(spared);
                Ok(())
            }
            FromSink::Swept { unmatched } => self.swept(&unmatched),
            FromSink::Glanced { id, differing } => self.glances.answered(id, &differing, &self.role.work),
            FromSink::Failed { id, why: Why::Mismatch } if self.is_under_way(id) => {
                self.noted(Note::Unsendable(id, EncodeError::Changed));
                self.settle(id, Outcome::Failed(String::new()))
            }
            FromSink::Failed { id, why } => self.settle(id, Outcome::Failed(say(&why))),
            FromSink::Pace { max_rate, paused } => {
                self.role.far_end.set(Owner::FarEnd, Limit { max_rate, paused });
                Ok(())
            }
            FromSink::Finished => self.finished(),
        }
    }

    fn may_remove(&self) -> Result<(), End> {
        match self.role.extent && (self.ended || self.listing) {
            true => Ok(()),
            false => Err(End::violation("the sink removed what it was not asked to remove")),
        }
    }

    fn removed(&self, path: &EntryPath, removal: Removal) -> Result<(), End> {
        self.may_remove()?;
        let outcome = match removal {
            Removal::Failed(reason) => Outcome::Failed(printable(&reason, 500)),
            Removal::Left => Outcome::Would(Change::Remove),
            Removal::Done => Outcome::Removed,
        };
        self.role.work.tally().settled(path, None, outcome);
        Ok(())
    }

    /// Notes which patterns of what stays at the sink have matched there.
    fn swept(&self, unmatched: &[u32]) -> Result<(), End> {
        self.may_remove()?;
        self.role.work.filters().own.found_but(unmatched);
        Ok(())
    }

    /// Returns whether content of it was requested.
    fn is_under_way(&self, id: u64) -> bool {
        self.open.get(&id).is_some_and(|open| matches!(open.stage, Stage::Ordered))
    }

    /// Returns a file whose content was not requested yet. `None`: it was withdrawn, and the sink has not received that yet.
    fn offered(&mut self, id: u64, ranges: &Wanted) -> Result<Option<(&mut Open, u64)>, End> {
        let unknown = || End::violation("the sink requests what was not offered");
        let open = self.open.get_mut(&id).ok_or_else(unknown)?;
        let Kind::File { size, .. } = open.offer.prepared.entry().kind else {
            return Err(End::violation("the sink requests the content of what is no file"));
        };
        check(ranges, size)?;
        match open.stage {
            Stage::Offered => Ok(Some((open, size))),
            Stage::Withdrawn(_) => Ok(None),
            Stage::Ordered => Err(End::violation("the sink requests a file twice")),
        }
    }

    fn describe(&mut self, id: u64, how: How, ranges: Wanted) -> Result<(), End> {
        let Some((open, _)) = self.offered(id, &ranges)? else { return Ok(()) };
        if open.described.contains(&how) {
            return Err(End::violation("the sink requests a description twice"));
        }
        open.described.push(how);
        open.describing += 1;
        let prepared = open.offer.prepared.clone();
        self.ordered.push(Order { id, prepared, wanted: ranges, describe: Some(how) });
        Ok(())
    }

    fn wanted(&mut self, id: u64, wanted: Wanted) -> Result<(), End> {
        let Some((open, size)) = self.offered(id, &wanted)? else { return Ok(()) };
        let bytes = wanted.bytes();
        open.stage = Stage::Ordered;
        let before = std::mem::replace(&mut open.unsent, bytes);
        open.credited = size - bytes;
        let prepared = open.offer.prepared.clone();
        self.unsent = self.unsent - before + bytes;
        self.role.work.tally().credit(size - bytes);
        self.ordered.push(Order { id, prepared, wanted, describe: None });
        Ok(())
    }

    /// Keeps an entry that waits until others are gone at the sink.
    fn later(&mut self, id: u64) -> Result<(), End> {
        let open = self.answer(id)?;
        let work = &self.role.work;
        let is_first = match open.stage {
            Stage::Withdrawn(Ok(())) => {
                work.changed(open.offer);
                true
            }
            Stage::Withdrawn(Err(reason)) => {
                work.fail(open.offer, reason);
                true
            }
            _ => work.later(open.offer),
        };
        match is_first && self.role.extent {
            true => Ok(()),
            false => Err(End::violation("the sink puts off an entry that it has to settle")),
        }
    }

    /// Continues once the sink has the list, and removed what it may.
    fn goes_on(&mut self) -> Result<(), End> {
        match std::mem::take(&mut self.listing) {
            true => self.role.work.go_on(),
            false => return Err(End::violation("the sink answers a list that it did not get")),
        }
        Ok(())
    }

    /// Returns the messages with these entries, and with what was settled.
    fn list(&self, unsettled: Vec<Unsettled>) -> Vec<FromSource> {
        let listed = |unsettled| FromSource::Listed { unsettled, is_last: false, extent: None };
        let (mut messages, mut some, mut bytes) = (Vec::new(), Vec::new(), 0);
        for one in unsettled {
            bytes += one.path.0.len() + LISTED_BYTES;
            some.push(one);
            if bytes > MAX_MESSAGE / 2 {
                messages.push(listed(std::mem::take(&mut some)));
                bytes = 0;
            }
        }
        let extent = self.role.work.extent();
        messages.push(FromSource::Listed { unsettled: some, is_last: true, extent });
        messages
    }

    fn answer(&mut self, id: u64) -> Result<Open, End> {
        let unknown = || End::violation("the sink answers what was not asked");
        let open = self.open.remove(&id).ok_or_else(unknown)?;
        self.unsent -= open.unsent;
        self.role.work.tally().uncredit(open.credited);
        Ok(open)
    }

    fn settle(&mut self, id: u64, outcome: Outcome) -> Result<(), End> {
        let open = self.answer(id)?;
        let work = &self.role.work;
        match (open.stage, outcome) {
            (Stage::Withdrawn(Ok(())), _) => work.changed(open.offer),
            (Stage::Withdrawn(Err(reason)), _) => work.fail(open.offer, reason),
            (_, outcome) => work.settle(open.offer, outcome),
        }
        Ok(())
    }

    /// Handles the writer's report; returns the message for the sink, if any.
    fn noted(&mut self, note: Note) -> Option<FromSource> {
        match note {
            Note::Moved(id, bytes) => {
                let open = self.open.get_mut(&id)?;
                if open.describing > 0 {
                    return None;
                }
                // The encoding's hashes are no content.
                let content = bytes.min(open.unsent);
                open.unsent -= content;
                open.credited += content;
                self.unsent -= content;
                self.role.work.tally().moved(content);
                None
            }
            Note::Bundle(files) => {
                for (id, bytes) in files {
                    self.noted(Note::Moved(id, bytes));
                    self.noted(Note::Sent(id));
                }
                None
            }
            Note::Sent(id) => {
                let open = self.open.get_mut(&id)?;
                open.describing = open.describing.saturating_sub(1);
                None
            }
            Note::Unsendable(id, error) => {
                let open = self.open.get_mut(&id)?;
                open.describing = open.describing.saturating_sub(1);
                let reason = error.to_string();
                open.stage = Stage::Withdrawn(match error {
                    EncodeError::Changed => Ok(()),
                    _ => Err(reason.clone()),
                });
                Some(FromSource::Withdrawn { id, reason })
            }
        }
    }

    /// Returns the controller's state, for the listener and the peer; one lane reports for all.
    fn state(&self, connection: &quinn::Connection) -> Option<FromSource> {
        if self.role.lane != 0 {
            return None;
        }
        let mut state = (self.role.state_of)(connection)?;
        self.role.work.tally().tell(Event::State(state.clone()));
        // The sink paused nothing and would see a job that hangs.
        if self.role.paces.iter().any(|pace| pace.without(Owner::FarEnd).paused) {
            state.phase = PAUSED.into();
        }
        Some(FromSource::State(state))
    }

    /// Gives unsettled entries back to the job, in their old order.
    fn give_back(&mut self) {
        // Their orders hold them, too.
        self.ordered.clear();
        self.glances.give_back(&self.role.work);
        if std::mem::take(&mut self.listing) {
            self.role.work.list_again();
        }
        while let Some((_, open)) = self.open.pop_last() {
            self.role.work.tally().uncredit(open.credited);
            match open.stage {
                Stage::Withdrawn(Ok(())) => self.role.work.changed(open.offer),
                Stage::Withdrawn(Err(reason)) => self.role.work.fail(open.offer, reason),
                _ => self.role.work.give_back(open.offer),
            }
        }
    }
}

/// Also when the session is dropped half-way.
impl Drop for Session {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Refuses ranges that make no sense for a file of `size` bytes.
fn check(wanted: &Wanted, size: u64) -> Result<(), End> {
    let bad = || End::violation("the sink requests ranges that the file does not have");
    if wanted.0.is_empty() || wanted.0.len() > MAX_RANGES {
        return Err(bad());
    }
    let mut before = None;
    for &(from, to) in &wanted.0 {
        let empty = from == to && size != 0;
        let apart = before.is_none_or(|before| from > before);
        let aligned = from % GROUP_BYTES == 0 && (to % GROUP_BYTES == 0 || to == size);
        if from > to || to > size || empty || !apart || !aligned {
            return Err(bad());
        }
        before = Some(to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_a_file_does_not_have_are_refused() {
        let g = GROUP_BYTES;
        let ok = |ranges: &[(u64, u64)], size| check(&Wanted(ranges.to_vec()), size).is_ok();
        assert!(ok(&[(0, 0)], 0));
        assert!(ok(&[(0, 5)], 5));
        assert!(ok(&[(0, g), (3 * g, 3 * g + 7)], 3 * g + 7));
        assert!(!ok(&[], 5));
        assert!(!ok(&[(0, 6)], 5));
        assert!(!ok(&[(g, 0)], 2 * g));
        assert!(!ok(&[(0, 1)], 2 * g));
        assert!(!ok(&[(1, g)], 2 * g));
        assert!(!ok(&[(g, g)], 2 * g));
        assert!(!ok(&[(2 * g, 3 * g), (0, g)], 4 * g));
        assert!(!ok(&[(0, g), (g, 2 * g)], 4 * g));
        let many: Vec<_> = (0..=MAX_RANGES as u64).map(|i| (2 * i * g, (2 * i + 1) * g)).collect();
        assert!(!ok(&many, u64::MAX));
    }
}
