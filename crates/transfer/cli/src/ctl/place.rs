//! Where the sockets of running jobs are.
//!
//! `$XDG_RUNTIME_DIR/afteryou`, which systemd makes for every user that logs in; under systemd itself
//! `$RUNTIME_DIRECTORY`; otherwise `afteryou-UID` in the directory for temporary files. That one is shared with
//! everybody, so what is there under our name counts only if it is a directory, ours, and closed to others.
//!
//! A directory that the user names may hold anything. Only a socket counts as one, links are not followed, and nothing is
//! removed but a socket of this user at which nobody listens any more.

use anyhow::{bail, Context};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A job listens at its socket long before that.
const BEGINNING: Duration = Duration::from_secs(60);

/// Returns the directory, made if it is not there. `chosen` is the user's choice.
///
/// # Errors
/// It cannot be made, belongs to somebody else or is open to others.
pub fn directory(chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    let directory = chosen.map_or_else(usual, Path::to_owned);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.with_context(|| format!("cannot create {} for control sockets", directory.display()))?;
    // A user who names a place answers for it; root may look after somebody else's jobs.
    if chosen.is_none() {
        check(&directory)?;
    }
    Ok(directory)
}

/// Returns the jobs with a socket there, whether they still run or not.
///
/// # Errors
/// The directory cannot be read.
pub fn jobs(directory: &Path) -> anyhow::Result<Vec<(u32, PathBuf)>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let pid = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".sock")?.parse().ok();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut jobs: Vec<_> = paths.filter_map(|path| Some((pid(&path)?, path))).collect();
    // "007.sock" is a number, too, and no job's name.
    jobs.retain(|(pid, path)| *path == socket(directory, *pid) && found(path).is_some());
    jobs.sort_unstable();
    Ok(jobs)
}

/// Opens a socket for job `pid`, closed to others, and returns its path, too. It gets its name when it listens already:
/// between the two, another process would take it for the socket of a job that was killed.
///
/// # Errors
/// Nothing can be bound there, or a job of this number listens already.
pub fn listen(directory: &Path, pid: u32) -> anyhow::Result<(UnixListener, PathBuf)> {
    let (name, nameless) = (socket(directory, pid), nameless(directory, pid));
    // A job that was killed had the same number.
    remove_stale(&name);
    remove_stale(&nameless);
    let listen = || {
        let listener = UnixListener::bind(&nameless)?;
        // A directory that the user names may be open to others.
        let named = fs::set_permissions(&nameless, fs::Permissions::from_mode(0o600))
            .and_then(|()| fs::hard_link(&nameless, &name)); // unlike a rename it replaces nothing
        let _ = fs::remove_file(&nameless);
        named.map(|()| listener)
    };
    let listener = listen().with_context(|| format!("cannot listen at {}", name.display()))?;
    Ok((listener, name))
}

/// Removes what killed jobs left there: their sockets, and those that had no name of their own yet.
pub fn tidy(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some((pid, end)) = path.file_name().and_then(|name| name.to_str()?.split_once('.')) else {
            continue;
        };
        let Ok(pid) = pid.parse() else { continue };
        match end {
            "sock" if path == socket(directory, pid) => remove_stale(&path),
            "new" if path == nameless(directory, pid) && has_begun_long_ago(&path, pid) => {
                remove_stale(&path)
            }
            _ => {}
        }
    }
}

/// Returns `true` unless the job may be about to listen at a socket that it has made.
fn has_begun_long_ago(socket: &Path, pid: u32) -> bool {
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let is_running = process
        .is_some_and(|process| rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH));
    let made = found(socket).and_then(|found| found.modified().ok());
    !is_running || made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > BEGINNING)
}

/// Removes the socket of a job that was killed. Anything else of that name is kept.
pub fn remove_stale(socket: &Path) {
    let Some(before) = found(socket).filter(|found| found.uid() == user()) else { return };
    let is_refused = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
    if UnixStream::connect(socket).is_err_and(is_refused) {
        remove(socket, identity(&before));
    }
}

/// Removes the socket if it is still this one.
pub fn remove(socket: &Path, this: Identity) {
    if found(socket).is_some_and(|found| identity(&found) == this) {
        let _ = fs::remove_file(socket);
    }
}

/// Device and inode: the same socket, whatever its name.
pub type Identity = (u64, u64);

/// Returns the identity of the socket with this name.
pub fn identity_of(socket: &Path) -> Option<Identity> {
    found(socket).map(|found| identity(&found))
}

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// Returns the metadata of a socket; None for everything else, links to sockets included.
fn found(socket: &Path) -> Option<Metadata> {
    fs::symlink_metadata(socket).ok().filter(|found| found.file_type().is_socket())
}

/// Returns the socket of a job before it listens.
fn nameless(directory: &Path, pid: u32) -> PathBuf {
    directory.join(format!("{pid}.new"))
}

/// Returns the socket of a job.
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

/// Checks that it is ours, a directory, and nobody else's business.
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

    fn dead(path: &Path) {
        drop(UnixListener::bind(path).unwrap());
    }

    #[test]
    fn only_sockets_with_a_jobs_name_are_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["12.sock", "7.sock", "x.sock", "7.lock", "-1.sock", "007.sock", "+7.sock"] {
            dead(&at(name));
        }
        fs::write(at("13.sock"), "a file of the user's").unwrap();
        fs::create_dir(at("14.sock")).unwrap();
        std::os::unix::fs::symlink(at("7.sock"), at("15.sock")).unwrap();
        let pids: Vec<u32> = jobs(folder.path()).unwrap().into_iter().map(|(pid, _)| pid).collect();
        assert_eq!(pids, [7, 12]);
    }

    #[test]
    fn sockets_of_killed_jobs_go_and_those_of_jobs_that_begin_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // No process has such a number.
        let dead_pid = u32::MAX >> 1;
        let own = std::process::id();
        let names =
            [format!("{dead_pid}.sock"), format!("{dead_pid}.new"), format!("{own}.new"), "7.old".to_owned()];
        names.iter().for_each(|name| dead(&at(name)));
        let _live = UnixListener::bind(at("8.sock")).unwrap();
        fs::write(at("9.new"), "a file of the user's").unwrap();
        tidy(folder.path());
        let left = names.map(|name| at(&name).symlink_metadata().is_ok());
        assert_eq!(left, [false, false, true, true]);
        assert!(at("8.sock").exists() && at("9.new").exists());
    }

    #[test]
    fn a_job_that_begins_is_not_taken_for_one_that_was_killed() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    jobs(at).unwrap().iter().for_each(|(_, socket)| remove_stale(socket));
                }
            });
            let lost = (1..3000).find(|pid| {
                let (_listener, socket) = listen(at, *pid).unwrap();
                std::thread::yield_now();
                identity_of(&socket).is_none()
            });
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(lost, None, "the socket of a job was removed");
        });
    }

    #[test]
    fn a_file_with_the_name_of_a_job_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("7.sock"), "a file of the user's").unwrap();
        let error = format!("{:#}", listen(folder.path(), 7).unwrap_err());
        assert!(error.contains("cannot listen at"), "{error}");
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["7.sock"]);
    }

    #[test]
    fn nothing_is_removed_but_a_socket_at_which_nobody_listens() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        dead(&at("1.sock"));
        let _live = UnixListener::bind(at("2.sock")).unwrap();
        fs::write(at("3.sock"), "a file of the user's").unwrap();
        dead(&at("elsewhere"));
        std::os::unix::fs::symlink(at("elsewhere"), at("4.sock")).unwrap();
        for name in ["1.sock", "2.sock", "3.sock", "4.sock", "5.sock"] {
            remove_stale(&at(name));
        }
        let left = ["1.sock", "2.sock", "3.sock", "4.sock", "elsewhere"]
            .map(|name| at(name).symlink_metadata().is_ok());
        assert_eq!(left, [false, true, true, true, true]);
        assert_eq!(fs::read_to_string(at("3.sock")).unwrap(), "a file of the user's");
    }
}
