//! Why a proxy did not start, or a client was refused.

use hyper::StatusCode;
use std::io;
use std::net::SocketAddr;

/// Why a proxy did not start, or a client was refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}; choose another one with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Everybody in the network could use it.
    #[error("{address} is reached by other hosts: give a file with NAME:PASSWORD (--credentials), or listen at 127.0.0.1")]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// Name and password cannot be used.
    #[error("credentials are NAME:PASSWORD, each of 1 to 255 bytes, without line breaks and without a colon in the name")]
    Credentials,
    /// The request names no host and port.
    #[error("the target is no host and port: {reason}")]
    Target {
        /// The reason.
        reason: &'static str,
    },
    /// The request breaks a rule of HTTP.
    #[error("the request is refused: {reason}")]
    Request {
        /// The rule.
        reason: &'static str,
    },
    /// The client has not given its password.
    #[error("name and password are required: set the proxy to http://NAME:PASSWORD@host:port")]
    Unauthorized,
    /// The target is one that this client must not reach.
    #[error("the proxy does not connect there: {reason}")]
    Forbidden {
        /// The reason.
        reason: &'static str,
    },
    /// The host is not known.
    #[error("the host has no address: {source}")]
    NoAddress {
        /// The resolver's reason.
        source: io::Error,
    },
    /// No connection could be made.
    #[error("the host cannot be reached: {source}")]
    Unreachable {
        /// The system's reason.
        source: io::Error,
    },
    /// The host is silent.
    #[error("the host does not answer in time: try again later")]
    Silent,
    /// The server's answer is broken.
    #[error("the server's answer is broken: {reason}")]
    Answer {
        /// The reason.
        reason: String,
    },
}

impl Error {
    /// Returns the status that answers an HTTP client.
    pub fn status(&self) -> StatusCode {
        match self {
            Error::Target { .. } | Error::Request { .. } => StatusCode::BAD_REQUEST,
            Error::Unauthorized => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            Error::Forbidden { .. } => StatusCode::FORBIDDEN,
            Error::Silent => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        }
    }
}
