//! A TCP flow's receiver that limits its sender by the window that it announces.

use afteryou_base::param::Settings;
use afteryou_base::About;
use afteryou_cc::rledbat::{self, Rledbat};
use afteryou_notation::{unknown, Algorithm, Error, Overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The controllers of receivers.
pub const RECEIVERS: &[&About] = &[&rledbat::ABOUT];

/// A receiver's controller with some of its parameters. In files: `"rledbat"`, or `{ controller = "rledbat", target = "60 ms" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", from = "Written")]
#[schemars(with = "Written")]
pub struct Receiver {
    /// Name in [`RECEIVERS`].
    pub controller: String,
    /// Parameters by name, values as text with their unit.
    pub params: BTreeMap<String, String>,
}

/// The two forms of a receiver in files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Name(String),
    Table {
        controller: String,
        #[serde(flatten)]
        params: BTreeMap<String, String>,
    },
}

impl From<Receiver> for Written {
    fn from(Receiver { controller, params }: Receiver) -> Written {
        match params.is_empty() {
            true => Written::Name(controller),
            false => Written::Table { controller, params },
        }
    }
}

impl From<Written> for Receiver {
    fn from(written: Written) -> Receiver {
        match written {
            Written::Name(controller) => Receiver { controller, params: BTreeMap::new() },
            Written::Table { controller, params } => Receiver { controller, params },
        }
    }
}

impl From<Algorithm> for Receiver {
    fn from(Algorithm { kind, params }: Algorithm) -> Receiver {
        Receiver { controller: kind, params }
    }
}

/// The receivers of a flow's connections: their settings are read and checked once.
#[derive(Clone, Debug)]
pub struct Tuned {
    overrides: Overrides,
}

impl Receiver {
    /// Returns a receiver with the defaults of the controller.
    pub fn named(controller: &str) -> Receiver {
        Receiver { controller: controller.to_owned(), params: BTreeMap::new() }
    }

    /// Returns the same receiver with one more parameter.
    pub fn with(mut self, name: &str, value: &str) -> Receiver {
        self.params.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Reads the parameters.
    ///
    /// # Errors
    /// A controller that no receiver has, a parameter that it does not have, or a value that it refuses.
    pub fn tuned(&self) -> Result<Tuned, Error> {
        let names: Vec<_> = RECEIVERS.iter().map(|about| about.name).collect();
        let found = RECEIVERS.iter().find(|about| about.name == self.controller);
        let about = found.ok_or_else(|| unknown("receiver", &self.controller, &names))?;
        let algorithm = Algorithm { kind: self.controller.clone(), params: self.params.clone() };
        Ok(Tuned { overrides: algorithm.overrides(about.params)? })
    }
}

impl Tuned {
    /// Makes the receiver of a connection whose segments have `mss` bytes of payload.
    pub fn build(&self, mss: u32) -> Rledbat {
        Rledbat::new(&Settings::of_checked(rledbat::PARAMS, &self.overrides), mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_files_a_bare_name_is_a_string_and_parameters_make_a_table() {
        let bare = Receiver::named("rledbat");
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#""rledbat""#);
        let tuned = bare.with("target", "40 ms");
        let json = serde_json::to_string(&tuned).unwrap();
        assert_eq!(json, r#"{"controller":"rledbat","target":"40 ms"}"#);
        assert_eq!(serde_json::from_str::<Receiver>(&json).unwrap(), tuned);
    }

    #[test]
    fn errors_name_the_receiver_the_parameter_and_the_choices() {
        let message = |receiver: Receiver| receiver.tuned().unwrap_err().to_string();
        let unknown = message(Receiver::named("rledbatt"));
        assert!(unknown.contains("receiver") && unknown.contains("did you mean \"rledbat\"?"), "{unknown}");
        assert!(
            message(Receiver::named("rledbat").with("tarjet", "40 ms")).contains("did you mean \"target\"?")
        );
        assert!(message(Receiver::named("rledbat").with("preset", "linux")).contains("one of rfc apple uc3m"));
    }
}
