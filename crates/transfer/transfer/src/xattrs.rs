//! Extended attributes of an open file or directory.

use crate::extras::{Keep, Xattr};
use std::fs::File;
use std::io;

/// Reads all attributes that a job asks for, by name.
#[cfg(unix)]
pub(crate) fn read(file: &File, keep: Keep) -> io::Result<Vec<Xattr>> {
    use std::os::unix::ffi::OsStrExt;
    use xattr::FileExt;
    let mut found = Vec::new();
    let names = match file.list_xattr() {
        // A file system without any.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(found),
        names => names?,
    };
    for name in names.filter(|name| keep.covers(name.as_bytes())) {
        // Removed since.
        let Some(value) = file.get_xattr(&name)? else { continue };
        found.push(Xattr { name: name.as_bytes().to_vec(), value });
    }
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Makes those that a job asks for the given ones: sets what differs and removes the others.
#[cfg(unix)]
pub(crate) fn write(file: &File, keep: Keep, wanted: &[Xattr]) -> io::Result<()> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use xattr::FileExt;
    let there = read(file, keep)?;
    for one in wanted.iter().filter(|one| !there.contains(one)) {
        file.set_xattr(OsStr::from_bytes(&one.name), &one.value)?;
    }
    let is_wanted = |one: &&Xattr| wanted.iter().any(|other| other.name == one.name);
    for one in there.iter().filter(|one| !is_wanted(one)) {
        file.remove_xattr(OsStr::from_bytes(&one.name))?;
    }
    Ok(())
}

/// Returns nothing: there are none here.
#[cfg(not(unix))]
pub(crate) fn read(_: &File, _: Keep) -> io::Result<Vec<Xattr>> {
    Ok(Vec::new())
}

/// Fails if there is anything to write: there are none here.
#[cfg(not(unix))]
pub(crate) fn write(_: &File, _: Keep, wanted: &[Xattr]) -> io::Result<()> {
    match wanted.is_empty() {
        true => Ok(()),
        false => Err(io::ErrorKind::Unsupported.into()),
    }
}
