//! Behind the transmitter: propagation and jitter.

use super::{said_steps, steps, Help, Words, Written};
use crate::distribution::{law, LOGNORMAL, NORMAL};
use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::outside::Outside;
use crate::read::{check_keys, flag, needed, quantity, Result};
use crate::tree::{Node, Value};
use afteryou_notation::catalogue::NONE;
use afteryou_notation::format::short;
use afteryou_notation::Duration;
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::{Jitter, Propagation};

/// `delay` of a link, if it is a table.
const PROPAGATION: &[Key] = &[
    key("steps", Takes::DelaySteps, "from when, and how long"),
    key("reorder", Takes::Flag, "packets of a shorter route overtake; they wait by default"),
];

/// `jitter` of a link or a flow: one law.
const JITTER: &[Key] = &[
    key("uniform", Takes::UpTo, "anywhere up to a time, or between two"),
    key("normal", Takes::Table(NORMAL), "normal, with 0 in place of negative delays"),
    key("lognormal", Takes::Table(LOGNORMAL), "lognormal"),
    key("samples", Takes::Samples, "one of these"),
    key("reorder", Takes::Flag, "packets overtake one another; they keep their order by default"),
];

/// The elements behind the transmitter.
pub(crate) const DELAY: &[Words] = &[
    Words {
        name: "delay",
        key: Some(Written {
            takes: Takes::Propagation(PROPAGATION),
            help: Help::of_directions(
                "propagation delay in each direction, beside that of paths; none by default",
                "propagation delay, beside that of paths; none by default",
            ),
            read: |node, of, _| {
                let delay = propagation(node)?;
                of.elements.delay = (delay != Propagation::constant(Duration::default())).then_some(delay);
                Ok(())
            },
        }),
        said: |elements| {
            elements.delay.as_ref().map(|delay| overtaking(said_steps(&delay.steps), delay.reorder))
        },
    },
    Words {
        name: "jitter",
        key: Some(Written {
            takes: Takes::Jitter(JITTER),
            help: Help::of_directions(
                "delay that differs from packet to packet, in each direction; none by default",
                "delay that differs from packet to packet; none by default",
            )
            .and_of_flows("delay of its data packets before their first link; none by default"),
            read: |node, of, files| {
                of.elements.jitter = jitter(node, files)?;
                Ok(())
            },
        }),
        said: |elements| elements.jitter.as_ref().map(|jitter| overtaking(said(&jitter.law), jitter.reorder)),
    },
];

/// Reads a time, or `{ steps = … }`.
fn propagation(node: &Node) -> Result<Propagation> {
    let Value::Table(fields) = &node.value else { return Ok(Propagation::constant(quantity(node)?)) };
    check_keys(fields, "delay", PROPAGATION)?;
    Ok(Propagation {
        steps: steps(needed(fields, "steps", node, "[[\"0 s\", \"10 ms\"]]")?, quantity)?,
        reorder: fields.get("reorder").map_or(Ok(false), flag)?,
    })
}

/// Reads a law of delays, or `"none"`.
fn jitter(node: &Node, files: &Outside) -> Result<Option<Jitter>> {
    let fields = match &node.value {
        Value::Text(word) if word == NONE => return Ok(None),
        Value::Table(fields) => fields,
        _ => {
            let message = "write { uniform = \"1 ms\" }, another law of delays, or \"none\"";
            return Err(Problem::new(&node.place, message));
        }
    };
    check_keys(fields, "jitter", JITTER)?;
    let of_law = fields.entries.iter().filter(|(key, _)| key.name != "reorder").count();
    let law = match fields.get("uniform") {
        Some(most @ Node { value: Value::Text(_), .. }) if of_law == 1 => {
            Distribution::Uniform(Duration::default(), quantity(most)?)
        }
        _ => law(node, fields, &["reorder"], files)?,
    };
    Ok(Some(Jitter { law, reorder: fields.get("reorder").map_or(Ok(false), flag)? }))
}

fn overtaking(words: String, reorder: bool) -> String {
    if reorder {
        words + ", packets overtake"
    } else {
        words
    }
}

fn said(law: &Distribution) -> String {
    match law {
        Distribution::Fixed(time) => time.to_string(),
        Distribution::Uniform(from, to) => format!("uniform from {from} to {to}"),
        Distribution::Normal { mean, deviation } => format!("normal, mean {mean}, deviation {deviation}"),
        Distribution::Lognormal { median, sigma, clip } => {
            let clip = clip.map(|[from, to]| format!(", {from} to {to}")).unwrap_or_default();
            format!("lognormal, median {median}, σ {}{clip}", short(*sigma))
        }
        Distribution::Samples(_) => "drawn from a list of samples".to_owned(),
    }
}
