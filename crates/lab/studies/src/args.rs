//! Arguments of measures and judgements, by name.

use crate::entry::{Args, At};
use crate::error::{Error, Result};
use toml::Value;

impl Args {
    /// Returns a text, if it is given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns a text that must be given.
    ///
    /// # Errors
    /// [`Error::NoReading`] if it is not.
    pub fn needed_text(&self, name: &str) -> Result<&str> {
        self.text(name).ok_or_else(|| missing(name))
    }

    /// Returns a number, if it is given.
    pub fn number(&self, name: &str) -> Option<f64> {
        let value = self.0.get(name)?;
        value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64))
    }

    /// Returns a number that must be given.
    ///
    /// # Errors
    /// [`Error::NoReading`] if it is not.
    pub fn needed_number(&self, name: &str) -> Result<f64> {
        self.number(name).ok_or_else(|| missing(name))
    }

    /// Returns a switch, off if it is not given.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns texts, if they are given.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }

    /// Returns points of a grid that must be given: axis to label or labels.
    ///
    /// # Errors
    /// [`Error::NoReading`] if they are not.
    pub fn at(&self, name: &str) -> Result<At> {
        let value = self.0.get(name).cloned().ok_or_else(|| missing(name))?;
        value.try_into().map_err(|error| Error::NoReading(format!("the argument {name:?}: {error}")))
    }
}

fn missing(name: &str) -> Error {
    Error::NoReading(format!("the argument {name:?} is missing"))
}
