//! The names of flows. Draws, sweeps and assignments go by these names, so each table has one of its own.

use crate::error::Problem;
use crate::limits::MOST_FLOWS;
use crate::read::{count, Result};
use crate::tree::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the name of each table of flows: the written one, else the first of "cubic", "cubic 2", "cubic 3" … that no other
/// flow has.
pub(crate) fn names(tables: &[Node]) -> Vec<String> {
    let written: Vec<Option<String>> = tables.iter().map(written).collect();
    let mut taken = BTreeSet::new();
    for (table, name) in tables.iter().zip(&written) {
        if let Some(name) = name {
            take(&mut taken, table, name);
        }
    }
    let mut numbers = BTreeMap::new();
    let named = |(table, written): (&Node, Option<String>)| {
        written.unwrap_or_else(|| {
            let kind = kind(table);
            let number: &mut u64 = numbers.entry(kind.clone()).or_default();
            let name = loop {
                *number += 1;
                let name = if *number == 1 { kind.clone() } else { format!("{kind} {number}") };
                if !taken.contains(&name) {
                    break name;
                }
            };
            take(&mut taken, table, &name);
            name
        })
    };
    tables.iter().zip(written).map(named).collect()
}

/// Checks the names: two tables of one name would share their random draws and be indistinguishable.
pub(crate) fn check(tables: &[Node], names: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match tables.iter().zip(names).find(|(_, name)| !seen.insert(name.as_str())) {
        Some((table, name)) => Err(twice(table, name)),
        None => Ok(()),
    }
}

pub(crate) fn twice(table: &Node, name: &str) -> Problem {
    Problem::new(&table.place, format!("two flows are named {name:?}: rename one"))
}

/// Returns the name of the flow with this number (from 0) of a table of several.
pub(crate) fn member(name: &str, number: u64) -> String {
    format!("{name} {}", number + 1)
}

fn written(table: &Node) -> Option<String> {
    let Value::Table(fields) = &table.value else { return None };
    fields.get("name").map(Node::shown)
}

/// Takes the table's name and those of all flows that it stands for.
fn take(taken: &mut BTreeSet<String>, table: &Node, name: &str) {
    let Value::Table(fields) = &table.value else { return };
    let flows = fields.get("count").and_then(|node| count(node, 1..=MOST_FLOWS).ok()).unwrap_or(1);
    // Too many flows in all are refused elsewhere.
    if flows > 1 && taken.len() as u64 <= MOST_FLOWS {
        taken.extend((0..flows).map(|number| member(name, number)));
    }
    taken.insert(name.to_owned());
}

/// Returns the controller's name, "cbr" without one.
fn kind(table: &Node) -> String {
    let Value::Table(fields) = &table.value else { return String::new() };
    let kind = fields.get("controller").and_then(|node| match &node.value {
        Value::Text(text) => Some(text.split(',').next().unwrap_or_default().trim().to_owned()),
        Value::Table(table) => table.get("kind").map(Node::shown),
        _ => None,
    });
    kind.unwrap_or_else(|| "cbr".to_owned())
}
