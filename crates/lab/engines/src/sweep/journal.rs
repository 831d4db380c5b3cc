//! The journal: a line for each finished run, in the order in which they end.
//!
//! A line is `checksum run key content`: 16 hexadecimal digits of BLAKE3 over the rest, the number of the run from 1,
//! its key, and the caller's content, JSON in one line. Lines are appended by one write each. After a kill the last
//! line has no line end or a wrong checksum, and is cut off when the journal is opened. A line that was damaged later
//! is skipped, and its run is made again.

use crate::error::Error;
use afteryou_files::lock;
use afteryou_scenario::content::ContentHash;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Digits of a checksum.
const CHECKSUM: usize = 16;

/// Where the line of a run is.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    length: usize,
}

/// Finished runs on the disk.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Of each run of the sweep, by index.
    places: Vec<Option<Place>>,
    end: u64,
}

/// A line that was read.
pub(super) struct Line<'a> {
    /// Index of the run, from 0.
    index: usize,
    pub(super) key: &'a str,
    pub(super) content: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line without its end; returns `None` if it is torn, damaged or of no run among `runs`.
    fn read(bytes: &'a [u8], runs: usize) -> Option<Line<'a>> {
        let (checksum, rest) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
        if checksum != self::checksum(rest) {
            return None;
        }
        let mut parts = rest.splitn(3, ' ');
        let index = parts.next()?.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < runs)?;
        Some(Line { index, key: parts.next()?, content: parts.next()? })
    }
}

fn checksum(rest: &str) -> String {
    let mut digits = ContentHash::of_text(rest).to_string();
    digits.truncate(CHECKSUM);
    digits
}

impl Journal {
    /// Opens the journal of a sweep with `runs` runs for writing, and cuts off a torn end.
    ///
    /// # Errors
    /// A file that cannot be read or written, or that another process has open for writing.
    pub(super) fn open(path: &Path, runs: usize) -> Result<Journal, Error> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).append(true).create(true).open(path);
        let file = opened.map_err(|error| Error::disk(path, error))?;
        if !lock::take(&file) {
            return Err(Error::InUse { path: path.to_owned() });
        }
        let journal = Journal::of(path, file, runs)?;
        let cut = |file: &File| match file.metadata()?.len() > journal.end {
            true => file.set_len(journal.end),
            false => Ok(()),
        };
        cut(&journal.file).map_err(|error| Error::disk(path, error))?;
        Ok(journal)
    }

    /// Opens the journal for reading; a torn end is passed over.
    pub(super) fn open_to_read(path: &Path, runs: usize) -> Result<Journal, Error> {
        let file = File::open(path).map_err(|error| Error::disk(path, error))?;
        Journal::of(path, file, runs)
    }

    fn of(path: &Path, mut file: File, runs: usize) -> Result<Journal, Error> {
        let (places, end) = places(&mut file, runs).map_err(|error| Error::disk(path, error))?;
        Ok(Journal { path: path.to_owned(), file, places, end })
    }

    /// Returns whether no run has ended.
    pub(super) fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    /// Returns whether this run has ended.
    pub(super) fn has(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(Option::is_some)
    }

    /// Appends a finished run; one that is there already stays as it is.
    pub(super) fn append(&mut self, index: usize, key: &ContentHash, content: &str) -> Result<(), Error> {
        if self.has(index) {
            return Ok(());
        }
        let rest = format!("{} {key} {content}", index + 1);
        let line = format!("{} {rest}\n", checksum(&rest));
        self.file.write_all(line.as_bytes()).map_err(|error| Error::disk(&self.path, error))?;
        self.places[index] = Some(Place { offset: self.end, length: line.len() });
        self.end += line.len() as u64;
        Ok(())
    }

    /// Returns the line of a run without its checksum: run, key and content.
    pub(super) fn line(&self, index: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some(Some(place)) = self.places.get(index) else { return Ok(None) };
        let mut bytes = vec![0; place.length];
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| Error::disk(&self.path, error))?;
        Ok(Some(bytes))
    }

    /// Returns key and content of a line that [`line`](Self::line) returned.
    pub(super) fn parse<'a>(&self, line: &'a [u8]) -> Result<Line<'a>, Error> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let damaged = || Error::disk(&self.path, std::io::ErrorKind::InvalidData.into());
        Line::read(line, self.places.len()).ok_or_else(damaged)
    }

    /// Puts the lines in the order of the runs, so that the file's bytes do not depend on which run ended first.
    pub(super) fn sort(&mut self) -> Result<(), Error> {
        let mut before = 0;
        let is_sorted = self.places.iter().flatten().all(|place| {
            let follows = place.offset == before;
            before += place.length as u64;
            follows
        });
        if is_sorted && before == self.end {
            return Ok(());
        }
        let temporary = self.path.with_extension("new");
        self.write_sorted(&temporary)?;
        std::fs::rename(&temporary, &self.path).map_err(|error| Error::disk(&self.path, error))?;
        *self = Journal::open(&self.path, self.places.len())?;
        Ok(())
    }

    fn write_sorted(&self, path: &Path) -> Result<(), Error> {
        let failed = |error| Error::disk(path, error);
        let mut out = std::io::BufWriter::new(File::create(path).map_err(failed)?);
        for index in 0..self.places.len() {
            if let Some(line) = self.line(index)? {
                out.write_all(&line).map_err(failed)?;
            }
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)
    }
}

/// Returns where each run's line is, and where the last whole line ends.
fn places(file: &mut File, runs: usize) -> std::io::Result<(Vec<Option<Place>>, u64)> {
    let (mut places, mut end, mut offset) = (vec![None; runs], 0, 0);
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes)?;
        if length == 0 {
            return Ok((places, end));
        }
        let whole = bytes.strip_suffix(b"\n").and_then(|line| Line::read(line, runs));
        if let Some(line) = whole {
            places[line.index].get_or_insert(Place { offset, length });
            end = offset + length as u64;
        }
        offset += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> ContentHash {
        ContentHash::of_text("key")
    }

    fn contents(journal: &Journal) -> Vec<Option<String>> {
        let content = |index| {
            let line = journal.line(index).unwrap()?;
            Some(journal.parse(&line).unwrap().content.to_owned())
        };
        (0..journal.places.len()).map(content).collect()
    }

    fn five(path: &Path) -> Vec<u8> {
        let mut journal = Journal::open(path, 5).unwrap();
        for index in [3, 0, 4, 2, 1] {
            journal.append(index, &key(), &format!("{{\"run\": {index}, \"é\": null}}")).unwrap();
        }
        std::fs::read(path).unwrap()
    }

    proptest! {
        #[test]
        fn wherever_a_line_is_torn_all_before_it_is_there_and_nothing_else(cut in 0usize..700) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("journal");
            let whole = five(&path);
            let cut = cut.min(whole.len());
            std::fs::write(&path, &whole[..cut]).unwrap();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            let mut journal = Journal::open(&path, 5).unwrap();
            let expected: Vec<usize> = [3, 0, 4, 2, 1][..lines].to_vec();
            let found: Vec<usize> = (0..5).filter(|index| journal.has(*index)).collect();
            prop_assert!(found.len() == lines && expected.iter().all(|index| found.contains(index)));
            for index in 0..5 {
                journal.append(index, &key(), &format!("{{\"run\": {index}, \"é\": null}}")).unwrap();
            }
            journal.sort().unwrap();
            drop(journal);
            let other = dir.path().join("other");
            five(&other);
            Journal::open(&other, 5).unwrap().sort().unwrap();
            prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&other).unwrap());
        }
    }

    #[test]
    fn a_damaged_line_is_passed_over_and_a_run_is_never_there_twice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut bytes = five(&path);
        bytes[40] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let mut journal = Journal::open(&path, 5).unwrap();
        assert!(!journal.has(3) && [0, 1, 2, 4].iter().all(|index| journal.has(*index)));
        journal.append(3, &key(), "3").unwrap();
        journal.append(3, &key(), "again").unwrap();
        journal.sort().unwrap();
        assert_eq!(contents(&journal)[3].as_deref(), Some("3"));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 5);
    }

    #[cfg(unix)]
    #[test]
    fn a_second_writer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let _first = Journal::open(&path, 5).unwrap();
        let error = Journal::open(&path, 5).err().unwrap().to_string();
        assert!(error.contains("another process"), "{error}");
        assert!(Journal::open_to_read(&path, 5).is_ok());
    }
}
