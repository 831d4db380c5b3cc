//! What can go wrong.

use thiserror::Error;

/// What can go wrong. Messages are lower-case and say what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A path of a peer that leads outside.
    #[error("the path \"{path}\" is refused: {reason}")]
    Path {
        /// As received, made printable.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A local file or directory.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// What was attempted.
        doing: &'static str,
        /// Which, made printable.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// What is to be sent cannot be sent like this.
    #[error("{0}")]
    Paths(String),
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
    /// The far end could not be started over ssh.
    #[error(transparent)]
    Ssh(#[from] crate::ssh::SshError),
}
