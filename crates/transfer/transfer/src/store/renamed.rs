//! Files that have another name at the source by now.
//!
//! # Model
//! When the first large file comes that is not at its place, the store's files are listed by size, once in a job. Those of the
//! same size are hashed until one is the file that is offered, and that one is copied. In a job that removes what was not sent it gets the
//! new name beside its own, which goes at the end: it is renamed. Small files are not looked for: to list them costs more than
//! to send them.
//!
//! A rename changes no time, so files with the offered time come first, however many there are. Hashes are kept by root, so each file is
//! read once in a job, and an offer costs no more with many files of one size than with few.
//!
//! An entry with the name of the directory of partial files is left out.
//!
//! # Bounds
//! The list takes at most [`MOST`] bytes, and [`TRIES`] files with another time are hashed for an offer.

use super::descent::Descent;
use super::partial::{self, Content};
use super::place::There;
use super::reception::Reception;
use super::root::Root;
use super::{place, Claim, Kept, Store, Target, Verdict, STATE};
use crate::entry::{bytes, EntryPath, Mtime, Wanted};
use crate::wire::{Why, MAX_PATH};
use afteryou_base::lock::EvenPoisoned;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::sync::Mutex;

/// Smallest file that is looked for, bytes.
const LEAST: u64 = 1024 * 1024;
/// Bytes of the list: 70 000 files with paths of 100 bytes.
const MOST: usize = 16 * 1024 * 1024;
/// Bytes of an entry beside its path, once it was read.
const ENTRY: usize = 128;
/// Files of the same size and another time that are hashed for an offer.
const TRIES: usize = 4;

/// Files by their sizes.
pub(super) type BySize = HashMap<u64, Mutex<Alike>>;

/// Files of one size.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Those that were not read so far, by their time.
    unread: BTreeMap<(i64, u32), Vec<EntryPath>>,
    /// The others, by their root.
    read: HashMap<[u8; 32], Vec<EntryPath>>,
}

impl Alike {
    fn add(&mut self, path: EntryPath, mtime: Mtime) {
        self.unread.entry(time(mtime)).or_default().push(path);
    }

    /// Takes one that was not read, with this time or any.
    fn next(&mut self, time: Option<(i64, u32)>) -> Option<EntryPath> {
        let time = time.or_else(|| self.unread.keys().next().copied())?;
        let paths = self.unread.get_mut(&time)?;
        let path = paths.pop();
        if paths.is_empty() {
            self.unread.remove(&time);
        }
        path
    }

    /// Returns the files with this root. Files are read by `root` until there is one.
    fn with(
        &mut self,
        wanted: [u8; 32],
        mtime: Mtime,
        root: impl Fn(&EntryPath) -> Option<[u8; 32]>,
    ) -> Vec<EntryPath> {
        let mut tries = TRIES;
        while !self.read.contains_key(&wanted) {
            let next = self.next(Some(time(mtime))).or_else(|| {
                tries = tries.checked_sub(1)?;
                self.next(None)
            });
            let Some(path) = next else { break };
            if let Some(root) = root(&path) {
                self.read.entry(root).or_default().push(path);
            }
        }
        self.read.get(&wanted).cloned().unwrap_or_default()
    }
}

fn time(mtime: Mtime) -> (i64, u32) {
    (mtime.seconds, mtime.nanos)
}

impl Store {
    /// Fills the partial file from a file with the same content, if the store has one.
    pub(super) fn copy_renamed(&self, reception: &mut Reception) -> Result<bool, Why> {
        let content = reception.content();
        let mtime = reception.mtime();
        let same = self.same_content(content, mtime).into_iter().find_map(|path| {
            let (file, there) = self.open_file(&path)?;
            (self.root_of(&file, &there) == Some(content.root)).then_some((path, file))
        });
        let Some((path, file)) = same else { return Ok(false) };
        tracing::debug!(%path, "the same content lies here under another name");
        let copied = reception.file().and_then(|to| place::copy(&file, to, content.size));
        if let Err(error) = copied {
            // What was copied takes room, and nothing verifies it.
            reception.give_up();
            return Err(place::why("copy a file", error));
        }
        reception.copied(Wanted::default(), true);
        Ok(true)
    }

    /// Links a renamed file. In a job that removes what was not sent, it gives a file with the same content and attributes
    /// this name, too, if its own was not sent so far. That costs neither time nor room. Its old name goes at the end. If
    /// that is sent after all, the two are parted.
    pub(super) fn link_renamed(
        &self,
        target: &Target,
        content: Content,
        claim: &Claim,
    ) -> Result<Option<Verdict>, Why> {
        if !self.wishes.delete || self.wishes.backup.is_some() || target.attributes.extras.is_some() {
            return Ok(None);
        }
        for path in self.same_content(content, target.attributes.mtime) {
            let has_attributes =
                self.open_file(&path).is_some_and(|(_, there)| there.has(&target.attributes));
            if !has_attributes || self.seen().has_settled(&path) {
                continue;
            }
            let Some(first) = self.first(&path, content)? else { continue };
            let mut changed = Vec::new();
            let parent = self.make(&target.parents, Some(&mut changed))?;
            if self.link_at_its_place(&first, target, content, &parent).is_err() {
                continue;
            }
            tracing::debug!(%path, "it is renamed here");
            self.roots.linked(&first);
            self.taken.take(&target.path, first.identity);
            changed.push(parent);
            claim.sync(changed).map_err(|error| place::why("write the directory to the disk", error))?;
            return Ok(Some(Verdict::Made(Kept::All.noting(&target.note))));
        }
        Ok(None)
    }

    /// Returns the large files here that had this content when they were read.
    fn same_content(&self, content: Content, mtime: Mtime) -> Vec<EntryPath> {
        if content.size < LEAST {
            return Vec::new();
        }
        let Some(alike) = self.by_size.get_or_init(|| list(&self.inner.root)).get(&content.size) else {
            return Vec::new();
        };
        // Locked while they are read, so that nobody reads them beside.
        let mut alike = alike.lock().even_poisoned();
        alike.with(content.root, mtime, |path| {
            let (file, there) = self.open_file(path)?;
            (there.bytes == content.size).then(|| self.root_of(&file, &there))?
        })
    }

    /// Returns the root of a file, which is not read again while its inode stays as it is.
    fn root_of(&self, file: &File, there: &There) -> Option<[u8; 32]> {
        match there.identity {
            Some(identity) => self.roots.root(file, identity, there.bytes),
            None => partial::hash(file, there.bytes).ok()?,
        }
    }

    fn open_file(&self, path: &EntryPath) -> Option<(File, There)> {
        let mut steps = super::components(path).ok()?;
        let name = steps.pop()?;
        let parent = place::find(&self.inner.root, &steps).ok()??;
        let file = self.inner.root.read(&parent, &name).ok()?;
        Some((file, There::named(&parent, &name).ok()?))
    }
}

/// Lists the large files below a directory; what cannot be read is not there.
fn list(root: &Root) -> BySize {
    let mut found = BySize::new();
    _ = add_all(root, &mut found);
    found
}

/// Adds all with one open directory at a time, however many there are. An error if the way through them is lost.
fn add_all(root: &Root, found: &mut BySize) -> io::Result<()> {
    let mut way = Descent::below(root)?;
    let (mut levels, mut room) = (vec![(way.names()?, EntryPath::default())], MOST);
    while let Some((names, path)) = levels.last_mut() {
        let Some(name) = names.next() else {
            levels.pop();
            if !levels.is_empty() {
                way.leave()?;
            }
            continue;
        };
        let is_state = bytes(&name).eq_ignore_ascii_case(STATE.as_bytes());
        let path = path.join(&bytes(&name));
        let Ok(there) = There::named(way.dir(), &name) else { continue };
        if there.is_directory && path.0.len() <= MAX_PATH && !is_state {
            if way.enter(&name, &there).is_ok() {
                levels.push((way.names().unwrap_or_default(), path));
            }
        } else if there.is_file && there.bytes >= LEAST {
            let Some(left) = room.checked_sub(path.0.len() + ENTRY) else { break };
            room = left;
            let alike = found.entry(there.bytes).or_default();
            alike.get_mut().even_poisoned().add(path, there.mtime);
        }
    }
    Ok(())
}
