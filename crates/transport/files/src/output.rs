//! Outputs under a name that a user chose.
//!
//! # Model
//! A regular file, and one that is not there yet, is written beside its place and comes there whole, by a rename. A symbolic link is kept, and
//! the file that it names is replaced. A named pipe, a socket, a terminal or another character device is opened and written: a file in
//! its place would cut its reader off. The same holds for what a link below `/dev` or `/proc` leads to, such as `/dev/stdout`. A block
//! device is refused.

use crate::error::{unwritten, Error, Refused};
use crate::staged::temporary_beside;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// An output that is being written. Unless it is [kept](Output::keep), a regular file is as it was.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// The temporary file and its place, where the output is a regular file.
    place: Option<(TempPath, PathBuf)>,
}

impl Output {
    /// Begins the output `path`. A named pipe is waited for until it has a reader.
    ///
    /// # Errors
    /// A path that cannot be written, or that is a block device.
    pub fn begin(path: &Path) -> io::Result<Output> {
        match Target::of(path)? {
            Target::Regular(place) => {
                let (file, temporary) = temporary_beside(&place)?.into_parts();
                Ok(Output { file, place: Some((temporary, place)) })
            }
            Target::Stream => Ok(Output { file: open(path)?, place: None }),
        }
    }

    /// Returns the file that is written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Ends the output: a regular file is stored and gets its name.
    ///
    /// # Errors
    /// The reason of the operating system.
    pub fn keep(self) -> io::Result<()> {
        let Some((temporary, place)) = self.place else { return Ok(()) };
        self.file.sync_all()?;
        temporary.persist(place).map_err(|error| error.error)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes the file `path`: whole or not at all, if it is a regular file.
///
/// # Errors
/// A file that cannot be written.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    let write = || {
        let mut output = Output::begin(path)?;
        output.write_all(content)?;
        output.keep()
    };
    write().map_err(|reason| unwritten(path, reason))
}

/// Gives a complete temporary file the name `path`, or writes its content to what has this name and is no regular file.
///
/// # Errors
/// The reason of the operating system.
pub fn settle(temporary: TempPath, path: &Path) -> io::Result<()> {
    match Target::of(path)? {
        Target::Regular(place) => temporary.persist(place).map_err(|error| error.error),
        Target::Stream => io::copy(&mut File::open(&temporary)?, &mut open(path)?).map(drop),
    }
}

/// The kind of thing that has a name.
enum Target {
    /// A regular file, or none yet: its place, behind all links.
    Regular(PathBuf),
    /// Anything else, which is opened as it is.
    Stream,
}

impl Target {
    fn of(path: &Path) -> io::Result<Target> {
        let Ok(metadata) = std::fs::metadata(path) else { return Ok(Target::Regular(behind_links(path))) };
        if !metadata.is_file() {
            return match is_block_device(&metadata) {
                true => Err(io::Error::new(io::ErrorKind::InvalidInput, Refused)),
                // A folder cannot be opened for writing, which is its error.
                false => Ok(Target::Stream),
            };
        }
        let is_link = std::fs::symlink_metadata(path)?.is_symlink();
        let is_descriptor = is_link && ["/dev", "/proc"].iter().any(|root| path.starts_with(root));
        if is_descriptor {
            return Ok(Target::Stream);
        }
        Ok(Target::Regular(if is_link { path.canonicalize()? } else { path.to_owned() }))
    }
}

/// Most links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Returns the place that a link without a file leads to.
fn behind_links(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = std::fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(next);
    }
    place
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).truncate(true).open(path)
}

#[cfg(unix)]
fn is_block_device(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_block_device(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{symlink, FileTypeExt};

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_regular_file_is_replaced_only_when_it_is_kept() {
        let folder = folder();
        let path = folder.path().join("a");
        write_file(&path, b"old").unwrap();
        let mut output = Output::begin(&path).unwrap();
        output.write_all(b"half").unwrap();
        assert_eq!(read(&path), "old");
        drop(output);
        assert_eq!((read(&path).as_str(), std::fs::read_dir(folder.path()).unwrap().count()), ("old", 1));
        write_file(&path, b"new").unwrap();
        assert_eq!(read(&path), "new");
    }

    #[test]
    fn a_link_stays_and_the_file_that_it_names_is_written() {
        let folder = folder();
        let [target, link, dangling, far] =
            ["target", "link", "dangling", "far"].map(|name| folder.path().join(name));
        std::fs::write(&target, "old").unwrap();
        symlink("target", &link).unwrap();
        symlink("far", &dangling).unwrap();
        write_file(&link, b"new").unwrap();
        write_file(&dangling, b"far").unwrap();
        assert!(link.is_symlink() && dangling.is_symlink() && !far.is_symlink());
        assert_eq!((read(&target).as_str(), read(&far).as_str()), ("new", "far"));
    }

    #[test]
    fn the_reader_of_a_named_pipe_gets_what_is_written_and_the_pipe_stays() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        type Writes = fn(&Path);
        let whole: Writes = |pipe| write_file(pipe, b"content").unwrap();
        let settled: Writes = |pipe| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(b"content").unwrap();
            settle(file.into_temp_path(), pipe).unwrap();
        };
        for write in [whole, settled] {
            let reader = pipe.clone();
            let reader = std::thread::spawn(move || {
                let mut text = String::new();
                File::open(reader).unwrap().read_to_string(&mut text).unwrap();
                text
            });
            write(&pipe);
            assert_eq!(reader.join().unwrap(), "content");
            assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        }
    }

    #[test]
    fn a_device_is_written_and_stays() {
        write_file(Path::new("/dev/null"), b"content").unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(write_file(Path::new("/"), b"content").is_err());
    }
}
