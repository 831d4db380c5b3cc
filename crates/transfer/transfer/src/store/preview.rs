//! The effect of a job on an entry, without the job.

use super::partial::{self, Content};
use super::place::{Attributes, There};
use super::times::{self, Held};
use super::{components, link, place, ranges, Kept, Store, Target, Verdict};
#[cfg(unix)]
use crate::entry::MODE_BITS;
use crate::entry::{Entry, EntryPath, Kind};
use crate::wire::{Change, Why};
use cap_std::fs::{Dir, Metadata};
use std::io;

impl Store {
    /// Returns whether the file at `first` is the one that was found.
    fn is_one_file(&self, first: &EntryPath, there: &There) -> bool {
        let first = components(first).ok().and_then(|mut steps| {
            let name = steps.pop()?;
            let parent = place::find(&self.inner.root, &steps).ok()??;
            There::named(&parent, &name).ok()
        });
        first.is_some_and(|first| first.identity.is_some() && first.identity == there.identity)
    }

    /// Returns whether a file is there that was modified after the one that is offered.
    pub(super) fn is_newer(&self, entry: &Entry, target: &Target) -> Result<bool, Why> {
        let Kind::File { .. } = entry.kind else { return Ok(false) };
        let (Some(parent), Some(_)) = self.look(target)? else { return Ok(false) };
        let there = parent.symlink_metadata(&target.name).ok().filter(Metadata::is_file);
        let there = there.and_then(|there| there.modified().ok());
        Ok(entry
            .mtime
            .to_system()
            .is_some_and(|offered| there.is_some_and(|there| there.into_std() > offered)))
    }

    pub(super) fn preview(&self, entry: &Entry, target: &Target) -> Result<Verdict, Why> {
        match &entry.kind {
            Kind::Symlink { target: to } => _ = link::check(self, target, to)?,
            Kind::File { size, .. } if *size > ranges::MAX_SIZE => return Err(target.is_too_large()),
            _ => {}
        }
        let (Some(parent), Some(there)) = self.look(target)? else {
            return Ok(Verdict::Would(Change::Create));
        };
        let is_same = match &entry.kind {
            Kind::Directory if there.is_directory => true,
            Kind::Directory if self.gives_way(&there) => false,
            Kind::Directory => {
                return Err(place::in_the_way(&parent, &target.name, io::ErrorKind::NotADirectory.into()))
            }
            _ if there.is_directory => return Err(target.is_directory()),
            Kind::File { size, root } => {
                let content = Content { size: *size, root: *root };
                there.is_file
                    && there.bytes == *size
                    && self.lies_there(&parent, target, content)
                    && match &entry.link {
                        Some(first) => self.is_one_file(first, &there),
                        None => !self.taken.by_another(target, &there),
                    }
            }
            Kind::Symlink { target: to } => {
                let to = link::check(self, target, to)?;
                link::is_there(self, &parent, target, &to)
            }
        };
        let there = parent.symlink_metadata(&target.name);
        let there = there.map_err(|error| place::why("look at what is there", error))?;
        if !is_same {
            return Ok(Verdict::Would(Change::Replace));
        }
        let time = time_held(&parent, &target.attributes, &there);
        let differs = differs(&target.attributes, &there) || self.extras_differ(&parent, target);
        Ok(match (differs, time) {
            (true, _) | (_, Held::Differs) => Verdict::Would(Change::Adjust),
            (false, Held::Same) => Verdict::Have(Kept::All),
            (false, Held::AsFarAsPossible) => Verdict::Have(Kept::ContentOnly(times::NOT_HELD.to_owned())),
        })
    }
}

/// Returns how the time there compares with the offered one.
fn time_held(parent: &Dir, attributes: &Attributes, there: &Metadata) -> Held {
    let there = there.modified().map(cap_std::time::SystemTime::into_std);
    match (attributes.mtime.to_system(), there) {
        (None, _) => Held::Same,
        (Some(offered), Ok(there)) => times::compare(parent, offered, there),
        (Some(_), Err(_)) => Held::Differs,
    }
}

impl Store {
    /// Returns whether this content is there.
    fn lies_there(&self, parent: &Dir, target: &Target, content: Content) -> bool {
        let Ok(file) = self.inner.root.read(parent, &target.name) else { return false };
        partial::hash(&file, content.size).is_ok_and(|root| root == Some(content.root))
    }

    /// Returns whether an extended attribute would be set.
    fn extras_differ(&self, parent: &Dir, target: &Target) -> bool {
        let Some(extras) = &target.attributes.extras else { return false };
        let opened = self.inner.root.read(parent, &target.name);
        opened.is_ok_and(|file| extras.differs(&file))
    }
}

/// Returns whether mode or owner would be set.
fn differs(attributes: &Attributes, there: &Metadata) -> bool {
    #[cfg(unix)]
    if let (Some(mode), false) = (attributes.mode, there.is_symlink()) {
        use cap_std::fs::MetadataExt;
        if there.mode() & 0o7777 != mode & MODE_BITS {
            return true;
        }
    }
    #[cfg(unix)]
    if let Some(owner) = attributes.owner() {
        use cap_std::fs::MetadataExt;
        if (there.uid(), there.gid()) != owner {
            return true;
        }
    }
    #[cfg(not(unix))]
    let _ = (attributes, there);
    false
}
