//! The source's disk: what there is to send, and its encoding.
//!
//! # Names
//! As with scp and rsync each PATH arrives under its own last component, a directory with everything in it. A PATH that
//! is a link is followed: the user named what it leads to. Links found below it obey [`Symlinks`].
//!
//! # Others who write there
//! The directory that a PATH lies in is opened once, and so is a served one. Unless links are followed, everything is reached from there through directories only, so
//! nobody can lead a source elsewhere by putting a link in a directory's place. A served directory is never left, with links
//! followed neither.
//!
//! # Order
//! Sorted by name, a directory after its content, so that a sink can set its time when nothing will change it any more.
//!
//! # Changes
//! A file may change at any moment. What is sent is checked against the hashes that were offered, so a sink never gets
//! a mixture: [`Prepared::encode`] says [`EncodeError::Changed`], and [`Prepared::again`] hashes anew when the file holds
//! still, so that no half-written file is taken for the whole one.
//!
//! # Known bad cases
//! A file that pauses for long in the middle of being written is sent as it is then. One that only grows after its sending
//! began is sent as it was before: the next run sends the rest.
//!
//! # Not implemented
//! Hard links travel as separate files. Owners, access lists, extended attributes and holes are not kept.

mod beneath;
mod cache;
mod hashes;
mod place;
mod prepare;
mod trees;
mod turns;
mod walk;

use crate::entry::EntryPath;
use crate::error::Error;
use crate::store::{components, STATE};
use cap_std::fs::Dir;
use place::{Opened, Place};
pub use prepare::{EncodeError, Prepared};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::Trees;
pub use turns::Stopper;
use walk::{Found, Walk};

/// What becomes of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symlinks {
    /// They travel as links, if they lead to something that is sent, too.
    #[default]
    Keep,
    /// They are left out.
    Skip,
    /// What they lead to travels in their place.
    Follow,
}

/// How a source behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SourceOptions {
    /// What becomes of symbolic links.
    pub symlinks: Symlinks,
    /// Directory in which the trees of large files are kept, so that a restart need not hash them again.
    pub cache: Option<PathBuf>,
}

/// What there is to send, as far as names and sizes tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files, directories and links.
    pub entries: u64,
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
        /// What.
        path: EntryPath,
        /// One sentence.
        reason: String,
    },
    /// To be sent, and it cannot be: it cannot be read, or changes all the time.
    Failed {
        /// What.
        path: EntryPath,
        /// One sentence.
        reason: String,
    },
}

/// What is to be sent. Cheap to clone; each look at the disk begins anew.
#[derive(Clone, Debug)]
pub struct Source {
    tops: Vec<Top>,
    /// First components of everything that is sent; None: whatever lies in the served directory.
    names: Option<Arc<HashSet<Vec<u8>>>>,
    options: SourceOptions,
    stopper: Stopper,
}

/// Where a walk begins, and under which name it arrives.
#[derive(Clone, Debug)]
struct Top {
    place: Place,
    path: EntryPath,
}

/// A directory in which peers choose what they get. It stays open: what takes its name later is not served.
#[derive(Clone, Debug)]
pub struct Served(Arc<Dir>);

impl Served {
    /// Opens the directory.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = Dir::open_ambient_dir(path, cap_std::ambient_authority());
        let failed = |source| Error::File { doing: "open", path: path.display().to_string(), source };
        Ok(Self(Arc::new(opened.map_err(failed)?)))
    }
}

impl Source {
    /// These files and directories.
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
            let name = bytes(&name);
            let path = EntryPath(name.clone());
            if name.eq_ignore_ascii_case(STATE.as_bytes()) {
                return Err(Error::Paths(format!("\"{path}\" holds partial files, which are not sent")));
            }
            if !names.insert(name) {
                return Err(Error::Paths(format!(
                    "two of the paths would both arrive as \"{path}\"; send them to different places"
                )));
            }
            tops.push(Top { place, path });
        }
        tops.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { tops, names: Some(Arc::new(names)), options, stopper: Stopper::default() })
    }

    /// What lies at a peer's `path` below a served directory; for the empty path all that lies in it. Never anything
    /// outside the directory, whatever path and links say.
    pub fn within(served: &Served, path: &[u8], options: SourceOptions) -> Result<Self, Error> {
        let dir = served.0.clone();
        let shown = EntryPath(path.to_vec());
        let named = if path.is_empty() { "what is served".to_owned() } else { shown.to_string() };
        let failed = |source| Error::File { doing: "read", path: named.clone(), source };
        if path.is_empty() {
            let place = Place::within(dir, PathBuf::from("."), options.symlinks).map_err(failed)?;
            let top = Top { place, path: EntryPath::default() };
            return Ok(Self { tops: vec![top], names: None, options, stopper: Stopper::default() });
        }
        let steps = components(&shown).map_err(|reason| Error::Path { path: shown.to_string(), reason })?;
        let Some(name) = steps.last().map(|name| bytes(name)) else {
            return Err(Error::Path { path: shown.to_string(), reason: "it is empty" });
        };
        // It would arrive under a name that the sink refuses.
        if name.eq_ignore_ascii_case(STATE.as_bytes()) {
            return Err(Error::Path { path: shown.to_string(), reason: "partial files are not served" });
        }
        let place = Place::within(dir, steps.iter().collect(), options.symlinks).map_err(failed)?;
        place.facts(true).map_err(failed)?;
        let names = Some(Arc::new(HashSet::from([name.clone()])));
        let tops = vec![Top { place, path: EntryPath(name) }];
        Ok(Self { tops, names, options, stopper: Stopper::default() })
    }

    /// The same below a directory that is opened for this.
    pub fn below(served: &Path, path: &[u8], options: SourceOptions) -> Result<Self, Error> {
        Self::within(&Served::open(served)?, path, options)
    }

    /// The same, and what stops it: looks at the disk that were begun with it or its clones end soon, in the middle of a
    /// file, too. Nothing is said about what they did not come to.
    pub fn stoppable(&self) -> (Self, Stopper) {
        let stopper = Stopper::default();
        (Self { stopper: stopper.clone(), ..self.clone() }, stopper)
    }

    /// Counts what there is. Looks at names and sizes only.
    pub fn scan(&self) -> Totals {
        let mut totals = Totals::default();
        for found in self.walk() {
            if let Found::Entry { facts, .. } = found {
                totals.entries += 1;
                totals.bytes += facts.content_bytes();
            }
        }
        totals
    }

    /// One after the other, each hashed when its turn comes.
    pub fn entries(&self) -> Entries {
        Entries {
            walk: self.walk(),
            trees: Arc::new(Trees::new(self.options.cache.clone(), self.stopper.clone())),
        }
    }

    fn walk(&self) -> Walk {
        Walk::new(self.tops.clone(), self.names.clone(), self.options.symlinks, self.stopper.clone())
    }
}

/// Everything that a source has to offer. Each step may take as long as reading a whole file.
#[derive(Debug)]
pub struct Entries {
    walk: Walk,
    trees: Arc<Trees>,
}

impl Iterator for Entries {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let item = match self.walk.next()? {
            Found::Skipped { path, reason } => Item::Skipped { path, reason },
            Found::Failed { path, reason } => Item::Failed { path, reason },
            Found::Entry { path, place, facts } => prepare::prepare(path, place, facts, self.trees.clone()),
        };
        // What was being hashed then did not fail.
        (!self.trees.stopper.is_stopped()).then_some(item)
    }
}

#[cfg(unix)]
fn bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().to_vec()
}

/// As UTF-8, where names are not bytes; what is no text then is made so, and the sink gets the readable form.
#[cfg(not(unix))]
fn bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    name.to_string_lossy().replace('\\', "/").into_bytes()
}
