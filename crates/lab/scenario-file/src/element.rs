//! The words of network elements: their keys, what is read from a file, and what a report says of them.
//!
//! | file | has |
//! |---|---|
//! | `loss` | losses and duplication, before the queue |
//! | `delay` | propagation and jitter, behind the transmitter |
//! | `rate`, `markov` | what changes the transmitter; acknowledgements that wait |
//!
//! Each file ends with a list of its elements, from which the tables of keys, the reader and the sentences are made.

mod delay;
mod loss;
mod markov;
mod rate;

pub(crate) use delay::DELAY;
pub(crate) use loss::LOSS;
pub(crate) use rate::{rate, Context, RATE, RATE_LAW};

use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::outside::Outside;
use crate::read::{list, pair, quantity, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::format::count;
use afteryou_notation::{Duration, Probability};
use afteryou_scenario::element::{Elements, LossLaw, Steps};
use std::fmt::Display;

/// Most steps that are written one by one.
const MOST_STEPS: usize = 4;

/// An element in words.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// Its name; that of its key, if it has one.
    name: &'static str,
    /// None: another setting brings it.
    key: Option<Written>,
    /// Returns what a report says of it, if it is there.
    said: fn(&Elements) -> Option<String>,
}

/// How an element is written.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    takes: Takes,
    help: Help,
    read: fn(&Node, &mut Imperfections, &Outside) -> Result<()>,
}

/// The book's sentence about a key, by the table that it is in; none where there is no such key.
#[derive(Clone, Copy)]
pub(crate) struct Help {
    link: &'static str,
    named_link: &'static str,
    reverse: &'static str,
    flow: Option<&'static str>,
}

impl Help {
    /// Makes help that is the same for every link.
    const fn of_links(help: &'static str) -> Help {
        Help { link: help, named_link: help, reverse: help, flow: None }
    }

    /// Makes help for a link with both directions, and for one.
    const fn of_directions(both: &'static str, one: &'static str) -> Help {
        Help { link: both, named_link: one, reverse: one, flow: None }
    }

    const fn and_of_flows(self, help: &'static str) -> Help {
        Help { flow: Some(help), ..self }
    }
}

/// A table of keys.
#[derive(Clone, Copy)]
pub(crate) enum KeysOf {
    /// `[link]`
    Link,
    /// `[[link]]`
    NamedLink,
    /// `link.reverse`
    Reverse,
    /// `[[flow]]`
    Flow,
}

impl Words {
    /// Returns the element's key in a table.
    const fn key_in(&self, place: KeysOf) -> Option<Key> {
        let Some(Written { takes, help, .. }) = self.key else { return None };
        let help = match place {
            KeysOf::Link => Some(help.link),
            KeysOf::NamedLink => Some(help.named_link),
            KeysOf::Reverse => Some(help.reverse),
            KeysOf::Flow => help.flow,
        };
        match help {
            Some(help) => Some(key(self.name, takes, help)),
            None => None,
        }
    }
}

/// The keys of some elements in a table.
macro_rules! keys_of {
    ($elements:expr, $place:expr) => {{
        const KEYS: [$crate::key::Key; $crate::element::number_of_keys($elements, $place)] =
            $crate::element::keys($elements, $place);
        &KEYS
    }};
}
pub(crate) use keys_of;

pub(crate) const fn number_of_keys(elements: &[Words], place: KeysOf) -> usize {
    let (mut i, mut number) = (0, 0);
    while i < elements.len() {
        if elements[i].key_in(place).is_some() {
            number += 1;
        }
        i += 1;
    }
    number
}

pub(crate) const fn keys<const N: usize>(elements: &[Words], place: KeysOf) -> [Key; N] {
    let mut keys = [key("", Takes::Text, ""); N];
    let (mut i, mut at) = (0, 0);
    while i < elements.len() {
        if let Some(key) = elements[i].key_in(place) {
            keys[at] = key;
            at += 1;
        }
        i += 1;
    }
    keys
}

/// Returns all elements, in the order of their keys.
fn all() -> impl Iterator<Item = &'static Words> {
    [LOSS, DELAY, RATE].into_iter().flatten()
}

/// Independent losses and elements of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imperfections {
    pub(crate) loss: Probability,
    pub(crate) elements: Elements,
}

/// Reads the elements in `fields`; what they do not name is as in `base`.
pub(crate) fn imperfections(fields: &Table, base: Imperfections, files: &Outside) -> Result<Imperfections> {
    let mut of = base;
    let decided = fields.get("elements").map(as_in_results).transpose()?;
    if let Some(decided) = &decided {
        of.elements = decided.clone();
    }
    read(fields, KeysOf::Link, &mut of, files)?;
    // A result's scenario has both: a probability, and the elements that came of it.
    if let Some(decided) = decided {
        of.elements.loss = decided.loss;
    }
    Ok(of)
}

/// Reads what the data of a flow meet before their first link.
pub(crate) fn elements_of_flow(fields: &Table, files: &Outside) -> Result<Elements> {
    let elements = fields.get("elements").map_or(Ok(Elements::default()), as_in_results)?;
    let mut of = Imperfections { loss: Probability::default(), elements };
    read(fields, KeysOf::Flow, &mut of, files)?;
    let independent = (of.loss.ratio() > 0.0).then_some(LossLaw::Independent(of.loss));
    Ok(Elements { loss: of.elements.loss.or(independent), ..of.elements })
}

/// Reads each element that has a key in `fields`.
fn read(fields: &Table, place: KeysOf, of: &mut Imperfections, files: &Outside) -> Result<()> {
    for Words { name, key, .. } in all().filter(|element| element.key_in(place).is_some()) {
        if let (Some(node), Some(written)) = (fields.get(name), key) {
            (written.read)(node, of, files)?;
        }
    }
    Ok(())
}

/// Reads elements in the form that a result's scenario has.
fn as_in_results(node: &Node) -> Result<Elements> {
    let refused =
        |error: serde_json::Error| Problem::new(&node.place, format!("these are no elements: {error}"));
    let elements: Elements = serde_json::from_value(json(node)?).map_err(refused)?;
    let wrong = |(element, why)| Problem::new(&node.place, format!("{element}: {why}"));
    elements.check().map_err(wrong)?;
    Ok(elements)
}

fn json(node: &Node) -> Result<serde_json::Value> {
    use serde_json::Value as Json;
    Ok(match &node.value {
        Value::Text(text) => Json::String(text.clone()),
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Number(number) => {
            let refused = |_| Problem::new(&node.place, format!("{number} is no number that JSON has"));
            serde_json::from_str(&number.replace('_', "")).map_err(refused)?
        }
        Value::List(list) => Json::Array(list.iter().map(json).collect::<Result<_>>()?),
        Value::Table(table) => {
            let entries = table.entries.iter().map(|(key, node)| Ok((key.name.clone(), json(node)?)));
            Json::Object(entries.collect::<Result<_>>()?)
        }
    })
}

/// Returns what a report says of each element that is there, with its name.
pub fn said(elements: &Elements) -> Vec<(&'static str, String)> {
    all().filter_map(|element| Some((element.name, (element.said)(elements)?))).collect()
}

/// Reads pairs of a time and a value.
fn steps<T: Copy>(node: &Node, value: impl Fn(&Node) -> Result<T>) -> Result<Steps<T>> {
    let written = list(node)?;
    let step = |node: &Node| {
        let [at, of] = pair(node)?;
        Ok((quantity(at)?, value(of)?))
    };
    let points = written.iter().map(step).collect::<Result<Vec<_>>>()?;
    Steps::new(points).map_err(|(at, why)| Problem::new(&written.get(at).unwrap_or(node).place, why))
}

/// Writes "10 ms, 4 ms from 30 s", and the number of steps where there are many.
fn said_steps<T: Copy + Display + PartialOrd>(steps: &Steps<T>) -> String {
    let points = steps.points();
    if points.len() <= MOST_STEPS {
        let word = |(from, value): &(Duration, T)| match *from == Duration::default() {
            true => value.to_string(),
            false => format!("{value} from {from}"),
        };
        return points.iter().map(word).collect::<Vec<_>>().join(", ");
    }
    let mut values: Vec<&T> = points.iter().map(|(_, value)| value).collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let number = count(points.len() as u64);
    match (values.first(), values.last()) {
        (Some(least), Some(most)) => format!("{number} steps from {least} to {most}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn every_element_is_named() {
        let all: Elements = from_value(json!({
            "loss": {"gilbert_elliott": {"p": "1 %", "r": "25 %", "good": "0 %", "bad": "100 %"}},
            "duplicate": "2 %",
            "delay": {"steps": [["0 s", "10 ms"], ["30 s", "4 ms"]], "reorder": true},
            "jitter": {"law": {"uniform": ["0 ms", "3 ms"]}, "reorder": false},
            "rate": {"steps": {"steps": [["0 s", "8 Mbit/s"], ["5 s", "1 Mbit/s"]], "period": "10 s"}},
            "arq": {"error": [["0 s", "5 %"]], "transmissions": 4, "round": "40 ms"},
            "aggregate": {"acks": 16, "time": "5 ms"},
            "burst": "1600 B",
        }))
        .unwrap();
        let words: Vec<String> =
            said(&all).into_iter().map(|(name, words)| format!("{name} = {words}")).collect();
        assert_eq!(
            words,
            [
                "loss = Gilbert-Elliott, p 1 %, r 25 %, loss 0 % in the good state and 100 % in the bad one",
                "duplicate = 2 %",
                "delay = 10 ms, 4 ms from 30 s, packets overtake",
                "jitter = uniform from 0 us to 3 ms",
                "rate = 8 Mbit/s, 1 Mbit/s from 5 s, again after 10 s",
                "ARQ = error rate 5 %, at most 4 transmissions, 40 ms apart",
                "aggregate = 16 ACKs, or those of 5 ms",
                "burst = 1.6 kB",
            ]
        );
    }

    #[test]
    fn long_traces_are_counted() {
        let points: Vec<_> = (0..100).map(|i| (format!("{i} s"), format!("{} Mbit/s", 1 + i % 7))).collect();
        let elements: Elements = from_value(json!({"rate": {"steps": {"steps": points}}})).unwrap();
        assert_eq!(said(&elements), [("rate", "100 steps from 1 Mbit/s to 7 Mbit/s".to_owned())]);
    }
}
