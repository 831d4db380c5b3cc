//! Why a program did not run under `afteryou run`.

#[cfg(target_os = "linux")]
use afteryou_terminal::output;
#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::io;

/// Why a program did not run, or why its sockets were not steered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system is not Linux.
    #[error("run steers the sockets of a program, which only Linux allows; here afteryou get URL downloads in the background, and programs do through afteryou proxy")]
    NotHere,
    /// The kernel lacks what is needed, or a container's filter hides it.
    #[error("run --pid requires pidfd_getfd, which Linux has since 5.6, and which this kernel or this container's seccomp filter lacks; here afteryou get URL downloads in the background, and programs do through afteryou proxy")]
    OldKernel,
    /// The program was not found.
    #[error("there is no program {name}: give its path, or look at PATH")]
    NotFound {
        /// As it was given.
        name: String,
    },
    /// The program was found and did not start.
    #[error("{name} cannot be started: {reason}")]
    NotStarted {
        /// As it was given.
        name: String,
        /// In the system's words.
        reason: String,
    },
    /// The process of `--pid` is not there, or another user's.
    #[error("process {pid} cannot be steered: {source}; it has to run, and to be yours (or be root)")]
    Process {
        /// Which.
        pid: i32,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The program cannot run as the user who called sudo.
    #[error(
        "the program cannot run as user {uid}, who called sudo: {source}; with --as-root it runs as root"
    )]
    User {
        /// Which.
        uid: u32,
        /// The kernel's reason.
        source: io::Error,
    },
    /// Something of the system failed.
    #[error("{attempt}: {source}")]
    System {
        /// The attempt.
        attempt: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
}

impl Error {
    /// Returns the exit code, which env and timeout have for the same: 127 and 126 for programs that do not start, 125 for the rest.
    pub fn code(&self) -> u8 {
        match self {
            Error::NotFound { .. } => 127,
            Error::NotStarted { .. } => 126,
            _ => 125,
        }
    }

    /// Returns the error of a program that did not start.
    #[cfg(target_os = "linux")]
    pub fn of_start(name: &OsStr, error: &io::Error) -> Error {
        let name = output::printable(&name.to_string_lossy());
        match error.kind() {
            io::ErrorKind::NotFound => Error::NotFound { name },
            _ => Error::NotStarted { name, reason: error.to_string() },
        }
    }

    /// Returns a function that makes an [`Error::System`] of an error during `attempt`.
    pub fn system(attempt: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::System { attempt, source }
    }
}
