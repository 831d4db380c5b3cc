//! Something on the disk, and how it is reached whatever others do to the directories above it meanwhile.
//!
//! # Model
//! Unless links are followed, a place is a directory that stays open and a path of directories below it, so an exchange of
//! one of them for a link leads nowhere (see [`beneath`]). With links followed, `serve` resolves them inside the served
//! directory: `cap-std` does that, with `openat2` on Linux and component by component elsewhere. `send` resolves them as any
//! program does, and may leave the directory that the user named.
//!
//! A walk keeps the directory open that it is in ([`Here`]): its names are looked at and opened there, one call each.

use super::{bytes, Symlinks};
use crate::beneath;
use crate::entry::Mtime;
use crate::entry::MODE_BITS;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::Dir;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Younger times are not relied upon: some file systems count in steps of 2 s.
const SETTLED: Duration = Duration::from_secs(2);

/// A name on the disk.
#[derive(Clone, Debug)]
pub(super) struct Place {
    reach: Reach,
    path: PathBuf,
}

/// The symbolic links that are followed below the root. Directories are opened when a job begins and stay open.
#[derive(Clone, Debug)]
enum Reach {
    /// None: directories below this one.
    Directories(Arc<Dir>),
    /// Those that stay below this one.
    Below(Arc<Dir>),
    /// All of them.
    Anywhere,
    /// An open file without a name.
    Held(Arc<File>),
}

/// Directories that are open, by their paths without links.
pub(super) type Opened = HashMap<PathBuf, Arc<Dir>>;

/// An open directory whose entries are looked at. None: each is reached by its whole path.
pub(super) type Here = Option<Arc<Dir>>;

/// The kind of the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    File,
    Directory,
    Link,
    /// Something that cannot travel.
    Other(&'static str),
}

/// The file system's attributes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) sort: Sort,
    pub(super) size: u64,
    pub(super) mode: Option<u32>,
    pub(super) mtime: Mtime,
    /// Last change of content or attributes, where there is such a thing. Unlike `mtime` no program can set it back.
    pub(super) ctime: Option<Mtime>,
    /// Device and inode, where there is such a thing.
    pub(super) id: Option<(u64, u64)>,
    /// Names that the file has.
    pub(super) names: u64,
    /// User and group, where there is such a thing.
    pub(super) owner: Option<(u32, u32)>,
}

impl Facts {
    /// Returns the number of bytes that travel.
    pub(super) fn content_bytes(&self) -> u64 {
        match self.sort {
            Sort::File => self.size,
            _ => 0,
        }
    }

    /// Returns whether a file's content may be taken for the same.
    pub(super) fn same_content(&self, other: &Self) -> bool {
        let identity = |facts: &Self| (facts.sort, facts.size, facts.mtime, facts.ctime, facts.id);
        identity(self) == identity(other)
    }

    /// Returns the beginning of a hash of everything that identifies a content without reading it. A fact that the system
    /// lacks counts as 0.
    pub(super) fn content_identity(&self) -> blake3::Hasher {
        let (device, inode) = self.id.unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for number in [device, inode, self.size] {
            hasher.update(&number.to_le_bytes());
        }
        for time in [self.mtime, self.ctime.unwrap_or_default()] {
            hasher.update(&time.seconds.to_le_bytes());
            hasher.update(&time.nanos.to_le_bytes());
        }
        hasher
    }

    /// Returns whether any change after `now`, when this was looked at, gives the file other times: they are so old that it
    /// cannot fall into the same step of the file system's clock.
    pub(super) fn settled(&self, now: SystemTime) -> bool {
        [Some(self.mtime), self.ctime].into_iter().flatten().all(|time| {
            time.to_system().and_then(|time| now.duration_since(time).ok()).is_some_and(|age| age >= SETTLED)
        })
    }

    /// Returns the facts of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(from_std(&metadata))
    }
}

impl Place {
    /// Returns the place that the user names, who may read what they may read. The target of a link counts. `opened` has the
    /// directories that are open already: thousands of names may be in one.
    pub(super) fn named(path: &Path, symlinks: Symlinks, opened: &mut Opened) -> io::Result<Self> {
        if symlinks == Symlinks::Follow {
            return Ok(Self { reach: Reach::Anywhere, path: path.to_path_buf() });
        }
        let path = path.canonicalize()?;
        let (parent, name) = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => (parent, Path::new(name)),
            _ => (&*path, Path::new(".")),
        };
        let dir = match opened.get(parent) {
            Some(dir) => dir.clone(),
            None => {
                let dir = Arc::new(Dir::open_ambient_dir(parent, cap_std::ambient_authority())?);
                opened.insert(parent.to_path_buf(), dir.clone());
                dir
            }
        };
        Ok(Self { reach: Reach::Directories(dir), path: name.to_path_buf() })
    }

    /// Returns a place inside a served directory, by the words of a peer. A link in them is followed as long as it stays
    /// there.
    pub(super) fn within(dir: Arc<Dir>, path: PathBuf, symlinks: Symlinks) -> io::Result<Self> {
        Ok(match symlinks {
            Symlinks::Follow => Self { reach: Reach::Below(dir), path },
            _ => Self { path: dir.canonicalize(path)?, reach: Reach::Directories(dir) },
        })
    }

    /// Returns the place of an open file. All that open it share its position, and read from its beginning.
    pub(super) fn held(file: File) -> Self {
        Self { reach: Reach::Held(Arc::new(file)), path: PathBuf::new() }
    }

    /// Returns the entry of this directory under a name.
    pub(super) fn join(&self, name: &OsStr) -> Self {
        // `Path::join` makes room for the directory alone, and again for the name.
        let mut path = PathBuf::with_capacity(self.path.as_os_str().len() + 1 + name.len());
        path.push(&self.path);
        path.push(name);
        Self { reach: self.reach.clone(), path }
    }

    /// Returns the facts; `follow`: of what a link leads to, if links are followed at all.
    pub(super) fn facts(&self, follow: bool) -> io::Result<Facts> {
        match (&self.reach, follow) {
            (Reach::Directories(top), _) => match self.path.file_name() {
                None => top.dir_metadata(),
                Some(name) => self.parent(top)?.symlink_metadata(name),
            }
            .map(|metadata| from_cap(&metadata)),
            (Reach::Below(dir), true) => dir.metadata(&self.path).map(|metadata| from_cap(&metadata)),
            (Reach::Below(dir), false) => {
                dir.symlink_metadata(&self.path).map(|metadata| from_cap(&metadata))
            }
            (Reach::Anywhere, true) => std::fs::metadata(&self.path).map(|metadata| from_std(&metadata)),
            (Reach::Anywhere, false) => {
                std::fs::symlink_metadata(&self.path).map(|metadata| from_std(&metadata))
            }
            (Reach::Held(file), _) => Facts::of(file),
        }
    }

    /// Returns the facts of an entry of an open directory, without following a link.
    pub(super) fn facts_here(&self, here: &Here) -> io::Result<Facts> {
        #[cfg(unix)]
        if let (Some(dir), Some(name)) = (here, self.path.file_name()) {
            use rustix::fs::{statat, AtFlags};
            return Ok(from_stat(&statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?));
        }
        let _ = here;
        self.facts(false)
    }

    /// Opens a file that is an entry of an open directory, as [`Self::open`] does.
    pub(super) fn open_here(&self, here: &Here) -> io::Result<File> {
        #[cfg(unix)]
        if let (Some(dir), Some(name)) = (here, self.path.file_name()) {
            use rustix::fs::{openat, Mode, OFlags};
            let flags =
                OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            return Ok(openat(dir, name, flags, Mode::empty())?.into());
        }
        let _ = here;
        self.open()
    }

    /// Opens the directory itself, unless links are followed in it.
    pub(super) fn enter(&self) -> io::Result<Here> {
        match &self.reach {
            Reach::Directories(top) => Ok(Some(Arc::new(beneath::open(top, &self.path)?))),
            Reach::Below(_) | Reach::Anywhere | Reach::Held(_) => Ok(None),
        }
    }

    /// Opens an entry of a directory that may be open: then the depth costs nothing.
    pub(super) fn enter_here(&self, above: &Here) -> io::Result<Here> {
        #[cfg(unix)]
        if let (Some(dir), Some(name), Reach::Directories(_)) = (above, self.path.file_name(), &self.reach) {
            use rustix::fs::{openat, Mode, OFlags};
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // A directory that may not be read is refused by the other way, too, and in its words.
            if let Ok(opened) = openat(dir, name, flags, Mode::empty()) {
                return Ok(Some(Arc::new(opened.into())));
            }
        }
        let _ = above;
        self.enter()
    }

    /// Returns the names in a directory, which may be open, sorted by their bytes.
    pub(super) fn names(&self, here: &Here) -> io::Result<Vec<OsString>> {
        let of = |dir: cap_std::fs::ReadDir| dir.map(|entry| Ok(entry?.file_name())).collect();
        let mut names: Vec<OsString> = match (&self.reach, here) {
            (_, Some(dir)) => dir.entries().and_then(of)?,
            (Reach::Directories(top), None) => beneath::open(top, &self.path)?.entries().and_then(of)?,
            (Reach::Below(dir), None) => dir.read_dir(&self.path).and_then(of)?,
            (Reach::Anywhere, None) => std::fs::read_dir(&self.path)?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<io::Result<_>>()?,
            (Reach::Held(_), None) => return Err(io::ErrorKind::NotADirectory.into()),
        };
        names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        Ok(names)
    }

    /// Returns a link's text.
    pub(super) fn link(&self) -> io::Result<Vec<u8>> {
        let target = match &self.reach {
            Reach::Directories(top) => self.parent(top)?.read_link_contents(self.name())?,
            Reach::Below(dir) => dir.read_link_contents(&self.path)?,
            Reach::Anywhere => std::fs::read_link(&self.path)?,
            Reach::Held(_) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        Ok(bytes(target.as_os_str()))
    }

    /// Opens a file for reading. Does not wait if a pipe is there by now.
    pub(super) fn open(&self) -> io::Result<File> {
        let open = |dir: &Dir, path: &Path, follow| {
            let mut options = cap_std::fs::OpenOptions::new();
            options.read(true).nonblock(true).follow(follow);
            dir.open_with(path, &options).map(cap_std::fs::File::into_std)
        };
        match &self.reach {
            Reach::Directories(top) => open(&self.parent(top)?, self.name(), FollowSymlinks::No),
            Reach::Below(dir) => open(dir, &self.path, FollowSymlinks::Yes),
            Reach::Anywhere => open_anywhere(&self.path),
            Reach::Held(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }

    fn parent(&self, top: &Dir) -> io::Result<Dir> {
        beneath::open(top, self.path.parent().unwrap_or(Path::new("")))
    }

    fn name(&self) -> &Path {
        Path::new(self.path.file_name().unwrap_or_default())
    }
}

fn open_anywhere(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options.open(path)
}

fn from_std(metadata: &std::fs::Metadata) -> Facts {
    #[cfg(unix)]
    let unix = {
        use std::os::unix::fs::MetadataExt;
        Some(Unix {
            mode: metadata.mode(),
            id: (metadata.dev(), metadata.ino()),
            names: metadata.nlink(),
            owner: (metadata.uid(), metadata.gid()),
            ctime: (metadata.ctime(), metadata.ctime_nsec()),
        })
    };
    #[cfg(not(unix))]
    let unix = None;
    let plain = (metadata.is_file(), metadata.is_dir(), metadata.is_symlink());
    facts(plain, metadata.len(), metadata.modified(), unix)
}

fn from_cap(metadata: &cap_std::fs::Metadata) -> Facts {
    #[cfg(unix)]
    let unix = {
        use cap_std::fs::MetadataExt;
        Some(Unix {
            mode: metadata.mode(),
            id: (metadata.dev(), metadata.ino()),
            names: metadata.nlink(),
            owner: (metadata.uid(), metadata.gid()),
            ctime: (metadata.ctime(), metadata.ctime_nsec()),
        })
    };
    #[cfg(not(unix))]
    let unix = None;
    let plain = (metadata.is_file(), metadata.is_dir(), metadata.is_symlink());
    facts(plain, metadata.len(), metadata.modified().map(|time| time.into_std()), unix)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_cast)] // Other systems have other types.
fn from_stat(stat: &rustix::fs::Stat) -> Facts {
    use rustix::fs::FileType;
    let sort = FileType::from_raw_mode(stat.st_mode);
    let unix = Unix {
        mode: stat.st_mode as u32,
        id: (stat.st_dev as u64, stat.st_ino as u64),
        names: stat.st_nlink as u64,
        owner: (stat.st_uid, stat.st_gid),
        ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    };
    let mtime = Mtime { seconds: stat.st_mtime as i64, nanos: stat.st_mtime_nsec as u32 };
    let plain = (sort.is_file(), sort.is_dir(), sort.is_symlink());
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    Facts { mtime, ..facts(plain, size, Ok(SystemTime::UNIX_EPOCH), Some(unix)) }
}

/// Attributes that only Unix has.
#[derive(Clone, Copy)]
struct Unix {
    /// With the file type in it.
    mode: u32,
    /// Device and inode.
    id: (u64, u64),
    names: u64,
    owner: (u32, u32),
    /// Seconds and nanoseconds.
    ctime: (i64, i64),
}

fn facts(
    (file, directory, link): (bool, bool, bool),
    size: u64,
    modified: io::Result<SystemTime>,
    unix: Option<Unix>,
) -> Facts {
    let sort = match (file, directory, link) {
        (true, ..) => Sort::File,
        (_, true, _) => Sort::Directory,
        (.., true) => Sort::Link,
        _ => Sort::Other(match unix.map(|unix| unix.mode & 0o170000) {
            Some(0o140000) => "a socket",
            Some(0o010000) => "a named pipe",
            Some(0o020000 | 0o060000) => "a device",
            _ => "neither file nor directory",
        }),
    };
    Facts {
        sort,
        size,
        mode: unix.map(|unix| unix.mode & MODE_BITS),
        mtime: modified.map(Mtime::from_system).unwrap_or_default(),
        ctime: unix.map(|Unix { ctime: (seconds, nanos), .. }| Mtime { seconds, nanos: nanos as u32 }),
        id: unix.map(|unix| unix.id),
        names: unix.map_or(1, |unix| unix.names),
        owner: unix.map(|unix| unix.owner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mtime: i64, ctime: Option<i64>) -> Facts {
        let time = |seconds| Mtime { seconds, nanos: 5 };
        let plain = (true, false, false);
        let facts = facts(plain, 1, Ok(SystemTime::UNIX_EPOCH), None);
        Facts { mtime: time(mtime), ctime: ctime.map(time), ..facts }
    }

    #[test]
    fn a_file_is_settled_when_both_its_times_are_two_seconds_old() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        for (facts, settled) in [
            (at(900, None), true),
            (at(900, Some(997)), true),
            (at(998, None), false),
            (at(900, Some(998)), false),
            (at(998, Some(900)), false),
            // Of a clock that was put back, or another machine's.
            (at(2000, Some(900)), false),
            (at(900, Some(2000)), false),
        ] {
            assert_eq!(facts.settled(now), settled, "{facts:?}");
        }
    }

    #[test]
    fn a_change_that_only_ctime_tells_of_is_a_change() {
        assert!(!at(900, Some(950)).same_content(&at(900, Some(951))));
        assert!(at(900, Some(950)).same_content(&at(900, Some(950))));
    }
}
