//! Rows and values by name, until the scenario crates read by keys.

use super::{Advice, Kind, Param, Settings, Value};
use crate::units::Span;

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
}

impl Settings<'_> {
    /// Returns a parameter's span of time.
    pub fn time(&self, name: &str) -> Span {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Time(span) => span,
            other => panic!("bug: parameter {name} is {other:?}, not a time"),
        }
    }

    /// Returns a parameter's plain number.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Number(number) => number,
            other => panic!("bug: parameter {name} is {other:?}, not a number"),
        }
    }

    /// Returns a parameter's whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Count(count) => count,
            other => panic!("bug: parameter {name} is {other:?}, not a count"),
        }
    }

    /// Returns a parameter's size in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Bytes(bytes) => bytes,
            other => panic!("bug: parameter {name} is {other:?}, not a size"),
        }
    }

    /// Returns a parameter's flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Flag(flag) => flag,
            other => panic!("bug: parameter {name} is {other:?}, not a flag"),
        }
    }

    /// Returns a parameter's word.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name).unwrap_or_else(|| panic!("bug: no parameter {name} in the table")) {
            Value::Choice(word) => word,
            other => panic!("bug: parameter {name} is {other:?}, not a word"),
        }
    }
}
