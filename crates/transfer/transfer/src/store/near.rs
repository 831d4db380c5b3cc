//! The directory of the last entry: the next one is mostly in it, too.
//!
//! # Model
//! An open directory stays the same, whatever takes its name. So it is kept for a batch of entries that are looked at one after
//! the other, and no longer: then its name counts again. As long it is kept that there is none: what appears there meanwhile is
//! found when the entry gets its name.

use super::place;
use super::root::{Root, RootUse};
use super::state::StateDir;
use super::{Store, Target};
use crate::wire::Why;
use cap_std::fs::Dir;
use std::ffi::OsString;
use std::sync::Arc;

/// The directory that was used last, or looked for in vain.
#[derive(Debug, Default)]
pub struct Near(Option<Known>);

#[derive(Debug)]
struct Known {
    /// An entry that was opened stays open for its owner.
    _work: RootUse,
    steps: Vec<OsString>,
    /// None: it is not there.
    dir: Option<Arc<Dir>>,
    /// Where partial files of what goes there lie, once somebody asks.
    state: Option<Arc<StateDir>>,
}

impl Near {
    /// Returns what is known of a directory. `None`: nothing. `Some(None)`: it is not there.
    fn known(&self, steps: &[OsString]) -> Option<Option<Arc<Dir>>> {
        self.0.as_ref().filter(|known| known.steps == steps).map(|known| known.dir.clone())
    }

    fn keep(&mut self, root: &Arc<Root>, steps: &[OsString], dir: Option<Arc<Dir>>) {
        let state = self.0.take().filter(|known| known.steps == steps).and_then(|known| known.state);
        self.0 = Some(Known { _work: RootUse::begin(root), steps: steps.to_vec(), dir, state });
    }
}

impl Store {
    /// Returns the directory that an entry goes to, if there is one.
    pub(super) fn find_near(&self, target: &Target, near: &mut Near) -> Result<Option<Arc<Dir>>, Why> {
        if let Some(known) = near.known(&target.parents) {
            return Ok(known);
        }
        let found = self.find(&target.parents)?.map(Arc::new);
        near.keep(&self.inner.root, &target.parents, found.clone());
        Ok(found)
    }

    /// Returns the directory of partial files for an entry.
    pub(super) fn state_near(&self, target: &Target, near: &mut Near) -> Result<Arc<StateDir>, Why> {
        let Some(known) = near.0.as_mut().filter(|known| known.steps == target.parents) else {
            return self.state_of(target);
        };
        if let Some(state) = &known.state {
            return Ok(state.clone());
        }
        let state = self.state_of(target)?;
        known.state = Some(state.clone());
        Ok(state)
    }

    /// Returns the directory of partial files when nothing near is known.
    pub(super) fn state_of(&self, target: &Target) -> Result<Arc<StateDir>, Why> {
        self.state(&target.parents).map_err(|error| place::why("look for partial files", error))
    }

    /// Returns the directory that an entry goes to; it is made if it is not there. Directories that got a new entry are
    /// added to `changed`, and so is this one, once.
    pub(super) fn make_near(
        &self,
        target: &Target,
        near: &mut Near,
        changed: &mut Vec<Dir>,
    ) -> Result<Arc<Dir>, Why> {
        if let Some(Some(dir)) = near.known(&target.parents) {
            return Ok(dir);
        }
        let dir = self.make(&target.parents, Some(changed))?;
        let again = dir.try_clone().map_err(|error| place::why("open the directory", error))?;
        changed.push(again);
        let dir = Arc::new(dir);
        near.keep(&self.inner.root, &target.parents, Some(dir.clone()));
        Ok(dir)
    }
}
