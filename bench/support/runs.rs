//! How often a program measures each row.

use std::str::FromStr;

/// Returns the number behind `--runs`, if there is one.
pub fn runs<N: FromStr>(words: &[String]) -> Option<N> {
    let place = words.iter().position(|word| word == "--runs")?;
    words.get(place + 1)?.parse().ok()
}
