//! Files with several names here that are files of their own at the source.
//!
//! # Model
//! An earlier job may have linked them, or a program that removes duplicates. While both have the same attributes that does no harm.
//! Otherwise the first that is looked at keeps the inode, and the other becomes a copy. Without that each would get the other's mode
//! and time in turns.
//!
//! # Known bad case
//! The other name may be outside of what is sent: the file gets the attributes, too.

use super::partial::{self, Content, Partial};
use super::place::{self, why, There};
use super::reception::Reception;
use super::{Store, Target, Verdict};
use crate::entry::{EntryPath, Wanted};
use crate::wire::Why;
use afteryou_base::lock::EvenPoisoned;
use cap_std::fs::Dir;
use std::collections::HashMap;
use std::fs::File;
use std::sync::Mutex;

/// The path that has taken an inode.
#[derive(Debug)]
struct Holder {
    path: blake3::Hash,
    /// None: nobody else may have it.
    attributes: Option<blake3::Hash>,
}

/// Hashes attributes, which may have many bytes, and there may be many.
fn hash(attributes: &place::Attributes) -> blake3::Hash {
    blake3::hash(format!("{attributes:?}").as_bytes())
}

/// Inodes with several names, by device and number.
#[derive(Debug, Default)]
pub(super) struct Taken(Mutex<HashMap<(u64, u64), Holder>>);

impl Taken {
    /// Returns whether another entry holds the inode, and this one needs its own. Otherwise it may have it.
    pub(super) fn by_another(&self, target: &Target, there: &There) -> bool {
        let Some(identity) = there.identity.filter(|_| there.names > 1) else { return false };
        let mut taken = self.0.lock().even_poisoned();
        let (path, attributes) = (blake3::hash(&target.path.0), Some(hash(&target.attributes)));
        let held = taken.entry(identity).or_insert(Holder { path, attributes });
        held.path != path && held.attributes != attributes
    }

    /// Returns whether this job has given the inode to another entry.
    fn is_renamed(&self, there: &There) -> bool {
        let taken = self.0.lock().even_poisoned();
        let held = there.identity.and_then(|identity| taken.get(&identity));
        held.is_some_and(|held| held.attributes.is_none())
    }

    /// Notes that this entry has got the inode of a file that may be another one at the source.
    pub(super) fn take(&self, path: &EntryPath, identity: (u64, u64)) {
        let holder = Holder { path: blake3::hash(&path.0), attributes: None };
        self.0.lock().even_poisoned().insert(identity, holder);
    }
}

impl Store {
    /// Returns the verdict on a file of the right size, if it is the one that is offered. Then it gets its mode and time,
    /// and is parted from another file. An unreadable file counts as missing. Otherwise gives the target back.
    pub(super) fn found(
        &self,
        parent: &Dir,
        target: Target,
        content: Content,
    ) -> Result<Result<Verdict, Target>, Why> {
        let Ok(file) = self.inner.root.read(parent, &target.name) else { return Ok(Err(target)) };
        if !partial::hash(&file, content.size).is_ok_and(|root| root == Some(content.root)) {
            return Ok(Err(target));
        }
        self.had(parent, &file, target, content).map(Ok)
    }

    /// Returns the verdict on a file that is the one that is offered.
    pub(super) fn had(
        &self,
        parent: &Dir,
        file: &File,
        target: Target,
        content: Content,
    ) -> Result<Verdict, Why> {
        let there =
            There::named(parent, &target.name).map_err(|error| why("look at what is there", error))?;
        if self.taken.by_another(&target, &there) {
            let is_renamed = self.taken.is_renamed(&there);
            return Ok(match self.copied(file, target, content)? {
                // It is where it was.
                Verdict::Made(kept) if is_renamed => Verdict::Have(kept),
                verdict => verdict,
            });
        }
        let kept = target.attributes.apply(file)?;
        Ok(Verdict::Have(kept.noting(&target.note)))
    }

    /// Makes a file of its own with the content of another.
    pub(super) fn copied(&self, from: &File, target: Target, content: Content) -> Result<Verdict, Why> {
        let private = target.attributes.mode.is_some();
        let state = self.state_of(&target)?;
        let partial = Partial::open(&state, &target.path, content, private)
            .map_err(|error| why("open the partial file", error))?;
        let Some(partial) = partial else { return Ok(Verdict::Busy) };
        let claim = self.claim(&target.path);
        let mut reception =
            Reception::new(Some(partial), content, Wanted::default(), (target, state, claim), self.clone());
        let copied = reception.file().and_then(|file| place::copy(from, file, content.size));
        if let Err(error) = copied {
            // The copied part takes room, and nothing verifies it.
            reception.give_up();
            return Err(why("copy a file", error));
        }
        reception.copied(Wanted::default(), true);
        reception.finish().map(Verdict::Made)
    }
}
