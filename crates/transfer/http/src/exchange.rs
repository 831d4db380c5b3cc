//! A request and its answer, behind all redirects.
//!
//! # Rules
//! - At most [`REDIRECTS`] redirects, to `http` and `https` only, and none from `https` to `http`.
//! - Name and password go to the scheme, host and port of the command line's URL alone. Those of `.netrc` go over TLS alone.
//! - The plain file is asked for (`Accept-Encoding: identity`), and the server's digest of it (RFC 9530).

use crate::connect::{basic, broken, Connection, Connector};
use crate::error::Error;
use crate::netrc::Netrc;
use crate::url::Url;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Version};
use std::time::Duration;

/// Most redirects in a row.
const REDIRECTS: usize = 10;

const USER_AGENT: &str = concat!("afteryou/", env!("CARGO_PKG_VERSION"));

/// The part of a file that is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Its first byte.
    pub from: u64,
    /// The version that it must belong to; with another one the server sends the whole file.
    pub validator: Option<String>,
    /// Whether the server is to show what it can do: it is asked for all bytes as a range, and for a digest of the answer.
    pub is_look: bool,
}

/// An answer whose body has not been read.
pub(crate) struct Answer {
    /// The answer.
    pub response: Response<Incoming>,
    /// The URL that gave it.
    pub url: Url,
    /// The connection that it comes over.
    pub connection: Connection,
}

/// Sends requests.
pub(crate) struct Exchange<'a> {
    pub connector: &'a Connector,
    pub netrc: &'a Netrc,
    /// Longest time until the headers are there.
    pub patience: Duration,
}

impl Exchange<'_> {
    /// Asks for a part of `url` and follows redirects. `connected` is called with each connection's address.
    pub async fn get(&self, url: &Url, wanted: &Wanted, connected: impl Fn(String)) -> Result<Answer, Error> {
        let mut at = url.clone();
        for _ in 0..=REDIRECTS {
            let mut connection = self.connector.open(&at).await?;
            connected(format!("{} ({})", at.authority(), connection.peer));
            let request = self.request(url, &at, &connection, wanted)?;
            let answer = tokio::time::timeout(self.patience, connection.send(request)).await;
            let response = match answer {
                Err(_) => return Err(silent(&at, self.patience)),
                Ok(Err(error)) => return Err(broken(&at, &error)),
                Ok(Ok(response)) => response,
            };
            tracing::debug!(status = %response.status(), "the answer of {}", at.shown());
            match redirect(&at, &response)? {
                Some(next) => at = next,
                None => return Ok(Answer { response, url: at, connection }),
            }
        }
        Err(Error::Redirect {
            url: url.shown(),
            reason: "more than ten times in a row: name the last URL itself",
        })
    }

    fn request(
        &self,
        named: &Url,
        at: &Url,
        connection: &Connection,
        wanted: &Wanted,
    ) -> Result<Request<String>, Error> {
        let uri = match connection.is_http2() || connection.to_proxy.is_some() {
            true => at.to_string(),
            false => at.target().to_owned(),
        };
        let mut headers = vec![
            (header::USER_AGENT, USER_AGENT.to_owned()),
            (header::ACCEPT, "*/*".to_owned()),
            (header::ACCEPT_ENCODING, "identity".to_owned()),
            (HeaderName::from_static("want-repr-digest"), "sha-256=2, sha-512=1".to_owned()),
        ];
        if !connection.is_http2() {
            headers.push((header::HOST, at.authority()));
        }
        if wanted.is_look {
            headers.push((HeaderName::from_static("want-content-digest"), "sha-256=2, sha-512=1".to_owned()));
        }
        if wanted.from > 0 || wanted.is_look {
            headers.push((header::RANGE, format!("bytes={}-", wanted.from)));
            headers.extend(wanted.validator.clone().map(|validator| (header::IF_RANGE, validator)));
        }
        headers.extend(self.authorization(named, at).map(|value| (header::AUTHORIZATION, value)));
        let proxy_user = connection.to_proxy.as_ref().and_then(|proxy| proxy.user());
        headers.extend(proxy_user.map(|user| (header::PROXY_AUTHORIZATION, basic(user))));
        let version = if connection.is_http2() { Version::HTTP_2 } else { Version::HTTP_11 };
        let mut request = Request::builder().uri(uri).version(version);
        for (name, value) in headers {
            let is_secret = name == header::AUTHORIZATION || name == header::PROXY_AUTHORIZATION;
            // Values of a server may have bytes that are not ASCII.
            let Ok(mut value) = HeaderValue::from_bytes(value.as_bytes()) else { continue };
            value.set_sensitive(is_secret);
            request = request.header(name, value);
        }
        let invalid = |_| Error::Url { url: at.shown(), reason: "it has a character that no URL has" };
        request.body(String::new()).map_err(invalid)
    }

    /// Returns the credentials for `at`, if it is where the command line's URL leads.
    fn authorization(&self, named: &Url, at: &Url) -> Option<String> {
        if !named.is_same_origin(at) {
            return None;
        }
        let of_file = || named.is_https().then(|| self.netrc.of(named.bare_host())).flatten();
        named.user().or_else(of_file).map(basic)
    }
}

/// Returns the error of a server that is silent.
pub(crate) fn silent(url: &Url, patience: Duration) -> Error {
    Error::Silent { host: url.authority(), seconds: patience.as_secs() }
}

/// Returns where an answer redirects to.
fn redirect(at: &Url, response: &Response<Incoming>) -> Result<Option<Url>, Error> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = text(response.headers(), header::LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let refused = |reason| Error::Redirect { url: at.shown(), reason };
    let next = at.join(&location).map_err(|_| {
        refused(
            "to something that is neither http nor https: look at the page in a browser for the right URL",
        )
    })?;
    match at.is_https() && !next.is_https() {
        true => Err(refused(
            "from https to http, where anybody could change the file: name the other URL if you trust it",
        )),
        false => Ok(Some(next)),
    }
}

/// Returns all values of a header as one text.
pub(crate) fn text(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<String> {
    let values: Vec<_> =
        headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Returns the error of a status that is no success.
pub(crate) fn failure(url: &Url, response: &Response<Incoming>) -> Error {
    let status = response.status();
    let advice = match status {
        StatusCode::UNAUTHORIZED if url.is_https() => {
            "write the host's name and password into ~/.netrc, or check those that are there"
        }
        StatusCode::UNAUTHORIZED => {
            "passwords of ~/.netrc go over https alone: use https, or write USER:PASSWORD@ before the host"
        }
        StatusCode::FORBIDDEN => "the server does not let this machine or user have the file",
        StatusCode::NOT_FOUND | StatusCode::GONE => "check the URL",
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            "write USER:PASSWORD@ before the proxy's host in its variable"
        }
        _ if status.is_server_error() => "the server fails: try again later, or use another mirror",
        _ => "open the URL in a browser to see why",
    };
    let retry_after =
        text(response.headers(), header::RETRY_AFTER).and_then(|value| value.trim().parse().ok());
    Error::Status {
        url: url.shown(),
        status: status.to_string(),
        advice,
        is_transient: matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504),
        retry_after_s: retry_after,
    }
}
