//! The source's disk: what there is to send, and its encoding.
//!
//! # Names
//! As with scp and rsync each PATH arrives under its own last component, a directory with everything in it. A PATH that
//! is a link is followed: the user named what it leads to. Links found below it obey [`Symlinks`].
//!
//! # Others who write there
//! The directory that a PATH is in is opened once for a job, and so is a served one. Unless links are followed, everything is reached from there through directories only, so
//! nobody can lead a source elsewhere by putting a link in a directory's place. A served directory is never left, with links
//! followed neither.
//!
//! # Order
//! Sorted by name, a directory after its content, so that a sink can set its time when nothing will change it any more.
//!
//! # Hard links
//! The second name of a file is offered with the root of the first and with that name. The sink makes a link of it, so its
//! content is neither read nor sent. It is hashed only if the sink cannot link.
//!
//! # Changes
//! A file may change at any moment. Sent data are checked against the hashes that were offered, so a sink never gets a
//! mixture: [`Prepared::encode`] returns [`EncodeError::Changed`]. [`Prepared::again`] hashes anew when the file holds
//! still, so no half-written file is taken for the whole one.
//!
//! # Known bad cases
//! A file that pauses for long in the middle of being written is sent as it is then. One that only grows after its sending
//! began is sent as it was before: the next run sends the rest.
//!
//! # Not implemented
//! Holes travel as zeros, and the
//! sink makes holes of them.

mod ahead;
mod cache;
mod content;
mod describe;
mod extras;
mod file_systems;
mod hashes;
mod input;
mod parents;
mod place;
mod prepare;
mod remembered;
mod trees;
mod turns;
mod walk;

use crate::entry::{bytes, EntryPath};
use crate::error::Error;
use crate::extras::Keep;
use crate::filter::{Filter, Filters};
use crate::inside::{Naming, Token};
use crate::named::Named;
use crate::store::{components, STATE};
use crate::wire::{Extent, SMALL};
use extras::Keeping;
pub use input::Input;
use place::{Opened, Place, Sort};
pub use prepare::{EncodeError, Prepared};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::Trees;
pub use turns::Stopper;
use walk::{Found, Walk};

/// Bytes of the names of empty directories that an [`Extent`] has at most, so that it fits a message.
const MAX_EMPTY: usize = 4 * 1024;

/// The treatment of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symlinks {
    /// They travel as links, if they lead to something that is sent, too.
    #[default]
    Keep,
    /// They are left out.
    Skip,
    /// Their targets travel in their place.
    Follow,
    /// They travel as links, wherever they lead. The sink must allow it.
    AsIs,
}

/// How a source behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SourceOptions {
    /// The treatment of symbolic links.
    pub symlinks: Symlinks,
    /// Directory in which roots of files and trees of large ones are kept, so that later runs need not read the files again.
    pub cache: Option<PathBuf>,
    /// Entries that are left out without a report.
    pub exclude: Filter,
    /// The same by the peer's choice. A sink keeps its patterns itself.
    pub peer_excludes: Filter,
    /// Owners and other attributes that travel, too.
    pub keep: Keep,
    /// A file of the same size and time of modification at the sink counts as the same: neither side reads it.
    pub quick: bool,
    /// Every file is read, whatever earlier runs have kept of it.
    pub verify: bool,
}

impl SourceOptions {
    fn filters(&self, below: EntryPath) -> Filters {
        Filters::new(below, self.exclude.clone(), self.peer_excludes.clone())
    }
}

/// The entries to send, as far as names and sizes show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files, directories and links.
    pub entries: u64,
    /// The files among them.
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

/// The next thing that a source comes upon.
#[derive(Debug)]
pub enum Item {
    /// To be offered.
    Entry(Prepared),
    /// Left out.
    Skipped {
        /// The entries.
        path: EntryPath,
        /// One sentence.
        reason: String,
    },
    /// To be sent, and it cannot be: it cannot be read, or changes all the time.
    Failed {
        /// The entries.
        path: EntryPath,
        /// One sentence.
        reason: String,
    },
}

/// The entries to send. Cheap to clone; each look at the disk begins anew.
#[derive(Clone, Debug)]
pub struct Source {
    tops: Vec<Top>,
    /// First components of everything that is sent; None: whatever is in the served directory.
    names: Option<Arc<HashSet<Vec<u8>>>>,
    options: SourceOptions,
    filters: Arc<Filters>,
    stopper: Stopper,
}

/// Where a walk begins, and under which name it arrives.
#[derive(Clone, Debug)]
struct Top {
    place: Place,
    path: EntryPath,
}

/// A directory in which peers choose what they get. Each job opens it anew by its name.
#[derive(Clone, Debug)]
pub struct Served(Named);

impl Served {
    /// Remembers the directory's name. The directory must be there.
    ///
    /// # Errors
    /// A path that is no directory or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { doing: "open", path: path.display().to_string(), source };
        Ok(Self(Named::open_first(path, "served").map_err(failed)?.0))
    }
}

impl Source {
    /// Creates a source of these files and directories.
    ///
    /// # Errors
    /// A path that does not exist, cannot be read or has no name. Two that would arrive under one name, and a directory of partial files.
    pub fn of(paths: &[PathBuf], options: SourceOptions) -> Result<Self, Error> {
        let mut tops = Vec::new();
        let mut names = HashSet::new();
        let mut opened = Opened::new();
        for path in paths {
            let failed = |source| Error::File {
                doing: "read",
                path: EntryPath(bytes(path.as_os_str())).to_string(),
                source,
            };
            let place = Place::named(path, options.symlinks, &mut opened).map_err(failed)?;
            place.facts(true).map_err(failed)?;
            // "." and ".." have a name of their own.
            let name = match path.file_name() {
                Some(name) => Some(name.to_os_string()),
                None => path.canonicalize().map_err(failed)?.file_name().map(ToOwned::to_owned),
            };
            let Some(name) = name else {
                return Err(Error::Paths(format!(
                    "\"{}\" has no name under which it could arrive; name what lies in it instead",
                    path.display()
                )));
            };
            let path = arrives_as(bytes(&name), &mut names)?;
            tops.push(Top { place, path });
        }
        tops.sort_by(|a, b| a.path.cmp(&b.path));
        let filters = options.filters(EntryPath::default());
        Ok(Self::new(tops, Some(names), options, filters))
    }

    /// Adds an input that arrives under this name.
    ///
    /// # Errors
    /// A name that another path arrives under, or that of the directory of partial files.
    pub fn with_input(mut self, name: &str, input: Input) -> Result<Self, Error> {
        let mut names = self.names.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        let path = arrives_as(name.as_bytes().to_vec(), &mut names)?;
        self.names = Some(Arc::new(names));
        self.tops.push(Top { place: Place::held(input.0), path });
        self.tops.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(self)
    }

    /// Returns the entries at a peer's `path` below a served directory; for the path of no components, all of its contents.
    /// Never anything outside the directory, whatever path and links are.
    ///
    /// # Errors
    /// A path that leads outside, does not exist, is excluded or names partial files, and a served directory that is gone.
    pub fn within(served: &Served, path: &[u8], options: SourceOptions) -> Result<Self, Error> {
        let dir = Arc::new(served.0.open()?);
        let shown = EntryPath(path.to_vec());
        let named = if path.is_empty() { "what is served".to_owned() } else { shown.to_string() };
        let failed = |source| Error::File { doing: "read", path: named.clone(), source };
        if path.is_empty() {
            let place = Place::within(dir, PathBuf::from("."), options.symlinks).map_err(failed)?;
            let top = Top { place, path: EntryPath::default() };
            let filters = options.filters(EntryPath::default());
            return Ok(Self::new(vec![top], None, options, filters));
        }
        let steps = components(&shown).map_err(|reason| Error::Path { path: shown.to_string(), reason })?;
        let Some(name) = steps.last().map(|name| bytes(name)) else {
            return Err(Error::Path { path: shown.to_string(), reason: "it is empty" });
        };
        // It would arrive under a name that the sink refuses.
        if name.eq_ignore_ascii_case(STATE.as_bytes()) {
            return Err(Error::Path { path: shown.to_string(), reason: "partial files are not served" });
        }
        let parents = shown.0.len().saturating_sub(name.len() + 1);
        let filters = options.filters(EntryPath(shown.0[..parents].to_vec()));
        if filters.exclude_parents_of(&shown) {
            return Err(Error::Path { path: shown.to_string(), reason: "it is excluded there" });
        }
        let place = Place::within(dir, steps.iter().collect(), options.symlinks).map_err(failed)?;
        place.facts(true).map_err(failed)?;
        let names = Some(HashSet::from([name.clone()]));
        let tops = vec![Top { place, path: EntryPath(name) }];
        Ok(Self::new(tops, names, options, filters))
    }

    fn new(
        tops: Vec<Top>,
        names: Option<HashSet<Vec<u8>>>,
        options: SourceOptions,
        filters: Filters,
    ) -> Self {
        let (names, filters) = (names.map(Arc::new), Arc::new(filters));
        Self { tops, names, options, filters, stopper: Stopper::default() }
    }

    /// Returns whether files are offered by size and time first.
    pub(crate) fn is_quick(&self) -> bool {
        self.options.quick
    }

    /// Returns what is left out.
    pub(crate) fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Returns the extras that travel.
    pub(crate) fn keep(&self) -> Keep {
        self.options.keep
    }

    /// Returns the list that a sink needs to remove everything else, when `entries` were stored. `empty`: see [`Entries::empty`].
    pub(crate) fn extent(&self, entries: u64, mut empty: Vec<EntryPath>) -> Extent {
        let (below, patterns) = (self.filters.below.clone(), self.filters.own.patterns().clone());
        if empty.iter().map(|path| path.0.len() + 8).sum::<usize>() > MAX_EMPTY {
            empty = vec![EntryPath::default()];
        }
        Extent { entries, whole: self.names.is_none(), below, patterns, empty }
    }

    /// Creates a source of what is below a directory that is opened for this.
    ///
    /// # Errors
    /// As [`Served::open`] and [`within`](Self::within).
    pub fn below(served: &Path, path: &[u8], options: SourceOptions) -> Result<Self, Error> {
        Self::within(&Served::open(served)?, path, options)
    }

    /// Returns the same source with a switch that stops it. Looks at the disk that were begun with it or its clones end
    /// soon, in the middle of a file, too. Nothing is reported about what they did not come to.
    pub fn stoppable(&self) -> (Self, Stopper) {
        let stopper = Stopper::default();
        (Self { stopper: stopper.clone(), ..self.clone() }, stopper)
    }

    /// Refuses a sink whose directory is in what is sent, by its names for this job (see [`crate::inside`]).
    pub(crate) fn refuse_sink_inside(&self, job: &[u8; 16], sink: &[Token]) -> Result<(), Error> {
        let Some(naming) = Naming::of(job).filter(|_| !sink.is_empty()) else { return Ok(()) };
        let inside = self.tops.iter().find_map(|top| self.sink_below(top, &naming, sink));
        inside.map_or(Ok(()), |path| Err(Error::SinkInside { path: path.to_string() }))
    }

    /// Returns the path of a sink's directory, if the walk from `top` comes to it.
    fn sink_below(&self, top: &Top, naming: &Naming, sink: &[Token]) -> Option<EntryPath> {
        let token = |place: &Place, follow| {
            let facts = place.facts(follow).ok().filter(|facts| facts.sort == Sort::Directory)?;
            Some(naming.token(facts.id?))
        };
        let first = token(&top.place, true)?;
        let mut left = sink.iter().position(|token| *token == first)?;
        // All of a directory arrives in itself.
        if left == 0 && top.path.0.is_empty() {
            return None;
        }
        let (mut place, mut path) = (top.place.clone(), top.path.clone());
        while !self.filters.exclude(&path, true) {
            if left == 0 {
                return Some(path);
            }
            left -= 1;
            let names = place.names(&None).ok()?;
            let name = names.into_iter().find(|name| token(&place.join(name), false) == Some(sink[left]))?;
            place = place.join(&name);
            path = path.join(&bytes(&name));
        }
        None
    }

    /// Counts what there is. Looks at names and sizes only.
    pub fn scan(&self) -> Totals {
        let mut totals = Totals::default();
        for found in self.walk() {
            if let Found::Entry { facts, link, .. } = found {
                totals.entries += 1;
                totals.files += u64::from(facts.sort == Sort::File);
                totals.bytes += if link.is_some() { 0 } else { facts.content_bytes() };
            }
        }
        totals
    }

    /// Returns the entries one after the other, each hashed when its turn comes, unless the job is quick.
    pub fn entries(&self) -> Entries {
        Entries {
            walk: self.walk(),
            trees: Arc::new(Trees::new(
                self.options.cache.clone(),
                self.job(),
                self.options.verify,
                self.stopper.clone(),
            )),
            keeping: Arc::new(Keeping::new(self.options.keep)),
            quick: self.options.quick,
        }
    }

    /// Returns a name for the job that sends these paths; `None` where files are not read.
    fn job(&self) -> Option<[u8; 32]> {
        if self.options.quick {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        for top in &self.tops {
            let (device, inode) = top.place.facts(true).ok()?.id?;
            hasher.update(&device.to_le_bytes()).update(&inode.to_le_bytes());
            hasher.update(&(top.path.0.len() as u64).to_le_bytes()).update(&top.path.0);
        }
        Some(*hasher.finalize().as_bytes())
    }

    fn walk(&self) -> Walk {
        let filters = self.filters.clone();
        Walk::new(self.tops.clone(), self.names.clone(), self.options.symlinks, filters, self.stopper.clone())
    }
}

/// Returns the path of something that arrives under this name, which nothing else has.
fn arrives_as(name: Vec<u8>, names: &mut HashSet<Vec<u8>>) -> Result<EntryPath, Error> {
    let path = EntryPath(name.clone());
    if name.eq_ignore_ascii_case(STATE.as_bytes()) {
        return Err(Error::Paths(format!("\"{path}\" holds partial files, which are not sent")));
    }
    match names.insert(name) {
        true => Ok(path),
        false => Err(Error::Paths(format!(
            "two of the paths would both arrive as \"{path}\"; send them to different places"
        ))),
    }
}

/// Everything that a source has to offer. Each step may take as long as reading a whole file.
#[derive(Debug)]
pub struct Entries {
    walk: Walk,
    trees: Arc<Trees>,
    keeping: Arc<Keeping>,
    /// Files are not read.
    quick: bool,
}

impl Entries {
    /// Returns the directories among the named ones that had nothing in them, excluded entries neither.
    pub(crate) fn empty(&self) -> &[EntryPath] {
        self.walk.empty()
    }

    /// Returns the next entry; `before_large` is called before a file is read that takes a while.
    pub(crate) fn next_before(&mut self, before_large: impl FnOnce()) -> Option<Item> {
        let Some(found) = self.walk.next() else {
            if !self.trees.stopper.is_stopped() {
                self.trees.finish();
            }
            return None;
        };
        let item = match found {
            Found::Skipped { path, reason } => Item::Skipped { path, reason },
            Found::Failed { path, reason } => Item::Failed { path, reason },
            Found::Entry { path, place, facts, link, here } => {
                let with = (self.trees.clone(), self.keeping.clone());
                match self.quick && facts.sort == Sort::File && link.is_none() {
                    true => Item::Entry(prepare::unread(path, place, facts, with)),
                    false => {
                        if facts.content_bytes() > SMALL {
                            before_large();
                        }
                        prepare::prepare(path, place, facts, (link, here), with)
                    }
                }
            }
        };
        // What was being hashed then did not fail.
        (!self.trees.stopper.is_stopped()).then_some(item)
    }
}

impl Iterator for Entries {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.next_before(|| {})
    }
}
