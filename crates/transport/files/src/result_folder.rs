//! The files of a run in a folder, and no others.
//!
//! # Model
//! A folder has a list of the files that a run wrote into it, a name in each line. The next run into the folder adds its own names, writes
//! its files, and then removes those of the list that it did not write. So no file of an earlier run stays beside newer ones, and a file
//! that is on no list is never touched. A line counts once its end is there: a name that a kill cut off is none.
//!
//! The list is locked while a run writes, so two runs into one folder do not mix.

use crate::error::{unwritten, Error};
use crate::lock;
use crate::output::settle;
use crate::staged::{check_writable, stage};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The list of a run's results.
const RESULTS: &str = ".afteryou.files";
/// The list of a run's logs, which may be in the same folder.
const LOGS: &str = ".afteryou.logs";

/// A folder that a run writes to. Others are refused until it is dropped.
#[derive(Debug)]
pub struct ResultFolder {
    dir: PathBuf,
    path: PathBuf,
    list: File,
    /// Names that an earlier run wrote.
    before: BTreeSet<String>,
    /// Names of this run.
    now: BTreeSet<String>,
}

impl ResultFolder {
    /// Opens the folder `dir` for the results of a run, and makes it if it is missing.
    ///
    /// # Errors
    /// A folder that takes no files, or that another run is writing to.
    pub fn open(dir: &Path) -> Result<ResultFolder, Error> {
        ResultFolder::with_list(dir, RESULTS)
    }

    /// Opens the folder for logs, which have a list of their own.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub fn of_logs(dir: &Path) -> Result<ResultFolder, Error> {
        ResultFolder::with_list(dir, LOGS)
    }

    fn with_list(dir: &Path, name: &str) -> Result<ResultFolder, Error> {
        check_writable(dir)?;
        let path = dir.join(name);
        let failed = |reason| unwritten(&path, reason);
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut list = opened.map_err(failed)?;
        if !lock::take(&list) {
            return Err(Error::InUse { path: dir.to_owned() });
        }
        let mut names = Vec::new();
        list.read_to_end(&mut names).map_err(failed)?;
        let before = lines(&names);
        Ok(ResultFolder { dir: dir.to_owned(), path, list, before, now: BTreeSet::new() })
    }

    /// Returns where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes files with these names and contents. Nothing appears under a final name before all are safely on the disk.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write<T: AsRef<[u8]>>(&mut self, contents: &[(&str, T)]) -> Result<(), Error> {
        let staged = stage_all(&self.dir, contents)?;
        contents.iter().try_for_each(|(name, _)| self.declare(name))?;
        persist_all(staged)
    }

    /// Puts a name on the list, before the file has it.
    ///
    /// # Errors
    /// A list that cannot be written.
    pub fn declare(&mut self, name: &str) -> Result<(), Error> {
        if self.before.contains(name) || self.now.contains(name) {
            self.now.insert(name.to_owned());
            return Ok(());
        }
        let line = format!("{name}\n");
        self.list.write_all(line.as_bytes()).map_err(|reason| unwritten(&self.path, reason))?;
        self.now.insert(name.to_owned());
        Ok(())
    }

    /// Removes the files of the list that this run did not write.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn finish(mut self) -> Result<(), Error> {
        for name in self.before.difference(&self.now) {
            let path = self.dir.join(name);
            remove(&path).map_err(|reason| unwritten(&path, reason))?;
        }
        self.before.clear();
        let text: String = self.now.iter().map(|name| format!("{name}\n")).collect();
        let write = |list: &mut File| {
            list.set_len(0)?;
            list.rewind()?;
            list.write_all(text.as_bytes())
        };
        write(&mut self.list).map_err(|reason| unwritten(&self.path, reason))
    }
}

impl Drop for ResultFolder {
    /// Removes the list if none of its files is there: it is of no use.
    fn drop(&mut self) {
        let is_there = |name: &String| self.dir.join(name).is_file();
        if !self.before.union(&self.now).any(is_there) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

type Staged = Vec<(PathBuf, NamedTempFile)>;

fn stage_all<T: AsRef<[u8]>>(dir: &Path, contents: &[(&str, T)]) -> Result<Staged, Error> {
    let staged = contents.iter().map(|(name, content)| {
        let path = dir.join(name);
        let file = stage(dir, content.as_ref()).map_err(|reason| unwritten(&path, reason))?;
        Ok((path, file))
    });
    staged.collect()
}

/// Gives complete files their names.
fn persist_all(staged: Staged) -> Result<(), Error> {
    staged.into_iter().try_for_each(|(path, file)| {
        settle(file.into_temp_path(), &path).map_err(|reason| unwritten(&path, reason))
    })
}

/// Returns the names of a list: those that are files of the folder itself.
fn lines(bytes: &[u8]) -> BTreeSet<String> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let is_name = |name: &&str| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None))
    };
    text.lines().filter(is_name).map(str::to_owned).collect()
}

/// Removes a regular file. Anything else that has its name meanwhile is somebody else's.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => std::fs::remove_file(path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| !name.starts_with(".afteryou."));
        names.sort();
        names
    }

    fn run(folder: &Path, files: &[&str]) {
        let mut results = ResultFolder::open(folder).unwrap();
        files.iter().for_each(|name| results.write(&[(name, "content")]).unwrap());
        results.finish().unwrap();
    }

    #[test]
    fn a_run_removes_what_an_earlier_one_wrote_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("series.json");
        std::fs::write(&own, "the user's").unwrap();
        run(folder.path(), &["result.json", "series.csv"]);
        run(folder.path(), &["result.json", "series.parquet"]);
        assert_eq!(names(folder.path()), ["result.json", "series.json", "series.parquet"]);
        run(folder.path(), &[]);
        assert_eq!(names(folder.path()), ["series.json"]);
    }

    #[test]
    fn names_stay_on_the_list_when_a_run_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &["a", "b"]);
        let mut killed = ResultFolder::open(folder.path()).unwrap();
        killed.write(&[("c", "content")]).unwrap();
        drop(killed);
        assert_eq!(names(folder.path()), ["a", "b", "c"]);
        run(folder.path(), &["b"]);
        assert_eq!(names(folder.path()), ["b"]);
    }

    #[test]
    fn a_list_names_whole_lines_of_the_folder_itself() {
        let parsed = lines(b"a\n../b\n/etc/c\nd/e\n.\n\nresult.json\nresu");
        assert_eq!(parsed.into_iter().collect::<Vec<_>>(), ["a", "result.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_took_a_files_name_stays_and_a_folder_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &["a", "b"]);
        std::fs::remove_file(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("b", folder.path().join("a")).unwrap();
        let first = ResultFolder::open(folder.path()).unwrap();
        let message = ResultFolder::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("another run is writing"), "{message}");
        // Logs have a list of their own.
        drop(ResultFolder::of_logs(folder.path()).unwrap());
        first.finish().unwrap();
        assert_eq!(names(folder.path()), ["a"]);
    }
}
