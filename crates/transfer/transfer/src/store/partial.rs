//! A file that is being received: its part on the disk, and who may write to it.
//!
//! # Model
//! `.afteryou/P-R.part` on the file system of the name (see [`super::state`]) holds the content, `P-R.tree` the hashes above
//! it in pre-order (none for a file of one group). P is the hash of the path and R the root, both cut to 16 bytes. Existing
//! content is trusted only as far as it hashes to the root. Neither file has a header: a byte's place determines its
//! meaning.
//!
//! The part file's lock (`flock`) decides who may write to both. A file can be renamed or removed between being opened and
//! being locked, so the holder of the lock looks once more whether the name still means that file.
//!
//! A lock ends when the last descriptor of its file is closed, and a program that this one starts has a copy of each until
//! it begins to run. So the lock is given back by a call of its own: nobody finds a file busy that nobody holds.
//!
//! A small file of which all has come needs none of this where the system makes [files without a name](super::unnamed).
//!
//! # Holes
//! A chunk group of zeros where nothing was written becomes a hole, whether or not it was one at the source.
//!
//! # Not implemented
//! Outside Unix nothing is locked: two processes that receive the same file there spoil each other's partial file, which
//! is found out when it is verified.

use super::burst::Burst;
use super::file_system::identity;
use super::names::{any_base, base, names_in, prefix, PART, TREE};
use super::place::{Attributes, There};
use super::state::{lock, unlock, StateDir, ATTEMPTS};
use super::valid::valid_ranges;
use super::{ranges, unnamed};
use crate::entry::{EntryPath, Wanted, GROUP};
use bao_tree::io::sync::{ReadAt, WriteAt};
use bao_tree::io::Parent;
use bao_tree::BaoTree;
use bytes::Bytes;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

/// The content's identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) size: u64,
    pub(crate) root: [u8; 32],
}

/// The names of the two files.
#[derive(Debug)]
struct Names {
    dir: Arc<Dir>,
    base: String,
}

impl Names {
    fn part(&self) -> String {
        format!("{}{PART}", self.base)
    }

    fn tree(&self) -> String {
        format!("{}{TREE}", self.base)
    }
}

/// Files of a partial reception, locked, or a file without a name.
#[derive(Debug)]
pub(crate) struct Partial {
    names: Option<Names>,
    /// Bytes of the part file when it was opened; nobody else writes to it.
    length: u64,
    pub(crate) file: File,
    hashes: Option<File>,
    pub(crate) content: Content,
    /// Parents that are not written yet, beginning at this offset of the tree file.
    unsaved: (u64, Vec<u8>),
    /// Verified leaves that are not written yet.
    burst: Burst,
}

impl Partial {
    /// Opens and locks the files, which may be new. None: another session holds them.
    pub(crate) fn open(
        state: &StateDir,
        path: &EntryPath,
        content: Content,
        private: bool,
    ) -> io::Result<Option<Self>> {
        let base = base(path, &content.root);
        let part = format!("{base}{PART}");
        for _ in 0..ATTEMPTS {
            // Another session may remove the directory when it is empty, or the file when it is done.
            let dir = state.get()?;
            let file = match open(&dir, &part, private) {
                Err(error) if is_gone(&error) => {
                    state.forget();
                    continue;
                }
                other => other?,
            };
            if !lock(&file)? {
                return Ok(None);
            }
            let held = file.metadata()?;
            if !names(&dir, &part, &held)? {
                continue;
            }
            if held.len() > content.size {
                file.set_len(content.size)?;
            }
            let length = held.len().min(content.size);
            let hashes = match content.tree().blocks() > 1 {
                true => Some(open(&dir, &format!("{base}{TREE}"), true)?),
                false => None,
            };
            let mut partial = Self::new(Some(Names { dir, base }), file, content);
            (partial.length, partial.hashes) = (length, hashes);
            return Ok(Some(partial));
        }
        Ok(None)
    }

    fn new(names: Option<Names>, file: File, content: Content) -> Self {
        let (unsaved, burst) = ((0, Vec::new()), Burst::default());
        Self { names, length: 0, file, hashes: None, content, unsaved, burst }
    }

    /// Makes the file for a content that is at hand: without a name, or else as a partial file. A file of another owner cannot be
    /// linked by everyone who can give it away, so such a one has a name from the beginning.
    pub(crate) fn create(
        state: &StateDir,
        path: &EntryPath,
        content: Content,
        attributes: &Attributes,
    ) -> io::Result<Self> {
        let mode = attributes.mode;
        if let Some(file) = attributes.owner().is_none().then(|| state.unnamed(mode)).flatten() {
            return Ok(Self::new(None, file, content));
        }
        let mut base = base(path, &content.root);
        for _ in 0..ATTEMPTS {
            let dir = state.get()?;
            let part = format!("{base}{PART}");
            let file = match create(&dir, &part, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    base = any_base(path);
                    continue;
                }
                Err(error) if is_gone(&error) => {
                    state.forget();
                    continue;
                }
                other => other?,
            };
            // Another process may tidy up, and take it for a left one, before it is locked.
            if !lock(&file)? || !names(&dir, &part, &file.metadata()?)? {
                continue;
            }
            return Ok(Self::new(Some(Names { dir, base }), file, content));
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Gives a file without a name the one of a partial file, or another where that is taken.
    pub(crate) fn name_as_part(&mut self, state: &StateDir, path: &EntryPath) -> io::Result<()> {
        if self.is_named() {
            return Ok(());
        }
        // Before it has one: nobody may take it for a left one.
        lock(&self.file)?;
        let mut base = base(path, &self.content.root);
        for _ in 0..ATTEMPTS {
            let names = Names { dir: state.get()?, base };
            match unnamed::link(&self.file, &names.dir, OsStr::new(&names.part())) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => base = any_base(path),
                Err(error) if is_gone(&error) => {
                    state.forget();
                    base = names.base;
                }
                other => {
                    other?;
                    self.names = Some(names);
                    return Ok(());
                }
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Returns whether it has a name.
    pub(crate) fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// Gives a file without a name its place, unless something is there.
    pub(crate) fn link(&self, parent: &Dir, name: &OsStr) -> io::Result<()> {
        unnamed::link(&self.file, parent, name)
    }

    /// Returns whether nothing was written before it was opened.
    pub(crate) fn is_new(&self) -> bool {
        self.length == 0
    }

    /// Returns whether nothing was ever written.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.len() == 0)
    }

    /// Returns the missing ranges, found by hashing the existing content.
    pub(crate) fn wanted(&self) -> io::Result<Wanted> {
        let (size, length) = (self.content.size, self.length);
        if length == 0 {
            return Ok(ranges::missing(&[], size));
        }
        // A file of one group has no parents, and none are read.
        let parents = self.hashes.as_ref().unwrap_or(&self.file);
        let have = valid_ranges(&self.file, parents, size, &self.content.root)?;
        // A kill between the last two steps of a reception leaves the content without its tree.
        if have.is_empty() && length == size && hash(&self.file, size)? == Some(self.content.root) {
            return Ok(Wanted(Vec::new()));
        }
        Ok(ranges::merge(ranges::missing(&have, size), ranges::MAX_RANGES))
    }

    /// Keeps a parent's hashes until the leaves are written.
    pub(crate) fn save_parent(&mut self, parent: &Parent) -> io::Result<()> {
        let Some(index) = self.content.tree().pre_order_offset(parent.node) else { return Ok(()) };
        let at = index * 64;
        if self.unsaved.0 + self.unsaved.1.len() as u64 != at {
            self.flush_parents()?;
            self.unsaved.0 = at;
        }
        self.unsaved.1.extend_from_slice(parent.pair.0.as_bytes());
        self.unsaved.1.extend_from_slice(parent.pair.1.as_bytes());
        Ok(())
    }

    /// Keeps a verified leaf until [`Self::write_out`], or until enough are there.
    pub(crate) fn save_leaf(&mut self, offset: u64, data: Bytes) -> io::Result<()> {
        if !self.burst.takes(offset) {
            self.write_out()?;
        }
        if is_zero(&data) {
            self.flush_parents()?;
            return self.put(offset, &data);
        }
        match self.burst.add(offset, data) {
            true => self.write_out(),
            false => Ok(()),
        }
    }

    /// Writes what is kept, parents first: a kill between the two leaves hashes without content, which is found out, and not
    /// content that nobody can verify.
    pub(crate) fn write_out(&mut self) -> io::Result<()> {
        self.flush_parents()?;
        self.burst.write_to(&mut self.file)
    }

    /// Writes content. Zeros over zeros or over nothing take no room on the disk.
    pub(super) fn put(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        if data.is_empty() || !is_zero(data) {
            return self.file.write_all_at(offset, data);
        }
        let (end, length) = (offset + data.len() as u64, self.file.metadata()?.len());
        let mut there = vec![0; end.min(length).saturating_sub(offset) as usize];
        ReadAt::read_exact_at(&self.file, offset, &mut there)?;
        match is_zero(&there) {
            true if end > length => self.file.set_len(end),
            true => Ok(()),
            false => self.file.write_all_at(offset, data),
        }
    }

    fn flush_parents(&mut self) -> io::Result<()> {
        let (at, hashes) = &mut self.unsaved;
        if let Some(file) = &mut self.hashes {
            if !hashes.is_empty() {
                file.write_all_at(*at, hashes)?;
            }
        }
        *at += hashes.len() as u64;
        hashes.clear();
        Ok(())
    }

    /// Gives the part file its name, whatever has it.
    pub(crate) fn rename(&self, parent: &Dir, name: &OsStr) -> io::Result<()> {
        let Some(names) = &self.names else { return Err(io::ErrorKind::NotFound.into()) };
        // Both names are of one component: one call, where the sandbox makes several.
        #[cfg(unix)]
        return Ok(rustix::fs::renameat(&*names.dir, names.part(), parent, name)?);
        #[cfg(not(unix))]
        names.dir.rename(names.part(), parent, name)
    }

    /// Removes the tree file.
    pub(crate) fn remove_tree(&self) -> io::Result<()> {
        let (Some(names), Some(_)) = (&self.names, &self.hashes) else { return Ok(()) };
        match names.dir.remove_file(names.tree()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes both files. Only who holds the lock calls it. One without a name goes by itself.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.remove_tree()?;
        self.names.as_ref().map_or(Ok(()), |names| names.dir.remove_file(names.part()))
    }

    /// Removes the partial files of other contents of this path that nobody holds.
    pub(crate) fn remove_older(&self, state: &StateDir, path: &EntryPath) -> io::Result<()> {
        let (dir, prefix) = (state.get()?, prefix(path));
        for name in names_in(&dir)? {
            let is_own = self.names.as_ref().is_some_and(|own| name.starts_with(&own.base));
            if name.starts_with(&prefix) && !is_own {
                remove_unheld(&dir, &name)?;
            }
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Nobody else can reach one without a name.
        if self.is_named() {
            unlock(&self.file);
        }
    }
}

impl Content {
    pub(crate) fn tree(&self) -> BaoTree {
        BaoTree::new(self.size, GROUP)
    }
}

/// Removes a part file that nobody holds, with its tree file.
pub(super) fn remove_unheld(dir: &Dir, name: &str) -> io::Result<()> {
    let Some(base) = name.strip_suffix(PART) else { return Ok(()) };
    let file = match open_existing(dir, name) {
        Err(error) if is_gone(&error) => return Ok(()),
        other => other?,
    };
    if !lock(&file)? || !names(dir, name, &file.metadata()?)? {
        return Ok(());
    }
    _ = dir.remove_file(format!("{base}{TREE}"));
    dir.remove_file(name)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Returns the BLAKE3 hash of a file from its beginning; `None` if it has another size.
pub(crate) fn hash(mut file: &File, size: u64) -> io::Result<Option<[u8; 32]>> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => _ = hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if hasher.count() > size {
            return Ok(None);
        }
    }
    Ok((hasher.count() == size).then(|| *hasher.finalize().as_bytes()))
}

fn open_existing(dir: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).follow(FollowSymlinks::No);
    dir.open_with(name, &options).map(|file| file.into_std())
}

/// Makes a file that is to have this mode. Nobody else can reach it before it has its name, which is of one component.
#[cfg(unix)]
pub(super) fn create(dir: &Dir, name: &str, mode: Option<u32>) -> io::Result<File> {
    use rustix::fs::{openat, Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(dir, name, flags, Mode::from_bits_truncate(unnamed::mode_at_first(mode) as _))?.into())
}

#[cfg(not(unix))]
pub(super) fn create(dir: &Dir, name: &str, _mode: Option<u32>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).follow(FollowSymlinks::No);
    dir.open_with(name, &options).map(|file| file.into_std())
}

/// Opens or makes a file for reading and writing, `private`: nobody else may read it until it is whole.
fn open(dir: &Dir, name: &str, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.mode(if private { 0o600 } else { 0o666 });
    }
    #[cfg(not(unix))]
    let _ = private;
    let file = match dir.open_with(name, &options) {
        // It had got its final mode, without a right to write, when the process was killed.
        #[cfg(unix)]
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_gone(&error) => {
            use cap_std::fs::PermissionsExt;
            dir.set_permissions(name, cap_std::fs::Permissions::from_mode(0o600)).map_err(|_| error)?;
            dir.open_with(name, &options)?
        }
        other => other?,
    };
    Ok(file.into_std())
}

/// Returns whether there is no such file (any more). A file that gets its final name while it is being opened has left the
/// directory of partial files by the time the kernel checks that it is in there. The sandbox then reports, in an error of
/// its own, that the path led outside.
fn is_gone(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
        _ => false,
    }
}

/// Returns whether the name still means this file.
fn names(dir: &Dir, name: &str, held: &std::fs::Metadata) -> io::Result<bool> {
    let named = match There::named(dir, OsStr::new(name)) {
        Err(error) if is_gone(&error) => return Ok(false),
        other => other?,
    };
    let held = cap_std::fs::Metadata::from_just_metadata(held.clone());
    Ok(named.identity == identity(&held))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_that_a_child_inherited_does_not_keep_the_lock() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = Dir::open_ambient_dir(dir.path(), cap_std::ambient_authority()).expect("opens");
        let state = StateDir::of(&root).expect("a copy");
        let open = || {
            let content = Content { size: 1, root: [7; 32] };
            Partial::open(&state, &EntryPath(b"file".to_vec()), content, true).expect("opens")
        };
        let first = open().expect("nobody holds it");
        // What a child has between fork and exec: another descriptor of the same open file.
        let inherited = first.file.try_clone().expect("a copy");
        assert!(open().is_none(), "it is held");
        drop(first);
        assert!(open().is_some(), "nobody holds it any more");
        drop(inherited);
    }

    #[test]
    fn who_gets_the_lock_has_the_file_that_the_name_means() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = &|| EntryPath(b"file".to_vec());
        let content = Content { size: 1, root: [7; 32] };
        let open = &|| Dir::open_ambient_dir(dir.path(), cap_std::ambient_authority()).expect("opens");
        // Each gives the file away as soon as it has it, mostly while the others are between opening and locking.
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let root = open();
                    let state = StateDir::of(&root).expect("a copy");
                    for n in 0..3000 {
                        if let Some(partial) = Partial::open(&state, &path(), content, true).expect("opens") {
                            let named = format!("{thread}-{n}");
                            partial.rename(&root, OsStr::new(&named)).expect("the name means the file");
                            root.remove_file(named).expect("removes");
                        }
                    }
                });
            }
        });
    }
}
