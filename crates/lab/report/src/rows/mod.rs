//! Figures of runs as tidy rows: one for each run, one for each flow in each window, one for each link in each window.
//! One for each set of flows that is measured together.
//!
//! A [`Row`] is a list of named values, in order. Rows of one table may have different columns. [`Columns`] collects
//! those of all rows in a first pass, and a writer fills the gaps in a second one. So no table need fit into memory.
//! [`Csv`], [`JsonLines`] and [`Parquet`] write rows; any other format can be written from the same two passes.
//!
//! | column | holds |
//! |---|---|
//! | the varied settings | numbers in base units, with the unit in the name (`link.rate_bit_s`); words stay text |
//! | `run` | the number of the run in the sweep, from 1 |
//! | `repetition` | from 1 |
//! | `seed`, `key` | the seed; the name of the run, see the lab |
//! | `engine`, `controller` | words |
//! | everything else | figures, under the names of the outcome's fields, nested ones joined by `_` |
//!
//! Figures are read off the outcome's own serialisation, so a new field of an outcome is a new column. A table has the columns of
//! [`Fixed`] always, and further ones where a row has them.

mod columns;
mod figures;
mod fixed;
mod formats;
mod of_outcome;
#[cfg(feature = "parquet")]
mod parquet;
mod settings;

pub use columns::{Column, Columns, Kind};
pub use fixed::{comparison, flows, links, sets, Fixed};
pub use formats::{Csv, JsonLines};
pub use of_outcome::{Identity, Rows};
#[cfg(feature = "parquet")]
pub use parquet::Parquet;

use serde::{Deserialize, Serialize};

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Nothing to report.
    Missing,
    /// A count.
    Whole(u64),
    /// A quantity, finite.
    Number(f64),
    /// A name or a word.
    Word(String),
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        match number.is_finite() {
            true => Value::Number(number),
            false => Value::Missing,
        }
    }
}

impl From<&str> for Value {
    /// Converts a word. Readers of CSV take an empty field for a missing value, so an empty word is one in every format.
    fn from(word: &str) -> Value {
        match word.is_empty() {
            true => Value::Missing,
            false => Value::Word(word.to_owned()),
        }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Missing, Into::into)
    }
}

/// One observation: named values in the order of their columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Row {
    cells: Vec<(String, Value)>,
}

impl Row {
    /// Returns the numbers and words of `figures`, under the names of its fields. Fields of a structure inside are joined to
    /// its name by `_`; lists are left out.
    pub fn of(figures: &impl Serialize) -> Row {
        let mut row = Row::default();
        figures::add(&mut row, "", figures, &[]);
        row
    }

    /// Adds a value under a name that the row does not have yet; nothing is added where there is no value.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let value = value.into();
        if value != Value::Missing {
            self.cells.push((name.into(), value));
        }
    }

    /// Returns the names and values, in order.
    pub fn cells(&self) -> &[(String, Value)] {
        &self.cells
    }

    /// Returns the value under `name`.
    pub fn get(&self, name: &str) -> &Value {
        self.cells.iter().find(|(known, _)| known == name).map_or(&Value::Missing, |(_, value)| value)
    }
}
