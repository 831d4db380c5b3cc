//! Errors of a transfer.

use std::io;
use thiserror::Error;

/// Errors of a transfer. Messages are lower-case and have the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A path of a peer that leads outside.
    #[error("the path \"{path}\" is refused: {reason}")]
    Path {
        /// As received, made printable.
        path: String,
        /// The reason.
        reason: &'static str,
    },
    /// A local file or directory.
    #[error("cannot {doing} {path}: {}", reason(source))]
    File {
        /// The operation.
        doing: &'static str,
        /// Which, made printable.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The name of the directory that is served, or received into, leads nowhere.
    #[error(
        "the {role} directory is gone: it was removed or moved; put it back, then run the command again"
    )]
    Gone {
        /// "served" or "receiving".
        role: &'static str,
    },
    /// A copy that would hold itself.
    #[error(
        "the receiving directory is \"{path}\" in what is sent, so that each run would send the copy, too: leave it out with --exclude, \
         or receive elsewhere"
    )]
    SinkInside {
        /// As it would arrive, made printable.
        path: String,
    },
    /// The source cannot be sent like this.
    #[error("{0}")]
    Paths(String),
    /// More patterns than a message may have.
    #[error(transparent)]
    Patterns(#[from] crate::filter::TooLong),
    /// A ticket that cannot be read or made.
    #[error(transparent)]
    Ticket(#[from] crate::ticket::TicketError),
    /// The state directory.
    #[error(transparent)]
    Identity(#[from] crate::identity::IdentityError),
    /// Keys and certificates.
    #[error(transparent)]
    Tls(#[from] crate::tls::TlsError),
    /// Nobody who fits the ticket was reached.
    #[error(transparent)]
    Dial(#[from] crate::dial::DialError),
    /// The peer could not be started over ssh.
    #[error(transparent)]
    Ssh(#[from] crate::ssh::SshError),
    /// The peer answers and does not let us in, or is not who it should be.
    #[error("the peer refuses: {0}")]
    Refused(String),
    /// The peer does what the protocol forbids, or reports that we do.
    #[error("the protocol was broken: {0}; both sides need the same version of afteryou")]
    Protocol(String),
    /// Nothing more fits on the sink's disk.
    #[error(
        "no space left on the disk of the receiving side, or no inodes (`df -i`); free some and start again, what arrived is kept"
    )]
    DiskFull,
    /// The sink's system opens no more files, and nothing of this session will close any.
    #[error(
        "the receiving side can open no more files; raise its limit (ulimit -n) and start again, what arrived is kept"
    )]
    TooManyFiles,
    /// The peer cannot continue.
    #[error("the peer cannot continue: {0}")]
    FarEnd(String),
    /// No connection for too long.
    #[error("no connection for {seconds} s ({reason}); start again when the peer can be reached, what arrived is kept")]
    GaveUp {
        /// How long it was tried.
        seconds: u64,
        /// Why the last attempt failed.
        reason: String,
    },
    /// The system starts no more threads.
    #[error("cannot start a thread, raise the limit of processes (ulimit -u): {}", reason(source))]
    NoThread {
        /// The system's error.
        source: std::io::Error,
    },
    /// This machine's fault.
    #[error("cannot {doing}: {}", reason(source))]
    Io {
        /// The operation.
        doing: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Returns the system's words, and what to do where that is known.
pub(crate) fn reason(error: &io::Error) -> String {
    match is_out_of_descriptors(error) {
        true => format!("{error}; raise the limit of open files (ulimit -n)"),
        false => error.to_string(),
    }
}

/// Returns whether this process, or the system, may open nothing more.
#[cfg(unix)]
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Returns whether this process, or the system, may open nothing more.
#[cfg(not(unix))]
pub(crate) fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}
