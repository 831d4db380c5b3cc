//! How many files the process may have open.
//!
//! A job of many small files has hundreds open at a time, beside sockets and a descriptor for each directory. Systems
//! give 256 (macOS) or 1024 (Linux, for programs that use `select`) and let everybody raise that.

use afteryou_terminal::Failure;

/// Files that no job needs more of.
#[cfg(unix)]
const ENOUGH: u64 = 65_536;

/// Files that any job has open at a time: sockets, the disk's directories, a partial file and its tree.
#[cfg(unix)]
const LEAST: usize = 20;

/// Raises the limit as far as the system lets us. Where it does not, jobs continue with what there is.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
    let limit = getrlimit(Resource::Nofile);
    // None is no limit.
    let wanted = limit.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if limit.current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// Returns how many files this process may have open; `None` is no limit.
#[cfg(unix)]
pub fn limit() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|files| usize::try_from(files).ok())
}

/// Returns nothing: there is no such limit.
#[cfg(not(unix))]
pub fn limit() -> Option<usize> {
    None
}

/// Fails unless a job can open as many files as it needs: better now than half-way.
///
/// # Errors
/// The limit of open files is too low.
#[cfg(unix)]
pub fn check() -> Result<(), Failure> {
    use rustix::io::Errno;
    let opened: std::io::Result<Vec<_>> = (0..LEAST).map(|_| std::fs::File::open("/dev/null")).collect();
    match opened {
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::MFILE | Errno::NFILE)) => {
            Err(anyhow::anyhow!("a job needs {LEAST} open files: {error}; raise the limit (ulimit -n)")
                .into())
        }
        // Where there is no such device, the job finds out.
        _ => Ok(()),
    }
}

/// Does nothing: there is no such limit.
#[cfg(not(unix))]
pub fn raise_limit() {}

/// Succeeds: there is no such limit.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check() -> Result<(), Failure> {
    Ok(())
}
