//! Hostile input from servers, files and variables: nothing panics, and every name stays in its directory.

use crate::digest::Digest;
use crate::names;
use crate::netrc::Netrc;
use crate::proxy::Proxies;
use crate::url::Url;
use proptest::prelude::*;
use std::path::{Component, Path};

/// Returns texts in which the characters with a meaning are frequent.
fn text() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "http://",
        "https://",
        "//",
        "/",
        "..",
        ".",
        "\\",
        "?",
        "#",
        "@",
        ":",
        "[",
        "]",
        "%2f",
        "%2e",
        "%",
        "%ff",
        "\"",
        "'",
        ";",
        "=",
        "filename",
        "filename*",
        "UTF-8''",
        "attachment",
        " ",
        "\n",
        "\0",
        "ü",
        "\u{202e}",
        "machine",
        "login",
        "sha-256=:",
        "x",
        "65536",
    ];
    let piece = prop_oneof![
        prop::sample::select(PIECES).prop_map(str::to_owned),
        any::<char>().prop_map(String::from)
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Returns whether joining this name to a directory leads to an entry of that directory.
fn stays(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        && !name.starts_with('.')
        && name.len() <= 255
}

proptest! {
    #[test]
    fn every_name_stays_in_its_directory(header in text(), path in text()) {
        for header in [header.clone(), format!("attachment; filename=\"{header}\""), format!("a;filename*=UTF-8''{header}")] {
            let name = names::of_disposition(&header);
            prop_assert!(name.as_deref().is_none_or(stays), "{name:?}");
        }
        if let Ok(url) = Url::parse(&format!("https://h/{path}")) {
            let name = names::of_url(&url);
            prop_assert!(stays(&name), "{name:?}");
        }
    }

    #[test]
    fn a_url_is_read_as_it_is_shown(word in text(), reference in text()) {
        let base = Url::parse("https://h/a/b?c").unwrap();
        for url in [Url::parse(&word), Url::parse(&format!("http://{word}")), base.join(&reference)].into_iter().flatten() {
            let shown = url.to_string();
            prop_assert!(shown.is_ascii() && !shown.contains(char::is_whitespace), "{shown}");
            prop_assert_eq!(Url::parse(&shown).unwrap().to_string(), shown.clone());
            prop_assert!(shown.parse::<hyper::Uri>().is_ok(), "{}", shown);
        }
    }

    #[test]
    fn nothing_panics(text in text()) {
        _ = Digest::of_header(&text);
        _ = Digest::sha256(&text);
        _ = Netrc::parse(&text).of("h");
        let proxies = Proxies::from(|_| Some(text.clone()));
        _ = proxies.of(&Url::parse("http://h/").unwrap());
    }
}
