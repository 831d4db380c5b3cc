//! What several pages say alike.

use afteryou_cc::list::{Class, Entry};
use afteryou_scenario::{Role, Transport};

/// Returns the file name of an algorithm's page, without its end.
pub fn page(name: &str) -> String {
    name.replace("++", "pp")
}

/// Returns its class as scenarios call it.
pub fn class(entry: &Entry) -> &'static str {
    match entry.class {
        Class::Foreground => "foreground",
        Class::Background => "background",
    }
}

/// Returns the role that it plays in an experiment.
pub fn role(entry: &Entry) -> Role {
    match entry.class {
        Class::Foreground => Role::Foreground,
        Class::Background => Role::Background,
    }
}

/// Returns the transport that it was made for: uTP for what BitTorrent clients run, TCP for all others.
pub fn transport(entry: &Entry) -> Transport {
    match entry.name == "ledbat" || entry.name.starts_with("libutp") {
        true => Transport::utp(),
        false => Transport::tcp(),
    }
}

/// Returns a summary as a sentence.
pub fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// Returns a number that counts tenths, with one decimal.
pub fn tenths(n: u64) -> String {
    format!("{}.{}", n / 10, n % 10)
}

/// Returns text for a cell of a table.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
