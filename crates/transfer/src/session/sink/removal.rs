//! The end of a mirror: what was not sent goes.
//!
//! # Model
//! A thread removes, and reports each entry. It waits while the source takes no reports, and ends when the session does: the
//! next session of the job removes the rest.

use super::answers::REASON;
use super::{Done, Session};
use crate::entry::EntryPath;
use crate::event::Outcome;
use crate::session::printable;
use crate::store::mirror::Mirror;
use crate::wire::{Extent, FromSink, Removal, Spared};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Reports that may wait.
const REPORTS: usize = 64;

/// Reports of the thread that removes.
pub(super) type Reports = mpsc::Receiver<(EntryPath, Outcome)>;

impl Session {
    pub(super) fn remove_others(&mut self, mirror: Arc<Mirror>, extent: Extent) {
        if self.role.tally.summary().failed > 0 {
            return;
        }
        let (report, reports) = mpsc::channel(REPORTS);
        self.removing = Some(reports);
        self.tasks.spawn_blocking(move || {
            let mut tell = |path: &EntryPath, outcome| report.blocking_send((path.clone(), outcome)).is_ok();
            Done::Removed(mirror.remove_others(&extent, &mut tell))
        });
    }

    /// Nothing was removed, for this reason.
    pub(super) fn spared(&self, spared: Spared) -> FromSink {
        self.role.tally.spared(spared.clone());
        FromSink::Spared(spared)
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

/// The next report of a removal, if there is one.
pub(super) async fn next(reports: &mut Option<Reports>) -> Option<(EntryPath, Outcome)> {
    reports.as_mut()?.recv().await
}
