//! Errors as the page shows them: words, and the place in the text if there is one.

use afteryou_scenario_file::FileError;
use serde::Serialize;
use thiserror::Error;

/// A request that has no other answer.
#[derive(Debug, Error)]
pub enum Error {
    /// The request is unknown to this engine.
    #[error("the page and its engine are of different versions: reload the page ({0})")]
    Request(serde_json::Error),
    /// A number that JSON cannot hold.
    #[error("the result cannot be shown: {0}")]
    Answer(serde_json::Error),
    /// The text is no scenario.
    #[error(transparent)]
    File(#[from] FileError),
    /// A plan or a run that failed.
    #[error(transparent)]
    Lab(#[from] afteryou_engines::Error),
    /// The closed forms refuse the scenario.
    #[error(transparent)]
    Fluid(#[from] afteryou_fluid::Error),
    /// A figure that cannot be drawn.
    #[error(transparent)]
    Figure(#[from] afteryou_plot::Error),
    /// A result that cannot be written.
    #[error(transparent)]
    Report(#[from] afteryou_report::Error),
    /// A run that is too large for a page.
    #[error("{0}")]
    TooLarge(String),
    /// A change that does not fit the text.
    #[error("{0}")]
    Edit(String),
}

/// An error as JSON.
#[derive(Serialize)]
pub struct Shown {
    /// The whole message as on the command line, with the line and a caret.
    error: String,
    /// The message alone.
    message: String,
    /// Line and column from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<(usize, usize)>,
}

/// Returns an answer as text.
///
/// # Errors
/// A number that JSON cannot hold.
pub fn json(answer: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(answer).map_err(Error::Answer)
}

impl From<&Error> for Shown {
    fn from(error: &Error) -> Shown {
        let text = error.to_string();
        let file = match error {
            Error::File(file) | Error::Lab(afteryou_engines::Error::File(file)) => Some(file),
            _ => None,
        };
        match file {
            Some(FileError::Wrong(wrong)) => {
                Shown { error: text, message: wrong.message.clone(), place: wrong.position }
            }
            _ => Shown { message: text.clone(), error: text, place: None },
        }
    }
}
