//! The folder of a scenario, and the files there that it names.
//!
//! Only regular files are opened. A scenario of one's own may name any of them. One from elsewhere may name those below its folder:
//! a path counts where it leads, symbolic links resolved. Whether another file exists cannot be learned from the message.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Largest file that is read, bytes.
const LARGEST: u64 = 32 << 20;

pub(super) const MISSING: &str = "there is no such file beside the scenario: look at its name";

const OUTSIDE: &str =
    "there is no such file below the scenario's folder, and a scenario that is not trusted may name no other";

/// Where a scenario comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is the user's own.
    Here,
    /// Somebody else wrote it.
    Elsewhere,
}

/// A folder, and who chooses the names of files.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    origin: Origin,
}

impl Folder {
    /// Returns the folder of this scenario.
    pub(super) fn of(scenario: &Path, origin: Origin) -> Folder {
        let path = match scenario.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        Folder { path, origin }
    }

    /// Returns whether the scenario is the user's own.
    pub(super) fn is_trusted(&self) -> bool {
        self.origin == Origin::Here
    }

    /// Refuses a scenario that is itself a link to a file outside its folder: messages quote its lines.
    pub(super) fn check(&self, scenario: &Path) -> Result<(), String> {
        // What is no file, such as a pipe, has no place.
        let is_file = scenario.metadata().is_ok_and(|metadata| metadata.is_file());
        match (self.origin, scenario.file_name()) {
            (Origin::Elsewhere, Some(name)) if is_file => self.below(Path::new(name)).map(drop),
            _ => Ok(()),
        }
    }

    /// Reads the text of a file.
    pub(super) fn read(&self, name: &str) -> Result<String, String> {
        let opened = match self.origin {
            Origin::Here => open(&self.path.join(name)),
            Origin::Elsewhere => self.below(Path::new(name)),
        }?;
        let mut text = String::new();
        opened.take(LARGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// Opens a file below the folder.
    fn below(&self, name: &Path) -> Result<File, String> {
        if leaves(name) {
            return Err(OUTSIDE.to_owned());
        }
        let refused = |_: io::Error| OUTSIDE.to_owned();
        let root = self.path.canonicalize().map_err(refused)?;
        let real = root.join(name).canonicalize().map_err(refused)?;
        if !real.starts_with(&root) {
            return Err(OUTSIDE.to_owned());
        }
        let opened = open(&real)?;
        // A link may have come between the two.
        match place(&opened, &real).map_err(refused)?.starts_with(&root) {
            true => Ok(opened),
            false => Err(OUTSIDE.to_owned()),
        }
    }
}

/// Returns whether a name leads out of the folder by itself.
fn leaves(name: &Path) -> bool {
    let mut depth = 0_usize;
    for component in name.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// Returns the path of an open file.
fn place(opened: &File, name: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        if let Ok(place) = std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())) {
            return Ok(place);
        }
    }
    let _ = opened;
    name.canonicalize()
}

fn open(file: &Path) -> Result<File, String> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => MISSING.to_owned(),
        _ => error.to_string(),
    };
    let is_wrong = |metadata: std::fs::Metadata| !metadata.is_file() || metadata.len() > LARGEST;
    let wrong = || Err(format!("this is no regular file of {} MiB at most", LARGEST >> 20));
    // Before it is opened: opening a named pipe waits for its writer.
    if is_wrong(std::fs::metadata(file).map_err(failed)?) {
        return wrong();
    }
    let opened = File::open(file).map_err(failed)?;
    match is_wrong(opened.metadata().map_err(failed)?) {
        true => wrong(),
        false => Ok(opened),
    }
}
