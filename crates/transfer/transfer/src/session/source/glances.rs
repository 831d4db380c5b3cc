//! Files that are offered by size and time: in a quick job, many in a message.

use crate::session::End;
use crate::wire::{FromSource, Glance, MAX_MESSAGE};
use crate::work::{Offer, Work};
use std::collections::BTreeMap;

/// Bytes of a message that are left for all but paths and extras.
const FRAME: usize = 1024;
/// Bytes of a file's numbers and of the names of its owners at most.
const NUMBERS: usize = 256;

/// The files that wait for the sink's answer, by the id of the first in each message.
#[derive(Default)]
pub(super) struct Glances {
    open: BTreeMap<u64, Vec<Offer>>,
    files: usize,
}

impl Glances {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the number of files that wait.
    pub(super) fn len(&self) -> usize {
        self.files
    }

    /// Returns the messages that offer these files.
    pub(super) fn offer(&mut self, offers: Vec<Offer>, next_id: &mut u64) -> Vec<FromSource> {
        let mut messages = Vec::new();
        let (mut files, mut waiting, mut bytes) = (Vec::new(), Vec::new(), FRAME);
        for offer in offers {
            let glance = glance(&offer);
            let more =
                NUMBERS + glance.path.0.len() + glance.extras.as_ref().map_or(0, |extras| extras.bytes());
            if bytes + more > MAX_MESSAGE && !files.is_empty() {
                messages.push(self.message(&mut files, &mut waiting, next_id));
                bytes = FRAME;
            }
            bytes += more;
            files.push(glance);
            waiting.push(offer);
        }
        if !files.is_empty() {
            messages.push(self.message(&mut files, &mut waiting, next_id));
        }
        messages
    }

    fn message(
        &mut self,
        files: &mut Vec<Glance>,
        waiting: &mut Vec<Offer>,
        next_id: &mut u64,
    ) -> FromSource {
        let (id, files, waiting) = (*next_id, std::mem::take(files), std::mem::take(waiting));
        *next_id += files.len() as u64;
        self.files += files.len();
        self.open.insert(id, waiting);
        FromSource::Glance { id, files }
    }

    /// Settles all but these, which the sink does not have.
    pub(super) fn answered(&mut self, id: u64, differing: &[u32], work: &Work) -> Result<(), End> {
        let unknown = || End::violation("the sink answers what was not asked");
        let offers = self.open.remove(&id).ok_or_else(unknown)?;
        self.files -= offers.len();
        let is_wrong = differing.windows(2).any(|pair| pair[0] >= pair[1])
            || differing.last().is_some_and(|&last| last as usize >= offers.len());
        if is_wrong {
            offers.into_iter().rev().for_each(|offer| work.give_back(offer));
            return Err(End::violation("the sink answers for files that were not in the list"));
        }
        let mut differing = differing.iter().copied().peekable();
        let (mut had, mut others) = (Vec::with_capacity(offers.len()), Vec::new());
        for (position, offer) in (0..).zip(offers) {
            match differing.next_if_eq(&position).is_some() {
                true => others.push(offer),
                false => had.push(offer),
            }
        }
        work.had(&had);
        work.read(others);
        Ok(())
    }

    /// Gives unanswered files back to the job.
    pub(super) fn give_back(&mut self, work: &Work) {
        while let Some((_, offers)) = self.open.pop_last() {
            offers.into_iter().rev().for_each(|offer| work.give_back(offer));
        }
        self.files = 0;
    }
}

fn glance(offer: &Offer) -> Glance {
    let entry = offer.prepared.entry();
    Glance {
        path: entry.path.clone(),
        size: entry.content().unwrap_or(0),
        mode: entry.mode,
        mtime: entry.mtime,
        extras: entry.extras.clone(),
    }
}
