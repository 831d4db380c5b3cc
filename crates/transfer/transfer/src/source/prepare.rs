//! One entry, ready to be offered and sent: hashed, and its tree at hand.

use super::ahead::Ahead;
use super::content::{self, Content, Small};
use super::extras::Keeping;
use super::hashes::Hashes;
use super::place::{Facts, Here, Place, Sort};
use super::trees::Trees;
use super::Item;
use crate::entry::{Entry, EntryPath, Kind, Wanted, GROUP, GROUP_BYTES};
use crate::error::reason;
use crate::store::ranges::to_chunks;
use crate::store::with_whole;
use crate::wire::SMALL;
use bao_tree::io::outboard::{PreOrderMemOutboard, PreOrderOutboard};
use bao_tree::io::sync::{encode_ranges, truncate_ranges, Outboard, ReadAt};
use bao_tree::iter::BaoChunk;
use bao_tree::{BaoTree, ChunkRanges};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// Times that a file is hashed again because it changed meanwhile.
const ATTEMPTS: usize = 3;
/// A file that changed is looked at again when it held still for so long: longer than a loaded machine makes whoever writes
/// it pause between two writes.
const HELD_STILL: Duration = Duration::from_millis(500);
/// Times that are waited for that. A file that never holds still is looked at as it is then.
const WAITS: usize = 4;

/// An entry that can be offered, and sent on request.
#[derive(Debug)]
pub struct Prepared {
    entry: Entry,
    place: Place,
    facts: Box<Facts>,
    /// Those of a small file or a hard link are made when the sink requests its content.
    hashes: OnceLock<Hashes>,
    /// Of a small file.
    content: Option<Box<Content>>,
    /// A file that was not read: its root is not known.
    is_unread: bool,
    trees: Arc<Trees>,
    keeping: Arc<Keeping>,
}

/// Why an entry could not be sent, or not to its end.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// It is no longer what was offered: [`Prepared::again`].
    #[error("the file changed while it was being sent")]
    Changed,
    /// It is no longer there.
    #[error("the file is gone")]
    Gone,
    /// The other end asked for ranges that make no sense.
    #[error("the other end asked for ranges that the file does not have; both ends need the same version")]
    Ranges,
    /// It cannot be read.
    #[error("the file cannot be read: {}", reason(.0))]
    Io(io::Error),
    /// Its content cannot be sent.
    #[error("the connection ended: {0}")]
    Out(io::Error),
}

/// The state that all entries of a walk share.
type Shared = (Arc<Trees>, Arc<Keeping>);

/// Content of an entry, as far as it was looked at.
type Looked = (Kind, Facts, OnceLock<Hashes>, Option<Content>);

/// Hashes a file and makes the entry of anything else.
pub(super) fn prepare(
    path: EntryPath,
    place: Place,
    facts: Facts,
    (link, here): (Option<EntryPath>, Here),
    (trees, keeping): Shared,
) -> Item {
    let known = link.as_ref().and_then(|_| trees.root_of(&facts));
    let result = match (facts.sort, known) {
        (Sort::File, Some(root)) => Ok((Kind::File { size: facts.size, root }, facts, OnceLock::new(), None)),
        (Sort::File, None) => file(&path, &place, (&facts, &here), &trees),
        (Sort::Directory, _) => Ok((Kind::Directory, facts, OnceLock::new(), None)),
        _ => match place.link() {
            Ok(target) => Ok((Kind::Symlink { target }, facts, OnceLock::new(), None)),
            Err(error) => Err(unreadable(error)),
        },
    };
    match result {
        Ok((kind, facts, hashes, content)) => {
            if let Kind::File { root, .. } = kind {
                trees.remember(&facts, root);
            }
            let extras = keeping.of(&place, &facts);
            let entry = Entry { path, kind, mode: facts.mode, mtime: facts.mtime, link, extras };
            let facts = Box::new(facts);
            let content = content.map(Box::new);
            Item::Entry(Prepared { entry, place, facts, hashes, content, is_unread: false, trees, keeping })
        }
        Err(reason) => Item::Failed { path, reason },
    }
}

/// Prepares a file that is offered by its size and time.
pub(super) fn unread(path: EntryPath, place: Place, facts: Facts, (trees, keeping): Shared) -> Prepared {
    let extras = keeping.of(&place, &facts);
    let kind = Kind::File { size: facts.size, root: [0; 32] };
    let entry = Entry { path, kind, mode: facts.mode, mtime: facts.mtime, link: None, extras };
    let (facts, hashes) = (Box::new(facts), OnceLock::new());
    Prepared { entry, place, facts, hashes, content: None, is_unread: true, trees, keeping }
}

fn unreadable(error: io::Error) -> String {
    format!("it cannot be read: {}", reason(&error))
}

/// Hashes until the file holds still.
fn file(
    path: &EntryPath,
    place: &Place,
    (seen, here): (&Facts, &Here),
    trees: &Trees,
) -> Result<Looked, String> {
    if let Some(root) = trees.remembered_root(path, seen) {
        return Ok((Kind::File { size: seen.size, root }, seen.clone(), OnceLock::new(), None));
    }
    let now = SystemTime::now();
    if let Some(Small { root, facts, content, may_remember }) =
        content::read(place, here, seen, &trees.uses, now, |file| trees.may_remember(file, seen, now))
            .map_err(unreadable)?
    {
        if may_remember {
            trees.remember_root(path, &facts, root);
        }
        return Ok((Kind::File { size: facts.size, root }, facts, OnceLock::new(), content));
    }
    for _ in 0..ATTEMPTS {
        let file = place.open().map_err(unreadable)?;
        let now = SystemTime::now();
        let mut facts = Facts::of(&file).map_err(unreadable)?;
        if facts.sort != Sort::File {
            return Err("it is no file any more".into());
        }
        let looked = |root, facts: Facts, hashes| {
            Ok((Kind::File { size: facts.size, root }, facts, OnceLock::from(hashes), None))
        };
        if let Some((root, hashes)) = trees.find(path, &facts) {
            return looked(root, facts, hashes);
        }
        let remember = trees.may_remember(&file, &facts, now);
        if remember {
            // The flush may have set the times.
            facts = Facts::of(&file).map_err(unreadable)?;
        }
        let remember = remember && facts.settled(now);
        let hashed = trees.hash(&file, path, &facts, remember);
        let after = Facts::of(&file).map_err(unreadable)?;
        match hashed {
            // Shorter than it was.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(unreadable(error)),
            Ok(_) if !after.same_content(&facts) => continue,
            Ok((root, hashes)) => {
                if remember {
                    trees.remember_root(path, &facts, root);
                }
                return looked(root, facts, hashes);
            }
        }
    }
    Err(match place.open().is_ok_and(|file| is_of_the_kernel(&file)) {
        true => OF_THE_KERNEL.into(),
        false => "it changes while it is being read; try again when it holds still".into(),
    })
}

/// Why a file of `/proc`, `/sys` and the like cannot be sent.
const OF_THE_KERNEL: &str =
    "the kernel makes its content when it is read, so that its size is unknown before; copy it into a file and send that";

/// Returns whether the content exists only while the file is read.
#[cfg(target_os = "linux")]
fn is_of_the_kernel(file: &File) -> bool {
    // linux/magic.h: procfs, sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs.
    const MAGIC: [u64; 7] =
        [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x27_e0eb, 0x6367_7270, 0x7363_6673];
    rustix::fs::fstatfs(file).is_ok_and(|found| MAGIC.contains(&(found.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
fn is_of_the_kernel(_: &File) -> bool {
    false
}

impl Prepared {
    /// Returns the offer.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns whether its root is not known: [`Self::read`].
    pub(crate) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Hashes a file that was not read. Blocks for that.
    pub(crate) fn read(self) -> Item {
        let with = (self.trees, self.keeping);
        prepare(self.entry.path, self.place, *self.facts, (self.entry.link, None), with)
    }

    /// Writes the encoding of the requested ranges. It is not hashed once more: the sink does that, and answers what does not
    /// hash to the offered root with [`crate::wire::Why::Mismatch`].
    ///
    /// # Errors
    /// An entry that is no file, and ranges that it does not have. A file that changed, is gone or cannot be read, and an `out` that fails.
    pub fn encode(&self, wanted: &Wanted, out: impl Write) -> Result<(), EncodeError> {
        let Kind::File { size, root } = self.entry.kind else { return Err(EncodeError::Ranges) };
        let ranges = to_chunks(wanted, size).ok_or(EncodeError::Ranges)?;
        let mut out = Out { out, error: None };
        let result = match &self.content {
            Some(content) => {
                self.trees.uses.count_used();
                self.check_kept(content)
                    .and_then(|()| self.encode_kept(content.bytes(), size, root, &ranges, &mut out))
            }
            None if size <= SMALL => self.open().and_then(|file| {
                let encode = |content: &[u8]| self.encode_kept(content, size, root, &ranges, &mut out);
                with_whole(&file, size, encode).map_err(EncodeError::Io)?.unwrap_or(Err(EncodeError::Changed))
            }),
            None => self.open().and_then(|file| self.encode_ranges(&file, size, root, &ranges, &mut out)),
        };
        if let Some(error) = out.error {
            return Err(EncodeError::Out(error));
        }
        result
    }

    /// Checks that the file is still what was read, if that was long ago.
    fn check_kept(&self, content: &Content) -> Result<(), EncodeError> {
        let is_same = || self.place.facts(true).is_ok_and(|now| now.same_content(&self.facts));
        match content.is_fresh(SystemTime::now()) || is_same() {
            true => Ok(()),
            false => Err(EncodeError::Changed),
        }
    }

    /// Encodes ranges from memory.
    fn encode_kept(
        &self,
        content: &[u8],
        size: u64,
        root: [u8; 32],
        ranges: &ChunkRanges,
        mut out: impl Write,
    ) -> Result<(), EncodeError> {
        if size <= GROUP_BYTES {
            return out.write_all(content).map_err(EncodeError::Io);
        }
        let tree = BaoTree::new(size, GROUP);
        let outboard = PreOrderMemOutboard::create(content, GROUP);
        let outboard = PreOrderOutboard { root: root.into(), tree, data: outboard.data };
        encode_ranges(content, outboard, ranges, out).map_err(|_| EncodeError::Changed)
    }

    /// Opens the file, which is still what was offered.
    pub(super) fn open(&self) -> Result<File, EncodeError> {
        let file = self.place.open().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => EncodeError::Gone,
            _ => EncodeError::Io(error),
        })?;
        self.check(&file)?;
        Ok(file)
    }

    /// Opens the tree's hashes.
    pub(super) fn open_hashes(&self) -> Result<Box<dyn ReadAt + '_>, EncodeError> {
        self.hashes()?.open().map_err(|error| match error.kind() {
            // A cache that was tidied away: hash again.
            io::ErrorKind::NotFound => EncodeError::Changed,
            _ => EncodeError::Io(error),
        })
    }

    fn hashes(&self) -> Result<&Hashes, EncodeError> {
        if let Some(hashes) = self.hashes.get() {
            return Ok(hashes);
        }
        let Kind::File { root, .. } = self.entry.kind else { return Err(EncodeError::Ranges) };
        let file = self.open()?;
        let remember = self.trees.may_remember(&file, &self.facts, SystemTime::now());
        let hashed = self.trees.hash(&file, &self.entry.path, &self.facts, remember);
        match hashed.map_err(EncodeError::Io)? {
            (now, hashes) if now == root => Ok(self.hashes.get_or_init(|| hashes)),
            _ => Err(EncodeError::Changed),
        }
    }

    fn encode_ranges(
        &self,
        file: &File,
        size: u64,
        root: [u8; 32],
        ranges: &ChunkRanges,
        out: impl Write,
    ) -> Result<(), EncodeError> {
        let data = Ahead::of(self.open_hashes()?);
        let outboard = PreOrderOutboard { root: root.into(), tree: BaoTree::new(size, GROUP), data };
        match encode(Ahead::of(file), outboard, ranges, out) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(EncodeError::Changed),
            Err(error) => Err(EncodeError::Io(error)),
        }
    }

    pub(super) fn check(&self, file: &File) -> Result<(), EncodeError> {
        let now = Facts::of(file).map_err(EncodeError::Io)?;
        match now.same_content(&self.facts) {
            true => Ok(()),
            false => Err(EncodeError::Changed),
        }
    }

    /// Hashes it anew, whatever was known, when it holds still. Blocks for that.
    pub fn again(self) -> Item {
        if self.place.open().is_ok_and(|file| is_of_the_kernel(&file)) {
            return Item::Failed { path: self.entry.path, reason: OF_THE_KERNEL.into() };
        }
        wait_until_still(&self.place);
        let facts = self.place.facts(true).unwrap_or_else(|_| (*self.facts).clone());
        self.trees.forget(&self.entry.path, &self.facts, &facts);
        let with = (self.trees, self.keeping);
        prepare(self.entry.path, self.place, facts, (self.entry.link, None), with)
    }
}

/// Writes ranges of whole groups as [`encode_ranges`] does, which would copy the content once more.
fn encode<R: ReadAt>(
    mut content: Ahead<&File>,
    outboard: PreOrderOutboard<R>,
    ranges: &ChunkRanges,
    mut out: impl Write,
) -> io::Result<()> {
    let ranges = truncate_ranges(ranges, outboard.tree.size());
    for item in outboard.tree.ranges_pre_order_chunks_iter_ref(ranges, 0) {
        match item {
            BaoChunk::Parent { node, .. } => {
                let (left, right) = outboard.load(node)?.ok_or(io::ErrorKind::UnexpectedEof)?;
                out.write_all(left.as_bytes())?;
                out.write_all(right.as_bytes())?;
            }
            BaoChunk::Leaf { start_chunk, size, .. } => {
                out.write_all(content.exactly(start_chunk.to_bytes(), size)?)?;
            }
        }
    }
    Ok(())
}

/// Waits until the file is still: its writer may be in the middle of it. A file that exists by then looks whole, and would
/// be sent as such.
fn wait_until_still(place: &Place) {
    let mut before = place.facts(true).ok();
    for _ in 0..WAITS {
        std::thread::sleep(HELD_STILL);
        let now = place.facts(true).ok();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Remembers an error of the writer, which would otherwise look like one of the file.
struct Out<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> Write for Out<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.out.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.error = Some(error);
                Err(io::ErrorKind::BrokenPipe.into())
            }
            // The caller would make an error of its own out of it.
            Ok(0) if !bytes.is_empty() => {
                self.error = Some(io::ErrorKind::WriteZero.into());
                Err(io::ErrorKind::BrokenPipe.into())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
