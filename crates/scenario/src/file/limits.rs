//! Bounds that no file of good will meets. Without them a short file could ask for all memory and all time: what is
//! written once is copied for each flow, and each flow for each run.

use super::error::Problem;
use super::read::Result;
use super::tree::{Key, Node, Table, Value};
use crate::scenario::Scenario;

/// Largest file that is read, bytes.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;
/// Most runs that a file may stand for.
pub(crate) const MOST_RUNS: u64 = 100_000;
/// Most runs with start values drawn anew.
pub(crate) const MOST_TRIALS: u64 = MOST_RUNS;
/// Most flows of a run.
pub(crate) const MOST_FLOWS: u64 = 20_000;
/// Most parts of all runs together: flows, times of activity, windows, scripted packets.
pub(crate) const MOST_PARTS: u64 = 1_000_000;
/// Most windows of a run.
pub(crate) const MOST_WINDOWS: usize = 1000;
/// Most times of activity of a flow.
pub(crate) const MOST_INTERVALS: usize = 1000;
/// Most settings that vary: each doubles the number of runs at least.
pub(crate) const MOST_AXES: usize = 20;
/// Longest word, number or key, bytes.
const LONGEST_TEXT: usize = 500;

/// How much a scenario holds.
pub(crate) fn parts(scenario: &Scenario) -> u64 {
    let Scenario { flow, measure, drop, delay, .. } = scenario;
    let intervals: usize = flow.iter().map(|flow| flow.active.len()).sum();
    (flow.len() + intervals + measure.len() + drop.len() + delay.len()) as u64
}

/// Refuses keys and values that are longer than anybody writes. Dotted keys are followed step by step, so their length is
/// also the depth of what they make.
pub(crate) fn check_lengths(table: &Table) -> Result<()> {
    table.entries.iter().try_for_each(|(key, node)| check_key(key).and_then(|()| check_length(node)))
}

pub(crate) fn check_key(Key { name, place }: &Key) -> Result<()> {
    match name.len() > LONGEST_TEXT {
        true => Err(Problem::new(place, format!("a key is longer than {LONGEST_TEXT} bytes: shorten it"))),
        false => Ok(()),
    }
}

pub(crate) fn check_length(node: &Node) -> Result<()> {
    match &node.value {
        Value::Text(text) | Value::Number(text) if text.len() > LONGEST_TEXT => {
            let message = format!("this is longer than {LONGEST_TEXT} bytes: shorten it");
            Err(Problem::new(&node.place, message))
        }
        Value::List(list) => list.iter().try_for_each(check_length),
        Value::Table(table) => check_lengths(table),
        _ => Ok(()),
    }
}
