//! The error in a text: the faulty word, and the word that was expected in its place.

use std::error::Error;
use std::fmt;

/// A text that is no rate or no timetable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    word: String,
    expected: &'static str,
}

impl ParseError {
    pub(crate) fn new(word: &str, expected: &'static str) -> ParseError {
        ParseError { word: word.to_owned(), expected }
    }

    /// Returns the word at fault; empty if nothing was there.
    pub fn word(&self) -> &str {
        &self.word
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word.is_empty() {
            true => write!(f, "something is missing: expected {}", self.expected),
            false => write!(f, "cannot read {:?}: expected {}", self.word, self.expected),
        }
    }
}

impl Error for ParseError {}
