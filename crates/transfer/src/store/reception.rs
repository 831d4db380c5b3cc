//! Receiving one file: verify, write, and give it its name.

use super::partial::{self, Content, Partial};
use super::place::{self, why, There};
use super::ranges;
use super::{Claim, Kept, Store, Target};
use crate::entry::{Wanted, GROUP_BYTES};
use crate::wire::Why;
use bao_tree::io::sync::DecodeResponseIter;
use bao_tree::io::{BaoContentItem, DecodeError};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;
use std::fs::File;
use std::io::Read;

/// A file that the sink requests. Holds the partial file's lock until it is dropped.
#[derive(Debug)]
pub struct Reception {
    // In this order: the files are closed before the claim lets others tidy up.
    partial: Box<Partial>,
    wanted: Wanted,
    target: Box<Target>,
    claim: Claim,
    store: Store,
    named: bool,
    /// Bytes were copied that nothing verified.
    has_copies: bool,
}

impl Reception {
    pub(super) fn new(partial: Partial, wanted: Wanted, target: Target, claim: Claim, store: Store) -> Self {
        Self {
            partial: Box::new(partial),
            wanted,
            target: Box::new(target),
            claim,
            store,
            named: false,
            has_copies: false,
        }
    }

    /// The missing ranges: request exactly these.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    pub(super) fn content(&self) -> Content {
        self.partial.content
    }

    /// Writes content that nothing has verified yet.
    pub(super) fn put(&mut self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.partial.put(offset, data)
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.partial.file
    }

    /// The file at the target's place, unless it is a link or worse.
    pub(super) fn older_version(&self) -> Option<File> {
        let parent = place::find(self.claim.root(), &self.target.parents).ok()??;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = parent.open_with(&self.target.name, &options).ok()?;
        file.metadata()
            .is_ok_and(|there| there.is_file() && there.len() >= GROUP_BYTES)
            .then(|| file.into_std())
    }

    /// Reduces the request, since bytes were copied from the older version.
    pub(super) fn copied(&mut self, wanted: Wanted, any: bool) {
        self.wanted = wanted;
        self.has_copies |= any;
    }

    /// Takes the encoding of the requested ranges, writes the verified content and gives the file its final name.
    /// `on_group` is called with offset and length of each group that came in and verified, before it is written.
    /// Written content stays for the next time if something goes wrong.
    pub fn receive(mut self, encoded: impl Read, on_group: &mut dyn FnMut(u64, u64)) -> Result<Kept, Why> {
        let content = self.partial.content;
        let Some(chunks) = ranges::to_chunks(&self.wanted, content.size) else {
            return Err(Why::Io("the partial file changed under our hands".into()));
        };
        for item in DecodeResponseIter::new(content.root.into(), content.tree(), encoded, &chunks) {
            match item.map_err(undecodable)? {
                BaoContentItem::Parent(parent) => {
                    self.partial.save_parent(&parent).map_err(|error| why("write", error))?
                }
                BaoContentItem::Leaf(leaf) => {
                    on_group(leaf.offset, leaf.data.len() as u64);
                    self.partial.save_leaf(leaf.offset, &leaf.data).map_err(|error| why("write", error))?
                }
            }
        }
        self.finish()
    }

    /// Everything was verified, in this run or at its beginning, under one lock: to the disk, then to its name.
    pub(super) fn finish(mut self) -> Result<Kept, Why> {
        let file = &self.partial.file;
        let seen = file.metadata().map_err(|error| why("look at the partial file", error))?;
        let length = seen.len();
        if length != self.partial.content.size {
            return Err(Why::Io("the partial file was changed by somebody else; send it again".into()));
        }
        if self.has_copies
            && !partial::hash(file, length).is_ok_and(|root| root == Some(self.partial.content.root))
        {
            // Nothing of it can be trusted.
            _ = self.partial.remove();
            return Err(Why::Mismatch);
        }
        let kept = self.target.attributes.apply_to(file, &seen)?;
        if let Err(error) = file.sync_all() {
            // The system may now believe that pages are on the disk which are not. Only new ones can be trusted.
            _ = self.partial.remove();
            return Err(why("write to the disk", error));
        }
        let mut changed = Vec::new();
        let parent = self.store.make(&self.target.parents, &mut changed)?;
        if There::named(&parent, &self.target.name).is_ok_and(|there| there.is_directory) {
            return Err(self.target.is_directory());
        }
        self.store
            .back_up(&parent, &self.target.name, &self.target.path)
            .map_err(|error| why("keep a backup", error))?;
        self.partial.remove_tree().map_err(|error| why("remove the tree file", error))?;
        place::writable(&parent, || self.partial.rename(&parent, &self.target.name))
            .map_err(|error| why("give the file its name", error))?;
        self.named = true;
        changed.push(parent);
        self.claim.sync(changed).map_err(|error| why("write the directory to the disk", error))?;
        if self.claim.take_older() {
            // Whether they are gone does not matter to this file.
            _ = self.partial.remove_older(&self.target.path);
        }
        Ok(kept.noting(&self.target.note))
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        if self.named {
            return;
        }
        // Nothing came: leave nothing.
        match self.partial.is_empty().unwrap_or(false) {
            true => _ = self.partial.remove(),
            false => self.claim.left_behind(),
        }
    }
}

fn undecodable(error: DecodeError) -> Why {
    match error {
        DecodeError::ParentNotFound(_) | DecodeError::LeafNotFound(_) => {
            Why::Io("the connection ended before the file was complete".into())
        }
        DecodeError::ParentHashMismatch(_) | DecodeError::LeafHashMismatch(_) => Why::Mismatch,
        DecodeError::Io(error) => Why::Io(format!("the connection ended: {error}")),
    }
}
