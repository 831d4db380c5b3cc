//! Parameter tables: the parameters of an algorithm, declared beside the algorithm.
//!
//! One table serves all its users: the constructor (defaults), the scenario checker (names, units, ranges), `afteryou list`,
//! the JSON schema and the book. The algorithm itself reads a value by its [`Key`]; all others use names.

mod key;
mod settings;

pub use key::{joined, rows, Key};
pub use settings::{Preset, Settings};

use crate::nearest::nearest;
use crate::units::Span;
use core::fmt;

/// The kind of quantity of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A span of time, written with a unit.
    Time,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// Yes or no.
    Flag,
    /// A size in bytes, written with a unit.
    Bytes,
    /// One of some words.
    Choice(&'static [&'static str]),
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A span of time.
    Time(Span),
    /// A plain number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// Bytes.
    Bytes(u64),
    /// One of the words in [`Kind::Choice`].
    Choice(&'static str),
}

/// One row of a parameter table. A [`Key`] makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Name, as scenarios and `--controller name,param=value` write it.
    pub name: &'static str,
    /// Kind of quantity.
    pub kind: Kind,
    /// Unit of the plain numbers below, for people: "ms", "packets", "".
    pub unit: &'static str,
    /// Default value.
    pub default: Value,
    /// Smallest valid value, in the parameter's own unit. Unused for flags and choices.
    pub min: Value,
    /// Largest valid value.
    pub max: Value,
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// Where it comes from: document and section.
    pub source: &'static str,
    /// Valid values that its source rules out.
    pub advice: Option<Advice>,
}

/// A bound that the source of a parameter states and that the range exceeds, for experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// Largest value that the source allows.
    pub most: Value,
    /// The source's words, with the section.
    pub reason: &'static str,
}

impl Param {
    /// Returns the source's bound if `value` is beyond it.
    pub fn advice_on(&self, value: Value) -> Option<&Advice> {
        self.advice.as_ref().filter(|advice| match (value, advice.most) {
            (Value::Time(value), Value::Time(most)) => value > most,
            _ => false,
        })
    }

    /// Checks that `value` is of the right kind and in range. If not, returns the reason.
    ///
    /// # Errors
    /// [`ParamError::WrongKind`] for a value of another kind, [`ParamError::OutOfRange`] for one below the least, above the most or not among
    /// the words.
    pub fn check(&'static self, value: Value) -> Result<(), ParamError> {
        let in_range = match (self.kind, value, self.min, self.max) {
            (Kind::Time, Value::Time(v), Value::Time(min), Value::Time(max)) => min <= v && v <= max,
            (Kind::Number, Value::Number(v), Value::Number(min), Value::Number(max)) => min <= v && v <= max,
            (Kind::Count, Value::Count(v), Value::Count(min), Value::Count(max)) => min <= v && v <= max,
            (Kind::Bytes, Value::Bytes(v), Value::Bytes(min), Value::Bytes(max)) => min <= v && v <= max,
            (Kind::Flag, Value::Flag(_), ..) => true,
            (Kind::Choice(words), Value::Choice(word), ..) => words.contains(&word),
            _ => return Err(ParamError::WrongKind { param: self }),
        };
        if in_range {
            return Ok(());
        }
        Err(ParamError::OutOfRange { param: self, value })
    }
}

/// Why a value was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamError {
    /// No parameter of this algorithm.
    Unknown {
        /// The name given.
        name: &'static str,
        /// The parameters that there are.
        table: &'static [Param],
    },
    /// Not the kind of quantity that the parameter is.
    WrongKind {
        /// The parameter.
        param: &'static Param,
    },
    /// Outside the valid range.
    OutOfRange {
        /// The parameter.
        param: &'static Param,
        /// The value given.
        value: Value,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::Unknown { name, table } => unknown(f, name, table),
            ParamError::WrongKind { param } => write!(f, "{} must be {}", param.name, param.kind),
            ParamError::OutOfRange { param, value } => {
                write!(f, "{} = {value} is outside its range: use {} to {}", param.name, param.min, param.max)
            }
        }
    }
}

impl core::error::Error for ParamError {}

fn unknown(f: &mut fmt::Formatter<'_>, name: &str, table: &[Param]) -> fmt::Result {
    write!(f, "there is no parameter \"{name}\": ")?;
    if let Some(meant) = nearest(name, table.iter().map(|param| param.name)) {
        return write!(f, "did you mean \"{meant}\"?");
    }
    let [first, rest @ ..] = table else { return f.write_str("there are none") };
    write!(f, "use one of {}", first.name)?;
    rest.iter().try_for_each(|param| write!(f, ", {}", param.name))
}

impl Kind {
    /// Returns the word for a flag's yes or no. Words that begin with "off" are a flag with several ways to be on, of which the
    /// first one is meant.
    pub fn word_of_flag(&self, on: bool) -> Option<&'static str> {
        match self {
            Kind::Choice(words @ ["off", ..]) => words.get(usize::from(on)).copied(),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Time => f.write_str("a time with a unit, such as 60ms"),
            Kind::Number => f.write_str("a number"),
            Kind::Count => f.write_str("a whole number"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Bytes => f.write_str("a size with a unit, such as 64KiB"),
            Kind::Choice(words) => {
                f.write_str("one of")?;
                words.iter().try_for_each(|word| write!(f, " {word}"))
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Time(span) if span.0 % 1_000_000 == 0 => write!(f, "{} ms", span.0 / 1_000_000),
            Value::Time(span) => write!(f, "{} ms", span.as_millis_f64()),
            Value::Number(number) => write!(f, "{number}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Bytes(bytes) => write!(f, "{bytes} B"),
            Value::Choice(word) => f.write_str(word),
        }
    }
}
