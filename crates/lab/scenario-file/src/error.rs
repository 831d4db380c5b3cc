//! Errors that point at the place in the file.

use afteryou_base::shown::Shown;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
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

/// The errors and their places.
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
    /// The error, in one sentence.
    pub message: String,
    /// The file, or the assignment on the command line.
    pub file: String,
    /// Line and column from 1; none for assignments.
    pub position: Option<(usize, usize)>,
    /// The line, and the bytes of it that are meant.
    line: String,
    span: Range<usize>,
}

/// Longest part of a line that is shown, columns.
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
                span: 0..0,
            },
            Place::At(span) => Wrong::in_file(file, text, span, message),
        }
    }

    fn in_file(file: &str, text: &str, span: Range<usize>, message: String) -> Wrong {
        let start = floor(text, span.start.min(text.len()));
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = start + text[start..end].trim_end_matches('\r').len();
        let number = text[..begin].matches('\n').count() + 1;
        let column = text[begin..start].chars().count();
        let until = floor(text, span.end.clamp(start, end));
        Wrong {
            message,
            file: file.to_owned(),
            position: Some((number, column + 1)),
            line: text[begin..end].to_owned(),
            span: start - begin..until - begin,
        }
    }
}

/// Returns the nearest character boundary at or below `at`.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns a part of the line. A tab is kept, for it is before the marked part.
fn part(text: &str) -> String {
    text.split('\t').map(|text| Shown(text).to_string()).collect::<Vec<_>>().join("\t")
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { message, file, position, line, span } = self;
        let (message, file) = (Shown(message).to_string(), Shown(file).to_string());
        let Some((number, _)) = position else { return write!(f, "{message}\n  --> {file}") };
        let (before, meant) = (part(&line[..span.start]), part(&line[span.clone()]));
        let place = AnnotationKind::Primary.span(before.len()..before.len() + meant.len());
        let line = format!("{before}{meant}{}", part(&line[span.end..]));
        let snippet = Snippet::source(&line).line_start(*number).path(&file).annotation(place);
        let report = [Level::ERROR.no_name().primary_title(message).element(snippet)];
        f.write_str(&Renderer::plain().term_width(SHOWN).render(&report))
    }
}
