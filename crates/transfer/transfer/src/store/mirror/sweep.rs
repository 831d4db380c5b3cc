//! One walk through the sink's directories, which counts, reports or removes what is neither settled nor listed.

use super::{Seen, Tell};
use crate::entry::{bytes, EntryPath};
use crate::event::Outcome;
use crate::filter::Filters;
use crate::store::descent::Descent;
use crate::store::place::{writable, There};
use crate::store::{are_ours, Store, STATE};
use crate::wire::{Change, MAX_PATH};
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::FileTimes;
use std::io;
use std::time::SystemTime;

/// The effect of a sweep on what was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Count,
    Report,
    Remove,
}

/// The entries that are removed, or would be.
#[derive(Default)]
pub(super) struct Goes {
    pub(super) entries: u64,
    /// First components of their paths.
    pub(super) tops: BTreeSet<Vec<u8>>,
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
pub(super) struct Level {
    /// Under which it is in the one above.
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

pub(super) struct Sweep<'a, 'b> {
    pub(super) store: &'a Store,
    pub(super) seen: &'a Seen,
    pub(super) filters: &'a Filters,
    pub(super) does: Does,
    pub(super) tell: &'a mut Tell<'b>,
    pub(super) way: Descent<'a>,
    pub(super) levels: Vec<Level>,
    /// Of the entry that is looked at.
    pub(super) path: EntryPath,
    pub(super) goes: Goes,
    /// Only entries at the place of a file are removed.
    pub(super) only_places: bool,
    /// The places that become free, by an earlier walk. None: that is not known, and each may.
    pub(super) free: Option<&'a HashSet<[u64; 2]>>,
    /// Nobody listens any more.
    pub(super) is_stopped: bool,
    pub(super) would_be_free: HashSet<[u64; 2]>,
}

fn modified(dir: &Dir) -> Option<SystemTime> {
    Some(dir.dir_metadata().ok()?.modified().ok()?.into_std())
}

/// Sets a directory's time; the next run sets one that cannot be set now.
fn set_modified(dir: &Dir, time: Option<SystemTime>) {
    if let (Ok(dir), Some(time)) = (dir.open("."), time) {
        _ = dir.into_std().set_times(FileTimes::new().set_modified(time));
    }
}

impl Sweep<'_, '_> {
    /// Works through these names of the sink's directory.
    pub(super) fn run(&mut self, names: std::vec::IntoIter<OsString>) {
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

    /// Notes that an entry of the directory being worked through is gone, or is kept.
    fn stays_unless(&mut self, is_gone: bool) {
        if let Some(level) = self.levels.last_mut() {
            level.is_empty &= is_gone;
        }
    }

    /// Returns whether it is gone, or would be. A directory is entered first.
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

    /// Returns whether it is a directory of partial files: that of the receiving directory, or one on another disk.
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

    /// Climbs to the directory above. Returns `false` if the way up is lost, and with it what is above.
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

    /// Leaves the directory, which is worked through.
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

    /// Removes the directory at a file's place without a report: the file's own has it.
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

    /// Returns whether this is the directory of backups, something in it, or a directory above it.
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
            self.is_stopped |= (self.tell)(&self.path, outcome).is_break();
        }
    }

    fn failed(&mut self, error: &io::Error) {
        let reason = Outcome::Failed(format!("it cannot be removed: {error}"));
        if self.path.0.len() <= MAX_PATH {
            return self.tell(reason);
        }
        let end = self.path.0[..MAX_PATH].iter().rposition(|&byte| byte == b'/').unwrap_or(MAX_PATH);
        self.is_stopped |= (self.tell)(&EntryPath(self.path.0[..end].to_vec()), reason).is_break();
    }
}
