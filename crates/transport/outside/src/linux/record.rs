//! The sockets that are steered, in a file: what somebody else needs to restore them if the process that steers dies.
//!
//! One line a socket, all of one length, so that a line is changed in place by one write: the file has as many as there were sockets at
//! once. It is written before a socket is changed. The file's lock is held by the processes of a run, which share one open file: it is free
//! when both are dead, and then the next run restores what the file has. It lies where `afteryou ctl` finds running jobs; without
//! such a place it has no name.

use super::original::{restore, Original, Place};
use rustix::fs::{flock, memfd_create, FlockOperation, MemfdFlags, OFlags};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a line, its end included: the numbers at their longest, and a name of 16 bytes.
const LINE: usize = 112;
/// The end of such a file's name.
const EXTENSION: &str = "steered";

/// The file of a run, as it is written.
#[derive(Debug)]
pub struct Record {
    file: File,
    /// The line of each socket, by cookie.
    lines: HashMap<u64, u64>,
    free: Vec<u64>,
}

impl Record {
    /// Writes into a file that [`create`] has made.
    pub fn new(file: File) -> Record {
        Record { file, lines: HashMap::new(), free: Vec::new() }
    }

    /// Notes a socket, or that one of its settings or its place is another. An error is none of the program's business: only the death of
    /// this process would show it.
    pub fn note(&mut self, place: &Place, original: &Original) {
        let count = self.lines.len() as u64 + self.free.len() as u64;
        let line = *self.lines.entry(place.cookie).or_insert_with(|| self.free.pop().unwrap_or(count));
        self.write(line, &text(place, original));
    }

    /// Notes that a socket is gone.
    pub fn forget(&mut self, cookie: u64) {
        let Some(line) = self.lines.remove(&cookie) else { return };
        self.free.push(line);
        self.write(line, "");
    }

    fn write(&self, line: u64, text: &str) {
        let _ = self
            .file
            .write_all_at(format!("{text:<width$}\n", width = LINE - 1).as_bytes(), line * LINE as u64);
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        remove(&self.file);
    }
}

/// Returns the line of a socket.
fn text(place: &Place, original: &Original) -> String {
    let clamp = original.window_clamp.map_or_else(|| "-".to_owned(), |clamp| clamp.to_string());
    let name = original.congestion_control.as_deref().unwrap_or("-");
    format!("{} {} {} {clamp} {} {name}", place.pid, place.fd, place.cookie, original.pacing_rate)
}

/// Returns the socket of a line; `None` if the line is blank, or not such a line.
fn socket(line: &str) -> Option<(Place, Original)> {
    let mut words = line.split_whitespace();
    let place = Place {
        pid: words.next()?.parse().ok()?,
        fd: words.next()?.parse().ok()?,
        cookie: words.next()?.parse().ok()?,
    };
    let window_clamp = match words.next()? {
        "-" => None,
        clamp => Some(clamp.parse().ok()?),
    };
    let pacing_rate = words.next()?.parse().ok()?;
    let congestion_control = words.next().filter(|name| *name != "-").map(str::to_owned);
    Some((place, Original { window_clamp, pacing_rate, congestion_control }))
}

/// Returns the sockets that a file has.
///
/// # Errors
/// It cannot be read.
pub fn sockets(mut file: &File) -> io::Result<Vec<(Place, Original)>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text.lines().filter_map(socket).collect())
}

/// Makes the file of the run of process `pid`, and locks it.
///
/// # Errors
/// Neither can a file be made in `directory`, nor one in memory.
pub fn create(directory: Option<&Path>, pid: u32) -> io::Result<File> {
    match directory.map(|directory| create_in(directory, pid)) {
        Some(Ok(file)) => Ok(file),
        _ => Ok(File::from(memfd_create("afteryou", MemfdFlags::CLOEXEC)?)),
    }
}

fn create_in(directory: &Path, pid: u32) -> io::Result<File> {
    let path = directory.join(format!("{pid}.{EXTENSION}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    // Another run may have taken it for one of the dead, before it was locked.
    match identity(&path)? == (file.metadata()?.dev(), file.metadata()?.ino()) {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Removes a file's name, if it has one.
pub fn remove(file: &File) {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let (Ok(path), Ok(metadata)) = (path, file.metadata()) else { return };
    if identity(&path).is_ok_and(|found| found == (metadata.dev(), metadata.ino())) {
        let _ = fs::remove_file(path);
    }
}

/// Returned by [`repair`]: connections of runs that were killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Connections that the files have had.
    pub connections: usize,
    /// Processes whose connections are still limited, since they may not be touched.
    pub refused: Vec<i32>,
}

/// Restores sockets of runs that were killed, by the files in a directory. A file stays while it has a socket that may not be touched.
pub fn repair(directory: &Path) -> Repaired {
    let mut repaired = Repaired::default();
    let Ok(entries) = fs::read_dir(directory) else { return repaired };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok((file, sockets)) = left_by_the_dead(&path) else { continue };
        repaired.connections += sockets.len();
        let refused = restore(sockets);
        if refused.is_empty() {
            remove(&file);
        }
        repaired.refused.extend(refused.iter().map(|place| place.pid));
    }
    repaired.refused.sort_unstable();
    repaired.refused.dedup();
    repaired
}

/// Opens a file of this user's runs whose processes are dead, and returns its sockets, too.
fn left_by_the_dead(path: &PathBuf) -> io::Result<(File, Vec<(Place, Original)>)> {
    let is_named_so = path.extension().is_some_and(|extension| extension == EXTENSION);
    if !is_named_so {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let sockets = sockets(&file)?;
    Ok((file, sockets))
}

#[cfg(test)]
mod tests {
    use super::super::system;
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    fn place(cookie: u64) -> Place {
        Place { pid: i32::MAX, fd: i32::MAX, cookie }
    }

    fn original(pacing_rate: u64, name: Option<&str>) -> Original {
        Original { window_clamp: Some(u32::MAX), pacing_rate, congestion_control: name.map(str::to_owned) }
    }

    #[test]
    fn a_file_has_what_is_steered_and_is_as_long_as_there_were_sockets_at_once() {
        let file = File::from(memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
        let mut record = Record::new(file.try_clone().unwrap());
        let longest = original(u64::MAX, Some("sixteen_letters_"));
        for cookie in 0..1000 {
            record.note(&place(u64::MAX - cookie), &longest);
            record.note(&place(u64::MAX - cookie), &original(5, None));
            if cookie > 1 {
                record.forget(u64::MAX - cookie + 2);
            }
        }
        record.note(&place(u64::MAX - 999), &longest);
        let mut found = sockets(&file).unwrap();
        found.sort_by_key(|(place, _)| place.cookie);
        assert_eq!(found, [(place(u64::MAX - 999), longest), (place(u64::MAX - 998), original(5, None))]);
        assert_eq!(file.metadata().unwrap().len(), 3 * LINE as u64);
    }

    #[test]
    fn sockets_of_a_run_that_was_killed_are_restored_and_those_of_one_that_runs_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = stream.as_fd();
        let file = create(Some(folder.path()), 7).unwrap();
        let mut record = Record::new(file.try_clone().unwrap());
        let cookie = super::super::socket::cookie(socket).unwrap();
        // The descriptor has another number by now.
        let place = Place { pid: std::process::id() as i32, fd: 100_000, cookie };
        let before = Original { window_clamp: None, pacing_rate: 123_456, congestion_control: None };
        record.note(&place, &before);
        record.note(&self::place(1), &before);
        system::set_window_clamp(socket, 5000).unwrap();
        assert_eq!(repair(folder.path()), Repaired::default(), "it is locked");
        // As a kill: nothing is removed.
        let path = folder.path().join("7.steered");
        fs::copy(&path, folder.path().join("8.steered")).unwrap();
        assert_eq!(repair(folder.path()), Repaired { connections: 2, refused: Vec::new() });
        assert!(system::window_clamp(socket).unwrap() > 1 << 20);
        assert_eq!(system::tcp_info(socket).unwrap().max_pacing_rate, 123_456);
        assert!(!folder.path().join("8.steered").exists() && path.exists());
        drop(record);
        assert!(!path.exists());
    }

    #[test]
    fn files_of_others_and_nonsense_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("9.sock"), "5 5 5 5 5 -").unwrap();
        fs::write(at("real"), "1 2").unwrap();
        std::os::unix::fs::symlink(at("real"), at("9.steered")).unwrap();
        fs::create_dir(at("10.steered")).unwrap();
        fs::write(at("11.steered"), "no such line\n-1 -1 -1 -1 -1\n\0\n0 0 0 0 0 -\n").unwrap();
        assert_eq!(repair(folder.path()), Repaired { connections: 1, refused: Vec::new() });
        assert!(at("real").exists() && at("9.steered").exists() && at("9.sock").exists());
        assert!(!at("11.steered").exists());
    }
}
