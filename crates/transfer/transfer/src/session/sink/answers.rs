//! The course of an offer, and the one answer that settles it.

use super::{Session, Stage, BUSY_RETRY};
use crate::entry::{Entry, Kind};
use crate::event::{shown, Event, Outcome};
use crate::printable::printable;
use crate::session::intake::{Compared, Received};
use crate::session::room::Place;
use crate::session::{say, End};
use crate::store::{Delta, Kept, Next, Reception, Verdict};
use crate::wire::{Change, FromSink, Why};
use std::sync::atomic::Ordering;
use tokio::time::Instant;

/// Characters of a reason that are sent to the source.
pub(super) const REASON: usize = 1000;

impl Session {
    pub(super) fn considered(
        &mut self,
        id: u64,
        verdict: Result<Verdict, Why>,
        place: Place,
    ) -> Option<FromSink> {
        self.starved_since = match verdict {
            Err(Why::TooManyFiles) => self.starved_since.or(Some(Instant::now())),
            _ => None,
        };
        let open = self.open.get_mut(&id)?;
        if open.withdrawn {
            return self.settle(id, Err(Why::Withdrawn));
        }
        match verdict {
            // Others may close theirs.
            Err(Why::TooManyFiles) => {
                open.stage = Stage::Busy(Instant::now() + BUSY_RETRY);
                None
            }
            Ok(Verdict::Busy) => {
                if !std::mem::replace(&mut open.told_busy, true) {
                    self.role.tally.tell(Event::Busy { path: shown(&open.entry.path) });
                }
                open.stage = Stage::Busy(Instant::now() + BUSY_RETRY);
                None
            }
            Err(why) => self.settle(id, Err(why)),
            Ok(Verdict::Have(kept)) => self.settle(id, Ok(outcome(kept, Outcome::Had))),
            Ok(Verdict::Made(kept)) => self.settle(id, Ok(outcome(kept, Outcome::Stored))),
            Ok(Verdict::Newer) => self.settle(id, Ok(Outcome::Newer)),
            Ok(Verdict::Would(change)) => self.settle(id, Ok(Outcome::Would(change))),
            Ok(Verdict::Want(reception)) => self.want(id, reception, place),
            Ok(Verdict::Describe(delta)) => self.describe(id, delta, place),
        }
    }

    fn want(&mut self, id: u64, reception: Reception, place: Place) -> Option<FromSink> {
        if self.is_tight && reception.has_no_room() {
            return self.settle(id, Err(Why::DiskFull));
        }
        let open = self.open.get_mut(&id)?;
        let ranges = reception.wanted().clone();
        let had = size_of(&open.entry).saturating_sub(ranges.bytes());
        open.credited.store(had, Ordering::Relaxed);
        self.role.tally.credit(had);
        open.stage = Stage::Wanted(reception, place);
        tracing::debug!(path = %open.entry.path, wanted = ranges.bytes(), of = size_of(&open.entry), "wants");
        Some(FromSink::Want { id, ranges })
    }

    fn describe(&mut self, id: u64, delta: Delta, place: Place) -> Option<FromSink> {
        let open = self.open.get_mut(&id)?;
        let (how, ranges) = delta.asks_for();
        let ranges = ranges.clone();
        tracing::debug!(path = %open.entry.path, ?how, bytes = ranges.bytes(), "compares with the older version");
        open.stage = Stage::Described(Box::new(delta), place);
        Some(FromSink::Describe { id, how, ranges })
    }

    pub(super) fn compared(
        &mut self,
        id: u64,
        compared: Compared,
        place: Place,
    ) -> Result<Option<FromSink>, End> {
        let next = match compared {
            Compared::Next(next) => next,
            Compared::Broken(received) => return self.received(id, received),
        };
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        if open.withdrawn {
            return Ok(self.settle(id, Err(Why::Withdrawn)));
        }
        Ok(match next {
            Next::Want(reception) => self.want(id, reception, place),
            Next::Describe(delta) => self.describe(id, delta, place),
            Next::Stored(kept) => self.settle(id, Ok(outcome(kept, Outcome::Stored))),
        })
    }

    pub(super) fn received(&mut self, id: u64, received: Received) -> Result<Option<FromSink>, End> {
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        Ok(match received {
            Received::Stored(kept) => self.settle(id, Ok(outcome(kept, Outcome::Stored))),
            Received::Reset if !open.withdrawn => {
                open.stage = Stage::Reset;
                None
            }
            _ if open.withdrawn => self.settle(id, Err(Why::Withdrawn)),
            Received::Failed(why) => self.settle(id, Err(why)),
            Received::Violation(what) => return Err(End::violation(what)),
            // The loop that reads the control stream reports the reason.
            Received::Lost | Received::Reset => None,
        })
    }

    /// Returns the one answer that ends an offer.
    pub(super) fn settle(&mut self, id: u64, result: Result<Outcome, Why>) -> Option<FromSink> {
        let open = self.open.remove(&id)?;
        let tally = self.role.tally.clone();
        tally.uncredit(open.credited.load(Ordering::Relaxed));
        let content = open.entry.content();
        let result = match result {
            Err(why) if self.may_wait(&why) => return Some(FromSink::Later { id }),
            Err(Why::Occupied(_)) if self.would_be_free(&open.entry) => Ok(Outcome::Would(Change::Replace)),
            result => result,
        };
        Some(match result {
            Ok(outcome) => {
                let answer = match &outcome {
                    Outcome::Stored => FromSink::Stored { id },
                    Outcome::Incomplete(reason) => {
                        FromSink::Incomplete { id, reason: printable(reason, REASON) }
                    }
                    Outcome::Newer => FromSink::Newer { id },
                    Outcome::Would(change) => FromSink::Would { id, change: *change },
                    _ => FromSink::Have { id },
                };
                if let Some(mirror) = &self.role.mirror {
                    mirror.saw(&open.entry);
                }
                tally.settled(&open.entry.path, content, outcome);
                answer
            }
            Err(why) => {
                let why = match why {
                    Why::Io(_) if self.role.look.is_gone() => Why::Gone,
                    why => why,
                };
                // One that was withdrawn or changed comes again, or the source reports that it failed.
                if !matches!(why, Why::Withdrawn | Why::Mismatch) {
                    tally.settled(&open.entry.path, content, Outcome::Failed(say(&why)));
                }
                FromSink::Failed { id, why: short(why) }
            }
        })
    }
}

pub(super) fn outcome(kept: Kept, all: Outcome) -> Outcome {
    match kept {
        Kept::All => all,
        Kept::ContentOnly(reason) => Outcome::Incomplete(reason),
    }
}

pub(super) fn size_of(entry: &Entry) -> u64 {
    match entry.kind {
        Kind::File { size, .. } => size,
        _ => 0,
    }
}

/// Shortens a reason: one that repeats a long path would not fit a message. Both sides show the path beside it.
fn short(why: Why) -> Why {
    match why {
        Why::Refused(reason) => Why::Refused(printable(&reason, REASON)),
        Why::Io(reason) => Why::Io(printable(&reason, REASON)),
        Why::Occupied(reason) => Why::Occupied(printable(&reason, REASON)),
        why => why,
    }
}
