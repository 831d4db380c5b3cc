//! The sink's disk: what is there, what is missing, and how it gets there without ever leaving the directory.
//!
//! # Rules
//! - A final name only ever holds a complete, verified file that was on the disk before it got the name.
//! - Content that was verified and written is not requested again, whatever happened in between (see `partial`).
//! - Nothing is read, written or changed outside the directory, or through a symbolic link inside it (see `place`).
//!   `path` has the names that a peer may use at all.
//! - An entry whose mode or time cannot be set, or that cannot be a hard link, is stored all the same, and its answer reports it ([`Kept`]).
//!
//! # Older versions
//! Common content of an older version of a file, or of a file with the same root under another name, is copied (see
//! `delta`, `renamed`). The whole file is hashed again before it gets its name.
//!
//! # Directories
//! A directory's mode and time are set when its entry comes. Entries below it may still be under way then: their arrival
//! would change the time, and the mode might forbid it. So they are set when the last reception below it is over. The
//! caller's part: consider a directory only after every entry below it that was offered before it. Attributes that cannot be
//! set that late go unreported.
//!
//! # Small files
//! A small file that is not here yet is written when all of it has come, many of them together (see `small`).
//!
//! # Not implemented
//! Directories and links are not forced to the disk one by one; a power cut may lose them, and the next run makes them
//! anew.

mod backup;
mod burst;
mod claim;
mod clear;
mod delta;
mod descent;
mod extras;
mod file_system;
mod hard_link;
mod link;
pub(crate) mod mirror;
mod names;
mod near;
mod orphans;
mod partial;
mod path;
mod place;
mod preview;
pub(crate) mod ranges;
mod reception;
mod renamed;
mod root;
mod shared;
mod small;
mod state;
mod sync;
mod times;
mod unnamed;
mod valid;

use crate::accounts::Accounts;
use crate::entry::{Entry, EntryPath, Kind, Mtime};
use crate::error::{is_out_of_descriptors, Error};
use crate::extras::Extras;
use crate::inside::{self, Naming};
use crate::named::{self, Named};
use crate::wire::{Change, Why, Wishes, SMALL};
use afteryou_base::lock::EvenPoisoned;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use claim::{Active, Claim};
pub use delta::{Delta, Next};
pub(crate) use names::are_ours;
pub use near::Near;
pub use orphans::Abandoned;
use partial::{Content, Partial};
pub(crate) use path::{components, link_stays_inside, STATE};
use place::{refused, why, Attributes, There};
pub use reception::{Arriving, Reception};
use renamed::BySize;
use root::{Root, RootUse};
pub(crate) use small::{keep_all, with_whole, Arrived};
pub(crate) use state::lock;
use state::States;
use std::collections::HashSet;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::SystemTime;
use std::{fmt, io};
use sync::Directories;

/// How a store behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StoreOptions {
    /// The permissions of jobs.
    pub allow: Allow,
}

/// The permissions of a job beyond storing files and replacing those of the same name. Nothing, unless the sink's user
/// allows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allow {
    /// Remove what was not sent, and learn its names.
    pub delete: bool,
    /// Keep what is replaced or removed in a directory of the job's choice.
    pub backup: bool,
    /// Make links that lead out of the directory. Nothing is ever stored through them.
    pub links: bool,
    /// Give what is stored to other users and groups.
    pub owner: bool,
    /// Set extended attributes of the namespace `user`.
    pub xattrs: bool,
    /// Set access lists.
    pub acls: bool,
}

impl Allow {
    /// Allows everything: the sink's user is the one who asks.
    pub fn all() -> Self {
        Self { delete: true, backup: true, links: true, owner: true, xattrs: true, acls: true }
    }
}

/// Where a sink stores. Cheap to clone; may be used from many threads.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
    home: Arc<Home>,
    wishes: Arc<Wishes>,
    /// Its files, listed when a job needs them.
    by_size: Arc<OnceLock<BySize>>,
    /// The roots of files with several names.
    roots: Arc<hard_link::Roots>,
    accounts: Arc<Accounts>,
    /// Hashes of directories that were made for what is in them, and were not offered yet: [`MADE`] at most.
    made: Arc<Mutex<Made>>,
    /// Which entries have taken inodes with several names.
    taken: Arc<shared::Taken>,
    /// The entries that the job has settled, if it removes the rest.
    seen: Arc<Mutex<mirror::Seen>>,
}

/// Directories that a job made before they were offered. A further one is reported as one that was there.
const MADE: usize = 64 * 1024;

/// Hashes of their paths, with keys that no peer has.
#[derive(Debug, Default)]
struct Made {
    /// While it is there, a job runs.
    _job: Option<Arc<()>>,
    hasher: RandomState,
    paths: HashSet<u64>,
}

impl Made {
    fn add(&mut self, path: &[u8]) {
        if self.paths.len() < MADE {
            self.paths.insert(self.hasher.hash_one(path));
        }
    }

    /// Returns `true` once if it was added.
    fn take(&mut self, path: &[u8]) -> bool {
        self.paths.remove(&self.hasher.hash_one(path))
    }
}

/// The sink's answer to an entry.
#[derive(Debug)]
pub enum Verdict {
    /// It is there.
    Have(Kept),
    /// It was made, without any content from the source.
    Made(Kept),
    /// Another session is receiving the same file here: ask again in a second.
    Busy,
    /// These ranges are requested.
    Want(Reception),
    /// An older version exists, parts of which may do: a description is requested first.
    Describe(Delta),
    /// The existing file is newer, and the job leaves such files alone.
    Newer,
    /// The job only looks: this is what it would do.
    Would(Change),
}

/// How much of an entry is at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All that was offered.
    All,
    /// Its content, and what differs from the source: a mode or time that could not be set, a copy instead of a link.
    ContentOnly(String),
}

/// The directory by its name, for the jobs to come.
#[derive(Debug)]
struct Home {
    named: Named,
    allow: Allow,
    /// Shared by the jobs in one directory.
    current: Mutex<Arc<Inner>>,
    /// Each job has a copy.
    jobs: Arc<()>,
}

impl Home {
    /// Returns the directory that was opened last.
    fn opened(&self) -> Arc<Inner> {
        self.current.lock().even_poisoned().clone()
    }

    /// Returns the directory to which the name leads now, for a job that begins.
    fn for_job(&self) -> Result<(Arc<Inner>, Arc<()>), Error> {
        let mut current = self.current.lock().even_poisoned();
        let root = self.named.open().map_err(|error| match error {
            Error::File { source, .. } if is_out_of_descriptors(&source) => Error::TooManyFiles,
            error => error,
        })?;
        if !named::is_same(&root, &current.root) {
            tracing::info!("another directory has the name of the receiving one now");
            *current = Arc::new(Inner::open(root, "the receiving directory")?);
        }
        if Arc::strong_count(&self.jobs) == 1 {
            current.tidy(SystemTime::now());
        }
        Ok((current.clone(), self.jobs.clone()))
    }
}

/// An open directory.
struct Inner {
    root: Arc<Root>,
    /// Where partial files are.
    states: States,
    directories: Directories,
    active: Mutex<Active>,
}

impl Inner {
    fn open(root: Dir, shown: &str) -> Result<Self, Error> {
        let failed = |doing| move |source| Error::File { doing, path: shown.to_owned(), source };
        // Better now than when the first file has travelled.
        probe(&root).map_err(failed("write to"))?;
        let root = Root::open(root).map_err(failed("open"))?;
        let bases = match root.open_dir_nofollow(STATE) {
            Ok(state) => names::bases(&state).map_err(failed("open"))?,
            Err(_) => Vec::new(),
        };
        let mut active = Active::default();
        active.left_earlier(&bases);
        let states = States::of(&root).map_err(failed("open"))?;
        let inner = Self { root, states, directories: Directories::default(), active: Mutex::new(active) };
        inner.tidy(SystemTime::now());
        Ok(inner)
    }

    fn active(&self) -> MutexGuard<'_, Active> {
        self.active.lock().even_poisoned()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Mode, time and extras as they are offered.
type Offered<'a> = (Option<u32>, Mtime, Option<&'a Extras>);

/// Where an entry goes and what it gets.
#[derive(Clone, Debug)]
struct Target {
    path: EntryPath,
    parents: Vec<OsString>,
    name: OsString,
    attributes: Attributes,
    /// A remark of the answer: a difference from the source.
    note: Option<String>,
}

impl Target {
    fn is_too_large(&self) -> Why {
        refused(&self.path, "no file is that large")
    }

    fn is_directory(&self) -> Why {
        Why::Occupied(format!("\"{}\" is a directory here; remove it or send to another place", self.path))
    }
}

impl Store {
    /// Opens a store below `dir`, which is made if it is not there.
    ///
    /// # Errors
    /// A directory that cannot be made, opened or written, and partial files in it that cannot be listed.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self, Error> {
        let failed = |source| Error::File { doing: "open", path: dir.display().to_string(), source };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let (named, root) = Named::open_first(dir, "receiving").map_err(failed)?;
        let inner = Arc::new(Inner::open(root, &dir.display().to_string())?);
        let home =
            Home { named, allow: options.allow, current: Mutex::new(inner.clone()), jobs: Arc::default() };
        Ok(Self {
            inner,
            home: Arc::new(home),
            wishes: Arc::default(),
            by_size: Arc::default(),
            roots: Arc::default(),
            accounts: Arc::default(),
            made: Arc::default(),
            taken: Arc::default(),
            seen: Arc::default(),
        })
    }

    /// Returns the store as a job asks for it, in the directory to which its name leads now.
    ///
    /// # Errors
    /// Requests that the store does not allow; a directory that is gone.
    pub fn for_job(&self, wishes: Wishes) -> Result<Self, Error> {
        self.allows(&wishes).map_err(Error::Paths)?;
        let (inner, job) = self.home.for_job()?;
        let store = Self {
            inner,
            home: self.home.clone(),
            wishes: Arc::new(wishes),
            by_size: Arc::default(),
            roots: Arc::default(),
            accounts: self.accounts.clone(),
            made: Arc::new(Mutex::new(Made { _job: Some(job), ..Made::default() })),
            taken: Arc::default(),
            seen: Arc::default(),
        };
        if let Some(directory) = &store.wishes.backup {
            store.check_backups(directory).map_err(Error::Paths)?;
        }
        Ok(store)
    }

    /// Returns the names of the directory and those above it for a job, see [`crate::inside`].
    pub(crate) fn whereabouts(&self, job: &[u8; 16]) -> Vec<inside::Token> {
        Naming::of(job).map(|naming| naming.tokens(&self.inner.root)).unwrap_or_default()
    }

    /// Returns whether the directory was removed since the job began.
    pub(crate) fn is_gone(&self) -> bool {
        named::is_removed(&self.inner.root)
    }

    /// Refuses requests that the sink's user does not allow.
    pub(crate) fn allows(&self, wishes: &Wishes) -> Result<(), String> {
        let Allow { delete, backup, links, owner, xattrs, acls } = self.home.allow;
        let refused = |what, option| {
            Err(format!("the receiver does not let a sender {what}: start it with `receive {option}`"))
        };
        if wishes.delete && !delete {
            return refused("delete files", "--allow-delete");
        }
        if wishes.links_as_is && !links {
            return refused("make links that point outside", "--allow-links");
        }
        if wishes.keep.owner.is_some() && !owner {
            return refused("choose owners", "--allow-owner");
        }
        if wishes.keep.xattrs && !xattrs {
            return refused("set extended attributes", "--allow-xattrs");
        }
        if wishes.keep.acls && !acls {
            return refused("set access lists", "--allow-acls");
        }
        if wishes.keep.owner.is_some() && !extras::may_give_away() {
            return Err(
                "the receiver may not give files to other users: run it as root, or leave out --owner".into(),
            );
        }
        if let Some(directory) = &wishes.backup {
            if !backup {
                return refused("choose a backup directory", "--allow-backup");
            }
            components(directory).map_err(|reason| format!("\"{directory}\" is refused: {reason}"))?;
        }
        Ok(())
    }

    fn target(&self, path: &EntryPath, attributes: Offered<'_>) -> Result<Target, Why> {
        let refused = |reason| refused(path, reason);
        let mut parents = self.steps(path).map_err(refused)?;
        let Some(name) = parents.pop() else { return Err(refused("it is empty")) };
        let (mode, mtime, extras) = attributes;
        let (extras, note) = self.extras(extras).map_err(refused)?;
        let attributes = Attributes { mode, mtime, extras };
        Ok(Target { path: path.clone(), parents, name, attributes, note })
    }

    /// Returns the components of a path that a peer may use here.
    fn steps(&self, path: &EntryPath) -> Result<Vec<OsString>, &'static str> {
        let steps = components(path)?;
        match self.inner.states.is_among(&steps) {
            true => Err("\".afteryou\" is where partial files lie"),
            false => Ok(steps),
        }
    }

    /// Decides on an entry. Directories and links are made at once. Blocks: hashes what is there.
    ///
    /// # Errors
    /// A path that leads outside or through a link, and something in its place that must stay. A full disk, and what cannot be read or written.
    pub fn consider(&self, entry: &Entry) -> Result<Verdict, Why> {
        self.consider_near(entry, &mut Near::default())
    }

    /// Decides on an entry that may be beside the last.
    ///
    /// # Errors
    /// As [`consider`](Self::consider).
    pub fn consider_near(&self, entry: &Entry, near: &mut Near) -> Result<Verdict, Why> {
        let _work = RootUse::begin(&self.inner.root);
        self.keep_backups_apart(entry)?;
        let target = self.target(&entry.path, (entry.mode, entry.mtime, entry.extras.as_deref()))?;
        if self.wishes.update && self.is_newer(entry, &target)? {
            return Ok(Verdict::Newer);
        }
        if self.wishes.dry_run {
            return self.preview(entry, &target);
        }
        match &entry.kind {
            Kind::Directory => self.directory(&target),
            Kind::Symlink { target: to } => link::consider(self, &target, to),
            Kind::File { size, root } => {
                let content = Content { size: *size, root: *root };
                match &entry.link {
                    None if content.size <= SMALL => self.small_file(target, content, near),
                    None => self.file(target, content),
                    Some(first) => self.hard_link(target, first, content),
                }
            }
        }
    }

    fn directory(&self, target: &Target) -> Result<Verdict, Why> {
        let mut steps = target.parents.clone();
        steps.push(target.name.clone());
        let dir = self.make(&steps, None)?;
        let verdict = if self.made().take(&target.path.0) { Verdict::Made } else { Verdict::Have };
        if self.inner.active().postpone(&target.path, &target.attributes) {
            return Ok(verdict(Kept::All.noting(&target.note)));
        }
        let kept = target.attributes.apply_to_directory(&dir)?;
        if target.attributes.mode.is_some() {
            self.inner.root.settle(&target.path);
        }
        Ok(verdict(kept.noting(&target.note)))
    }

    fn file(&self, mut target: Target, content: Content) -> Result<Verdict, Why> {
        if content.size > ranges::MAX_SIZE {
            return Err(target.is_too_large());
        }
        let claim = self.claim(&target.path);
        let private = target.attributes.mode.is_some();
        loop {
            let (parent, before) = self.look(&target)?;
            if let (Some(parent), Some(there)) = (&parent, &before) {
                if there.is_directory {
                    return Err(target.is_directory());
                }
                if there.is_file && there.bytes == content.size {
                    match self.found(parent, target, content)? {
                        Ok(verdict) => return Ok(verdict),
                        Err(other) => target = other,
                    }
                }
            }
            if before.is_none() {
                if let Some(renamed) = self.link_renamed(&target, content, &claim)? {
                    return Ok(renamed);
                }
            }
            let state = self.state_of(&target)?;
            let partial = Partial::open(&state, &target.path, content, private)
                .map_err(|error| why("open the partial file", error))?;
            let Some(partial) = partial else { return Ok(Verdict::Busy) };
            // Another session may have finished the file since we looked.
            if partial.is_new() {
                let now = match &parent {
                    Some(parent) => look_at(parent, &target)?,
                    None => self.look(&target)?.1,
                };
                if now.and_then(|there| there.identity) != before.and_then(|there| there.identity) {
                    _ = partial.remove();
                    continue;
                }
            }
            let wanted = partial.wanted().map_err(|error| why("read the partial file", error))?;
            let complete = wanted.0.is_empty();
            let mut reception =
                Reception::new(Some(partial), content, wanted, (target, state, claim), self.clone());
            let complete = complete || (before.is_none() && self.copy_renamed(&mut reception)?);
            return match complete {
                true => reception.finish().map(Verdict::Made),
                false => Ok(Delta::of(reception)),
            };
        }
    }

    /// Returns the directory an entry goes to, and what is there under its name.
    fn look(&self, target: &Target) -> Result<(Option<Dir>, Option<There>), Why> {
        let Some(parent) = self.find(&target.parents)? else { return Ok((None, None)) };
        let there = look_at(&parent, target)?;
        Ok((Some(parent), there))
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().even_poisoned()
    }

    /// Opens the directory that these steps lead to, and makes what is missing: see [`place::make`].
    fn make(&self, steps: &[OsString], changed: Option<&mut Vec<Dir>>) -> Result<Dir, Why> {
        let mut missing = 0;
        let clear = |dir: &Dir, steps: &[OsString], there: &There| self.clear(dir, steps, there);
        let dir = place::make(&self.inner.root, steps, changed, &mut missing, clear);
        // What is missing are the last of the steps.
        let there = steps.len().saturating_sub(missing);
        if there < steps.len() {
            let names: Vec<_> = steps.iter().map(|name| crate::entry::bytes(name)).collect();
            let mut made = self.made();
            (there..names.len()).for_each(|last| made.add(&names[..=last].join(&b'/')));
        }
        dir
    }

    fn seen(&self) -> MutexGuard<'_, mirror::Seen> {
        self.seen.lock().even_poisoned()
    }

    fn claim(&self, path: &EntryPath) -> Claim {
        Claim::new(self.inner.clone(), path)
    }
}

fn look_at(parent: &Dir, target: &Target) -> Result<Option<There>, Why> {
    There::if_any(parent, &target.name).map_err(|error| why("look at what is there", error))
}

/// Removes everything that is in a directory, however deep it is.
///
/// # Errors
/// A directory that cannot be opened, and something in it that cannot be removed.
pub fn empty(dir: &Path) -> io::Result<()> {
    descent::empty(&Dir::open_ambient_dir(dir, cap_std::ambient_authority())?)
}

/// Checks whether anything can be stored here: makes the directory of partial files, and removes it again if nothing is in
/// it.
fn probe(root: &Dir) -> io::Result<()> {
    match state::open_or_make(root) {
        // Nothing may have to be stored; if it has, the source gets a report, too.
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {}
        other => _ = other?,
    }
    _ = root.remove_dir(STATE);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_counts_as_made_once_and_of_very_many_the_first_ones_do() {
        let mut made = Made::default();
        for n in 0..2 * MADE {
            made.add(&n.to_be_bytes());
        }
        assert_eq!(made.paths.len(), MADE);
        let first = 0_usize.to_be_bytes();
        assert_eq!([made.take(&first), made.take(&first)], [true, false]);
        assert!(!made.take(&(2 * MADE - 1).to_be_bytes()));
    }
}
