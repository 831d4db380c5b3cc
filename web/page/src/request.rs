//! The page's requests.

use crate::controls;
use crate::edit::{self, Edit};
use crate::error::{Error, Shown};
use crate::run::{self, Form, Written};
use serde::Deserialize;

/// The page's requests.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// The controls for the settings of a scenario: sliders and menus with their present values.
    Controls {
        /// The scenario.
        scenario: Written,
    },
    /// The text with values replaced.
    Edit {
        /// The scenario.
        text: String,
        /// The values.
        edits: Vec<Edit>,
    },
    /// A run, as curves and key numbers.
    Run {
        /// The scenario.
        scenario: Written,
        /// "sim" or "fluid".
        #[serde(default = "simulator")]
        engine: String,
    },
    /// A run, as a file.
    File {
        /// The scenario.
        scenario: Written,
        /// "sim" or "fluid".
        #[serde(default = "simulator")]
        engine: String,
        /// The form of the file.
        form: Form,
    },
    /// Consequences of the text without a run.
    Explain {
        /// The scenario.
        scenario: Written,
    },
}

fn simulator() -> String {
    "sim".to_owned()
}

/// Answers a [`Request`] in JSON. `progress` gets the part of a run that is done, 0 to 1. An error is an object with `error`,
/// `message` and, where it has one, `place`.
pub fn answer(request: &str, progress: &mut dyn FnMut(f64)) -> String {
    let answered = serde_json::from_str(request).map_err(Error::Request).and_then(|request| match request {
        Request::Controls { scenario } => controls::answer(&scenario),
        Request::Edit { text, edits } => edit::answer(&text, &edits),
        Request::Run { scenario, engine } => run::answer(&engine, &scenario, progress),
        Request::File { scenario, engine, form } => run::file(&engine, &scenario, form, progress),
        Request::Explain { scenario } => run::explain(&scenario),
    });
    // Strings and numbers are always JSON.
    answered.unwrap_or_else(|error| serde_json::to_string(&Shown::from(&error)).unwrap_or_default())
}
