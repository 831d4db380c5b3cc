//! The directory of the last entry: the next one mostly lies in it, too.
//!
//! # Model
//! An open directory stays the same, whatever takes its name. So it is kept for a batch of entries that are looked at one after
//! the other, and no longer: then its name counts again. As long it is kept that there is none: what appears there meanwhile is
//! found when the entry gets its name.

use super::place;
use super::{Store, Target};
use crate::wire::Why;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The directory that was used last, or looked for in vain.
#[derive(Debug, Default)]
pub struct Near(Option<(Vec<OsString>, Option<Arc<Dir>>)>);

impl Near {
    /// None: nothing is known of it. Some(None): it is not there.
    fn known(&self, steps: &[OsString]) -> Option<Option<Arc<Dir>>> {
        self.0.as_ref().filter(|(known, _)| known == steps).map(|(_, dir)| dir.clone())
    }

    fn keep(&mut self, steps: &[OsString], dir: Option<Arc<Dir>>) {
        self.0 = Some((steps.to_vec(), dir));
    }
}

impl Store {
    /// The directory that an entry goes to, if there is one.
    pub(super) fn find_near(&self, target: &Target, near: &mut Near) -> Result<Option<Arc<Dir>>, Why> {
        if let Some(known) = near.known(&target.parents) {
            return Ok(known);
        }
        let found = place::find(&self.inner.root, &target.parents)?.map(Arc::new);
        near.keep(&target.parents, found.clone());
        Ok(found)
    }

    /// The same; it is made if it is not there. Directories that got a new entry are added to `changed`, and so is this one,
    /// once.
    pub(super) fn make_near(
        &self,
        target: &Target,
        near: &mut Near,
        changed: &mut Vec<Dir>,
    ) -> Result<Arc<Dir>, Why> {
        if let Some(Some(dir)) = near.known(&target.parents) {
            return Ok(dir);
        }
        let dir = self.make(&target.parents, changed)?;
        let again = dir.try_clone().map_err(|error| place::why("open the directory", error))?;
        changed.push(again);
        let dir = Arc::new(dir);
        near.keep(&target.parents, Some(dir.clone()));
        Ok(dir)
    }
}

/// Opens the file under a name of one component, which cannot lead out of `dir`, for reading. Not through a link, and without
/// waiting for a pipe.
pub(super) fn open(dir: &Dir, name: &OsStr) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::{openat, Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(dir, name, flags, Mode::empty())?.into())
    }
    #[cfg(not(unix))]
    {
        use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
        let mut options = cap_std::fs::OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        Ok(dir.open_with(name, &options)?.into_std())
    }
}
