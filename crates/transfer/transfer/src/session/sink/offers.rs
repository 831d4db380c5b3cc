//! The source's messages: offers, withdrawals, its plan and its state.

use super::{Open, Session, Stage};
use crate::entry::{Entry, Kind};
use crate::event::{Event, Outcome};
use crate::extras::MAX_XATTRS;
use crate::printable::printable;
use crate::session::End;
use crate::wire::{ControllerState, FromSink, FromSource, Why, MAX_PATH, MAX_UNSETTLED};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of a path that is too long that are shown.
const SHOWN: usize = 200;
/// The source's words reach the listener at most so often.
const STATE_INTERVAL: Duration = Duration::from_millis(100);

impl Session {
    pub(super) fn told(&mut self, message: FromSource) -> Result<Option<FromSink>, End> {
        match message {
            FromSource::Offer { id, entry } => self.offered(id, entry),
            FromSource::Glance { id, files } => self.offered_by_time(id, files),
            FromSource::Withdrawn { id, .. } => self.withdrawn(id),
            FromSource::Plan { entries, files, bytes, complete } => {
                // It is the job's; every lane brings it.
                if self.role.lane == 0 {
                    self.role.tally.tell(Event::Plan { entries, files, bytes, complete });
                }
                Ok(None)
            }
            FromSource::State(state) => {
                self.show(state);
                Ok(None)
            }
            FromSource::Listed { unsettled, is_last, extent } => self.listed(unsettled, is_last, extent),
            FromSource::EndOfOffers { failed, skipped, extent, unmatched } => {
                self.ended = true;
                let is_whole = failed.count == 0 && skipped.count == 0;
                self.role.tally.left_out(failed, skipped);
                self.role.tally.named().found_but(&unmatched);
                if let (Some(extent), Some(mirror), true) = (extent, self.role.mirror.clone(), is_whole) {
                    self.remove_others(mirror, extent);
                }
                Ok(None)
            }
        }
    }

    /// Checks that an offer with this id may come.
    pub(super) fn may_offer(&self, id: u64) -> Result<(), End> {
        if self.ended {
            return Err(End::violation("an offer came after the last"));
        }
        match self.last_id.is_some_and(|last| id <= last) {
            true => Err(End::violation("the ids of offers do not ascend")),
            false => Ok(()),
        }
    }

    fn offered(&mut self, id: u64, entry: Entry) -> Result<Option<FromSink>, End> {
        self.may_offer(id)?;
        if self.open.len() + self.glanced_at >= MAX_UNSETTLED {
            return Err(End::violation("too many offers at once"));
        }
        self.last_id = Some(id);
        if is_too_long(&entry) {
            return Ok(Some(self.refuse(id, entry)));
        }
        if entry.extras.as_ref().is_some_and(|extras| extras.bytes() > MAX_XATTRS) {
            return Err(End::violation("an offer has too many extended attributes"));
        }
        self.queue.push_back(id);
        let entry = Arc::new(entry);
        let open = Open {
            entry,
            stage: Stage::Queued,
            withdrawn: false,
            told_busy: false,
            credited: Arc::default(),
        };
        self.open.insert(id, open);
        Ok(None)
    }

    /// Refuses an entry whose words are longer than any disk takes; nothing of it is kept.
    fn refuse(&self, id: u64, mut entry: Entry) -> FromSink {
        let reason = format!("its path or its target is longer than {MAX_PATH} bytes");
        entry.path.0.truncate(SHOWN);
        self.role.tally.settled(&entry.path, None, Outcome::Failed(reason.clone()));
        FromSink::Failed { id, why: Why::Refused(reason) }
    }

    fn withdrawn(&mut self, id: u64) -> Result<Option<FromSink>, End> {
        if self.last_id.is_none_or(|last| id > last) {
            return Err(End::violation("an offer was withdrawn that was not made"));
        }
        // It may be settled already: our answer and this crossed.
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        match open.stage {
            Stage::Considering | Stage::Receiving => {
                open.withdrawn = true;
                Ok(None)
            }
            _ => {
                self.queue.retain(|queued| *queued != id);
                Ok(self.settle(id, Err(Why::Withdrawn)))
            }
        }
    }

    /// Shows the source's words, made fit for a terminal, and not too many of them.
    fn show(&mut self, mut state: ControllerState) {
        let now = Instant::now();
        if self.role.lane != 0 || self.state_told.is_some_and(|told| now - told < STATE_INTERVAL) {
            return;
        }
        self.state_told = Some(now);
        state.phase = printable(&state.phase, 64);
        self.role.tally.tell(Event::State(state));
    }
}

fn is_too_long(entry: &Entry) -> bool {
    let target = match &entry.kind {
        Kind::Symlink { target } => target.len(),
        _ => 0,
    };
    let link = entry.link.as_ref().map_or(0, |first| first.0.len());
    entry.path.0.len().max(target).max(link) > MAX_PATH
}
