//! Errors as exceptions of the module `afteryou.errors`.

use afteryou_engines::Error;
use afteryou_scenario_file::FileError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The module that defines the exceptions.
const MODULE: &str = "afteryou.errors";

/// Returns a file or a setting that is wrong: `ScenarioError` with the place.
pub fn of_file(py: Python<'_>, error: &FileError) -> PyErr {
    let text = error.to_string();
    let (file, place, message) = match error {
        FileError::Wrong(wrong) => (wrong.file.as_str(), wrong.position, wrong.message.as_str()),
        FileError::Unreadable { file, reason } => (file.as_str(), None, reason.as_str()),
        _ => ("", None, text.as_str()),
    };
    let (line, column) = place.unzip();
    raised(py, "ScenarioError", (text.as_str(), message, file, line, column, suggestion(message)))
}

/// Returns an error of a plan or a run.
pub fn of_run(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::File(error) => of_file(py, error),
        error if error.is_usage() => {
            let text = error.to_string();
            raised(
                py,
                "ScenarioError",
                (text.as_str(), text.as_str(), "", None::<usize>, None::<usize>, None::<&str>),
            )
        }
        error => other(py, error),
    }
}

/// Returns a choice that is not there: `ScenarioError` with the words.
pub fn of_choice(py: Python<'_>, text: &str) -> PyErr {
    raised(py, "ScenarioError", (text, text, "", None::<usize>, None::<usize>, suggestion(text)))
}

/// Returns any other error of the project: `Error` with its words.
pub fn other(py: Python<'_>, error: &dyn std::error::Error) -> PyErr {
    raised(py, "Error", (error.to_string(),))
}

/// Returns an exception in a method of a rule: `RuleError` with the simulated time, caused by the exception.
pub fn of_rule(py: Python<'_>, rule: &str, method: &str, time_s: Option<f64>, cause: PyErr) -> PyErr {
    let name = cause.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let when = time_s.map_or(String::new(), |time_s| format!(" at {time_s:.6} s of simulated time"));
    let text = format!("the rule {rule:?} raised {name} in {method}{when}: {}", cause.value(py));
    let failure = raised(py, "RuleError", (text, rule, method, time_s));
    failure.set_cause(py, Some(cause));
    failure
}

/// Returns the word that the message proposes, if it does.
fn suggestion(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("did you mean \"")?;
    rest.split_once('"').map(|(word, _)| word)
}

fn raised<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let made =
        py.import(MODULE).and_then(|module| module.getattr(name)).and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
