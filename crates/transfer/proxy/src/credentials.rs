//! Name and password of a proxy's clients.

use crate::error::Error;
use data_encoding::BASE64;
use percent_encoding::{utf8_percent_encode, NON_ALPHANUMERIC};
use std::fmt;

/// Longest name and longest password, bytes: those of SOCKS5 (RFC 1929).
const LONGEST: usize = 255;

/// A name and a password. Comparing takes the same time whatever differs.
#[derive(Clone)]
pub struct Credentials {
    name: String,
    password: String,
    hash: blake3::Hash,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// Parses `NAME:PASSWORD`.
    ///
    /// # Errors
    /// One of the two is missing, too long or has a control character.
    pub fn parse(text: &str) -> Result<Credentials, Error> {
        let (name, password) = text.split_once(':').ok_or(Error::Credentials)?;
        let is_fit = |part: &str| (1..=LONGEST).contains(&part.len()) && !part.contains(char::is_control);
        match is_fit(name) && is_fit(password) {
            true => Ok(Credentials {
                name: name.to_owned(),
                password: password.to_owned(),
                hash: blake3::hash(text.as_bytes()),
            }),
            false => Err(Error::Credentials),
        }
    }

    /// Returns whether these are name and password.
    pub fn are(&self, name: &str, password: &str) -> bool {
        // Hashes are compared in constant time, and have one length.
        blake3::hash(format!("{name}:{password}").as_bytes()) == self.hash
    }

    /// Returns whether a value of Proxy-Authorization, of the scheme Basic, has them.
    pub fn are_in(&self, header: &[u8]) -> bool {
        let Some((scheme, rest)) = header.split_at_checked(6) else { return false };
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return false;
        }
        BASE64.decode(rest.trim_ascii()).is_ok_and(|given| blake3::hash(&given) == self.hash)
    }

    /// Returns `NAME:PASSWORD@` as a URL has it.
    pub(crate) fn in_url(&self) -> String {
        let encoded = |part| utf8_percent_encode(part, NON_ALPHANUMERIC);
        format!("{}:{}@", encoded(&self.name), encoded(&self.password))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_words_are_let_in_and_no_others() {
        let credentials = Credentials::parse("me:p:w").unwrap();
        assert!(credentials.are("me", "p:w"));
        assert!(!credentials.are("me", "p") && !credentials.are("", ""));
        let basic = |words: &str| format!("Basic {}", BASE64.encode(words.as_bytes()));
        assert!(credentials.are_in(basic("me:p:w").as_bytes()));
        assert!(credentials.are_in(basic("me:p:w").replacen("Basic", "bASIC", 1).as_bytes()));
        for wrong in
            [basic("me:p"), basic("me:p:w "), "Basic".into(), "Basic %".into(), "Bearer bWU6cDp3".into()]
        {
            assert!(!credentials.are_in(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn words_that_no_client_can_send_are_refused() {
        let long = "x".repeat(256);
        for text in ["", "me", ":pw", "me:", "me:p\nw", &format!("me:{long}"), &format!("{long}:pw")] {
            assert!(Credentials::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_is_shown_and_a_url_has_them_encoded() {
        let credentials = Credentials::parse("me:p@w/").unwrap();
        assert_eq!(format!("{credentials:?}"), "Credentials");
        assert_eq!(credentials.in_url(), "me:p%40w%2F@");
    }
}
