//! The part that all connections of a proxy share.

use crate::credentials::Credentials;
use crate::dial::Dial;
use std::sync::Arc;
use std::time::Duration;

/// An answer to a wrong password takes this long, so that few can be tried.
pub(crate) const WRONG_PASSWORD: Duration = Duration::from_millis(500);

/// Longest times.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until a client has sent a request's headers, and until it sends the next request.
    pub head: Duration,
    /// Without a byte in either direction.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { head: Duration::from_secs(20), idle: Duration::from_secs(15 * 60) }
    }
}

/// The part that all connections of a proxy share.
pub(crate) struct Shared {
    pub credentials: Option<Credentials>,
    pub limits: Limits,
    pub dialer: Arc<dyn Dial>,
    /// The proxy's name in Via.
    pub pseudonym: String,
}
