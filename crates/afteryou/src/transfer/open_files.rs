//! How many files the process may have open.
//!
//! A job of many small files has hundreds open at a time, beside sockets and a descriptor for each directory. Systems
//! give 256 (macOS) or 1024 (Linux, for programs that use `select`) and let everybody raise that.

/// Files that no job needs more of.
#[cfg(unix)]
const ENOUGH: u64 = 65_536;

/// Raises the limit as far as the system lets us. Where it does not, jobs go on with what there is.
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

/// There is no such limit.
#[cfg(not(unix))]
pub fn raise_limit() {}
