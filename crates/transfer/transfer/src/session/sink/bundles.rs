//! Small files that travel together, and are stored together.
//!
//! # Model
//! A bundle is collected whole, so nothing waits for the network where files are written. Arrived files are stored in batches: while
//! one goes to the disk, the next grows. Those that came before the connection of their bundle broke are stored, too.
//!
//! # Bounds
//! A bundle has at most [`MAX_BUNDLE`] bytes, and its files have places in the [room](crate::session::room).

use super::answers::outcome;
use super::{Done, Session, Stage};
use crate::event::Outcome;
use crate::session::intake::{OnGroup, Received};
use crate::session::room::Place;
use crate::session::End;
use crate::store::{self, Arrived, Kept, Reception};
use crate::wire::{FromSink, Why, MAX_BUNDLE};
use bytes::{Buf, Bytes, BytesMut};
use quinn::RecvStream;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Batches that are stored at a time.
const STORERS: usize = 2;
/// Files of a batch: while one goes to the disk, as many have places to gather.
const BATCH: usize = 192;

/// A bundle, or the beginning of one.
pub(super) struct Bundle {
    bytes: Bytes,
    /// More came than may.
    is_too_long: bool,
    /// All of it came.
    is_whole: bool,
}

/// Files that have arrived and are not stored.
#[derive(Default)]
pub(super) struct Bundles {
    arrived: Vec<Waiting>,
    storing: usize,
}

struct Waiting {
    id: u64,
    reception: Reception,
    place: Place,
    encoded: Bytes,
    on_group: OnGroup,
}

/// Reads a bundle to its end.
pub(super) async fn collect(mut stream: RecvStream) -> Bundle {
    let mut bytes = BytesMut::new();
    let is_whole = loop {
        match stream.read_chunk(usize::MAX, true).await {
            Ok(Some(chunk)) if bytes.len() + chunk.bytes.len() > MAX_BUNDLE => {
                return Bundle { bytes: bytes.freeze(), is_too_long: true, is_whole: false };
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk.bytes),
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    Bundle { bytes: bytes.freeze(), is_too_long: false, is_whole }
}

impl Session {
    /// Takes in a bundle: its files wait to be stored.
    pub(super) fn bundled(&mut self, bundle: Bundle) -> Result<(), End> {
        if bundle.is_too_long {
            return Err(End::violation("a bundle of small files is too long"));
        }
        let mut bytes = bundle.bytes;
        while !bytes.is_empty() {
            let header = (bytes.try_get_u64(), bytes.try_get_u32());
            let whole = match header {
                (Ok(id), Ok(length)) if length as usize <= bytes.len() => Some((id, length as usize)),
                _ => None,
            };
            match whole {
                Some((id, length)) => self.arrived(id, bytes.split_to(length))?,
                None if bundle.is_whole => return Err(End::violation("a bundle ends inside a file")),
                // The connection broke, and reports that itself.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn arrived(&mut self, id: u64, encoded: Bytes) -> Result<(), End> {
        let unwanted = || End::violation("a bundle has a file that was not requested");
        let on_group = self.on_group(id);
        let Some(open) = self.open.get_mut(&id) else {
            // Settled since.
            return match self.last_id.is_some_and(|last| id <= last) {
                true => Ok(()),
                false => Err(unwanted()),
            };
        };
        let Stage::Wanted(reception, place) = std::mem::replace(&mut open.stage, Stage::Receiving) else {
            return Err(unwanted());
        };
        self.bundles.arrived.push(Waiting { id, reception, place, encoded, on_group });
        Ok(())
    }

    /// Stores what has arrived, if a thread is free.
    pub(super) fn store_next(&mut self) {
        while self.bundles.storing < STORERS && !self.bundles.arrived.is_empty() {
            let count = self.bundles.arrived.len().min(BATCH);
            let batch: Vec<_> = self.bundles.arrived.drain(..count).collect();
            self.bundles.storing += 1;
            self.tasks.spawn_blocking(move || Done::Stored(store(batch)));
        }
    }

    /// Returns the one answer about a file of a batch.
    pub(super) fn stored(&mut self, id: u64, result: Result<Kept, Why>) -> Option<FromSink> {
        let withdrawn = self.open.get(&id)?.withdrawn;
        match result {
            Ok(kept) => self.settle(id, Ok(outcome(kept, Outcome::Stored))),
            Err(_) if withdrawn => self.settle(id, Err(Why::Withdrawn)),
            Err(why) => self.received(id, Received::Failed(why)).ok().flatten(),
        }
    }

    /// Notes that a thread is free for the next batch.
    pub(super) fn batch_stored(&mut self) {
        self.bundles.storing -= 1;
    }
}

/// Stores a batch; a mistake of ours costs the batch alone.
fn store(batch: Vec<Waiting>) -> Vec<(u64, Result<Kept, Why>)> {
    let mut places = Vec::new();
    let (ids, arrived): (Vec<_>, Vec<_>) = batch
        .into_iter()
        .map(|Waiting { id, reception, place, encoded, on_group }| {
            places.push(place);
            (id, Arrived { reception, encoded, on_group })
        })
        .unzip();
    let stored = catch_unwind(AssertUnwindSafe(|| store::keep_all(arrived))).unwrap_or_else(|_| {
        tracing::error!("storing small files failed: a mistake in afteryou");
        let failed = || Err(Why::Io("storing it failed; see the log of the receiving side".into()));
        ids.iter().map(|_| failed()).collect()
    });
    ids.into_iter().zip(stored).collect()
}
