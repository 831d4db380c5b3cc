//! The rule by which one end of a TCP flow limits what its sender sends: the receiver by the window that it announces, or the sender's host by
//! a rate.

use afteryou_base::param::Settings;
use afteryou_base::About;
use afteryou_cc::rledbat::{self, Rledbat};
use afteryou_notation::{unknown, Algorithm, Error, Overrides};
use afteryou_outside::rule::{about, Params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rules of receivers.
pub const RECEIVERS: &[&About] = &[&rledbat::ABOUT, &about::ABOUT];
/// The rules of senders' hosts.
pub const SENDERS: &[&About] = &[&about::ABOUT];

/// An end's rule with some of its parameters. In files: `"rledbat"`, or `{ controller = "rledbat", target = "60 ms" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", from = "Written")]
#[schemars(with = "Written")]
pub struct EndRule {
    /// Name in [`RECEIVERS`] or [`SENDERS`].
    pub controller: String,
    /// Parameters by name, values as text with their unit.
    pub params: BTreeMap<String, String>,
}

/// The two forms of a rule in files.
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

impl From<EndRule> for Written {
    fn from(EndRule { controller, params }: EndRule) -> Written {
        match params.is_empty() {
            true => Written::Name(controller),
            false => Written::Table { controller, params },
        }
    }
}

impl From<Written> for EndRule {
    fn from(written: Written) -> EndRule {
        match written {
            Written::Name(controller) => EndRule { controller, params: BTreeMap::new() },
            Written::Table { controller, params } => EndRule { controller, params },
        }
    }
}

impl From<Algorithm> for EndRule {
    fn from(Algorithm { kind, params }: Algorithm) -> EndRule {
        EndRule { controller: kind, params }
    }
}

/// The rule of a flow's receivers: its settings are read and checked once.
#[derive(Clone, Debug)]
pub enum AtReceiver {
    /// A rule of each connection.
    Rledbat(Overrides),
    /// One window for all connections of the flow and those written together with it.
    Outside(Params),
}

impl EndRule {
    /// Returns a rule with its defaults.
    pub fn named(controller: &str) -> EndRule {
        EndRule { controller: controller.to_owned(), params: BTreeMap::new() }
    }

    /// Returns the same rule with one more parameter.
    pub fn with(mut self, name: &str, value: &str) -> EndRule {
        self.params.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns whether it is one rule for all connections of a job, set on their sockets.
    pub fn is_outside(&self) -> bool {
        self.controller == about::ABOUT.name
    }

    /// Reads the parameters of a receiver's rule.
    ///
    /// # Errors
    /// A rule that no receiver has, a parameter that it does not have, or a value that it refuses.
    pub fn at_receiver(&self) -> Result<AtReceiver, Error> {
        let overrides = self.overrides("receiver", RECEIVERS)?;
        Ok(match self.is_outside() {
            true => AtReceiver::Outside(outside(&overrides)),
            false => AtReceiver::Rledbat(overrides),
        })
    }

    /// Reads the parameters of the rule of a sender's host.
    ///
    /// # Errors
    /// A rule that no sender has, a parameter that it does not have, or a value that it refuses.
    pub fn at_sender(&self) -> Result<Params, Error> {
        Ok(outside(&self.overrides("sender", SENDERS)?))
    }

    fn overrides(&self, what: &'static str, known: &[&About]) -> Result<Overrides, Error> {
        let names: Vec<_> = known.iter().map(|about| about.name).collect();
        let found = known.iter().find(|about| about.name == self.controller);
        let about = found.ok_or_else(|| unknown(what, &self.controller, &names))?;
        let algorithm = Algorithm { kind: self.controller.clone(), params: self.params.clone() };
        algorithm.overrides(about.params)
    }
}

fn outside(overrides: &Overrides) -> Params {
    Params::of(&Settings::of_checked(about::PARAMS, overrides))
}

/// Makes the rLEDBAT receiver of a connection whose segments have `mss` bytes of payload.
pub fn rledbat(overrides: &Overrides, mss: u32) -> Rledbat {
    Rledbat::new(&Settings::of_checked(rledbat::PARAMS, overrides), mss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_files_a_bare_name_is_a_string_and_parameters_make_a_table() {
        let bare = EndRule::named("rledbat");
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#""rledbat""#);
        let tuned = bare.with("target", "40 ms");
        let json = serde_json::to_string(&tuned).unwrap();
        assert_eq!(json, r#"{"controller":"rledbat","target":"40 ms"}"#);
        assert_eq!(serde_json::from_str::<EndRule>(&json).unwrap(), tuned);
    }

    #[test]
    fn errors_name_the_end_the_parameter_and_the_choices() {
        let message = |rule: EndRule| rule.at_receiver().unwrap_err().to_string();
        let unknown = message(EndRule::named("rledbatt"));
        assert!(unknown.contains("receiver") && unknown.contains("did you mean \"rledbat\"?"), "{unknown}");
        assert!(
            message(EndRule::named("rledbat").with("tarjet", "40 ms")).contains("did you mean \"target\"?")
        );
        assert!(message(EndRule::named("rledbat").with("preset", "linux")).contains("one of rfc apple uc3m"));
        let at_sender = EndRule::named("rledbat").at_sender().unwrap_err().to_string();
        assert!(at_sender.contains("sender") && at_sender.contains("outside"), "{at_sender}");
    }

    #[test]
    fn the_rule_from_outside_has_the_parameters_of_the_command() {
        assert_eq!(EndRule::named("outside").at_sender().unwrap(), Params::default());
        let AtReceiver::Outside(params) =
            EndRule::named("outside").with("target", "40 ms").at_receiver().unwrap()
        else {
            panic!("another rule")
        };
        assert_eq!(params.target, afteryou_base::Span::from_millis(40));
    }
}
