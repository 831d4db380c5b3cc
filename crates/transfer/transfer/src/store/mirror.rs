//! Removal of what a source does not have.
//!
//! # Model
//! A job's mirror keeps a keyed hash of each path that was settled well, and which of them are directories. When the source
//! has offered everything, what else lies in those directories goes. Excluded files stay, and so do the directories above
//! them. One walk does that, with one open directory at a time (see [`Descent`]): a tree of any depth goes. The source sends the end only if nothing failed and nothing was left out. The number of entries must be the same on
//! both sides, so a receiver that was restarted in the middle of the job removes nothing.
//!
//! # Before the end
//! Entries may go before the end if one that the source has needs their room or their place. By then the source has settled all else,
//! and has listed what it has not, so its whole list is known. If only a place is needed, only what lies there goes, and
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

use super::descent::Descent;
use super::place::{writable, There};
use super::root::{Root, Work};
use super::{are_ours, components, Store, STATE};
use crate::entry::{bytes, Entry, EntryPath, Kind};
use crate::error::Error;
use crate::event::Outcome;
use crate::filter::{Filter, Filters};
use crate::wire::{Because, Change, Extent, MaxDelete, Spared, Unsettled, Wishes, MAX_LISTED, MAX_PATH};
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::FileTimes;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The report about each entry that goes, would go, or cannot go. False: nobody listens any more, and the rest stays.
pub(crate) type Tell<'a> = dyn FnMut(&EntryPath, Outcome) -> bool + 'a;

/// The entries of one job.
pub(crate) struct Mirror {
    store: Store,
    /// The sink's own exclusions, beside the source's.
    exclude: Filter,
    /// True when everything else is gone. Held while it goes.
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
    /// Files at whose places a dry run has found directories that would go.
    would_be_free: HashSet<[u64; 2]>,
    /// Entries that went before the end, if they were counted.
    gone_early: u64,
}

impl Seen {
    /// 128 bits with keys that no peer knows.
    fn hash(&self, path: &EntryPath) -> [u64; 2] {
        [self.hashers[0].hash_one(path), self.hashers[1].hash_one(path)]
    }

    /// How many of the entries lay there before the job.
    fn lay_there(&self) -> u64 {
        (self.settled.all.len() - self.made.intersection(&self.settled.all).count()) as u64
    }

    /// True if this path was settled well.
    pub(super) fn has_settled(&self, path: &EntryPath) -> bool {
        self.settled.all.contains(&self.hash(path))
    }

    fn add_top(&mut self, path: &EntryPath) {
        let top = path.0.split(|&byte| byte == b'/').next().unwrap_or_default();
        if !self.tops.contains(top) {
            self.tops.insert(top.to_vec());
        }
    }

    /// Where to look if only directories in the sink's were sent.
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

    /// This entry lies at its place, or would.
    pub(crate) fn saw(&self, entry: &Entry) {
        let mut seen = self.seen();
        let hash = seen.hash(&entry.path);
        seen.settled.all.insert(hash);
        if entry.kind == Kind::Directory && seen.settled.directories.insert(hash) {
            seen.add_top(&entry.path);
        }
    }

    /// A file of this size and time lies at its place.
    pub(crate) fn saw_unread(&self, path: &EntryPath) {
        let mut seen = self.seen();
        let hash = seen.hash(path);
        seen.settled.all.insert(hash);
        seen.has_unread = true;
    }

    /// True if entries may go before the end.
    pub(crate) fn may_remove_early(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// True if that would make room.
    pub(crate) fn makes_room(&self) -> bool {
        let Wishes { dry_run, backup, .. } = &*self.store.wishes;
        let makes_room = !dry_run && backup.is_none() && self.may_remove_early() && !self.seen().has_unread;
        self.lacks_room.fetch_or(makes_room, Ordering::Relaxed);
        makes_room
    }

    /// The source has these, and they are not settled. False: that is more than a source lists.
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

    /// True if a dry run would have removed the directory at this file's place.
    pub(crate) fn would_be_free(&self, path: &EntryPath) -> bool {
        let seen = self.seen();
        seen.would_be_free.contains(&seen.hash(path))
    }

    /// Notes whether something lies at this path, before the job makes anything there.
    pub(crate) fn before(&self, path: &EntryPath) {
        let Some(MaxDelete::Percent(_)) = self.store.wishes.max_delete else { return };
        let _work = Work::begin(&self.store.inner.root);
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
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
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
        let _work = Work::begin(&self.store.inner.root);
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
            let (mut goes, would_be_free, _) = sweep(Does::Count, None, &mut |_, _| true)?;
            // What went early counts, too, if there is more.
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

/// The reason for which nothing is to be removed. `empty`: see [`Extent`]. `lay_there`: entries of the job that lay there before.
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

/// The paths above and including this one under which nothing lies.
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

/// The effect of a sweep on what was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Count,
    Report,
    Remove,
}

/// The entries that go, or would go.
#[derive(Default)]
struct Goes {
    entries: u64,
    /// First components of their paths.
    tops: BTreeSet<Vec<u8>>,
}

impl Goes {
    fn add(&mut self, path: &EntryPath) {
        self.entries += 1;
        let top = path.0.split(|&byte| byte == b'/').next().unwrap_or_default();
        if !self.tops.contains(top) {
            self.tops.insert(top.to_vec());
        }
    }
}

/// A directory whose names are being worked through.
struct Level {
    /// Under which it lies in the one above.
    name: OsString,
    names: std::vec::IntoIter<OsString>,
    /// Its time, if it was sent: a removal changes that.
    stays: Option<Option<SystemTime>>,
    /// A file is to take its place.
    is_place: bool,
    /// Nothing stays in it.
    is_empty: bool,
}

/// Why a directory is entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// It was sent.
    Stays,
    /// It was not.
    Goes,
    /// A file or link was sent that is to take its place.
    IsPlace,
}

struct Sweep<'a, 'b> {
    store: &'a Store,
    seen: &'a Seen,
    filters: &'a Filters,
    does: Does,
    tell: &'a mut Tell<'b>,
    way: Descent<'a>,
    levels: Vec<Level>,
    /// Of the entry that is looked at.
    path: EntryPath,
    goes: Goes,
    /// Nothing goes but what lies at the place of a file.
    only_places: bool,
    /// The places that become free, by an earlier walk. None: that is not known, and each may.
    free: Option<&'a HashSet<[u64; 2]>>,
    /// Nobody listens any more.
    is_stopped: bool,
    would_be_free: HashSet<[u64; 2]>,
}

fn modified(dir: &Dir) -> Option<SystemTime> {
    Some(dir.dir_metadata().ok()?.modified().ok()?.into_std())
}

/// The next run sets a time that cannot be set now.
fn set_modified(dir: &Dir, time: Option<SystemTime>) {
    if let (Ok(dir), Some(time)) = (dir.open("."), time) {
        _ = dir.into_std().set_times(FileTimes::new().set_modified(time));
    }
}

impl Sweep<'_, '_> {
    /// Works through these names of the sink's directory.
    fn run(&mut self, names: std::vec::IntoIter<OsString>) {
        let stays = Some(modified(self.way.dir()));
        self.levels.push(Level { name: OsString::new(), names, stays, is_place: false, is_empty: true });
        while let Some(level) = self.levels.last_mut() {
            match level.names.next() {
                Some(name) => self.entry(name),
                None => self.leave(),
            }
            if self.is_stopped {
                return;
            }
        }
    }

    fn entry(&mut self, name: OsString) {
        let length = self.path.0.len();
        if length > 0 {
            self.path.0.push(b'/');
        }
        self.path.0.extend(bytes(&name));
        let depth = self.levels.len();
        let is_gone = self.look_at(name);
        if self.levels.len() <= depth {
            self.path.0.truncate(length);
            self.stays_unless(is_gone);
        }
    }

    /// The entries of the directory that is worked through are gone, or stay.
    fn stays_unless(&mut self, is_gone: bool) {
        if let Some(level) = self.levels.last_mut() {
            level.is_empty &= is_gone;
        }
    }

    /// True if it is gone, or would be. A directory is entered first.
    fn look_at(&mut self, name: OsString) -> bool {
        let hash = (self.path.0.len() <= MAX_PATH).then(|| self.seen.hash(&self.path));
        let is_in = |paths: &HashSet<[u64; 2]>| hash.is_some_and(|hash| paths.contains(&hash));
        let there = There::named(self.way.dir(), &name);
        let is_directory = there.as_ref().is_ok_and(|there| there.is_directory);
        let Seen { settled, listed, .. } = self.seen;
        if let (true, Ok(there)) = (is_directory, &there) {
            if is_in(&settled.directories) || is_in(&listed.directories) {
                self.enter(name, there, Entered::Stays);
                return false;
            }
            if is_in(&listed.all) {
                if self.free.is_none_or(is_in) {
                    self.enter(name, there, Entered::IsPlace);
                }
                return false;
            }
        }
        if is_in(&settled.all) || is_in(&listed.all) {
            return false;
        }
        if self.only_places && !self.levels.iter().any(|level| level.is_place) {
            return false;
        }
        if self.is_state(&name) || self.holds_backups() || self.filters.exclude(&self.path, is_directory) {
            return false;
        }
        match there {
            Ok(there) if is_directory => {
                self.enter(name, &there, Entered::Goes);
                false
            }
            _ => self.gone(|store, dir, path| store.put_away(dir, &name, path)),
        }
    }

    /// A directory of partial files: that of the receiving directory, or one on another disk.
    fn is_state(&self, name: &OsStr) -> bool {
        if !bytes(name).eq_ignore_ascii_case(STATE.as_bytes()) {
            return false;
        }
        let names = self.way.dir().open_dir_nofollow(name).and_then(|state| {
            state.entries()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()
        });
        self.path.0.len() == STATE.len()
            || names.is_ok_and(|names| are_ours(names.iter().map(|name| name.as_os_str())))
    }

    fn enter(&mut self, name: OsString, there: &There, entered: Entered) {
        if let Err(error) = self.way.enter(&name, there) {
            return self.failed(&error);
        }
        match self.way.names() {
            Ok(names) => {
                let stays = (entered == Entered::Stays).then(|| modified(self.way.dir()));
                let is_place = entered == Entered::IsPlace;
                self.levels.push(Level { name, names, stays, is_place, is_empty: true });
            }
            Err(error) => {
                self.failed(&error);
                self.go_up();
            }
        }
    }

    /// False if the way up is lost, and with it what lies above.
    fn go_up(&mut self) -> bool {
        match self.way.leave() {
            Ok(()) => true,
            Err(error) => {
                self.failed(&error);
                self.levels.clear();
                false
            }
        }
    }

    /// The directory is worked through.
    fn leave(&mut self) {
        let Some(Level { name, stays, is_place, is_empty, .. }) = self.levels.pop() else { return };
        if let Some(before) = stays {
            // Its time is the source's already.
            if before.is_some() && modified(self.way.dir()) != before {
                set_modified(self.way.dir(), before);
            }
        }
        if self.levels.is_empty() || !self.go_up() {
            return;
        }
        let is_gone = stays.is_none()
            && is_empty
            && match is_place {
                true => self.place_is_free(&name),
                false => self.gone(|_, parent, _| writable(parent, || parent.remove_dir(&name))),
            };
        let above = self.path.0.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        self.path.0.truncate(above);
        self.stays_unless(is_gone);
    }

    /// The directory at a file's place goes without a report: the file's own says that it takes the place.
    fn place_is_free(&mut self, name: &OsStr) -> bool {
        if self.does != Does::Remove {
            self.would_be_free.insert(self.seen.hash(&self.path));
            return true;
        }
        let parent = self.way.dir();
        match writable(parent, || parent.remove_dir(name)) {
            Ok(()) => true,
            Err(error) => {
                self.failed(&error);
                false
            }
        }
    }

    /// The directory of backups, what lies in it, or a directory above it.
    fn holds_backups(&self) -> bool {
        let Some(backup) = &self.store.wishes.backup else { return false };
        let is_below = |path: &EntryPath, above: &EntryPath| {
            path.0.strip_prefix(above.0.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/'))
        };
        self.path == *backup || is_below(&self.path, backup) || is_below(backup, &self.path)
    }

    fn gone(&mut self, remove: impl FnOnce(&Store, &Dir, &EntryPath) -> io::Result<()>) -> bool {
        match self.does {
            Does::Remove => {}
            Does::Report => {
                self.tell(Outcome::Would(Change::Remove));
                return true;
            }
            Does::Count => {
                self.goes.add(&self.path);
                return true;
            }
        }
        match remove(self.store, self.way.dir(), &self.path) {
            Ok(()) => self.tell(Outcome::Removed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                self.failed(&error);
                return false;
            }
        }
        true
    }

    fn tell(&mut self, outcome: Outcome) {
        if self.path.0.len() <= MAX_PATH {
            self.is_stopped |= !(self.tell)(&self.path, outcome);
        }
    }

    fn failed(&mut self, error: &io::Error) {
        let reason = Outcome::Failed(format!("it cannot be removed: {error}"));
        if self.path.0.len() <= MAX_PATH {
            return self.tell(reason);
        }
        let end = self.path.0[..MAX_PATH].iter().rposition(|&byte| byte == b'/').unwrap_or(MAX_PATH);
        self.is_stopped |= !(self.tell)(&EntryPath(self.path.0[..end].to_vec()), reason);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
