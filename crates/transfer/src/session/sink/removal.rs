//! The end of a mirror: what was not sent goes.

use super::answers::REASON;
use super::{task_failed, Done, Session};
use crate::entry::EntryPath;
use crate::event::Outcome;
use crate::session::printable;
use crate::store::mirror::Mirror;
use crate::wire::{Extent, FromSink, Removal};
use std::sync::Arc;

impl Session {
    pub(super) fn remove_others(&mut self, mirror: Arc<Mirror>, extent: Extent) {
        if self.role.tally.summary().failed > 0 {
            return;
        }
        self.removing = true;
        self.tasks.spawn(async move {
            let work = move || {
                let mut removed = Vec::new();
                let mut tell = |path: &EntryPath, outcome| removed.push((path.clone(), outcome));
                let result = mirror.remove_others(&extent, &mut tell);
                (removed, result)
            };
            match tokio::task::spawn_blocking(work).await {
                Ok((removed, result)) => Done::Removed(removed, result),
                Err(_) => Done::Removed(Vec::new(), Err(task_failed())),
            }
        });
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
