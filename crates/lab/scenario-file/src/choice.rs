//! Controllers, queues and transports: a word, or a table with parameters.

use crate::error::Problem;
use crate::keys::NOT_YET_CONTROLLERS;
use crate::read::{at, text, wanted, Result};
use crate::tree::{Node, Value};
use afteryou_notation::{catalogue, Algorithm, Error};
use afteryou_scenario::end_rule::{RECEIVERS, SENDERS};
use afteryou_scenario::{discipline, EndRule, Transport};

/// Reads a controller.
pub(crate) fn controller(node: &Node) -> Result<Algorithm> {
    choose(node, "controller", NOT_YET_CONTROLLERS, |algorithm| algorithm.controller().map(drop))
}

/// Reads a queue discipline.
pub(crate) fn queue(node: &Node) -> Result<Algorithm> {
    choose(node, "queue", &[], |algorithm| discipline(algorithm).map(drop))
}

/// Reads a transport.
pub(crate) fn transport(node: &Node) -> Result<Transport> {
    let check = |algorithm: &Algorithm| Transport::try_from(algorithm.clone())?.protocol().map(drop);
    at(node, Transport::try_from(choose(node, "transport", &[], check)?))
}

/// Reads a receiver's rule.
pub(crate) fn receiver(node: &Node) -> Result<EndRule> {
    let check = |algorithm: &Algorithm| EndRule::from(algorithm.clone()).at_receiver().map(drop);
    Ok(choose_by("controller", node, "receiver", &[], check)?.into())
}

/// Reads the rule of a sender's host.
pub(crate) fn sender(node: &Node) -> Result<EndRule> {
    let check = |algorithm: &Algorithm| EndRule::from(algorithm.clone()).at_sender().map(drop);
    Ok(choose_by("controller", node, "sender", &[], check)?.into())
}

type Check = fn(&Algorithm) -> std::result::Result<(), Error>;

/// Reads and checks an algorithm; what is wrong with a parameter is shown at the parameter.
fn choose(node: &Node, what: &str, not_yet: &[&str], check: Check) -> Result<Algorithm> {
    choose_by("kind", node, what, not_yet, check)
}

/// Reads and checks an algorithm whose name a table has under the key `by`.
fn choose_by(by: &str, node: &Node, what: &str, not_yet: &[&str], check: Check) -> Result<Algorithm> {
    let entries = match &node.value {
        Value::Text(text) => {
            let algorithm: Algorithm = at(node, text.parse())?;
            planned(node, what, &algorithm.kind, not_yet)?;
            at(node, check(&algorithm))?;
            return Ok(algorithm);
        }
        Value::Table(table) => &table.entries,
        _ => return Err(wanted(node, &format!("a {what}, such as \"name\" or {{ {by} = \"name\", … }}"))),
    };
    let kind = entries.iter().find(|(key, _)| key.name == by);
    let (_, kind) =
        kind.ok_or_else(|| Problem::new(&node.place, format!("say which {what}: {by} = \"…\"")))?;
    let mut algorithm = Algorithm::named(text(kind)?);
    planned(kind, what, &algorithm.kind, not_yet)?;
    at(kind, check(&algorithm))?;
    for (key, value) in entries.iter().filter(|(key, _)| key.name != by) {
        let written = match &value.value {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            _ => return Err(wanted(value, "a value in quotes, a number, or true or false")),
        };
        algorithm = algorithm.with(&key.name, &written);
        let unknown = |error: &Error| matches!(error, Error::Unknown { .. });
        check(&algorithm).map_err(|error| {
            let place = if unknown(&error) { &key.place } else { &value.place };
            Problem::new(place, error.to_string())
        })?;
    }
    Ok(algorithm)
}

/// Refuses planned words with "not yet", and a receiver's controller where a sender's is expected.
fn planned(node: &Node, what: &str, kind: &str, not_yet: &[&str]) -> Result<()> {
    let is_receivers = RECEIVERS.iter().any(|about| about.name == kind);
    let is_senders = SENDERS.iter().any(|about| about.name == kind);
    if what == "controller" && is_receivers {
        let message = match is_senders {
            true => format!("{kind} limits a controller from outside: write receiver = {kind:?} or sender = {kind:?} beside it"),
            false => format!("{kind} runs at the receiver: write receiver = {kind:?} beside the sender's controller"),
        };
        return Err(Problem::new(&node.place, message));
    }
    let known = match what {
        "controller" => catalogue::find(kind).is_some(),
        _ => afteryou_aqm::list::find(kind).is_some(),
    };
    match !known && not_yet.contains(&kind.to_lowercase().as_str()) {
        true => {
            Err(Problem::new(&node.place, format!("the {what} {kind:?} is not built yet: see afteryou list")))
        }
        false => Ok(()),
    }
}
