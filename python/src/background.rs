//! Sockets as background traffic.

use afteryou_background::{set_background_raw, Error, Missing, Rule};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The facts about a socket after `set_background`.
#[pyclass(frozen, eq, get_all, module = "afteryou")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background {
    /// The controller in the kernel, or the system's own means.
    rule: Option<String>,
    /// The reason why there is none, in one word.
    missing: Option<&'static str>,
    /// Whether packets carry the lower-effort mark.
    marked: bool,
    /// Whether this machine's own queue sends the packets last.
    low_priority: bool,
    /// The same for people.
    sentence: String,
}

#[pymethods]
impl Background {
    fn __str__(&self) -> &str {
        &self.sentence
    }

    fn __repr__(&self) -> String {
        format!("<Background: {}>", self.sentence)
    }
}

impl From<afteryou_background::Background> for Background {
    fn from(facts: afteryou_background::Background) -> Background {
        let sentence = facts.to_string();
        let (rule, missing) = match facts.rule {
            Ok(rule) => (Some(name(rule).to_owned()), None),
            Err(missing) => (None, Some(word(&missing))),
        };
        Background { rule, missing, marked: facts.mark.is_ok(), low_priority: facts.low_priority, sentence }
    }
}

fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Controller(name) => name,
        Rule::TrafficClass => "SO_TRAFFIC_CLASS",
        Rule::PriorityHint => "SIO_PRIORITY_HINT",
        _ => "other",
    }
}

fn word(missing: &Missing) -> &'static str {
    match missing {
        Missing::NotLoaded => "not-loaded",
        Missing::NotPermitted(_) => "not-permitted",
        Missing::Locked(_) => "locked",
        Missing::NotTcp => "not-tcp",
        Missing::NoMeans => "no-means",
        _ => "refused",
    }
}

/// Makes a socket background traffic: an object with `fileno()`, or a descriptor.
#[pyfunction]
pub fn set_background(sock: &Bound<'_, PyAny>) -> PyResult<Background> {
    let descriptor: i64 = match sock.extract::<i64>() {
        Ok(descriptor) => descriptor,
        Err(_) => sock.call_method0("fileno")?.extract()?,
    };
    // SAFETY: the caller, or its object, keeps the descriptor open, and other threads of Python wait meanwhile.
    match unsafe { set_background_raw(descriptor) } {
        Ok(facts) => Ok(facts.into()),
        Err(Error::NotOpen(error)) => Err(error.into()),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}
