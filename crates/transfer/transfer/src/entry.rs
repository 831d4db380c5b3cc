//! The entries of a transfer: files, directories and symbolic links, with the kept attributes.

use crate::extras::Extras;
use afteryou_base::shown::Distinct;
use bao_tree::BlockSize;
use serde::{Deserialize, Serialize};

/// The bits of a mode that travel: set-id and sticky bits do not.
pub(crate) const MODE_BITS: u32 = 0o777;

/// Chunk groups of 16 KiB: the unit in which data is verified, stored and asked for. The tree above them is 0.4 % of
/// the data; larger groups would save little of that and lose more at a kill.
pub const GROUP: BlockSize = BlockSize::from_chunk_log(4);

/// Bytes of a chunk group.
pub const GROUP_BYTES: u64 = 1 << (10 + 4);

/// A path below the sink's directory: components joined by `/`, as bytes (file names need not be UTF-8 on Unix).
/// Nothing is checked by this type: the sink refuses what leads outside when it is about to use it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryPath(#[serde(with = "serde_bytes")] pub Vec<u8>);

impl EntryPath {
    /// Returns the path of something in this directory.
    pub(crate) fn join(&self, name: &[u8]) -> Self {
        match self.0.is_empty() {
            true => Self(name.to_vec()),
            false => Self([&self.0, &b"/"[..], name].concat()),
        }
    }

    /// Returns the directories above it, the nearest first; not the sink's directory itself.
    pub(crate) fn parents(&self) -> impl Iterator<Item = EntryPath> + '_ {
        let ends = (0..self.0.len()).rev().filter(|&at| self.0[at] == b'/');
        ends.map(|end| Self(self.0[..end].to_vec()))
    }
}

/// Each path is shown differently: a backslash is doubled, bytes that are no text are `\xff`, and characters that a terminal would
/// obey are escaped as in Rust.
impl std::fmt::Display for EntryPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", Distinct(chunk.valid()))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

/// Time of last modification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mtime {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds of that second.
    pub nanos: u32,
}

/// An entry's kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A file.
    File {
        /// Bytes.
        size: u64,
        /// BLAKE3 of the content, the root of its tree.
        root: [u8; 32],
    },
    /// A directory, offered after everything in it so that its time of modification is kept.
    Directory,
    /// A symbolic link.
    Symlink {
        /// Where it points to, as written in it.
        target: Vec<u8>,
    },
}

/// A file, directory or link as the source offers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The path at the receiver.
    pub path: EntryPath,
    /// The entry's kind.
    pub kind: Kind,
    /// Permission bits (the lowest nine; set-id and sticky bits do not travel). None where the source has none.
    pub mode: Option<u32>,
    /// When its content was last modified.
    pub mtime: Mtime,
    /// An earlier file of the job that this one is another name of. The sink links to it if its content is the same.
    pub link: Option<EntryPath>,
    /// Its owner and other attributes, if the job asks for them.
    pub extras: Option<Box<Extras>>,
}

impl Entry {
    /// Returns the bytes of its content; `None` if it is no file. Those of a hard link count under its first name.
    pub(crate) fn content(&self) -> Option<u64> {
        match (&self.kind, &self.link) {
            (Kind::File { size, .. }, None) => Some(*size),
            (Kind::File { .. }, Some(_)) => Some(0),
            _ => None,
        }
    }
}

/// Ranges of bytes that a sink requests: ascending, disjoint, beginning at multiples of [`GROUP_BYTES`] and ending
/// there or at the file's end. A file of no bytes is requested as the one range 0..0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted(pub Vec<(u64, u64)>);

impl Wanted {
    /// Returns the number of bytes in all ranges.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(from, to)| to.saturating_sub(*from)).sum()
    }
}

/// Returns a name as it travels.
#[cfg(unix)]
pub(crate) fn bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().to_vec()
}

/// Returns a name as UTF-8, where names are not bytes; what is no text then is made so, and the sink gets the readable form.
#[cfg(not(unix))]
pub(crate) fn bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    name.to_string_lossy().replace('\\', "/").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_what_a_terminal_would_obey() {
        let shown = |path: &str| EntryPath(path.as_bytes().to_vec()).to_string();
        assert_eq!(shown("a\u{202e}gpj.exe"), "a\\u{202e}gpj.exe");
        assert_eq!(shown("a\u{1b}[2J\n"), "a\\u{1b}[2J\\n");
        assert_eq!(shown("a\u{200d}b"), "a\\u{200d}b");
        let bytes = |path: &[u8]| EntryPath(path.to_vec()).to_string();
        assert_eq!([bytes(b"a\xff"), bytes(b"a\xfe")], ["a\\xff", "a\\xfe"]);
        assert_eq!([bytes(br"a\xff"), bytes(b"a\n"), bytes(br"a\n")], [r"a\\xff", r"a\n", r"a\\n"]);
        for harmless in ["مرحبا/שלום", "é – “x”"] {
            assert_eq!(shown(harmless), harmless);
        }
    }
}
