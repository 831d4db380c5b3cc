//! URLs of `http` and `https`, and references relative to them (RFC 3986).
//!
//! Characters that a URL may not have, such as blanks and `ü`, are percent-encoded in path and query, as browsers do. A host must be
//! ASCII: names of other scripts have an ASCII form (`xn--…`). Fragments are dropped, since no server is asked for them.

use crate::error::Error;
use percent_encoding::{percent_decode_str, utf8_percent_encode, AsciiSet, CONTROLS};
use std::fmt;
use std::net::Ipv6Addr;

/// Longest URL, bytes. Servers accept 8 KiB or so.
const LONGEST: usize = 16 << 10;

/// Characters that are encoded in path and query, beside those that are not ASCII.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A URL of `http` or `https`. Displays without its user, so that no password is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    is_https: bool,
    /// In lower case; an address of IPv6 has its brackets.
    host: String,
    port: u16,
    /// Path and query; begins with a slash.
    target: String,
    user: Option<User>,
}

/// A name and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The password, maybe empty.
    pub password: String,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("User")
    }
}

impl Url {
    /// Parses an absolute URL.
    ///
    /// # Errors
    /// Another scheme than `http` and `https`, and a host or port that is none.
    pub fn parse(text: &str) -> Result<Url, Error> {
        parse(text).map_err(|reason| Error::Url { url: without_user(text), reason })
    }

    /// Resolves a reference, such as the Location of a redirect, relative to this URL.
    ///
    /// # Errors
    /// As [`parse`](Url::parse).
    pub fn join(&self, reference: &str) -> Result<Url, Error> {
        let reference = reference.trim();
        let reference = reference.split('#').next().unwrap_or_default();
        let scheme = if self.is_https { "https" } else { "http" };
        if has_scheme(reference) {
            return Url::parse(reference);
        }
        if reference.starts_with("//") {
            return Url::parse(&format!("{scheme}:{reference}"));
        }
        let path = self.target.split('?').next().unwrap_or("/");
        let target = match reference.as_bytes().first() {
            None => self.target.clone(),
            Some(b'/') => reference.to_owned(),
            Some(b'?') => format!("{path}{reference}"),
            Some(_) => format!("{}{reference}", &path[..path.rfind('/').map_or(0, |at| at + 1)]),
        };
        let joined = Url { target: normal_target(&target), user: None, ..self.clone() };
        match joined.target.len() > LONGEST {
            true => Err(Error::Url { url: self.shown(), reason: TOO_LONG }),
            false => Ok(joined),
        }
    }

    /// Returns whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns the host; an address of IPv6 is in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host without brackets.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns path and query.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns name and password from before the host.
    pub(crate) fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    /// Returns host and port; the scheme's own port is left out.
    pub fn authority(&self) -> String {
        match self.port == default_port(self.is_https) {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Returns whether both URLs have the same scheme, host and port.
    pub(crate) fn is_same_origin(&self, other: &Url) -> bool {
        (self.is_https, &self.host, self.port) == (other.is_https, &other.host, other.port)
    }

    /// Returns the last part of the path, decoded. Empty if the path ends with a slash.
    pub(crate) fn last_segment(&self) -> String {
        let path = self.target.split('?').next().unwrap_or_default();
        let segment = path.rsplit('/').next().unwrap_or_default();
        percent_decode_str(segment)
            .decode_utf8()
            .map_or_else(|_| segment.to_owned(), |text| text.into_owned())
    }

    /// Returns the URL without its query, which may hold a secret.
    pub fn shown(&self) -> String {
        let whole = self.to_string();
        whole.split('?').next().unwrap_or_default().to_owned()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.target)
    }
}

impl std::str::FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Url, Error> {
        Url::parse(text)
    }
}

const TOO_LONG: &str = "it is longer than 16 KiB";

fn parse(text: &str) -> Result<Url, &'static str> {
    if text.len() > LONGEST {
        return Err(TOO_LONG);
    }
    let text = text.trim().split('#').next().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").ok_or("it has no ://")?;
    let is_https = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return Err("use http or https; for a file over ssh, write HOST:/PATH"),
    };
    let end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user_of(user)), place),
        None => (None, authority),
    };
    let (host, port) = host_and_port(place)?;
    let port = port.unwrap_or(default_port(is_https));
    let slash = if target.starts_with('/') { "" } else { "/" };
    let target = normal_target(&format!("{slash}{target}"));
    Ok(Url { is_https, host, port, target, user })
}

fn default_port(is_https: bool) -> u16 {
    if is_https {
        443
    } else {
        80
    }
}

fn user_of(text: &str) -> User {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (name, password) = text.split_once(':').unwrap_or((text, ""));
    User { name: decoded(name), password: decoded(password) }
}

/// Splits `host:port`.
fn host_and_port(place: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or("the bracket of its address is not closed")?;
            let address: Ipv6Addr = address.parse().map_err(|_| "its address in brackets is none of IPv6")?;
            (format!("[{address}]"), port)
        }
        None => {
            let end = place.find(':').unwrap_or(place.len());
            (host_name(&place[..end])?, &place[end..])
        }
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok((host, None)),
        Some("") => Ok((host, None)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => match digits.parse() {
            Ok(0) | Err(_) => Err("its port is not from 1 to 65535"),
            Ok(port) => Ok((host, Some(port))),
        },
        _ => Err("its port is not from 1 to 65535"),
    }
}

fn host_name(host: &str) -> Result<String, &'static str> {
    if host.is_empty() {
        return Err("it has no host");
    }
    if !host.is_ascii() {
        return Err("its host is not ASCII: write its other form, which begins with xn--");
    }
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    match host.bytes().all(is_fit) {
        true => Ok(host.to_ascii_lowercase()),
        false => Err("its host has a character that no host has"),
    }
}

/// Returns whether `reference` begins with a scheme and a colon.
fn has_scheme(reference: &str) -> bool {
    let end = reference.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
    let is_letter = reference.starts_with(|c: char| c.is_ascii_alphabetic());
    is_letter && end.is_some_and(|end| reference[end..].starts_with(':'))
}

/// Encodes a target and removes the segments `.` and `..` of its path (RFC 3986, section 5.2.4).
fn normal_target(target: &str) -> String {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    let path = format!("/{}", kept.join("/"));
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    utf8_percent_encode(&format!("{path}{query}"), ENCODED).to_string()
}

/// Returns a word that may be no URL, without what may be a password in it.
fn without_user(text: &str) -> String {
    let text = text.split('?').next().unwrap_or_default();
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_url_has_a_host_a_port_and_a_target() {
        for (text, shown) in [
            ("http://Example.org", "http://example.org/"),
            ("HTTPS://example.org:443/a/b?c=d#e", "https://example.org/a/b?c=d"),
            ("http://[2001:DB8::1]:8080?x", "http://[2001:db8::1]:8080/?x"),
            ("http://me:p%40ss@h/x", "http://h/x"),
            ("https://h/grüße und mehr", "https://h/gr%C3%BC%C3%9Fe%20und%20mehr"),
            ("https://h/a/./b/../%2e", "https://h/a/%2e"),
        ] {
            assert_eq!(url(text).to_string(), shown, "{text}");
        }
        assert_eq!(url("http://me:p%40ss@h/x").user().unwrap().password, "p@ss");
        assert_eq!(url("http://h/a%20b/gr%C3%BC%C3%9Fe.txt?x=/y").last_segment(), "grüße.txt");
    }

    #[test]
    fn a_word_that_is_no_url_is_refused_without_its_password() {
        for text in [
            "ftp://h/x",
            "http://",
            "http://h:0/",
            "http://h:99999/",
            "http://h:+80/",
            "http://[::1/",
            "http://a b/",
            "http://münchen.example/",
            "http://h%2f/",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
        let error = Url::parse("ftp://me:secret@h/x?key=secret").unwrap_err().to_string();
        assert!(error.contains("ftp://h/x") && !error.contains("secret"), "{error}");
    }

    /// The examples of RFC 3986, section 5.4.
    #[test]
    fn references_are_resolved_as_in_the_rfc() {
        let base = url("http://a/b/c/d;p?q");
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("https://other/x:y", "https://other/x:y"),
        ] {
            assert_eq!(base.join(reference).unwrap().to_string(), expected, "{reference}");
        }
        assert!(base.join("file:///etc/passwd").is_err() && base.join("javascript:x").is_err());
    }
}
