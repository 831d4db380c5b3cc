//! The changes that a proxy makes in headers (RFC 9110, sections 7.6 and 11.7).

use crate::error::Error;
use hyper::header::{
    self, HeaderMap, HeaderName, HeaderValue, CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE, VIA,
};

/// Headers for the next hop alone, beside those that Connection names. Those of the framing are hyper's.
const OF_A_HOP: [HeaderName; 7] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];
/// Headers that Connection may name in vain: without them the message would be another one.
const OF_THE_MESSAGE: [HeaderName; 5] =
    [header::CONTENT_LENGTH, header::HOST, TRANSFER_ENCODING, header::CACHE_CONTROL, header::AUTHORIZATION];

/// The only other protocol that connections may switch to.
const WEBSOCKET: &str = "websocket";

/// Removes the headers that are for this hop alone.
pub(crate) fn remove_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .filter(|name| !OF_THE_MESSAGE.contains(name))
        .collect();
    for name in named.iter().chain(&OF_A_HOP) {
        headers.remove(name);
    }
}

/// Returns whether the message asks for a WebSocket, or switches to it.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    let is = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes());
    has_token(headers, &CONNECTION, "upgrade") && headers.get(UPGRADE).is_some_and(is)
}

/// Sets the headers of a switch to WebSocket.
pub(crate) fn set_websocket(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|given| given.trim().eq_ignore_ascii_case(token))
}

/// Checks that the end of a message's body is beyond doubt: two ways to find it, read by two programs, are two messages.
///
/// # Errors
/// [`Error::Request`]
pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), Error> {
    let refused = |reason| Err(Error::Request { reason });
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    let Some(encoding) = encodings.next() else { return Ok(()) };
    if encodings.next().is_some() || !encoding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return refused("Transfer-Encoding may be chunked and nothing else");
    }
    match headers.contains_key(header::CONTENT_LENGTH) {
        true => refused("it has both Transfer-Encoding and Content-Length"),
        false => Ok(()),
    }
}

/// Returns whether the message came through the proxy of this pseudonym.
pub(crate) fn has_been_through(headers: &HeaderMap, pseudonym: &str) -> bool {
    let values = headers.get_all(VIA).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|hop| hop.split_whitespace().nth(1) == Some(pseudonym))
}

/// Notes that the message came through it.
pub(crate) fn add_via(headers: &mut HeaderMap, pseudonym: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("1.1 {pseudonym}")) {
        headers.append(VIA, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        })
    }

    #[test]
    fn what_is_for_this_hop_goes_no_further() {
        let mut headers = map(&[
            ("connection", "close, X-Secret, host"),
            ("connection", "x-other"),
            ("x-secret", "1"),
            ("x-other", "1"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("keep-alive", "5"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("host", "h"),
            ("x-kept", "1"),
        ]);
        remove_hop(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["host", "x-kept"]);
    }

    #[test]
    fn the_end_of_a_body_is_beyond_doubt_or_refused() {
        let is_fine = |headers: &[(&'static str, &'static str)]| check_framing(&map(headers)).is_ok();
        assert!(
            is_fine(&[])
                && is_fine(&[("content-length", "3")])
                && is_fine(&[("transfer-encoding", "Chunked")])
        );
        assert!(!is_fine(&[("transfer-encoding", "gzip, chunked")]));
        assert!(!is_fine(&[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]));
        assert!(!is_fine(&[("transfer-encoding", "chunked"), ("content-length", "3")]));
    }

    #[test]
    fn a_websocket_is_asked_for_in_two_headers() {
        assert!(is_websocket(&map(&[("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket")])));
        assert!(!is_websocket(&map(&[("upgrade", "websocket")])));
        assert!(!is_websocket(&map(&[("connection", "upgrade"), ("upgrade", "h2c")])));
    }

    #[test]
    fn a_loop_is_seen_by_the_name_of_the_proxy() {
        let mut headers = map(&[("via", "1.0 other, 1.1 third (comment)")]);
        assert!(!has_been_through(&headers, "own"));
        add_via(&mut headers, "own");
        assert!(has_been_through(&headers, "own") && has_been_through(&headers, "third"));
    }
}
