//! Further names of a file that the job has sent already.
//!
//! # Model
//! The source names the file's first name. If a file with the offered root is there, it gets the second name, too. The
//! link is made in the directory of partial files first, and goes to its place in one step. The store compares the linked
//! file with the hashed one: a file or a symbolic link that takes the first name in between is not linked. The content of
//! each file is hashed once in a job, however many names it has.
//!
//! Some systems make no link: another file system, one without links, too many of them. Then the content is copied here, and the
//! answer reports it. Where the first name holds something else, the content is requested as that of any other file.
//!
//! # Bounds
//! Both names are reached from the receiving directory through real directories only. A sender that names a file which it
//! has not sent must have its hash. It learns no more than from an offer under that name.
//!
//! Names that are one file here and several at the source are parted where that matters (see [`super::shared`]).

use super::file_system::identity;
use super::names;
use super::partial::{self, Content};
use super::place::{self, refused, why, There};
use super::{Kept, Store, Target, Verdict};
use crate::entry::EntryPath;
use crate::wire::Why;
use afteryou_base::lock::EvenPoisoned;
use cap_std::fs::Dir;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

/// A file's root, if it is known. Locked while it is hashed, so that nobody hashes it beside.
type Known = Arc<Mutex<Option<Hashed>>>;

/// The root of a file, and the last change of its inode: a file that takes the number of a removed one has another.
#[derive(Debug)]
struct Hashed {
    root: [u8; 32],
    changed: Option<(i64, i64)>,
}

/// Roots of the files that got further names in a job, or were read for that, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Roots(Mutex<HashMap<(u64, u64), Known>>);

impl Roots {
    /// Returns the root of this file of `bytes`. It is hashed if that is not known.
    pub(super) fn root(&self, file: &File, identity: (u64, u64), bytes: u64) -> Option<[u8; 32]> {
        let known = self.of(identity);
        let mut known = known.lock().even_poisoned();
        let changed = changed(file);
        if changed.is_none() || known.as_ref().is_none_or(|known| known.changed != changed) {
            let root = partial::hash(file, bytes).ok().flatten();
            *known = root.map(|root| Hashed { root, changed });
        }
        known.as_ref().map(|known| known.root)
    }

    /// Notes another name and other attributes, which change the inode, and not the content.
    pub(super) fn linked(&self, first: &First) {
        let known = self.of(first.identity);
        let mut known = known.lock().even_poisoned();
        if let Some(known) = &mut *known {
            known.changed = changed(&first.file);
        }
    }

    fn of(&self, identity: (u64, u64)) -> Known {
        self.0.lock().even_poisoned().entry(identity).or_default().clone()
    }
}

#[cfg(unix)]
fn changed(file: &File) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|metadata| (metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed(_: &File) -> Option<(i64, i64)> {
    None
}

/// A file under its first name.
pub(super) struct First {
    parent: Dir,
    name: OsString,
    file: File,
    pub(super) identity: (u64, u64),
}

impl Store {
    /// Gives the file at `first` another name.
    pub(super) fn hard_link(
        &self,
        target: Target,
        first: &EntryPath,
        content: Content,
    ) -> Result<Verdict, Why> {
        let Some(known) = self.first(first, content)? else {
            let note = format!("it is a file of its own here, since \"{first}\" has another content");
            return self.file(Target { note: Some(note), ..target }, content);
        };
        let claim = self.claim(&target.path);
        let (_, there) = self.look(&target)?;
        if there.is_some_and(|there| there.is_directory) {
            return Err(target.is_directory());
        }
        if there.is_some_and(|there| there.identity == Some(known.identity)) {
            let kept = target.attributes.apply(&known.file)?;
            self.roots.linked(&known);
            return Ok(Verdict::Have(kept.noting(&target.note)));
        }
        let mut changed = Vec::new();
        let parent = self.make(&target.parents, Some(&mut changed))?;
        match self.link_at_its_place(&known, &target, content, &parent) {
            Ok(()) => {
                changed.push(parent);
                claim.sync(changed).map_err(|error| why("write the directory to the disk", error))?;
                let kept = target.attributes.apply(&known.file)?;
                self.roots.linked(&known);
                Ok(Verdict::Made(kept.noting(&target.note)))
            }
            Err(error) => match why("link", error) {
                Why::Io(reason) => {
                    let note = format!("it is a copy here and no hard link to \"{first}\": {reason}");
                    self.copy_of(&known, Target { note: Some(note), ..target }, content, &parent)
                }
                why => Err(why),
            },
        }
    }

    /// Returns the file at `path`, if it has this content.
    pub(super) fn first(&self, path: &EntryPath, content: Content) -> Result<Option<First>, Why> {
        let mut steps = self.steps(path).map_err(|reason| refused(path, reason))?;
        let Some(name) = steps.pop() else { return Ok(None) };
        let Ok(Some(parent)) = place::find(&self.inner.root, &steps) else { return Ok(None) };
        let Ok(file) = self.inner.root.read(&parent, &name) else { return Ok(None) };
        let Ok(metadata) = file.metadata() else { return Ok(None) };
        let identity = identity(&cap_std::fs::Metadata::from_just_metadata(metadata.clone()));
        let Some(identity) = identity else { return Ok(None) };
        let is_first = metadata.is_file()
            && metadata.len() == content.size
            && self.roots.root(&file, identity, content.size) == Some(content.root);
        Ok(is_first.then_some(First { parent, name, file, identity }))
    }

    pub(super) fn link_at_its_place(
        &self,
        first: &First,
        target: &Target,
        content: Content,
        parent: &Dir,
    ) -> io::Result<()> {
        let name = format!("{}{}", names::base(&target.path, &content.root), names::LINK);
        self.by_way_of_state(&target.parents, parent, |state| {
            let dir = state.make(&name, |dir| first.parent.hard_link(&first.name, dir, &name))?;
            let linked = There::named(&dir, name.as_ref())?;
            let placed = match linked.identity == Some(first.identity) {
                true => self
                    .back_up(parent, &target.name, &target.path)
                    .and_then(|()| place::writable(parent, || dir.rename(&name, parent, &target.name))),
                false => Err(io::Error::other("another file has taken its first name")),
            };
            // Also after a rename: between two names of one file that does nothing.
            _ = dir.remove_file(&name);
            placed
        })
    }

    /// Makes a copy of the first file, since there can be no link to it.
    fn copy_of(&self, first: &First, target: Target, content: Content, parent: &Dir) -> Result<Verdict, Why> {
        match self.found(parent, target, content)? {
            Ok(verdict) => Ok(verdict),
            Err(target) => self.copied(&first.file, target, content),
        }
    }
}

impl Kept {
    /// Adds a remark about what else differs from the source.
    pub(super) fn noting(self, note: &Option<String>) -> Kept {
        match (self, note) {
            (kept, None) => kept,
            (Kept::All, Some(note)) => Kept::ContentOnly(note.clone()),
            (Kept::ContentOnly(reason), Some(note)) => Kept::ContentOnly(format!("{note}; {reason}")),
        }
    }
}
