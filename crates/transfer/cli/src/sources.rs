//! How files are read, and the directories that may receive them.

use super::args::{looks_like_ticket, read_ticket, Choice, Common, Symlinks};
use afteryou_terminal::Failure;
use afteryou_transfer::source::{self, SourceOptions};
use afteryou_transfer::ticket::Role;
use std::path::{Path, PathBuf};

/// Checks the target: an existing one must be a directory; a missing one becomes a directory.
pub fn check_directory(directory: &Path) -> Result<(), Failure> {
    refuse_ticket(directory)?;
    if directory.is_symlink() && !directory.exists() {
        return Err(Failure::usage(format!(
            "{directory:?} is a link that leads nowhere: make the directory that it names, or name another one"
        )));
    }
    match directory.exists() && !directory.is_dir() {
        true => Err(Failure::usage(format!("{directory:?} is no directory: name one to put files into"))),
        false => Ok(()),
    }
}

/// Refuses a ticket as a directory: a ticket is for the side that connects. The existing target is a directory, whatever its
/// name.
pub fn refuse_ticket(directory: &Path) -> Result<(), Failure> {
    let word = directory.as_os_str();
    if !looks_like_ticket(word) || directory.is_dir() {
        return Ok(());
    }
    // The word is not repeated: it is a secret.
    let instead = match read_ticket(word).map(|(ticket, _)| ticket.role) {
        Ok(Role::Receive) => "to send files with it, type `afteryou send PATH... TICKET`",
        Ok(Role::Serve) => "to get files with it, type `afteryou get TICKET [DIR]`",
        Err(_) => {
            "type `afteryou send PATH... TICKET` or `afteryou get TICKET [DIR]`, or ./ before the name of a directory"
        }
    };
    Err(Failure::usage(format!("a ticket where a directory is expected: {instead}")))
}

/// Returns how files are read: links as asked for, and trees of large files kept between runs.
pub fn options(common: &Common, symlinks: Symlinks, choice: &Choice) -> Result<SourceOptions, Failure> {
    let mut options = SourceOptions::default();
    options.symlinks = match symlinks {
        Symlinks::Keep => source::Symlinks::Keep,
        Symlinks::Skip => source::Symlinks::Skip,
        Symlinks::Follow => source::Symlinks::Follow,
        Symlinks::CopyAsIs => source::Symlinks::AsIs,
    };
    options.cache = cache(common);
    options.exclude = choice.filter()?;
    Ok(options)
}

/// Returns the place beside the key if that has one of its own, otherwise where caches are. Without either, nothing is kept.
fn cache(common: &Common) -> Option<PathBuf> {
    if let Some(state) = &common.state {
        return Some(state.join("trees"));
    }
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let systemd =
        variable("CACHE_DIRECTORY").or_else(|| variable("STATE_DIRECTORY").map(|state| state.join("trees")));
    let user = || variable("XDG_CACHE_HOME").map(|cache| cache.join("afteryou"));
    let windows = || {
        variable("LOCALAPPDATA").filter(|_| cfg!(windows)).map(|local| local.join("afteryou").join("trees"))
    };
    let home = || std::env::home_dir().map(|home| home.join(".cache/afteryou"));
    systemd.or_else(user).or_else(windows).or_else(home)
}
