//! Receiving one file: verify, write, and give it its name.

use super::file_system::is_border;
use super::partial::{self, Content, Partial};
use super::place::{self, why, There};
use super::state::StateDir;
use super::{orphans, ranges};
use super::{Claim, Kept, Near, Store, Target};
use crate::entry::{Mtime, Wanted, GROUP_BYTES};
use crate::wire::Why;
use bao_tree::io::sync::DecodeResponseIter;
use bao_tree::io::{BaoContentItem, DecodeError};
use cap_std::fs::Dir;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Encoded content that is arriving.
pub trait Arriving: Read {
    /// Reads at most what is at hand. `None`: nothing is, and reading would wait.
    ///
    /// # Errors
    /// Those of the reader, as for [`Read::read`].
    fn read_at_hand(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;
}

impl<R: Arriving> Arriving for &mut R {
    fn read_at_hand(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        (**self).read_at_hand(buffer)
    }
}

/// Any read of it may wait.
struct Unknown<R>(R);

impl<R: Read> Read for Unknown<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> Arriving for Unknown<R> {
    fn read_at_hand(&mut self, _: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(None)
    }
}

/// Writes verified groups before it waits for more. So groups that came together are written together, and while nothing comes,
/// nothing is in memory alone.
struct WritesBeforeItWaits<'a, 'b, R> {
    encoded: R,
    partial: &'a RefCell<&'b mut Box<Partial>>,
    /// Why it could not be written.
    failed: &'a Cell<Option<io::Error>>,
}

impl<R: Arriving> Read for WritesBeforeItWaits<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(count) = self.encoded.read_at_hand(buffer)? {
            return Ok(count);
        }
        if let Err(error) = self.partial.borrow_mut().write_out() {
            self.failed.set(Some(error));
            return Err(io::ErrorKind::Other.into());
        }
        self.encoded.read(buffer)
    }
}

/// A file that the sink requests. Holds the partial file's lock until it is dropped.
#[derive(Debug)]
pub struct Reception {
    // In this order: the files are closed before the claim lets others tidy up.
    /// None: a small file, which is written when all of it has come.
    partial: Option<Box<Partial>>,
    content: Content,
    wanted: Wanted,
    target: Box<Target>,
    state: Arc<StateDir>,
    claim: Claim,
    store: Box<Store>,
    named: bool,
    /// Bytes were copied that nothing verified.
    has_copies: bool,
}

impl Reception {
    pub(super) fn new(
        partial: Option<Partial>,
        content: Content,
        wanted: Wanted,
        (target, state, claim): (Target, Arc<StateDir>, Claim),
        store: Store,
    ) -> Self {
        let (partial, target, store) = (partial.map(Box::new), Box::new(target), Box::new(store));
        Self { partial, content, wanted, target, state, claim, store, named: false, has_copies: false }
    }

    /// Returns the missing ranges: request exactly these.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    pub(super) fn content(&self) -> Content {
        self.content
    }

    /// Returns the offered time of modification.
    pub(super) fn mtime(&self) -> Mtime {
        self.target.attributes.mtime
    }

    /// Writes content that nothing has verified yet.
    pub(super) fn put(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.partial.as_mut().ok_or_else(not_open)?.put(offset, data)
    }

    /// Returns the partial file.
    pub(super) fn file(&mut self) -> io::Result<&mut File> {
        self.partial.as_mut().map(|partial| &mut partial.file).ok_or_else(not_open)
    }

    /// Removes its partial file: nothing in it is of use.
    pub(super) fn give_up(&mut self) {
        _ = self.partial.as_ref().map(|partial| partial.remove());
        self.partial = None;
    }

    /// Returns whether the file system has less room than the request needs.
    pub(crate) fn has_no_room(&self) -> bool {
        place::room(self.claim.root()).is_some_and(|room| room < self.wanted.bytes())
    }

    /// Returns the partial file, if there is one.
    pub(super) fn part(&self) -> Option<&File> {
        self.partial.as_ref().map(|partial| &partial.file)
    }

    /// Returns whether its partial file has a name.
    #[cfg(test)]
    pub(super) fn partial_is_named(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.is_named())
    }

    /// Returns the file at the target's place, unless it is a link or worse.
    pub(super) fn older_version(&self) -> Option<File> {
        let parent = place::find(self.claim.root(), &self.target.parents).ok()??;
        let file = self.claim.root().read(&parent, &self.target.name).ok()?;
        let is_old = file.metadata().is_ok_and(|there| there.is_file() && there.len() >= GROUP_BYTES);
        is_old.then_some(file)
    }

    /// Reduces the request, since bytes were copied from the older version.
    pub(super) fn copied(&mut self, wanted: Wanted, any: bool) {
        self.wanted = wanted;
        self.has_copies |= any;
    }

    /// Receives as [`Self::receive_from`] does, from a reader of which nothing is known: each group is written as it comes.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn receive(self, encoded: impl Read, on_group: &mut dyn FnMut(u64, u64)) -> Result<Kept, Why> {
        self.receive_from(Unknown(encoded), on_group)
    }

    /// Takes the encoding of the requested ranges, writes the verified content and gives the file its final name.
    /// `on_group` is called with offset and length of each group that came in and verified, before it is written.
    /// Written content stays for the next time if something goes wrong.
    ///
    /// # Errors
    /// [`Why::Mismatch`] for content that does not hash to the offered root. An encoding that breaks off, a full disk, and a place that was
    /// taken meanwhile.
    pub fn receive_from(
        mut self,
        mut encoded: impl Arriving,
        on_group: &mut dyn FnMut(u64, u64),
    ) -> Result<Kept, Why> {
        if self.partial.is_none() && self.content.size <= GROUP_BYTES {
            let kept = self.write(&mut encoded, on_group)?;
            return self.flush(kept);
        }
        if self.partial.is_none() {
            self.open()?;
        }
        let content = self.content;
        let Some(chunks) = ranges::to_chunks(&self.wanted, content.size) else {
            return Err(Why::Io("the partial file changed under our hands".into()));
        };
        let partial = RefCell::new(self.partial.as_mut().ok_or_else(|| why("write", not_open()))?);
        let failed = Cell::new(None);
        let encoded = WritesBeforeItWaits { encoded, partial: &partial, failed: &failed };
        for item in DecodeResponseIter::new(content.root.into(), content.tree(), encoded, &chunks) {
            let item = item.map_err(|error| failed.take().map_or_else(|| undecodable(error), unwritten))?;
            let mut partial = partial.borrow_mut();
            match item {
                BaoContentItem::Parent(parent) => partial.save_parent(&parent),
                BaoContentItem::Leaf(leaf) => {
                    on_group(leaf.offset, leaf.data.len() as u64);
                    partial.save_leaf(leaf.offset, leaf.data)
                }
            }
            .map_err(unwritten)?;
        }
        self.finish()
    }

    /// Opens a file of several groups, which come one by one: what came is kept.
    fn open(&mut self) -> Result<(), Why> {
        let Target { path, attributes, .. } = &*self.target;
        let private = attributes.mode.is_some();
        let partial = Partial::open(&self.state, path, self.content, private)
            .map_err(|error| why("open the partial file", error))?;
        let busy = || Why::Io("another process is receiving it; send it again".into());
        self.partial = Some(Box::new(partial.ok_or_else(busy)?));
        Ok(())
    }

    /// Finishes a file of which everything was verified, in this run or at its beginning, under one lock: to the disk, then
    /// to its name.
    pub(super) fn finish(mut self) -> Result<Kept, Why> {
        let kept = self.complete()?;
        self.flush(kept)
    }

    fn flush(self, kept: Kept) -> Result<Kept, Why> {
        let synced = match self.part() {
            Some(file) => file.sync_all(),
            None => Err(not_open()),
        };
        let mut changed = Vec::new();
        let named = self.synced(synced)?.name(&mut Near::default(), &mut changed)?;
        named.sync(changed).map_err(|error| why("write the directory to the disk", error))?;
        Ok(named.finished(kept))
    }

    /// Verifies all of a small file, or what was requested of it, and writes it.
    pub(super) fn write(
        &mut self,
        encoded: impl Read,
        on_group: &mut dyn FnMut(u64, u64),
    ) -> Result<Kept, Why> {
        let content = self.content;
        let Some(chunks) = ranges::to_chunks(&self.wanted, content.size) else {
            return Err(Why::Io("the partial file changed under our hands".into()));
        };
        let mut groups = Vec::new();
        for item in DecodeResponseIter::new(content.root.into(), content.tree(), encoded, &chunks) {
            match (item.map_err(undecodable)?, &mut self.partial) {
                (BaoContentItem::Leaf(leaf), _) => groups.push(leaf),
                (BaoContentItem::Parent(parent), Some(partial)) => {
                    partial.save_parent(&parent).map_err(unwritten)?
                }
                (BaoContentItem::Parent(_), None) => {}
            }
        }
        let partial = match &mut self.partial {
            Some(partial) => partial,
            none => {
                let Target { path, attributes, .. } = &*self.target;
                let made = Partial::create(&self.state, path, content, attributes);
                none.insert(Box::new(made.map_err(|error| why("make the partial file", error))?))
            }
        };
        for leaf in groups {
            on_group(leaf.offset, leaf.data.len() as u64);
            partial.save_leaf(leaf.offset, leaf.data).map_err(unwritten)?;
        }
        self.complete()
    }

    /// Completes the partial file, which has all content: it gets its attributes.
    fn complete(&mut self) -> Result<Kept, Why> {
        let partial = self.partial.as_mut().ok_or_else(|| why("write", not_open()))?;
        partial.write_out().map_err(unwritten)?;
        let seen = partial.file.metadata().map_err(|error| why("look at the partial file", error))?;
        let length = seen.len();
        if length != self.content.size {
            return Err(Why::Io("the partial file was changed by somebody else; send it again".into()));
        }
        if self.has_copies
            && !partial::hash(&partial.file, length).is_ok_and(|root| root == Some(self.content.root))
        {
            // Nothing of it can be trusted.
            _ = partial.remove();
            return Err(Why::Mismatch);
        }
        self.target.attributes.apply_to(&partial.file, &seen)
    }

    /// Takes in that the content went to the disk, or failed to.
    pub(super) fn synced(self, result: io::Result<()>) -> Result<Self, Why> {
        match result {
            Ok(()) => Ok(self),
            Err(error) => {
                // The system may now believe that pages are on the disk which are not. Only new ones can be trusted.
                _ = self.partial.as_ref().map(|partial| partial.remove());
                Err(why("write to the disk", error))
            }
        }
    }

    /// Gives a file that is on the disk its name. Directories that got a new entry are added to `changed`, each once in a row.
    pub(super) fn name(mut self, near: &mut Near, changed: &mut Vec<Dir>) -> Result<Named, Why> {
        let parent = self.store.make_near(&self.target, near, changed)?;
        if !self.link(&parent)? {
            self.replace(&parent)?;
        }
        self.named = true;
        Ok(Named(self))
    }

    /// Gives a file without a name its own. False if something is there, or it has a name.
    fn link(&self, parent: &Dir) -> Result<bool, Why> {
        let Some(partial) = self.partial.as_ref().filter(|partial| !partial.is_named()) else {
            return Ok(false);
        };
        match place::writable(parent, || partial.link(parent, &self.target.name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists || is_border(&error) => Ok(false),
            other => other.map(|()| true).map_err(not_named),
        }
    }

    /// Gives the partial file its name, whatever is there, unless that is a directory.
    fn replace(&mut self, parent: &Dir) -> Result<(), Why> {
        let Target { path, name, .. } = &*self.target;
        if There::named(parent, name).is_ok_and(|there| there.is_directory) {
            return Err(self.target.is_directory());
        }
        self.store.back_up(parent, name, path).map_err(|error| why("keep a backup", error))?;
        let partial = self.partial.as_mut().ok_or_else(|| why("write", not_open()))?;
        partial.name_as_part(&self.state, path).map_err(not_named)?;
        partial.remove_tree().map_err(|error| why("remove the tree file", error))?;
        match place::writable(parent, || partial.rename(parent, name)) {
            Err(error) if is_border(&error) => self.carry_over(parent)?,
            renamed => return renamed.map_err(not_named),
        }
        let partial = self.partial.as_mut().ok_or_else(|| why("write", not_open()))?;
        place::writable(parent, || partial.rename(parent, &self.target.name)).map_err(not_named)
    }

    /// Copies the partial file to one beside its name, since a border is between them: one that no number shows, or a disk that was mounted
    /// during the job.
    fn carry_over(&mut self, parent: &Dir) -> Result<(), Why> {
        let Target { path, attributes, .. } = &*self.target;
        let state = StateDir::of(parent).map_err(not_named)?;
        let mut there = Partial::create(&state, path, self.content, attributes).map_err(not_named)?;
        let from = self.part().ok_or_else(|| why("write", not_open()))?;
        let copied = place::copy(from, &mut there.file, self.content.size);
        copied.map_err(|error| why("copy it to its file system", error))?;
        attributes.apply(&there.file)?;
        there.file.sync_all().map_err(|error| why("write to the disk", error))?;
        there.name_as_part(&state, path).map_err(not_named)?;
        if let Some(partial) = self.partial.replace(Box::new(there)) {
            // All of it is in the other, which is on the disk.
            _ = partial.remove();
        }
        self.state = Arc::new(state);
        Ok(())
    }
}

/// A file that has its name. Whether its directory is on the disk is another matter.
pub(super) struct Named(Reception);

impl Named {
    /// Returns when what was done to these directories is on the disk.
    pub(super) fn sync(&self, changed: Vec<Dir>) -> io::Result<()> {
        self.0.claim.sync(changed)
    }

    /// Ends the reception: all of it is on the disk.
    pub(super) fn finished(self, kept: Kept) -> Kept {
        let Named(Reception { partial, claim, target, state, .. }) = &self;
        if claim.take_older() {
            // Whether they are gone does not matter to this file.
            _ = partial.as_ref().map(|partial| partial.remove_older(state, &target.path));
        }
        kept.noting(&target.note)
    }
}

fn not_open() -> io::Error {
    io::Error::other("there is no partial file")
}

impl Drop for Reception {
    fn drop(&mut self) {
        if self.named {
            return;
        }
        let Some(partial) = self.partial.as_mut().filter(|partial| partial.is_named()) else { return };
        // Verified groups stay as far as they can be written.
        _ = partial.write_out();
        // Nothing came: leave nothing.
        match partial.is_empty().unwrap_or(false) {
            true => _ = partial.remove(),
            false => {
                self.claim.left_behind();
                orphans::left_one_more(self.claim.inner(), &self.state);
            }
        }
    }
}

fn unwritten(error: io::Error) -> Why {
    why("write", error)
}

fn not_named(error: io::Error) -> Why {
    why("give the file its name", error)
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
