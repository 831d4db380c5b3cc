//! Errors that point at the place in the file.

use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes of the file.
    At(Range<usize>),
    /// An assignment on the command line.
    Set(String),
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub(crate) place: Place,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(place: &Place, message: impl Into<String>) -> Problem {
        Problem { place: place.clone(), message: message.into() }
    }
}

/// Why a file is no experiment. Its text shows the line, with a caret under what is meant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Something in it is wrong.
    #[error("{0}")]
    Wrong(Wrong),
}

/// Something in a file is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What, in one sentence.
    pub message: String,
    /// The file, or the assignment on the command line.
    pub file: String,
    /// Line and column from 1; none for assignments.
    pub position: Option<(usize, usize)>,
    /// The line.
    line: String,
    /// Characters before the carets, and carets.
    indent: usize,
    width: usize,
}

/// Longest part of a line that is shown, characters.
const SHOWN: usize = 100;

impl Wrong {
    pub(crate) fn new(file: &str, text: &str, problem: Problem) -> Wrong {
        let Problem { place, message } = problem;
        match place {
            Place::Set(assignment) => Wrong {
                message,
                file: format!("--set {assignment}"),
                position: None,
                line: String::new(),
                indent: 0,
                width: 0,
            },
            Place::At(span) => Wrong::in_file(file, text, span, message),
        }
    }

    fn in_file(file: &str, text: &str, span: Range<usize>, message: String) -> Wrong {
        let start = floor(text, span.start.min(text.len()));
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let number = text[..begin].matches('\n').count() + 1;
        let column = text[begin..start].chars().count();
        let until = floor(text, span.end.clamp(start, end));
        let width = text[start..until].chars().count().max(1);
        // Of a very long line only the neighbourhood is shown.
        let skip = column.saturating_sub(SHOWN / 2);
        let line: String = text[begin..end].chars().skip(skip).take(SHOWN).collect();
        Wrong {
            message,
            file: file.to_owned(),
            position: Some((number, column + 1)),
            line,
            indent: column - skip,
            width: width.min(SHOWN - (column - skip).min(SHOWN - 1)),
        }
    }
}

/// The nearest character boundary at or below `at`.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Control characters of a file are not for the terminal: each becomes a space, so that carets stay in place.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { message, file, position, line, .. } = self;
        let (message, line) = (printable(message), printable(line));
        writeln!(f, "{message}")?;
        let Some((number, column)) = position else { return write!(f, "  --> {file}") };
        let number = number.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "{gutter}--> {file}:{number}:{column}")?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{number} | {line}")?;
        write!(f, "{gutter} | {}{}", " ".repeat(self.indent), "^".repeat(self.width))
    }
}
