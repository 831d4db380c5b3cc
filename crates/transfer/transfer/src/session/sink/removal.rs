//! The end of a mirror: entries that were not sent are removed.
//!
//! # Model
//! A thread removes, and reports each entry. It waits while the source takes no reports, and ends when the session does: the
//! next session of the job removes the rest.
//!
//! # Before the end
//! An entry that does not fit, or has a directory at its place, waits. When all else is settled the source lists what is left, and
//! entries that it does not list are removed. Each entry waits once: when it is offered again, its answer is final.

use super::answers::REASON;
use super::{Done, Session};
use crate::entry::{Entry, EntryPath};
use crate::event::Outcome;
use crate::printable::printable;
use crate::session::End;
use crate::store::mirror::Mirror;
use crate::wire::{Extent, FromSink, Removal, Spared, Unsettled, Why};
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Reports that may wait.
const REPORTS: usize = 64;

/// Reports of the thread that removes.
pub(super) type Reports = mpsc::Receiver<(EntryPath, Outcome)>;

/// Returns what sends the reports of a removal, and breaks it off when nobody takes them any more.
fn reporter(
    report: mpsc::Sender<(EntryPath, Outcome)>,
) -> impl FnMut(&EntryPath, Outcome) -> ControlFlow<()> {
    move |path, outcome| match report.blocking_send((path.clone(), outcome)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

impl Session {
    pub(super) fn remove_others(&mut self, mirror: Arc<Mirror>, extent: Extent) {
        if self.role.tally.summary().failed > 0 {
            return;
        }
        let (report, reports) = mpsc::channel(REPORTS);
        self.removing = Some(reports);
        self.tasks
            .spawn_blocking(move || Done::Removed(mirror.remove_others(&extent, &mut reporter(report))));
    }

    /// Reports that nothing was removed, for this reason.
    pub(super) fn spared(&self, spared: Spared) -> FromSink {
        self.role.tally.spared(spared.clone());
        FromSink::Spared(spared)
    }

    /// Returns whether an entry that fails for this reason may be stored when others are gone.
    pub(super) fn may_wait(&mut self, why: &Why) -> bool {
        let Some(mirror) = &self.role.mirror else { return false };
        match why {
            Why::DiskFull => {
                self.is_tight = true;
                mirror.makes_room()
            }
            Why::Occupied(_) => mirror.may_remove_early(),
            _ => false,
        }
    }

    /// Returns whether a dry run would have removed the directory at its place.
    pub(super) fn would_be_free(&self, entry: &Entry) -> bool {
        self.role.mirror.as_ref().is_some_and(|mirror| mirror.would_be_free(&entry.path))
    }

    /// Takes in the source's list: it has settled all else.
    pub(super) fn listed(
        &mut self,
        unsettled: Vec<Unsettled>,
        is_last: bool,
        extent: Option<Extent>,
    ) -> Result<Option<FromSink>, End> {
        let Some(mirror) = self.role.mirror.clone() else {
            return Err(End::violation("a list came for a job that removes nothing"));
        };
        if self.removing.is_some() || !mirror.list(&unsettled) {
            return Err(End::violation("the list is too long, or came twice"));
        }
        if !is_last {
            return Ok(None);
        }
        self.is_tight = false;
        let extent = extent.filter(|_| self.role.tally.summary().failed == 0);
        let (report, reports) = mpsc::channel(REPORTS);
        self.removing = Some(reports);
        self.tasks.spawn_blocking(move || {
            mirror.remove_early(extent.as_ref(), &mut reporter(report));
            Done::RemovedEarly
        });
        Ok(None)
    }

    pub(super) fn removed(&self, path: EntryPath, outcome: Outcome) -> FromSink {
        let removal = match &outcome {
            Outcome::Failed(reason) => Removal::Failed(printable(reason, REASON)),
            Outcome::Would(_) => Removal::Left,
            _ => Removal::Done,
        };
        self.role.tally.settled(&path, None, outcome);
        FromSink::Removed { path, removal }
    }
}

/// Returns the next report of a removal, if there is one.
pub(super) async fn next(reports: &mut Option<Reports>) -> Option<(EntryPath, Outcome)> {
    reports.as_mut()?.recv().await
}
