//! Errors of a download.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file was not downloaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A word that is no URL of ours.
    #[error("\"{url}\" cannot be downloaded: {reason}")]
    Url {
        /// The word, without a password.
        url: String,
        /// The reason.
        reason: &'static str,
    },
    /// A digest of the command line.
    #[error("a SHA-256 has 64 hexadecimal digits: write the one that the file's publisher names")]
    Sha256,
    /// A proxy that is not supported.
    #[error("{reason} is not supported: set http_proxy or https_proxy to a proxy over http, or name the host in no_proxy")]
    ProxyKind {
        /// The kind.
        reason: &'static str,
    },
    /// No connection.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// Host and port.
        host: String,
        /// The system's error.
        reason: io::Error,
    },
    /// A proxy that refuses.
    #[error("the proxy {proxy} answers \"{answer}\": check the proxy's address and password")]
    Proxy {
        /// The proxy.
        proxy: String,
        /// The first line of its answer.
        answer: String,
    },
    /// The server does not prove that it is the named host.
    #[error("{host} does not prove its name: {reason}; check the URL, this machine's clock and its certificate authorities (SSL_CERT_FILE)")]
    Certificate {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// This machine has no certificate authorities.
    #[error("no certificate authorities were found: install ca-certificates, or set SSL_CERT_FILE to a file of them")]
    NoRoots,
    /// Nothing arrived for too long.
    #[error("nothing arrived from {host} for {seconds} s")]
    Silent {
        /// The host.
        host: String,
        /// The longest pause.
        seconds: u64,
    },
    /// The connection broke, or the server broke the rules of HTTP.
    #[error("the connection to {host} broke: {reason}")]
    Broken {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The server ended early.
    #[error("{host} ended the file early, at {have} of {length} bytes")]
    Short {
        /// The host.
        host: String,
        /// Bytes that are there.
        have: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The server contradicts itself.
    #[error("{host} sent an answer that contradicts itself: {reason}; try again or use another mirror")]
    Contradiction {
        /// The host.
        host: String,
        /// The contradiction.
        reason: String,
    },
    /// A status that is no success.
    #[error("{url} has the status {status}; {advice}")]
    Status {
        /// The URL, without its query.
        url: String,
        /// Code and phrase.
        status: String,
        /// The remedy.
        advice: &'static str,
        /// Whether another attempt may succeed.
        is_transient: bool,
        /// Seconds until the server asks for another attempt.
        retry_after_s: Option<u64>,
    },
    /// A redirect that is not followed.
    #[error("{url} redirects {reason}")]
    Redirect {
        /// The URL, without its query.
        url: String,
        /// The reason.
        reason: &'static str,
    },
    /// An encoding that was not asked for.
    #[error("{host} sends the file encoded as {encoding}, which was not asked for; ask its operator for the plain file, or use curl --compressed")]
    Encoded {
        /// The host.
        host: String,
        /// The encoding.
        encoding: String,
    },
    /// The content differs from its digest.
    #[error("the content has the {of} {found} instead of {expected}; it was discarded: try again, or use another mirror")]
    Digest {
        /// The source of the digest.
        of: &'static str,
        /// The right digest, in hexadecimal.
        expected: String,
        /// The digest of the content.
        found: String,
    },
    /// A file that would be overwritten.
    #[error("{} exists: use --force to replace it, or -o to choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process downloads the same.
    #[error("another afteryou is downloading {}: wait until it ends", path.display())]
    InUse {
        /// The partial file.
        path: PathBuf,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] afteryou_files::Error),
    /// The disk is full.
    #[error("no space left on the disk of {}: free some and run the same command again, what arrived is kept", path.display())]
    DiskFull {
        /// The partial file.
        path: PathBuf,
    },
}

impl Error {
    /// Returns whether another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Connect { .. } | Error::Silent { .. } | Error::Broken { .. } | Error::Short { .. } => true,
            Error::Status { is_transient, .. } => *is_transient,
            _ => false,
        }
    }

    /// Returns whether another mirror changes nothing.
    pub(crate) fn is_local(&self) -> bool {
        matches!(
            self,
            Error::Exists { .. }
                | Error::InUse { .. }
                | Error::File(_)
                | Error::DiskFull { .. }
                | Error::NoRoots
        )
    }

    /// Returns the error of writing the partial file `path`.
    pub(crate) fn of_file(path: &std::path::Path, reason: io::Error) -> Error {
        match reason.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::DiskFull { path: path.to_owned() }
            }
            _ => Error::File(afteryou_files::unwritten(path, reason)),
        }
    }
}
