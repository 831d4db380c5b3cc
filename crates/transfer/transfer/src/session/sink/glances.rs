//! Files that are offered by size and time.

use super::{Done, Session};
use crate::event::Outcome;
use crate::extras::MAX_XATTRS;
use crate::session::End;
use crate::store::Near;
use crate::wire::{FromSink, Glance, MAX_PATH, MAX_UNSETTLED};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Threads that look at a time.
const LOOKERS: usize = 2;

impl Session {
    pub(super) fn offered_by_time(&mut self, id: u64, files: Vec<Glance>) -> Result<Option<FromSink>, End> {
        let last = u64::try_from(files.len()).ok().and_then(|count| id.checked_add(count.checked_sub(1)?));
        let Some(last) = last else { return Err(End::violation("an offer of no files")) };
        self.may_offer(id)?;
        if self.open.len() + self.glanced_at + files.len() > MAX_UNSETTLED {
            return Err(End::violation("too many offers at once"));
        }
        let has_too_many =
            |file: &Glance| file.extras.as_ref().is_some_and(|extras| extras.bytes() > MAX_XATTRS);
        if files.iter().any(has_too_many) {
            return Err(End::violation("an offer has too many extended attributes"));
        }
        self.last_id = Some(last);
        self.glanced_at += files.len();
        self.glances.push_back((id, files));
        Ok(None)
    }

    pub(super) fn glance_next(&mut self) {
        while self.glancing < LOOKERS {
            let Some((id, files)) = self.glances.pop_front() else { return };
            self.glancing += 1;
            let look = self.role.look.clone();
            self.tasks.spawn_blocking(move || {
                let mut near = Near::default();
                let mut differs = |file: &Glance| {
                    // A mistake of ours costs reading the file.
                    let has = AssertUnwindSafe(|| look.has(file, &mut near));
                    file.path.0.len() > MAX_PATH || !catch_unwind(has).unwrap_or(false)
                };
                let differing = (0..).zip(&files).filter(|(_, file)| differs(file));
                let differing = differing.map(|(position, _)| position).collect();
                Done::Glanced(id, files, differing)
            });
        }
    }

    /// Returns the answer about files that were looked at.
    pub(super) fn glanced(&mut self, id: u64, files: &[Glance], differing: Vec<u32>) -> FromSink {
        self.glancing -= 1;
        self.glanced_at -= files.len();
        let mut others = differing.iter().copied().peekable();
        for (position, file) in (0..).zip(files) {
            if others.next_if_eq(&position).is_some() {
                continue;
            }
            if let Some(mirror) = &self.role.mirror {
                mirror.saw_unread(&file.path);
            }
            self.role.tally.settled(&file.path, Some(file.size), Outcome::Had);
        }
        FromSink::Glanced { id, differing }
    }
}
