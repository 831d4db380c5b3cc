//! Names in a directory of partial files.
//!
//! # Model
//! `P-R.part`, `P-R.tree`, `P-R.link` and `P-R.modes`: P is the hash of the path, R the root of the content or something that nobody else has, both cut to
//! 16 bytes.

use crate::entry::EntryPath;
use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io;

/// End of a partial file's name.
pub(super) const PART: &str = ".part";

/// End of the name of the file with the hashes.
pub(super) const TREE: &str = ".tree";
/// End of the name of a file with modes that are to be put back.
pub(super) const MODES: &str = ".modes";
/// End of a link's name before it goes to its place.
pub(super) const LINK: &str = ".link";

/// Returns the common prefix of all partial files of a path.
pub(super) fn prefix(path: &EntryPath) -> String {
    format!("{}-", &blake3::hash(&path.0).to_hex()[..32])
}

/// Returns the part of a base that is made from the path.
pub(super) fn path_part(base: &str) -> &str {
    base.split_once('-').map_or(base, |(path, _)| path)
}

/// Returns the name of the files without their ends.
pub(super) fn base(path: &EntryPath, root: &[u8; 32]) -> String {
    format!("{}{}", prefix(path), &blake3::Hash::from(*root).to_hex()[..32])
}

/// Returns whether a directory may be one of partial files: each name in it could be ours.
pub(crate) fn are_ours<'a>(names: impl IntoIterator<Item = &'a OsStr>) -> bool {
    let ours = |name: &OsStr| {
        let stem = |end| name.to_str().and_then(|name| name.strip_suffix(end));
        let base = [PART, TREE, LINK, MODES].into_iter().find_map(stem).and_then(|base| base.split_once('-'));
        let is_hash = |part: &str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        base.is_some_and(|(path, root)| is_hash(path) && is_hash(root))
    };
    names.into_iter().all(ours)
}

/// Returns a base for this path that is nobody else's.
pub(super) fn any_base(path: &EntryPath) -> String {
    format!("{}{}", prefix(path), any_hash())
}

/// Returns the bases of the partial files that are there.
pub(super) fn bases(dir: &Dir) -> io::Result<Vec<String>> {
    let mut bases: Vec<String> = names_in(dir)?
        .iter()
        .filter_map(|name| name.strip_suffix(PART).or(name.strip_suffix(TREE)))
        .map(str::to_owned)
        .collect();
    bases.sort();
    bases.dedup();
    Ok(bases)
}

pub(super) fn names_in(dir: &Dir) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in dir.entries()? {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns a name as long as half a hash, and nobody else's.
pub(super) fn any_hash() -> String {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", half(), half())
}
