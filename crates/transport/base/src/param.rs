//! Parameter tables: the parameters of an algorithm, declared beside the algorithm.
//!
//! One table serves all its users: the constructor (defaults), the scenario checker (names, units, ranges), `afteryou list`,
//! the JSON schema and the book.

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

/// One row of a parameter table.
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
    /// Describes a parameter that is a span of time in milliseconds.
    pub const fn millis(name: &'static str, default: u64, range: (u64, u64)) -> Param {
        Param {
            name,
            kind: Kind::Time,
            unit: "ms",
            default: Value::Time(Span::from_millis(default)),
            min: Value::Time(Span::from_millis(range.0)),
            max: Value::Time(Span::from_millis(range.1)),
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Describes a parameter that is a span of time in microseconds, shown in milliseconds.
    pub const fn micros(name: &'static str, default: u64, range: (u64, u64)) -> Param {
        Param {
            default: Value::Time(Span::from_micros(default)),
            min: Value::Time(Span::from_micros(range.0)),
            max: Value::Time(Span::from_micros(range.1)),
            ..Param::millis(name, 0, (0, 0))
        }
    }

    /// Describes a parameter that is a plain number.
    pub const fn number(name: &'static str, unit: &'static str, default: f64, range: (f64, f64)) -> Param {
        Param {
            name,
            kind: Kind::Number,
            unit,
            default: Value::Number(default),
            min: Value::Number(range.0),
            max: Value::Number(range.1),
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Describes a parameter that is a whole number.
    pub const fn count(name: &'static str, unit: &'static str, default: u64, range: (u64, u64)) -> Param {
        Param {
            name,
            kind: Kind::Count,
            unit,
            default: Value::Count(default),
            min: Value::Count(range.0),
            max: Value::Count(range.1),
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Describes a parameter that is a size in bytes.
    pub const fn bytes(name: &'static str, default: u64, range: (u64, u64)) -> Param {
        Param {
            name,
            kind: Kind::Bytes,
            unit: "B",
            default: Value::Bytes(default),
            min: Value::Bytes(range.0),
            max: Value::Bytes(range.1),
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Describes a parameter that is a flag, yes or no.
    pub const fn flag(name: &'static str, default: bool) -> Param {
        Param {
            name,
            kind: Kind::Flag,
            unit: "",
            default: Value::Flag(default),
            min: Value::Flag(false),
            max: Value::Flag(true),
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Describes a parameter that is one of several words.
    pub const fn choice(name: &'static str, default: &'static str, words: &'static [&'static str]) -> Param {
        let value = Value::Choice(default);
        Param {
            name,
            kind: Kind::Choice(words),
            unit: "",
            default: value,
            min: value,
            max: value,
            help: "",
            source: "",
            advice: None,
        }
    }

    /// Adds the sentence that explains it and where it comes from.
    pub const fn explained(mut self, help: &'static str, source: &'static str) -> Param {
        self.help = help;
        self.source = source;
        self
    }

    /// Adds the bound in milliseconds that the source states, with its words.
    pub const fn at_most_millis(mut self, most: u64, reason: &'static str) -> Param {
        self.advice = Some(Advice { most: Value::Time(Span::from_millis(most)), reason });
        self
    }

    /// Returns the source's bound if `value` is beyond it.
    pub fn advice_on(&self, value: Value) -> Option<&Advice> {
        self.advice.as_ref().filter(|advice| match (value, advice.most) {
            (Value::Time(value), Value::Time(most)) => value > most,
            _ => false,
        })
    }

    /// Checks that `value` is of the right kind and in range. If not, returns the reason.
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

/// A set of defaults that a parameter named `preset` chooses: another implementation's, or another document's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// The word.
    pub name: &'static str,
    /// Whose values they are, one sentence.
    pub help: &'static str,
    /// Where they differ from the table.
    pub rows: &'static [(&'static str, Value)],
}

/// A parameter table with some values overridden.
///
/// Lookups are by the names of the table. Asking for a name or a kind that the table lacks is a bug in the algorithm
/// and panics; the list's own test finds it for every entry.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    table: &'static [Param],
    preset: &'static [(&'static str, Value)],
    overrides: &'a [(&'static str, Value)],
}

impl<'a> Settings<'a> {
    /// Returns the table's defaults with `overrides` on top.
    ///
    /// # Errors
    /// An override that is no row of the table, of another kind, or out of its range.
    pub fn new(
        table: &'static [Param],
        overrides: &'a [(&'static str, Value)],
    ) -> Result<Settings<'a>, ParamError> {
        for (name, value) in overrides {
            let param = table.iter().find(|param| param.name == *name);
            param.ok_or(ParamError::Unknown { name, table })?.check(*value)?;
        }
        Ok(Settings { table, preset: &[], overrides })
    }

    /// Returns the table's defaults.
    pub const fn defaults(table: &'static [Param]) -> Settings<'static> {
        Settings { table, preset: &[], overrides: &[] }
    }

    /// Returns the settings with the defaults of the preset that the parameter `preset` names; what is overridden stays so.
    /// Without presets, as it is.
    pub fn with_preset(mut self, presets: &'static [Preset]) -> Settings<'a> {
        if !presets.is_empty() {
            let chosen = self.choice("preset");
            self.preset =
                presets.iter().find(|preset| preset.name == chosen).map_or(&[], |preset| preset.rows);
        }
        self
    }

    fn value(&self, name: &str) -> Value {
        let rows = self.preset.iter().chain(self.overrides).rev();
        let overridden = rows.into_iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        let default = || self.table.iter().find(|param| param.name == name).map(|param| param.default);
        overridden.or_else(default).unwrap_or_else(|| panic!("bug: no parameter {name} in the table"))
    }

    /// Returns a parameter's span of time.
    pub fn time(&self, name: &str) -> Span {
        match self.value(name) {
            Value::Time(span) => span,
            other => panic!("bug: parameter {name} is {other:?}, not a time"),
        }
    }

    /// Returns a parameter's plain number.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            other => panic!("bug: parameter {name} is {other:?}, not a number"),
        }
    }

    /// Returns a parameter's whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Count(count) => count,
            other => panic!("bug: parameter {name} is {other:?}, not a count"),
        }
    }

    /// Returns a parameter's size in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Bytes(bytes) => bytes,
            other => panic!("bug: parameter {name} is {other:?}, not a size"),
        }
    }

    /// Returns a parameter's flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Flag(flag) => flag,
            other => panic!("bug: parameter {name} is {other:?}, not a flag"),
        }
    }

    /// Returns a parameter's word.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Choice(word) => word,
            other => panic!("bug: parameter {name} is {other:?}, not a word"),
        }
    }
}
