//! Distributions of times as files write them.

use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::outside::Outside;
use crate::read::{check_keys, count, list, needed, number, pair, quantity, table, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::Duration;
use afteryou_scenario::draw::{Distribution, Samples};

const FORMS: &str = "write a time, { uniform = [\"20 ms\", \"50 ms\"] }, { normal = { mean = \"50 ms\", deviation = \"5 ms\" } }, \
    { lognormal = { median = \"50 ms\", sigma = 0.5 } } or { samples = [[\"20 ms\", 3], [\"50 ms\", 1]] }";
/// `normal` of a distribution.
pub const NORMAL: &[Key] =
    &[key("mean", Takes::Time, "its mean"), key("deviation", Takes::Time, "its standard deviation")];

/// `lognormal` of a distribution: `median` or `mean`.
pub const LOGNORMAL: &[Key] = &[
    key("median", Takes::Time, "half of the times are below"),
    key("mean", Takes::Time, "their mean before they are clipped"),
    key("sigma", Takes::Number(0.0, 5.0), "standard deviation of the natural logarithm"),
    key("clip", Takes::Range, "times beyond these bounds are set to them"),
];

/// Widest lognormal distribution that is taken.
pub(crate) const WIDEST: f64 = 5.0;

/// Reads a time, or a table with one law.
pub(crate) fn distribution(node: &Node, files: &Outside) -> Result<Distribution> {
    let Value::Table(fields) = &node.value else { return quantity(node).map(Distribution::Fixed) };
    law(node, fields, &[], files)
}

/// Reads the only law among `fields`, beside keys that are `others`.
pub(crate) fn law(node: &Node, fields: &Table, others: &[&str], files: &Outside) -> Result<Distribution> {
    let mut laws = fields.entries.iter().filter(|(key, _)| !others.contains(&key.name.as_str()));
    let (Some((key, law)), None) = (laws.next(), laws.next()) else {
        return Err(Problem::new(&node.place, FORMS));
    };
    match key.name.as_str() {
        "uniform" => uniform(law),
        "normal" => normal(law),
        "lognormal" => lognormal(law),
        "samples" => samples(law, files).map(Distribution::Samples),
        _ => Err(Problem::new(&key.place, FORMS)),
    }
}

/// Reads `[from, to]`.
pub(crate) fn uniform(node: &Node) -> Result<Distribution> {
    let [from, to] = pair(node)?;
    let (from, to) = (quantity(from)?, quantity(to)?);
    match from <= to {
        true => Ok(Distribution::Uniform(from, to)),
        false => Err(Problem::new(&node.place, "the first value is larger than the second: swap them")),
    }
}

fn normal(node: &Node) -> Result<Distribution> {
    let fields = table(node)?;
    check_keys(fields, "normal", NORMAL)?;
    Ok(Distribution::Normal {
        mean: quantity(needed(fields, "mean", node, "\"50 ms\"")?)?,
        deviation: quantity(needed(fields, "deviation", node, "\"5 ms\"")?)?,
    })
}

fn lognormal(node: &Node) -> Result<Distribution> {
    let fields = table(node)?;
    check_keys(fields, "lognormal", LOGNORMAL)?;
    let sigma = number(needed(fields, "sigma", node, "0.5")?, 0.0..=WIDEST)?;
    let clip = fields.get("clip").map(|node| match uniform(node)? {
        Distribution::Uniform(least, most) => Ok([least, most]),
        _ => Err(Problem::new(&node.place, "write two times: [least, most]")),
    });
    let clip = clip.transpose()?;
    match (fields.get("median"), fields.get("mean")) {
        (Some(median), None) => Ok(Distribution::Lognormal { median: quantity(median)?, sigma, clip }),
        (None, Some(mean)) => Ok(Distribution::lognormal_of_mean(quantity(mean)?, sigma, clip)),
        _ => Err(Problem::new(&node.place, "write either median = \"50 ms\" or mean = \"50 ms\"")),
    }
}

/// Reads a list of times, each alone or with a weight; or the name of a file with them.
fn samples(node: &Node, files: &Outside) -> Result<Samples> {
    let Value::List(written) = &node.value else { return files.samples(node) };
    let sample = |node: &Node| -> Result<(Duration, u32)> {
        let Value::List(_) = node.value else { return Ok((quantity(node)?, 1)) };
        match list(node)? {
            [time, weight] => Ok((quantity(time)?, count(weight, 0..=1_000_000_000)? as u32)),
            _ => Err(Problem::new(&node.place, "write a time and its weight: [\"20 ms\", 3]")),
        }
    };
    let samples = Samples::from(written.iter().map(sample).collect::<Result<Vec<_>>>()?);
    match samples.is_empty() {
        true => {
            Err(Problem::new(&node.place, "there is nothing to draw: write a time with a weight above 0"))
        }
        false => Ok(samples),
    }
}
