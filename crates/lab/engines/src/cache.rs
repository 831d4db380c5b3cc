//! Figures of runs that were made before, on the disk.
//!
//! The file of a build has a line for each run: 16 hexadecimal digits of BLAKE3 over the rest, the key of the run, and what the caller keeps
//! of it, JSON in one line. A line that a kill tore is passed over, and its run is made again. Another build has another file, so a
//! changed controller never finds the numbers of the old one; the files of other builds are removed.

use crate::error::Error;
use crate::Result;
use afteryou_scenario::content::ContentHash;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Digits of a checksum, and of a build in a file's name.
const DIGITS: usize = 16;
/// How the names of the files end.
const EXTENSION: &str = "readings";

/// Figures of a build's runs.
pub struct Cache<Kept> {
    /// None keeps everything in memory alone.
    file: Option<(PathBuf, File)>,
    runs: HashMap<String, Kept>,
}

impl<Kept: Serialize + DeserializeOwned> Cache<Kept> {
    /// Creates a cache that ends with the process.
    pub fn in_memory() -> Cache<Kept> {
        Cache { file: None, runs: HashMap::new() }
    }

    /// Opens the cache of `build` in the folder `dir`, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Disk`].
    pub fn open(dir: &Path, build: &ContentHash) -> Result<Cache<Kept>> {
        fs::create_dir_all(dir).map_err(|error| Error::disk(dir, error))?;
        let name = format!("{}.{EXTENSION}", &build.to_string()[..DIGITS]);
        remove_others(dir, &name);
        let path = dir.join(name);
        let failed = |error| Error::disk(&path, error);
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let runs = text.lines().filter_map(parse).collect();
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Cache { file: Some((path, file)), runs })
    }

    /// Returns what was kept of the run with this key.
    pub fn get(&self, key: &ContentHash) -> Option<&Kept> {
        self.runs.get(&key.to_string())
    }

    /// Keeps something of a run.
    ///
    /// # Errors
    /// [`Error::Disk`].
    pub fn put(&mut self, key: &ContentHash, kept: Kept) -> Result<()> {
        if let Some((path, file)) = &mut self.file {
            let content = serde_json::to_string(&kept).map_err(|error| Error::disk(path, error.into()))?;
            let rest = format!("{key} {content}");
            let line = format!("{} {rest}\n", checksum(&rest));
            file.write_all(line.as_bytes()).map_err(|error| Error::disk(path, error))?;
        }
        self.runs.insert(key.to_string(), kept);
        Ok(())
    }
}

fn checksum(rest: &str) -> String {
    let mut digits = ContentHash::of_text(rest).to_string();
    digits.truncate(DIGITS);
    digits
}

fn parse<Kept: DeserializeOwned>(line: &str) -> Option<(String, Kept)> {
    let (checksum, rest) = line.split_once(' ')?;
    if checksum != self::checksum(rest) {
        return None;
    }
    let (key, content) = rest.split_once(' ')?;
    Some((key.to_owned(), serde_json::from_str(content).ok()?))
}

/// Removes the files of other builds. One that stays does no harm.
fn remove_others(dir: &Path, name: &str) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_ours = path.extension().is_some_and(|extension| extension == EXTENSION);
        if is_ours && path.file_name().is_some_and(|other| other != name) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Figures = Vec<(String, f64)>;

    fn kept(number: f64) -> Figures {
        vec![("queue".to_owned(), number)]
    }

    #[test]
    fn what_was_kept_is_there_again_and_a_torn_line_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (build, other) = (ContentHash::of_text("build"), ContentHash::of_text("other"));
        let (one, two) = (ContentHash::of_text("1"), ContentHash::of_text("2"));
        let mut cache = Cache::open(dir.path(), &build).unwrap();
        cache.put(&one, kept(0.1 + 0.2)).unwrap();
        cache.put(&two, kept(2.0)).unwrap();
        let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let mut cache = Cache::open(dir.path(), &build).unwrap();
        assert_eq!((cache.get(&one), cache.get(&two)), (Some(&kept(0.1 + 0.2)), None));
        cache.put(&two, kept(3.0)).unwrap();
        assert_eq!(Cache::open(dir.path(), &build).unwrap().get(&two), Some(&kept(3.0)));
        let of_other: Cache<Figures> = Cache::open(dir.path(), &other).unwrap();
        assert!(of_other.get(&one).is_none());
        let again: Cache<Figures> = Cache::open(dir.path(), &build).unwrap();
        assert!(again.get(&one).is_none(), "other builds leave nothing");
    }
}
