//! Where the sockets of running jobs lie.
//!
//! `$XDG_RUNTIME_DIR/afteryou`, which systemd makes for every user that logs in; under systemd itself
//! `$RUNTIME_DIRECTORY`; otherwise `afteryou-UID` in the directory for temporary files. That one is shared with
//! everybody, so what lies there under our name counts only if it is a directory, ours, and closed to others.

use anyhow::{bail, Context};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The directory, made if it is not there. `chosen` is what the user says.
pub fn directory(chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    let directory = chosen.map_or_else(usual, Path::to_owned);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.with_context(|| format!("cannot create {} for control sockets", directory.display()))?;
    // Whoever names a place answers for it; root may look after somebody else's jobs.
    if chosen.is_none() {
        check(&directory)?;
    }
    Ok(directory)
}

/// The jobs with a socket there, whether they still run or not.
pub fn jobs(directory: &Path) -> anyhow::Result<Vec<(u32, PathBuf)>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let pid = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".sock")?.parse().ok();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut jobs: Vec<_> = paths.filter_map(|path| Some((pid(&path)?, path))).collect();
    jobs.sort_unstable();
    Ok(jobs)
}

/// The socket of a job.
pub fn socket(directory: &Path, pid: u32) -> PathBuf {
    directory.join(format!("{pid}.sock"))
}

fn usual() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(given) = variable("RUNTIME_DIRECTORY") {
        // systemd joins several by colons.
        if let Some(first) = std::env::split_paths(&given).next() {
            return first;
        }
    }
    match variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(runtime) => runtime.join("afteryou"),
        None => std::env::temp_dir().join(format!("afteryou-{}", user())),
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Ours, a directory, and nobody else's business.
fn check(directory: &Path) -> anyhow::Result<()> {
    let found = fs::symlink_metadata(directory)?;
    if !found.is_dir() || found.uid() != user() {
        bail!("{} belongs to somebody else: remove it, or set XDG_RUNTIME_DIR", directory.display());
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_made_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let chosen = folder.path().join("deep/control");
        let made = directory(Some(&chosen)).unwrap();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(check(&made).is_ok());
        fs::set_permissions(&made, fs::Permissions::from_mode(0o777)).unwrap();
        check(&made).unwrap();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_that_somebody_laid_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("afteryou-0");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let error = check(&link).unwrap_err().to_string();
        assert!(error.contains("belongs to somebody else"), "{error}");
    }

    #[test]
    fn sockets_are_found_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["12.sock", "7.sock", "x.sock", "7.lock", "-1.sock"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let pids: Vec<u32> = jobs(folder.path()).unwrap().into_iter().map(|(pid, _)| pid).collect();
        assert_eq!(pids, [7, 12]);
    }
}
