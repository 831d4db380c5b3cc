//! Through directories in order, without hashing anything.

use super::place::{Facts, Here, Place, Sort};
use super::{bytes, Stopper, Symlinks, Top};
use crate::entry::EntryPath;
use crate::error::reason;
use crate::filter::Filters;
use crate::store::{are_ours, link_stays_inside, STATE};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// Longest path that a sink takes, bytes.
const MAX_PATH: usize = 4096;

/// Directories that a walk keeps open at the top of a tree, and again at the place where it is. Those between are opened for each
/// look. So a step into a directory costs the same at any depth.
const KEPT_OPEN: usize = 8;

/// The findings of a walk.
#[derive(Debug)]
pub(super) enum Found {
    /// `link`: the name under which the same file came before. `here`: the directory it is in.
    Entry {
        path: EntryPath,
        place: Place,
        facts: Facts,
        link: Option<EntryPath>,
        here: Here,
    },
    Skipped {
        path: EntryPath,
        reason: String,
    },
    Failed {
        path: EntryPath,
        reason: String,
    },
}

/// A directory whose names are being worked through.
#[derive(Debug)]
struct Level {
    place: Place,
    path: EntryPath,
    facts: Facts,
    here: Here,
    names: std::vec::IntoIter<OsString>,
}

#[derive(Debug)]
pub(super) struct Walk {
    tops: std::vec::IntoIter<Top>,
    sent: Option<Arc<HashSet<Vec<u8>>>>,
    symlinks: Symlinks,
    filters: Arc<Filters>,
    stopper: Stopper,
    levels: Vec<Level>,
    first_names: FirstNames,
    /// The directories among the tops in which nothing is, excluded entries neither.
    empty: Vec<EntryPath>,
}

/// Files that have several names, by device and inode: the first name, and how many are to come.
#[derive(Debug, Default)]
struct FirstNames(HashMap<(u64, u64), (EntryPath, u64)>);

impl FirstNames {
    /// Returns the first name of a file that has come before. Files whose names have all come are forgotten.
    fn before(&mut self, path: &EntryPath, facts: &Facts) -> Option<EntryPath> {
        let id = facts.id.filter(|_| facts.names > 1)?;
        let Some((first, left)) = self.0.get_mut(&id) else {
            self.0.insert(id, (path.clone(), facts.names - 1));
            return None;
        };
        let first = first.clone();
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.0.remove(&id);
        }
        Some(first)
    }
}

/// Returns `true` for the name under which a store keeps its partial files.
fn is_state(name: &OsStr) -> bool {
    name.as_encoded_bytes().eq_ignore_ascii_case(STATE.as_bytes())
}

fn unreadable(path: EntryPath, error: &std::io::Error) -> Found {
    Found::Failed { path, reason: format!("it cannot be read: {}", reason(error)) }
}

impl Walk {
    pub(super) fn new(
        tops: Vec<Top>,
        sent: Option<Arc<HashSet<Vec<u8>>>>,
        symlinks: Symlinks,
        filters: Arc<Filters>,
        stopper: Stopper,
    ) -> Self {
        Self {
            tops: tops.into_iter(),
            sent,
            symlinks,
            filters,
            stopper,
            levels: Vec::new(),
            first_names: FirstNames::default(),
            empty: Vec::new(),
        }
    }

    /// Returns the directories among the tops that were empty.
    pub(super) fn empty(&self) -> &[EntryPath] {
        &self.empty
    }

    /// Looks at the entry at a place. `None`: nothing is reported about it yet, its content comes first.
    fn look(&mut self, path: EntryPath, place: Place, here: Here, follow: bool) -> Option<Found> {
        let skipped = |path, reason: String| Some(Found::Skipped { path, reason });
        let facts = if follow { place.facts(true) } else { place.facts_here(&here) };
        let is_directory = facts.as_ref().is_ok_and(|facts| facts.sort == Sort::Directory);
        if self.filters.exclude(&path, is_directory) {
            return None;
        }
        if path.0.len() > MAX_PATH {
            return Some(Found::Failed { path, reason: "its path is longer than 4096 bytes".into() });
        }
        let facts = match facts {
            Ok(facts) => facts,
            Err(error) => return Some(unreadable(path, &error)),
        };
        match facts.sort {
            Sort::Other(what) => skipped(path, format!("it is {what}")),
            Sort::Link => self.link(path, place, facts),
            Sort::File => {
                let link = self.first_names.before(&path, &facts);
                Some(Found::Entry { path, place, facts, link, here })
            }
            Sort::Directory => self.enter(path, place, facts),
        }
    }

    /// Handles something with the name under which a store keeps its partial files. They are of no use at the other end, and
    /// nothing is reported about them.
    fn state(&mut self, path: EntryPath, place: Place, here: Here) -> Option<Found> {
        let skipped = |path, reason: &str| Some(Found::Skipped { path, reason: reason.into() });
        let is_directory = place.facts(false).is_ok_and(|facts| facts.sort == Sort::Directory);
        let names = if is_directory { place.names(&None).ok() } else { None };
        let is_store = names.is_some_and(|names| are_ours(names.iter().map(OsString::as_os_str)));
        if is_store {
            return None;
        }
        match path.0.contains(&b'/') {
            false => skipped(path, "the receiver keeps partial files under this name; rename it to send it"),
            true => self.look(path, place, here, false),
        }
    }

    fn enter(&mut self, path: EntryPath, place: Place, facts: Facts) -> Option<Found> {
        if facts.id.is_some() && self.levels.iter().any(|level| level.facts.id == facts.id) {
            return Some(Found::Skipped {
                path,
                reason: "the link leads back to a directory above it".into(),
            });
        }
        let above = self.levels.last().and_then(|level| level.here.clone());
        let here = place.enter_here(&above);
        let entered = here.and_then(|here| Ok((place.names(&here)?, here)));
        match entered {
            Ok((names, here)) => {
                if self.levels.is_empty() && names.iter().all(|name| is_state(name)) {
                    self.empty.push(path.clone());
                }
                self.levels.push(Level { place, path, facts, here, names: names.into_iter() });
                let far_above = self.levels.len().checked_sub(KEPT_OPEN + 1).filter(|at| *at >= KEPT_OPEN);
                if let Some(level) = far_above.and_then(|at| self.levels.get_mut(at)) {
                    level.here = None;
                }
                None
            }
            Err(error) => Some(unreadable(path, &error)),
        }
    }

    fn link(&mut self, path: EntryPath, place: Place, facts: Facts) -> Option<Found> {
        let reason = match self.symlinks {
            Symlinks::Follow => return self.look(path, place, None, true),
            Symlinks::Skip => "it is a symbolic link".to_owned(),
            Symlinks::Keep | Symlinks::AsIs => match place.link() {
                Err(error) => return Some(unreadable(path, &error)),
                Ok(_) if self.symlinks == Symlinks::AsIs => {
                    return Some(Found::Entry { path, place, facts, link: None, here: None })
                }
                Ok(target) => match self.leads_outside(&path, &target) {
                    None => return Some(Found::Entry { path, place, facts, link: None, here: None }),
                    Some(reason) => reason.to_owned(),
                },
            },
        };
        Some(Found::Skipped { path, reason })
    }

    /// Returns why a link would lead to nothing at the other end, or worse.
    fn leads_outside(&self, path: &EntryPath, target: &[u8]) -> Option<&'static str> {
        let depth = path.0.iter().filter(|&&byte| byte == b'/').count();
        if let Err(reason) = link_stays_inside(depth, target) {
            return Some(reason);
        }
        let steps = || target.split(|&byte| byte == b'/').filter(|step| !matches!(*step, b"" | b"."));
        let ups = steps().take_while(|step| *step == b"..").count();
        let sent = self.sent.as_ref()?;
        let outside = ups == depth && !steps().nth(ups).is_some_and(|name| sent.contains(name));
        outside.then_some("the link leads to something that is not sent")
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        while !self.stopper.is_stopped() {
            let found = match self.levels.last_mut() {
                None => {
                    let top = self.tops.next()?;
                    self.look(top.path, top.place, None, true)
                }
                Some(level) => match level.names.next() {
                    Some(name) => {
                        let place = level.place.join(&name);
                        let path = level.path.join(&bytes(&name));
                        let here = level.here.clone();
                        match is_state(&name) {
                            true => self.state(path, place, here),
                            false => self.look(path, place, here, false),
                        }
                    }
                    None => self.levels.pop().and_then(|level| {
                        // The served directory itself has no name.
                        let Level { path, place, facts, .. } = level;
                        (!path.0.is_empty()).then_some(Found::Entry {
                            path,
                            place,
                            facts,
                            link: None,
                            here: None,
                        })
                    }),
                },
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
