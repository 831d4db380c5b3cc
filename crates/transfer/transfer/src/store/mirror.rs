//! Removal of what a source does not have.
//!
//! # Model
//! A job's mirror keeps a keyed hash of each path that was settled well, and which of them are directories. When the source
//! has offered everything, everything else in those directories is removed. Excluded files are kept, and so are the directories above
//! them. One walk does that, with one open directory at a time (see [`Descent`]): a tree may have any depth. The source sends the end only if nothing failed and nothing was left out. The number of entries must be the same on
//! both sides, so a receiver that was restarted in the middle of the job removes nothing.
//!
//! # Before the end
//! Entries may go before the end if one that the source has needs their room or their place. By then the source has settled all else,
//! and has listed what it has not, so its whole list is known. If only a place is needed, only what is there goes, and
//! nothing of that if something in it stays. Everything that stays is verified before anything goes for its room: files of a quick job
//! were not read, so nothing does there. Where backups are kept a removal makes no room.
//!
//! # Bounds
//! An entry whose path is longer than any that may be sent is removed with the directory above it that has a shorter one, and
//! not named.
//!
//! A first walk counts the entries that would go, if anything depends on their number. Where a directory that the job names is
//! empty at the source and its copy is not, or more would go than the job may remove, nothing goes at all ([`Spared`]). A
//! percentage is one of the entries that lay there before the job, so it matters which of them the job made
//! ([`Mirror::before`]).
//!
//! # Known bad cases
//! A file that someone else puts into a sent directory during the job is removed, too. A removal that a kill cut short, or
//! somebody who moved a directory meanwhile, is finished by the next run.

mod sweep;

use super::descent::Descent;
use super::root::{Root, RootUse};
use super::{components, Store};
use crate::entry::{bytes, Entry, EntryPath, Kind};
use crate::error::Error;
use crate::event::Outcome;
use crate::filter::{Filter, Filters};
use crate::wire::{Because, Extent, MaxDelete, Spared, Unsettled, Wishes, MAX_LISTED};
use afteryou_base::lock::EvenPoisoned;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use sweep::{Does, Goes, Sweep};

/// Takes the report about each entry that is removed, would be, or cannot be. It breaks when nobody listens any more, and the rest is kept.
pub(crate) type Tell<'a> = dyn FnMut(&EntryPath, Outcome) -> ControlFlow<()> + 'a;

/// The entries of one job.
pub(crate) struct Mirror {
    store: Store,
    /// The sink's own exclusions, beside the source's.
    exclude: Filter,
    /// True when everything else is gone. Locked during the removal.
    is_done: Mutex<bool>,
    /// Nothing goes early any more.
    is_over: AtomicBool,
    /// Something waits for room.
    lacks_room: AtomicBool,
}

/// The result of looking at everything.
#[derive(Debug)]
pub(crate) struct Swept {
    /// Positions of the source's patterns that matched nothing.
    pub(crate) unmatched: Vec<u32>,
    /// Nothing was removed, and why.
    pub(crate) spared: Option<Spared>,
}

/// Paths by their hashes.
#[derive(Debug, Default)]
struct Paths {
    all: HashSet<[u64; 2]>,
    /// The directories among them.
    directories: HashSet<[u64; 2]>,
}

/// The entries that a job has settled.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hashers: [RandomState; 2],
    settled: Paths,
    /// The entries of the source that are not settled.
    listed: Paths,
    /// First components of both.
    tops: BTreeSet<Vec<u8>>,
    /// Those among the paths under which nothing lay before the job, where that matters.
    made: HashSet<[u64; 2]>,
    /// Files were taken for the same by size and time.
    has_unread: bool,
    /// Files at whose places a dry run has found directories that would be removed.
    would_be_free: HashSet<[u64; 2]>,
    /// Entries that went before the end, if they were counted.
    gone_early: u64,
}

impl Seen {
    /// Returns 128 bits with keys that no peer has.
    fn hash(&self, path: &EntryPath) -> [u64; 2] {
        [self.hashers[0].hash_one(path), self.hashers[1].hash_one(path)]
    }

    /// Returns the number of entries that lay there before the job.
    fn lay_there(&self) -> u64 {
        (self.settled.all.len() - self.made.intersection(&self.settled.all).count()) as u64
    }

    /// Returns whether this path was settled well.
    pub(super) fn has_settled(&self, path: &EntryPath) -> bool {
        self.settled.all.contains(&self.hash(path))
    }

    fn add_top(&mut self, path: &EntryPath) {
        let top = path.0.split(|&byte| byte == b'/').next().unwrap_or_default();
        if !self.tops.contains(top) {
            self.tops.insert(top.to_vec());
        }
    }

    /// Returns where to look if only directories in the sink's were sent.
    fn top_names(&self) -> std::vec::IntoIter<OsString> {
        let name = |top: &Vec<u8>| components(&EntryPath(top.clone())).ok()?.pop();
        self.tops.iter().filter_map(name).collect::<Vec<_>>().into_iter()
    }
}

impl Mirror {
    pub(crate) fn new(store: Store, exclude: Filter) -> Self {
        Self {
            store,
            exclude,
            is_done: Mutex::default(),
            is_over: AtomicBool::default(),
            lacks_room: AtomicBool::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.store.seen()
    }

    /// Notes that this entry is at its place, or would.
    pub(crate) fn saw(&self, entry: &Entry) {
        let mut seen = self.seen();
        let hash = seen.hash(&entry.path);
        seen.settled.all.insert(hash);
        if entry.kind == Kind::Directory && seen.settled.directories.insert(hash) {
            seen.add_top(&entry.path);
        }
    }

    /// Notes that a file of this size and time is at its place.
    pub(crate) fn saw_unread(&self, path: &EntryPath) {
        let mut seen = self.seen();
        let hash = seen.hash(path);
        seen.settled.all.insert(hash);
        seen.has_unread = true;
    }

    /// Returns whether entries may go before the end.
    pub(crate) fn may_remove_early(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Returns whether that would make room.
    pub(crate) fn makes_room(&self) -> bool {
        let Wishes { dry_run, backup, .. } = &*self.store.wishes;
        let makes_room = !dry_run && backup.is_none() && self.may_remove_early() && !self.seen().has_unread;
        self.lacks_room.fetch_or(makes_room, Ordering::Relaxed);
        makes_room
    }

    /// Notes entries that the source has, and that are not settled. Returns `false` if that is more than a source lists.
    pub(crate) fn list(&self, unsettled: &[Unsettled]) -> bool {
        let mut seen = self.seen();
        for Unsettled { path, is_directory } in unsettled {
            let hash = seen.hash(path);
            seen.listed.all.insert(hash);
            if *is_directory {
                seen.listed.directories.insert(hash);
            }
            seen.add_top(path);
        }
        seen.listed.all.len() <= MAX_LISTED
    }

    /// Removes what is neither settled nor listed, if the source has left nothing out. Blocks.
    pub(crate) fn remove_early(&self, extent: Option<&Extent>, tell: &mut Tell<'_>) {
        let mut seen = self.seen();
        let is_verified = !(seen.has_unread && self.lacks_room.load(Ordering::Relaxed));
        if let Some(extent) = extent.filter(|_| self.may_remove_early() && is_verified) {
            match self.sweep(extent, &seen, tell) {
                Ok((_, Walked { swept: Swept { spared: Some(spared), .. }, .. })) => {
                    tracing::warn!(%spared, "nothing is removed before the end")
                }
                Ok((entries, walked)) => {
                    (seen.would_be_free, seen.gone_early) = (walked.would_be_free, entries)
                }
                Err(error) => tracing::warn!(%error, "nothing is removed before the end"),
            }
        }
        seen.listed = Paths::default();
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns whether a dry run would have removed the directory at this file's place.
    pub(crate) fn would_be_free(&self, path: &EntryPath) -> bool {
        let seen = self.seen();
        seen.would_be_free.contains(&seen.hash(path))
    }

    /// Notes whether something is at this path, before the job makes anything there.
    pub(crate) fn before(&self, path: &EntryPath) {
        let Some(MaxDelete::Percent(_)) = self.store.wishes.max_delete else { return };
        let _work = RootUse::begin(&self.store.inner.root);
        let missing = first_missing(&self.store.inner.root, path);
        let mut seen = self.seen();
        for path in missing {
            let hash = seen.hash(&path);
            seen.made.insert(hash);
        }
    }

    /// Removes everything else, or nothing. None: that was done before. Blocks.
    ///
    /// # Errors
    /// Nothing was removed, and why.
    pub(crate) fn remove_others(&self, extent: &Extent, tell: &mut Tell<'_>) -> Result<Option<Swept>, Error> {
        let mut is_done = self.is_done.lock().even_poisoned();
        if *is_done {
            return Ok(None);
        }
        let (_, walked) = self.sweep(extent, &self.seen(), tell)?;
        *is_done = !walked.is_stopped;
        Ok(Some(walked.swept))
    }

    fn sweep(&self, extent: &Extent, seen: &Seen, tell: &mut Tell<'_>) -> Result<(u64, Walked), Error> {
        let theirs = Filter::new(extent.patterns.clone(), 0)?;
        let filters = Filters::new(extent.below.clone(), self.exclude.clone(), theirs.clone());
        if extent.entries != seen.settled.all.len() as u64 {
            return Err(Error::Paths(
                "nothing was removed: the receiving side was restarted during the job; run the same command again"
                    .to_owned(),
            ));
        }
        let _work = RootUse::begin(&self.store.inner.root);
        let is_early = !seen.listed.all.is_empty();
        let only_places = is_early && !self.lacks_room.load(Ordering::Relaxed);
        let sweep = |does, free: Option<&HashSet<_>>, tell: &mut Tell<'_>| {
            let failed = |source| Error::Io { doing: "look for what was not sent", source };
            let way = Descent::below(&self.store.inner.root).map_err(failed)?;
            let names = match extent.whole {
                true => way.names().map_err(failed)?,
                false => seen.top_names(),
            };
            let mut sweep = Sweep {
                store: &self.store,
                seen,
                filters: &filters,
                does,
                tell,
                way,
                levels: Vec::new(),
                path: EntryPath::default(),
                goes: Goes::default(),
                only_places,
                free,
                would_be_free: HashSet::new(),
                is_stopped: false,
            };
            sweep.run(names);
            let Sweep { goes, would_be_free, is_stopped, .. } = sweep;
            Ok::<_, Error>((goes, would_be_free, is_stopped))
        };
        let wishes = &self.store.wishes;
        let empty = if wishes.delete_all { &[] } else { &*extent.empty };
        let (mut entries, mut free) = (0, None);
        if is_early || !empty.is_empty() || wishes.max_delete.is_some() {
            let (mut goes, would_be_free, _) =
                sweep(Does::Count, None, &mut |_, _| ControlFlow::Continue(()))?;
            // Entries that were removed early count, too, if there are more.
            goes.entries += if goes.entries > 0 && !wishes.dry_run { seen.gone_early } else { 0 };
            entries = goes.entries;
            if let Some(spared) = spared(&goes, empty, wishes.max_delete, seen.lay_there()) {
                let swept = Swept { unmatched: theirs.unmatched_at(), spared: Some(spared) };
                return Ok((0, Walked { swept, would_be_free: HashSet::new(), is_stopped: false }));
            }
            free = Some(would_be_free);
        }
        let does = if wishes.dry_run { Does::Report } else { Does::Remove };
        let (_, would_be_free, is_stopped) = sweep(does, free.as_ref(), tell)?;
        let swept = Swept { unmatched: theirs.unmatched_at(), spared: None };
        Ok((entries, Walked { swept, would_be_free, is_stopped }))
    }
}

/// The outcome of a walk.
struct Walked {
    swept: Swept,
    would_be_free: HashSet<[u64; 2]>,
    /// Nobody listened any more.
    is_stopped: bool,
}

/// Returns the reason for which nothing is to be removed. `empty`: see [`Extent`]. `lay_there`: entries of the job that lay
/// there before.
fn spared(goes: &Goes, empty: &[EntryPath], limit: Option<MaxDelete>, lay_there: u64) -> Option<Spared> {
    let is_emptied = |path: &&EntryPath| path.0.is_empty() || goes.tops.contains(&path.0);
    let entries = goes.entries;
    let emptied = empty.iter().find(is_emptied).filter(|_| entries > 0);
    let limit = limit.filter(|limit| !limit.allows(entries, lay_there + entries));
    let because = match (emptied, limit) {
        (Some(directory), _) => Because::SourceIsEmpty(directory.clone()),
        (None, Some(limit)) => Because::Limit(limit),
        (None, None) => return None,
    };
    Some(Spared { entries, because })
}

/// Returns this path and the paths above it that have nothing under them.
fn first_missing(root: &Root, path: &EntryPath) -> Vec<EntryPath> {
    let (Ok(steps), Ok(mut dir)) = (components(path), root.try_clone()) else { return Vec::new() };
    let names: Vec<_> = steps.iter().map(|name| bytes(name)).collect();
    for (index, name) in steps.iter().enumerate() {
        if dir.symlink_metadata(name).is_err() {
            return (index..names.len()).map(|last| EntryPath(names[..=last].join(&b'/'))).collect();
        }
        match root.enter(&dir, name) {
            Ok(below) => dir = below,
            // The last, or something that is in the way.
            Err(_) => break,
        }
    }
    Vec::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
