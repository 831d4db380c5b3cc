//! Ranges in `[sweep]`: values at equal steps, `{ from, to, step }`, or at equal ratios, `{ log = [from, to], per_decade }`.
//!
//! Values are written in the unit of `from`. Steps are exact to 12 digits, ratios are rounded to 4, so that values can be read and
//! compared. `to` belongs to the range if a step comes there.

use crate::error::Problem;
use crate::keys::{LOG, RANGE};
use crate::limits::MOST_RUNS;
use crate::read::{check_keys, count, needed, pair, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{Plain, Unit};

/// Most values within a factor of ten.
pub(super) const MOST_PER_DECADE: u64 = 1000;
/// Digits of values at equal steps: fewer than a float has, so that 0.1 + 0.2 is 0.3.
const STEP_DIGITS: usize = 12;
/// Digits of values at equal ratios.
const RATIO_DIGITS: usize = 4;
/// Part of a step by which `to` may be missed.
const SLACK: f64 = 1e-9;

/// Returns whether this is a range, and not a table of settings.
pub(super) fn is_range(table: &Table) -> bool {
    let of_range = |name: &str| RANGE.iter().chain(LOG).any(|key| key.name == name);
    let is_list = |node: &Node| matches!(node.value, Value::List(_) | Value::Table(_));
    table.entries.iter().any(|(key, node)| of_range(&key.name) && (key.name == "log" || !is_list(node)))
}

/// Returns the values of a range.
pub(super) fn values(node: &Node, table: &Table) -> Result<Vec<Node>> {
    if table.get("log").is_some() || table.get("per_decade").is_some() {
        return by_ratio(node, table);
    }
    check_keys(table, "a range", RANGE)?;
    let [from, to, step] = [
        needed(table, "from", node, "\"10 ms\"")?,
        needed(table, "to", node, "\"100 ms\"")?,
        needed(table, "step", node, "\"10 ms\"")?,
    ];
    let first = Written::of(from)?;
    let (to, step) = (first.same_unit(to)?, (first.same_unit(step)?, step));
    if step.0 <= 0.0 {
        return Err(Problem::new(
            &step.1.place,
            "a step lies above zero: the range goes from the smaller value to the larger one",
        ));
    }
    ascending(node, first.number, to)?;
    let last = (to - first.number) / step.0;
    let at = |index: u64| first.number + index as f64 * step.0;
    Ok(made(node, &first, last, "a longer step")?
        .map(|index| first.node(rounded(at(index), STEP_DIGITS)))
        .collect())
}

fn by_ratio(node: &Node, table: &Table) -> Result<Vec<Node>> {
    check_keys(table, "a range", LOG)?;
    let per_decade = needed(table, "per_decade", node, "3")?;
    let [from, to] = pair(needed(table, "log", node, "[\"1 Mbit/s\", \"100 Mbit/s\"]")?)?;
    let per_decade = count(per_decade, 1..=MOST_PER_DECADE)? as f64;
    let first = Written::of(from)?;
    let to = first.same_unit(to)?;
    if first.number <= 0.0 {
        return Err(Problem::new(&from.place, "equal ratios begin above zero"));
    }
    ascending(node, first.number, to)?;
    let last = libm::log10(to / first.number) * per_decade;
    let at = |index: u64| {
        let value = first.number * libm::pow(10.0, index as f64 / per_decade);
        // Packets and counts are whole.
        match first.is_count() {
            true => value.round(),
            false => rounded(value, RATIO_DIGITS),
        }
    };
    let mut values: Vec<f64> = made(node, &first, last, "fewer per_decade")?.map(at).collect();
    values.dedup();
    Ok(values.into_iter().map(|value| first.node(value)).collect())
}

/// The first value of a range, as it is written.
struct Written<'a> {
    node: &'a Node,
    text: &'a str,
    /// Without its unit.
    number: f64,
    is_whole: bool,
    unit: &'a str,
    base: Unit,
    /// The unit in base units.
    factor: f64,
}

impl<'a> Written<'a> {
    fn of(node: &'a Node) -> Result<Written<'a>> {
        let text = text(node)?;
        let (written, unit) = Plain::split(text);
        let (Some(value), Some(one)) = (Plain::of(text), Plain::of(&format!("1 {unit}"))) else {
            return Err(no_quantity(node));
        };
        let (base, factor) = (value.unit, one.value);
        let is_whole = !written.contains(['.', 'e', 'E']);
        Ok(Written { node, text, number: value.value / factor, is_whole, unit, base, factor })
    }

    /// Returns the number of another value in this one's unit.
    fn same_unit(&self, node: &Node) -> Result<f64> {
        let plain = Plain::of(text(node)?).ok_or_else(|| no_quantity(node))?;
        if plain.unit != self.base {
            let message = format!(
                "{} and {} have no common unit: write both as rates, times or sizes",
                self.text,
                text(node)?
            );
            return Err(Problem::new(&node.place, message));
        }
        Ok(plain.value / self.factor)
    }

    fn is_count(&self) -> bool {
        self.is_whole && matches!(self.base, Unit::One | Unit::Packet)
    }

    fn node(&self, number: f64) -> Node {
        let text = format!("{number} {}", self.unit).trim_end().to_owned();
        let value = match self.node.value {
            Value::Number(_) => Value::Number(text),
            _ => Value::Text(text),
        };
        Node { place: self.node.place.clone(), value }
    }
}

fn text(node: &Node) -> Result<&str> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Ok(text.trim()),
        _ => Err(no_quantity(node)),
    }
}

fn no_quantity(node: &Node) -> Problem {
    let shown = node.shown();
    Problem::new(
        &node.place,
        format!("{shown:?} has no place in a range: write a number, with its unit if it has one"),
    )
}

fn ascending(node: &Node, from: f64, to: f64) -> Result<()> {
    match from < to {
        true => Ok(()),
        false => Err(Problem::new(&node.place, "a range goes from the smaller value to the larger one")),
    }
}

/// Returns the indices of the values up to the one at `last` steps.
fn made(node: &Node, first: &Written, last: f64, remedy: &str) -> Result<std::ops::RangeInclusive<u64>> {
    // A float that is too large becomes the largest integer.
    let last = (last + SLACK).floor() as u64;
    if last >= MOST_RUNS {
        let values = last.saturating_add(1);
        let message = format!(
            "this range has {values} values from {} on: 1 to {MOST_RUNS} runs can be made, so write {remedy}",
            first.text
        );
        return Err(Problem::new(&node.place, message));
    }
    Ok(0..=last)
}

/// Returns `value` with `digits` significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}
