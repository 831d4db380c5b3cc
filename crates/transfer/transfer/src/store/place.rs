//! Where an entry goes: the real directories above it, and its attributes.
//!
//! Directories are opened one component at a time and never through a link, so that a link put in the way between two
//! looks changes nothing: what was opened stays what it was.
//!
//! # Known bad case
//! A directory whose mode forbids its owner to write is opened for a moment when something is to be stored in it, and
//! gets its mode back. An interrupted run leaves such directories, and nothing on the disk distinguishes them from one
//! that the user protected: that one is written to as well. Those that forbid their owner to look into them: see [`super::root`].

use super::extras::ToSet;
#[cfg(not(unix))]
use super::file_system::identity;
use super::root::Root;
use super::{sync, times, Kept};
use crate::beneath;
use crate::entry::{EntryPath, Mtime, MODE_BITS};
use crate::error::is_out_of_descriptors;
use crate::wire::Why;
use afteryou_base::lock::EvenPoisoned;
use cap_std::fs::Dir;
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Directories that stay open until they are flushed together: a path may have two thousand components.
const MOST_CHANGED: usize = 64;

/// Bytes of zeros that become a hole.
const HOLE: usize = 64 * 1024;

fn has_holes(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        Ok(metadata.blocks() * 512 < metadata.len())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(false)
    }
}

fn copy_around_holes(from: &mut impl Read, to: &mut File) -> io::Result<u64> {
    to.set_len(0)?;
    let (mut buffer, mut copied) = (vec![0; HOLE], 0);
    loop {
        let mut filled = 0;
        while filled < HOLE {
            match from.read(&mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        if filled == 0 {
            to.set_len(copied)?;
            return Ok(copied);
        }
        let data = &buffer[..filled];
        match data.iter().all(|&byte| byte == 0) {
            true => _ = to.seek(io::SeekFrom::Current(filled as i64))?,
            false => to.write_all(data)?,
        }
        copied += filled as u64;
    }
}

/// The attributes that every entry has.
const MODE_AND_TIME: &str = "set its mode and time";

/// Returns the failure, for the source.
pub(crate) fn why(doing: &str, error: io::Error) -> Why {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Why::DiskFull,
        _ if is_out_of_descriptors(&error) => Why::TooManyFiles,
        _ => Why::Io(format!("cannot {doing}: {error}")),
    }
}

/// Returns the refusal of a path for this reason.
pub(crate) fn refused(path: &EntryPath, reason: &str) -> Why {
    Why::Refused(format!("\"{path}\" is refused: {reason}"))
}

/// Returns a directory on the way, if there was one, and how many steps it took: see [`beneath::far_along`].
fn far_along(root: &Root, steps: &[OsString]) -> (Option<Dir>, usize) {
    let reached = beneath::far_along(root, steps).filter(|(dir, _)| root.allow(dir).is_ok());
    reached.map_or((None, 0), |(dir, taken)| (Some(dir), taken))
}

/// A step of a path.
enum Step {
    Into(Dir),
    Missing,
    /// No directory, and why it could not be opened as one.
    Other(There, io::Error),
}

/// Takes a step. Between its two looks, a directory may take the place of a file: many entries of a job arrive together.
fn step(root: &Root, dir: &Dir, name: &OsStr) -> Result<Step, Why> {
    let error = match root.enter(dir, name) {
        Ok(next) => return Ok(Step::Into(next)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Step::Missing),
        Err(error) => error,
    };
    match There::if_any(dir, name) {
        _ if is_out_of_descriptors(&error) => Err(in_the_way(dir, name, error)),
        Ok(Some(there)) if !there.is_directory => Ok(Step::Other(there, error)),
        Ok(None) => Ok(Step::Missing),
        _ => root.enter(dir, name).map(Step::Into).map_err(|error| in_the_way(dir, name, error)),
    }
}

/// Opens the directory that `parents` lead to; None where one does not exist.
pub(crate) fn find(root: &Root, parents: &[OsString]) -> Result<Option<Dir>, Why> {
    find_unless(root, parents, |_| false)
}

/// Finds a directory as `find` does; returns `None`, too, where something is that gives way to a directory.
pub(super) fn find_unless(
    root: &Root,
    parents: &[OsString],
    gives_way: impl Fn(&There) -> bool,
) -> Result<Option<Dir>, Why> {
    let (mut below, taken) = far_along(root, parents);
    for name in &parents[taken..] {
        let dir = below.as_ref().unwrap_or(root);
        match step(root, dir, name)? {
            Step::Into(next) => below = Some(next),
            Step::Missing => return Ok(None),
            Step::Other(there, _) if gives_way(&there) => return Ok(None),
            Step::Other(_, error) => return Err(in_the_way(dir, name, error)),
        }
    }
    or_copy(below, root).map(Some)
}

/// Returns the directory that was reached, which is the root itself if there were no steps.
fn or_copy(below: Option<Dir>, root: &Dir) -> Result<Dir, Why> {
    match below {
        Some(dir) => Ok(dir),
        None => root.try_clone().map_err(|error| why("open the directory", error)),
    }
}

/// Opens the directory that `parents` lead to and makes what is missing, which is counted in `made`. Directories that got a
/// new entry are added to `changed`; if these are many, they go to the disk at once. `clear` removes what is under the last of
/// some steps and is no directory, and returns false if that must not be removed.
pub(crate) fn make(
    root: &Root,
    parents: &[OsString],
    mut changed: Option<&mut Vec<Dir>>,
    made: &mut usize,
    clear: impl Fn(&Dir, &[OsString], &There) -> io::Result<bool>,
) -> Result<Dir, Why> {
    let (mut below, taken) = far_along(root, parents);
    for (at, name) in parents.iter().enumerate().skip(taken) {
        let dir = below.as_ref().unwrap_or(root);
        match step(root, dir, name)? {
            Step::Into(next) => {
                below = Some(next);
                continue;
            }
            Step::Missing => {}
            Step::Other(there, error) => match clear(dir, &parents[..=at], &there) {
                Ok(true) => {}
                Ok(false) => return Err(in_the_way(dir, name, error)),
                Err(why_not) => return Err(in_the_way(dir, name, why_not)),
            },
        }
        match writable(dir, || dir.create_dir(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(why("create a directory", error))
            }
            _ => {}
        }
        let next = root.enter(dir, name).map_err(|error| in_the_way(dir, name, error))?;
        *made += 1;
        if let Some(changed) = &mut changed {
            if changed.len() >= MOST_CHANGED {
                sync::flush(std::mem::take(changed))
                    .map_err(|error| why("write the directory to the disk", error))?;
            }
            changed.push(or_copy(below.take(), root)?);
        }
        below = Some(next);
    }
    or_copy(below, root)
}

/// Acts in a directory whose mode, kept from the source, may forbid it to its owner. A run that was cut short leaves such a
/// directory with files missing in it.
pub(crate) fn writable(dir: &Dir, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let denied = match act() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => error,
        other => return other,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        use std::sync::Mutex;
        // One at a time: nobody may take the opened mode for the one to return to.
        static OPENED: Mutex<()> = Mutex::new(());
        let _one = OPENED.lock().even_poisoned();
        let Ok(handle) = dir.open(".") else { return Err(denied) };
        let handle = handle.into_std();
        let before = handle.metadata()?.permissions();
        if before.mode() & 0o300 != 0o300 {
            let opened = std::fs::Permissions::from_mode(before.mode() & 0o7777 | 0o300);
            if handle.set_permissions(opened).is_ok() {
                let result = act();
                handle.set_permissions(before)?;
                return result;
            }
        }
    }
    #[cfg(not(unix))]
    let _ = dir;
    Err(denied)
}

/// Returns why a component could not be opened as a directory.
pub(super) fn in_the_way(dir: &Dir, name: &OsStr, error: io::Error) -> Why {
    let shown = EntryPath(name.as_encoded_bytes().to_vec());
    match dir.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => {
            Why::Refused(format!("\"{shown}\" is a symbolic link here, and nothing is stored through links"))
        }
        Ok(metadata) if !metadata.is_dir() => {
            Why::Refused(format!("\"{shown}\" is not a directory here; remove it or send to another place"))
        }
        _ => why(&format!("open the directory \"{shown}\""), error),
    }
}

/// The entry under a name. A link is a link, wherever it leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct There {
    pub(crate) is_file: bool,
    pub(crate) is_directory: bool,
    pub(crate) is_link: bool,
    /// Names that it has, where the system counts them.
    pub(crate) names: u64,
    pub(crate) bytes: u64,
    pub(crate) mtime: Mtime,
    /// Permissions, set-id and sticky bits; None where the system has none.
    mode: Option<u32>,
    owner: Option<(u32, u32)>,
    /// See [`super::file_system::identity`].
    pub(crate) identity: Option<(u64, u64)>,
}

impl There {
    /// Looks at a name of one component, which cannot lead out of `dir`: one call, where the sandbox makes three.
    pub(crate) fn named(dir: &Dir, name: &OsStr) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use rustix::fs::{statat, AtFlags, FileType};
            let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let sort = FileType::from_raw_mode(stat.st_mode);
            Ok(Self {
                is_file: sort.is_file(),
                is_directory: sort.is_dir(),
                is_link: sort.is_symlink(),
                names: stat.st_nlink as u64,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                mtime: Mtime { seconds: stat.st_mtime as i64, nanos: stat.st_mtime_nsec as u32 },
                mode: Some(stat.st_mode as u32 & 0o7777),
                owner: Some((stat.st_uid, stat.st_gid)),
                identity: Some((stat.st_dev as u64, stat.st_ino as u64)),
            })
        }
        #[cfg(not(unix))]
        {
            let metadata = dir.symlink_metadata(name)?;
            Ok(Self {
                is_file: metadata.is_file(),
                is_directory: metadata.is_dir(),
                is_link: metadata.is_symlink(),
                names: 1,
                bytes: metadata.len(),
                mtime: metadata
                    .modified()
                    .map(|time| Mtime::from_system(time.into_std()))
                    .unwrap_or_default(),
                mode: None,
                owner: None,
                identity: identity(&metadata),
            })
        }
    }

    /// Returns whether it has this time, mode and owner, as far as they are offered and the system has them.
    pub(crate) fn has(&self, attributes: &Attributes) -> bool {
        let mode = attributes.mode.filter(|_| self.mode.is_some()).map(|mode| mode & MODE_BITS);
        let owner = attributes.owner().filter(|_| self.owner.is_some());
        self.mtime == attributes.mtime
            && mode.is_none_or(|mode| self.mode == Some(mode))
            && owner.is_none_or(|owner| self.owner == Some(owner))
    }

    /// Returns what is there; `None` if there is nothing.
    pub(crate) fn if_any(dir: &Dir, name: &OsStr) -> io::Result<Option<Self>> {
        match Self::named(dir, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Returns the bytes that this user may still store in a directory's file system, if it reports them.
pub(super) fn room(dir: &Dir) -> Option<u64> {
    #[cfg(unix)]
    {
        let system = rustix::fs::fstatvfs(dir).ok()?;
        Some(system.f_bavail.saturating_mul(system.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        None
    }
}

/// Copies a file anew from its beginning; the system may share the blocks. Holes stay holes.
pub(super) fn copy(from: &File, to: &mut File, size: u64) -> io::Result<()> {
    (&mut &*from).rewind()?;
    to.rewind()?;
    let mut content = io::Read::take(from, size);
    let copied = match has_holes(from)? {
        false => io::copy(&mut content, to)?,
        true => copy_around_holes(&mut content, to)?,
    };
    match copied == size {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The action that failed, and its error.
type Unset = (&'static str, io::Error);

/// Mode and time of modification as they travel.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    pub(crate) mode: Option<u32>,
    pub(crate) mtime: Mtime,
    /// Owner and extended attributes, if the job asks for them.
    pub(crate) extras: Option<Arc<ToSet>>,
}

impl Attributes {
    /// Gives them to a directory where they differ.
    pub(crate) fn apply_to_directory(&self, dir: &Dir) -> Result<Kept, Why> {
        let opened = dir.open(".").map_err(|error| (MODE_AND_TIME, error));
        kept(opened.and_then(|dir| self.set(&dir.into_std())))
    }

    /// Gives them to an open file where they differ.
    pub(crate) fn apply(&self, file: &File) -> Result<Kept, Why> {
        kept(self.set(file))
    }

    /// Gives them to an open file of which this was seen a moment ago, where they differ.
    pub(crate) fn apply_to(&self, file: &File, seen: &std::fs::Metadata) -> Result<Kept, Why> {
        kept(self.set_where_different(file, seen))
    }

    /// Returns user and group here.
    pub(crate) fn owner(&self) -> Option<(u32, u32)> {
        self.extras.as_ref()?.owner
    }

    fn set(&self, file: &File) -> Result<(), Unset> {
        self.set_where_different(file, &file.metadata().map_err(|error| (MODE_AND_TIME, error))?)
    }

    /// Sets all, whether or not the first can be set. Owner and access lists come first, since they change the mode.
    fn set_where_different(&self, file: &File, seen: &std::fs::Metadata) -> Result<(), Unset> {
        let mode_and_time = |seen: &std::fs::Metadata| {
            let set = self.set_mode(file, seen).and(self.set_time(file, seen));
            set.map_err(|error| (MODE_AND_TIME, error))
        };
        let Some(extras) = &self.extras else { return mode_and_time(seen) };
        let set = extras.set(file, seen);
        let seen = file.metadata().map_err(|error| (MODE_AND_TIME, error))?;
        set.and(mode_and_time(&seen))
    }

    fn set_mode(&self, file: &File, metadata: &std::fs::Metadata) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            use std::os::unix::fs::PermissionsExt;
            if metadata.permissions().mode() & 0o7777 != mode & MODE_BITS {
                return file.set_permissions(std::fs::Permissions::from_mode(mode & MODE_BITS));
            }
        }
        #[cfg(not(unix))]
        let _ = (file, metadata);
        Ok(())
    }

    fn set_time(&self, file: &File, metadata: &std::fs::Metadata) -> io::Result<()> {
        match self.mtime.to_system() {
            Some(modified) if metadata.modified().ok() != Some(modified) => {
                file.set_times(FileTimes::new().set_modified(modified))?;
                times::check(modified, file.metadata()?.modified()?)
            }
            _ => Ok(()),
        }
    }
}

/// Judges attributes that could not be set. Some file systems have no modes, only its owner may change those of a file, and
/// a file has room for few attributes. That is no reason not to store it. No space for attributes is no full disk either:
/// ext4 has 4 KiB for those of a file.
pub(super) fn kept(set: Result<(), Unset>) -> Result<Kept, Why> {
    let is_full =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    match set {
        Ok(()) => Ok(Kept::All),
        Err((doing, error)) if is_full(&error) => Ok(Kept::ContentOnly(format!(
            "cannot {doing}: the file system has no room for them; a file's attributes may be too large for it"
        ))),
        Err((doing, error)) => match why(doing, error) {
            Why::Io(reason) => Ok(Kept::ContentOnly(reason)),
            why => Err(why),
        },
    }
}

impl Mtime {
    /// Converts the time, `None` for one that this system cannot express.
    pub(crate) fn to_system(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let second = match self.seconds < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(whole),
            false => SystemTime::UNIX_EPOCH.checked_add(whole),
        };
        second?.checked_add(Duration::from_nanos(self.nanos.min(999_999_999).into()))
    }

    /// Converts a time of a file's metadata.
    pub(crate) fn from_system(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self { seconds: after.as_secs() as i64, nanos: after.subsec_nanos() },
            Err(before) => {
                let before = before.duration();
                let whole = before.as_secs() as i64;
                match before.subsec_nanos() {
                    0 => Self { seconds: -whole, nanos: 0 },
                    nanos => Self { seconds: -whole - 1, nanos: 1_000_000_000 - nanos },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_without_room_are_named_and_are_no_full_disk() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let kept = kept(Err(("set its extended attributes", kind.into())));
            assert!(matches!(&kept, Ok(Kept::ContentOnly(why)) if why.contains("no room")), "{kept:?}");
        }
    }

    #[test]
    fn times_before_and_after_1970_survive_the_way_there_and_back() {
        for (seconds, nanos) in
            [(0, 0), (1, 999_999_999), (-1, 1), (-1, 0), (-2_000_000_000, 5), (4_000_000_000, 123)]
        {
            let time = Mtime { seconds, nanos };
            assert_eq!(time.to_system().map(Mtime::from_system), Some(time));
        }
        let nonsense = Mtime { seconds: 5, nanos: u32::MAX }.to_system().map(Mtime::from_system);
        assert_eq!(nonsense, Some(Mtime { seconds: 5, nanos: 999_999_999 }));
    }
}
