//! Errors of the crate.

use std::io;
use thiserror::Error;

/// Why a connection ended or was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answered the SYN.
    #[error("no answer from the peer: check the address and that UDP passes")]
    Unreachable,
    /// The SYN was answered by a reset.
    #[error("the peer refuses the connection: is something listening there?")]
    Refused,
    /// The peer has dropped the connection.
    #[error("the connection was reset by the peer")]
    Reset,
    /// No progress for the whole of the configured patience.
    #[error("the peer has not answered for too long: the connection is given up")]
    TimedOut,
    /// This side has dropped the connection.
    #[error("the connection was aborted locally")]
    Aborted,
    /// The endpoint is short of memory, and the peer has left a gap open.
    #[error(
        "the endpoint is short of memory and the peer does not repair its losses: raise the endpoint's limit"
    )]
    OutOfMemory,
    /// The endpoint was full, and the peer had sent nothing.
    #[error("the peer was silent and its place was needed: raise the endpoint's limit of connections")]
    Displaced,
    /// Written to after the end was announced.
    #[error("this direction is finished: nothing more can be written")]
    Finished,
    /// The endpoint is gone.
    #[error("the endpoint is closed")]
    EndpointClosed,
    /// All connection ids to that address are taken, or the endpoint has as many connections as it may.
    #[error("too many connections: close some or raise the endpoint's limit")]
    TooMany,
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error {
            Error::Unreachable | Error::TimedOut => io::ErrorKind::TimedOut,
            Error::Refused => io::ErrorKind::ConnectionRefused,
            Error::Reset => io::ErrorKind::ConnectionReset,
            Error::Aborted | Error::Displaced => io::ErrorKind::ConnectionAborted,
            Error::OutOfMemory => io::ErrorKind::OutOfMemory,
            Error::Finished => io::ErrorKind::BrokenPipe,
            Error::EndpointClosed | Error::TooMany => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
