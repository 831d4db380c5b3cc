//! Parts of one sweep, made by other processes or on other machines, put together.

use super::folder::{FinishedRun, Folder};
use crate::error::Error;
use std::path::{Path, PathBuf};

/// A run and the part that it comes from.
pub struct Part<'a> {
    /// The run.
    pub run: FinishedRun,
    /// The folder of the part.
    pub dir: &'a Path,
}

/// Puts the finished runs of the parts in `dirs` into the folder `out`, which may hold some of them, and returns it sorted.
/// `take` is called with each run before it is kept there, to bring its files along. Nothing is written before all parts have
/// been compared.
///
/// # Errors
/// Parts of different sweeps, a run that two parts have with different results, and files that cannot be read or written.
pub fn merge(
    dirs: &[PathBuf],
    out: &Path,
    take: &mut dyn FnMut(&Part) -> Result<(), Error>,
) -> Result<Folder, Error> {
    let parts = dirs.iter().map(|dir| Folder::open_to_read(dir)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(Error::OtherSweep("there is nothing to join: name the folders of the parts".to_owned()));
    };
    for other in &parts[1..] {
        if let Some(difference) = first.manifest().difference(other.manifest()) {
            let (one, other) = (first.dir().display(), other.dir().display());
            return Err(Error::OtherSweep(format!(
                "{one} and {other} cannot be joined: beside the first, the second holds {difference}"
            )));
        }
    }
    let manifest = first.manifest().whole();
    for index in 0..manifest.runs {
        agreed(&parts, index)?;
    }
    let mut folder = Folder::open(out, manifest)?;
    for index in 0..folder.manifest().runs {
        let Some((part, run)) = agreed(&parts, index)? else { continue };
        match folder.get(index)? {
            Some(there) if there != run => return Err(differ(index, part.dir(), out)),
            Some(_) => {}
            None => {
                let key = run
                    .key
                    .parse()
                    .map_err(|_| Error::disk(part.dir(), std::io::ErrorKind::InvalidData.into()))?;
                let part = Part { run, dir: part.dir() };
                take(&part)?;
                folder.keep(index, &key, &part.run.content)?;
            }
        }
    }
    folder.sort()?;
    Ok(folder)
}

/// Returns the run with this index and the first part that has it, if all parts that have it measured the same.
fn agreed(parts: &[Folder], index: usize) -> Result<Option<(&Folder, FinishedRun)>, Error> {
    let mut found: Option<(&Folder, FinishedRun)> = None;
    for part in parts {
        let Some(run) = part.get(index)? else { continue };
        match &found {
            Some((first, other)) if *other != run => return Err(differ(index, first.dir(), part.dir())),
            Some(_) => {}
            None => found = Some((part, run)),
        }
    }
    Ok(found)
}

fn differ(index: usize, one: &Path, other: &Path) -> Error {
    Error::OtherSweep(format!(
        "run {} differs between {} and {}: remove the folder whose results you do not trust",
        index + 1,
        one.display(),
        other.display()
    ))
}
