//! An answer that is looked at and not stored: what a server can do, and its bytes as they come.

use crate::answer::{satisfied, version};
use crate::client::Client;
use crate::connect::broken;
use crate::download::next;
use crate::error::Error;
use crate::exchange::{failure, silent, text, Answer, Wanted};
use crate::url::Url;
use bytes::Bytes;
use hyper::header::{self, HeaderMap};
use hyper::StatusCode;
use std::net::SocketAddr;
use std::time::Duration;

/// Whether a server sends parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// It sent the part that was asked for (206).
    Sent,
    /// It says so (Accept-Ranges), but sent the whole file.
    Announced,
    /// It sent the whole file and announces nothing.
    No,
}

/// An open answer. The connection closes when this is dropped.
pub struct Look {
    answer: Answer,
    is_proxied: bool,
    patience: Duration,
}

impl Client {
    /// Asks for a URL, following redirects, and returns the answer before its body.
    ///
    /// # Errors
    /// As of a download's first attempt.
    pub async fn look(&self, url: &Url) -> Result<Look, Error> {
        let wanted = Wanted { is_look: true, ..Wanted::default() };
        let answer = self.exchange().get(url, &wanted, |_| {}).await?;
        if !matches!(answer.response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
            return Err(failure(&answer.url, &answer.response));
        }
        let is_proxied = self.is_proxied(&answer.url)?;
        Ok(Look { answer, is_proxied, patience: self.options.read_timeout })
    }
}

impl Look {
    /// Returns the URL behind all redirects.
    pub fn url(&self) -> &Url {
        &self.answer.url
    }

    /// Returns the address of the server, or of the proxy.
    pub fn peer(&self) -> SocketAddr {
        self.answer.connection.peer
    }

    /// Returns whether [`Look::peer`] is a proxy.
    pub fn is_proxied(&self) -> bool {
        self.is_proxied
    }

    /// Returns whether the connection speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        self.answer.connection.is_http2()
    }

    /// Returns bytes of the whole file, if the server names them.
    pub fn length(&self) -> Option<u64> {
        let headers = self.headers();
        match text(headers, header::CONTENT_RANGE).and_then(|range| satisfied(&range)) {
            Some((_, _, length)) => length,
            None => version("", headers).length,
        }
    }

    /// Returns whether the server sends parts.
    pub fn ranges(&self) -> Ranges {
        let announced = text(self.headers(), header::ACCEPT_RANGES);
        match self.answer.response.status() {
            StatusCode::PARTIAL_CONTENT => Ranges::Sent,
            _ if announced.is_some_and(|units| units.contains("bytes")) => Ranges::Announced,
            _ => Ranges::No,
        }
    }

    /// Returns whether the answer identifies its version, which resuming requires: by a strong ETag or a date.
    pub fn has_validator(&self) -> bool {
        version("", self.headers()).validator().is_some()
    }

    /// Returns the names of the digests that the server sends, of those in RFC 9530.
    pub fn digests(&self) -> Vec<&'static str> {
        let offered = |name: &&str| self.headers().contains_key(*name);
        ["content-digest", "repr-digest"].into_iter().filter(offered).collect()
    }

    fn headers(&self) -> &HeaderMap {
        self.answer.response.headers()
    }

    /// Returns the next bytes; `None` at the end.
    ///
    /// # Errors
    /// The connection broke, or nothing arrived for too long.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let Answer { response, url, .. } = &mut self.answer;
        match tokio::time::timeout(self.patience, next(response.body_mut())).await {
            Err(_) => Err(silent(url, self.patience)),
            Ok(None) => Ok(None),
            Ok(Some(piece)) => piece.map(Some).map_err(|error| broken(url, &error)),
        }
    }
}
