//! The interface: options, jobs, events and outcomes.

use crate::connect::{Connector, Prepare};
use crate::digest::Digest;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::netrc::Netrc;
use crate::proxy::Proxies;
use crate::tries::Backoff;
use crate::url::Url;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Holds the reader of a download back.
pub trait Pacing: Send + Sync {
    /// Returns when more may be read after `bytes`.
    fn take(&self, bytes: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Options of a [`Client`].
pub struct Options {
    /// Called with each socket when it is connected, before anything is sent.
    pub prepare: Option<Arc<Prepare>>,
    /// Limits the rate. Without it each byte is read as soon as it is there.
    pub pacing: Option<Arc<dyn Pacing>>,
    /// Proxies; by default none.
    pub proxies: Proxies,
    /// Passwords by host; by default none.
    pub netrc: Netrc,
    /// Certificate authorities in DER, instead of the system's.
    pub roots: Vec<Vec<u8>>,
    /// Longest time until a connection is open, with a proxy and TLS.
    pub connect_timeout: Duration,
    /// Longest time in which nothing arrives.
    pub read_timeout: Duration,
    /// Pauses between attempts.
    pub backoff: Backoff,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            prepare: None,
            pacing: None,
            proxies: Proxies::default(),
            netrc: Netrc::default(),
            roots: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(60),
            backoff: Backoff::default(),
        }
    }
}

/// The place of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file of this name.
    File(PathBuf),
    /// A file in this directory, whose name URL or server give.
    Directory(PathBuf),
}

impl Place {
    /// Returns the directory in which the partial file is.
    pub(crate) fn directory(&self) -> &Path {
        match self {
            Place::Directory(dir) => dir,
            Place::File(path) => {
                path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
            }
        }
    }
}

/// A file to download.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its URL; several are mirrors of the same file.
    pub urls: Vec<Url>,
    /// The place of the file.
    pub place: Place,
    /// Its SHA-256, if it is known.
    pub sha256: Option<Digest>,
    /// Whether it may replace an existing file.
    pub replace: bool,
}

/// Something happened in a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection is open, to a server or a proxy.
    Connected {
        /// Host and address.
        peer: String,
    },
    /// The size is known, or it is known that nobody knows it.
    Length {
        /// Bytes of the file.
        bytes: Option<u64>,
        /// Bytes that are there already.
        have: u64,
    },
    /// Content arrived.
    Moved {
        /// Bytes.
        bytes: u64,
    },
    /// The partial content is of no use.
    Anew {
        /// The reason.
        reason: &'static str,
    },
    /// An attempt failed, and there will be another.
    Retry {
        /// One sentence.
        reason: String,
        /// The pause before it.
        wait: Duration,
    },
}

/// The end of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file is whole, checked, on the disk and has this name.
    Stored(PathBuf),
    /// The same file was there already.
    Had(PathBuf),
}

/// The listener that gets events.
pub type Listener<'a> = dyn Fn(Event) + Send + Sync + 'a;

/// Downloads files.
pub struct Client {
    pub(crate) options: Options,
    connector: Connector,
}

impl Client {
    /// Creates a client.
    pub fn new(mut options: Options) -> Client {
        let connector = Connector {
            prepare: options.prepare.take(),
            proxies: std::mem::take(&mut options.proxies),
            roots: std::mem::take(&mut options.roots).into_iter().map(Into::into).collect(),
            timeout: options.connect_timeout,
            tls: OnceLock::new(),
        };
        Client { options, connector }
    }

    /// Returns whether a connection for `url` goes through a proxy.
    pub(crate) fn is_proxied(&self, url: &Url) -> Result<bool, Error> {
        Ok(self.connector.proxies.of(url)?.is_some())
    }

    pub(crate) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            connector: &self.connector,
            netrc: &self.options.netrc,
            patience: self.options.read_timeout,
        }
    }
}
