//! A controller, a queue or a transport by name, with some of its parameters: "ledbat++,target=40ms,restart=true".

use crate::catalogue;
use crate::error::Error;
use crate::units::{Duration, Size};
use crate::unknown::unknown;
use afteryou_base::param::{Kind, Param, Value};
use afteryou_cc::list::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A name and parameters as they were written. In files: `"cubic"`, or `{ kind = "ledbat++", target = "40 ms" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", from = "Written")]
#[schemars(with = "Written")]
pub struct Algorithm {
    /// Name in the list.
    pub kind: String,
    /// Parameters by name, values as text with their unit.
    pub params: BTreeMap<String, String>,
}

/// The two forms of an algorithm in files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Name(String),
    Table {
        kind: String,
        #[serde(flatten)]
        params: BTreeMap<String, String>,
    },
}

impl From<Algorithm> for Written {
    fn from(Algorithm { kind, params }: Algorithm) -> Written {
        match params.is_empty() {
            true => Written::Name(kind),
            false => Written::Table { kind, params },
        }
    }
}

impl From<Written> for Algorithm {
    fn from(written: Written) -> Algorithm {
        match written {
            Written::Name(kind) => Algorithm { kind, params: BTreeMap::new() },
            Written::Table { kind, params } => Algorithm { kind, params },
        }
    }
}

/// Parameters ready for a constructor.
pub type Overrides = Vec<(&'static str, Value)>;

impl Algorithm {
    /// Returns an algorithm with its defaults.
    pub fn named(kind: &str) -> Algorithm {
        Algorithm { kind: kind.to_owned(), params: BTreeMap::new() }
    }

    /// Returns the same algorithm with one more parameter.
    pub fn with(mut self, name: &str, value: &str) -> Algorithm {
        self.params.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Looks it up among the [controllers that this process knows](catalogue).
    ///
    /// # Errors
    /// A name that no controller has, and as [`overrides`](Self::overrides).
    pub fn controller(&self) -> Result<(&'static Entry, Overrides), Error> {
        let entry = catalogue::find(&self.kind).ok_or_else(|| {
            let names: Vec<_> = catalogue::controllers().iter().map(|entry| entry.name).collect();
            unknown("controller", &self.kind, &names)
        })?;
        Ok((entry, self.overrides(entry.params)?))
    }

    /// Reads the parameters that `table` has.
    ///
    /// # Errors
    /// A parameter that the table does not have, or a value that it refuses.
    pub fn overrides(&self, table: &'static [Param]) -> Result<Overrides, Error> {
        self.params.iter().map(|(name, text)| self.one_override(table, name, text)).collect()
    }

    fn one_override(
        &self,
        table: &'static [Param],
        name: &str,
        text: &str,
    ) -> Result<(&'static str, Value), Error> {
        let names: Vec<_> = table.iter().map(|param| param.name).collect();
        let param = table
            .iter()
            .find(|param| param.name == name)
            .ok_or_else(|| unknown(format!("parameter of {}", self.kind), name, &names))?;
        let refused = |reason: String| Error::Parameter { of: self.kind.clone(), reason };
        let value = read(param, text)
            .ok_or_else(|| refused(format!("{name} = {text:?} is not valid: write {}", param.kind)))?;
        param.check(value).map_err(|error| refused(error.to_string()))?;
        Ok((param.name, value))
    }
}

/// Reads a parameter's value from text.
fn read(param: &Param, text: &str) -> Option<Value> {
    match param.kind {
        Kind::Time => text.parse::<Duration>().ok().map(|time| Value::Time(time.0)),
        Kind::Number => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Number),
        Kind::Count => text.parse().ok().map(Value::Count),
        Kind::Flag => flag(text).map(Value::Flag),
        Kind::Bytes => text.parse::<Size>().ok().map(|size| Value::Bytes(size.bytes())),
        Kind::Choice(words) => {
            let word = words.iter().find(|word| **word == text).copied();
            word.or_else(|| param.kind.word_of_flag(flag(text)?)).map(Value::Choice)
        }
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "on" | "yes" => Some(true),
        "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    /// Reads "name" or "name,param=value,…". Whether the name and the parameters exist is not checked here.
    fn from_str(text: &str) -> Result<Algorithm, Error> {
        let mut parts = text.split(',').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let mut algorithm = Algorithm::named(kind);
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| Error::Quantity {
                what: "parameter",
                text: part.to_owned(),
                example: "name=value, such as target=60ms",
            })?;
            let name = name.trim();
            if algorithm.params.contains_key(name) {
                let reason = format!("{name} is said twice: say it once");
                return Err(Error::Parameter { of: kind.to_owned(), reason });
            }
            algorithm = algorithm.with(name, value.trim());
        }
        Ok(algorithm)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        self.params.iter().try_for_each(|(name, value)| write!(f, ",{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;

    #[test]
    fn a_name_with_parameters_reads_and_writes_back() {
        let algorithm: Algorithm = "ledbat++, target=40ms,restart=on".parse().unwrap();
        assert_eq!(algorithm.to_string(), "ledbat++,restart=on,target=40ms");
        let (entry, overrides) = algorithm.controller().unwrap();
        assert_eq!(entry.name, "ledbat++");
        assert!(overrides.contains(&("target", Value::Time(Span::from_millis(40)))));
        assert!(overrides.contains(&("restart", Value::Flag(true))));
    }

    #[test]
    fn in_files_a_bare_name_is_a_string_and_parameters_make_a_table() {
        let bare = Algorithm::named("ledbat++");
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#""ledbat++""#);
        let tuned = bare.with("target", "40 ms");
        let json = serde_json::to_string(&tuned).unwrap();
        assert_eq!(json, r#"{"kind":"ledbat++","target":"40 ms"}"#);
        assert_eq!(serde_json::from_str::<Algorithm>(&json).unwrap(), tuned);
    }

    #[test]
    fn errors_name_the_thing_the_value_and_the_choices() {
        let message =
            |text: &str| text.parse::<Algorithm>().and_then(|a| a.controller()).unwrap_err().to_string();
        assert!(
            message("ledbatt").starts_with("there is no controller \"ledbatt\": did you mean \"ledbat\"?")
        );
        assert!(message("ledbat++,tarjet=40ms").contains("did you mean \"target\"?"));
        assert!(message("ledbat++,target=40").contains("write a time with a unit"));
        assert!(message("ledbat++,target=4s").contains("use 1 ms to 100 ms"));
        assert!(message("ledbat++,target").contains("name=value"));
        assert!(message("ledbat++,target=40ms, target=50ms").contains("target is said twice"));
    }
}
