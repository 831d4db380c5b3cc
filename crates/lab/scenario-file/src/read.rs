//! Reading values out of nodes.

use crate::error::Problem;
use crate::key::{Key as Known, NOT_YET_KEYS};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{unknown, Duration, Error};
use std::str::FromStr;

pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// Refuses keys that are not `known`; those that are planned get "not yet".
pub(crate) fn check_keys(table: &Table, what: &str, known: &[Known]) -> Result<()> {
    for (key, _) in &table.entries {
        if known.iter().any(|known| known.name == key.name) {
            continue;
        }
        if NOT_YET_KEYS.contains(&key.name.as_str()) {
            return Err(Problem::new(&key.place, format!("{} is not built yet", key.name)));
        }
        let names: Vec<&str> = known.iter().map(|known| known.name).collect();
        let error = unknown(format!("setting of {what}"), &key.name, &names);
        return Err(Problem::new(&key.place, error.to_string()));
    }
    Ok(())
}

/// Returns a node that must be there.
pub(crate) fn needed<'a>(table: &'a Table, name: &str, parent: &Node, example: &str) -> Result<&'a Node> {
    table
        .get(name)
        .ok_or_else(|| Problem::new(&parent.place, format!("{name} is missing: write {name} = {example}")))
}

/// Reads a quantity with its unit.
pub(crate) fn quantity<T: FromStr<Err = Error>>(node: &Node) -> Result<T> {
    let text = match &node.value {
        // A number alone has no unit: the quantity's own error shows how to write it.
        Value::Text(text) | Value::Number(text) => text,
        _ => return Err(wanted(node, "text with a unit, such as \"20 Mbit/s\" or \"50 ms\"")),
    };
    text.parse().map_err(|error: Error| Problem::new(&node.place, error.to_string()))
}

/// Reads a quantity that may be missing.
pub(crate) fn optional<T: FromStr<Err = Error>>(table: &Table, name: &str) -> Result<Option<T>> {
    table.get(name).map(quantity).transpose()
}

pub(crate) fn wanted(node: &Node, what: &str) -> Problem {
    Problem::new(&node.place, format!("this is {}: write {what}", node.is_a()))
}

pub(crate) fn text(node: &Node) -> Result<&str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wanted(node, "text in quotes")),
    }
}

pub(crate) fn flag(node: &Node) -> Result<bool> {
    match &node.value {
        Value::Flag(flag) => Ok(*flag),
        _ => Err(wanted(node, "true or false")),
    }
}

/// Reads a whole number in `range`.
pub(crate) fn count(node: &Node, range: std::ops::RangeInclusive<u64>) -> Result<u64> {
    let (least, most) = (range.start(), range.end());
    let refused = || Problem::new(&node.place, format!("write a whole number from {least} to {most}"));
    let Value::Number(number) = &node.value else { return Err(refused()) };
    let number = number.replace('_', "").parse().map_err(|_| refused())?;
    if range.contains(&number) {
        return Ok(number);
    }
    Err(refused())
}

/// Reads a number in `range`.
pub(crate) fn number(node: &Node, range: std::ops::RangeInclusive<f64>) -> Result<f64> {
    let (least, most) = (range.start(), range.end());
    let refused = || Problem::new(&node.place, format!("write a number from {least} to {most}"));
    let Value::Number(written) = &node.value else { return Err(refused()) };
    written.replace('_', "").parse().ok().filter(|number| range.contains(number)).ok_or_else(refused)
}

pub(crate) fn list(node: &Node) -> Result<&[Node]> {
    match &node.value {
        Value::List(list) => Ok(list),
        _ => Err(wanted(node, "a list in [ ]")),
    }
}

pub(crate) fn table(node: &Node) -> Result<&Table> {
    match &node.value {
        Value::Table(table) => Ok(table),
        _ => Err(wanted(node, "a table")),
    }
}

/// Reads a list of tables, or one table alone.
pub(crate) fn tables(node: &Node) -> Result<Vec<&Node>> {
    match &node.value {
        Value::Table(_) => Ok(vec![node]),
        Value::List(list) => list.iter().map(|node| table(node).map(|_| node)).collect(),
        _ => Err(wanted(node, "a table")),
    }
}

/// Returns the two nodes of a list.
pub(crate) fn pair(node: &Node) -> Result<[&Node; 2]> {
    match list(node)? {
        [from, to] => Ok([from, to]),
        _ => Err(Problem::new(&node.place, "write two values: [from, to]")),
    }
}

/// Reads a time: a span, or a number of round-trip times.
pub(crate) fn time(node: &Node, rtt: Duration) -> Result<Duration> {
    let rounds = match &node.value {
        Value::Text(text) => text.trim().strip_suffix("rtt").map(|number| number.trim().parse::<f64>()),
        _ => None,
    };
    match rounds {
        Some(Ok(rounds)) if (0.0..1e9).contains(&rounds) => {
            Ok(Duration::from_secs_f64(rounds * rtt.as_secs_f64()).min(Duration::LONGEST))
        }
        Some(_) => Err(Problem::new(&node.place, "write a number of round-trip times, such as \"3 rtt\"")),
        None => quantity(node),
    }
}

/// Returns a problem at `node` for an error of the scenario's own types.
pub(crate) fn at<T>(node: &Node, result: std::result::Result<T, Error>) -> Result<T> {
    result.map_err(|error| Problem::new(&node.place, error.to_string()))
}
