//! Chains of states as files write them, and what is drawn of them for a run.

use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::read::{
    at, check_keys, count, list, needed, number, optional, quantity, table, text, wanted, Result,
};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{unknown, Duration};
use afteryou_scenario::element::{Arq, ChannelState, Markov, Propagation, RateLaw, Steps, MOST_STATES};
use rand_pcg::Pcg64;

/// `rate.markov`, if it is a table.
pub const MARKOV: &[Key] = &[
    key("states", Takes::Tables(STATE), "its states, two at least"),
    key("arq", Takes::Table(ARQ), "repeat requests of the link layer; a packet is sent once by default"),
];

/// `rate.markov.states`.
pub const STATE: &[Key] = &[
    key("name", Takes::Text, "its name"),
    key("rate", Takes::Rate, "rate of the link in it; 0 bit/s if nothing gets through"),
    key("dwell", Takes::Time, "mean time in it"),
    key("error", Takes::Probability, "probability that a transmission fails in it; 0 % by default"),
    key("next", Takes::Weights, "how often each state follows; each other one as often by default"),
];

/// `rate.markov.arq`.
pub const ARQ: &[Key] = &[
    key("transmissions", Takes::Count, "most transmissions of a packet"),
    key("round", Takes::Time, "from a transmission that failed to the next"),
];

/// The preset's propagation and interleaving, each way.
const SATELLITE_DELAY: Duration = Duration::from_millis(250 + 36);
/// How often the preset's link layer sends a packet at most.
const SATELLITE_TRANSMISSIONS: u32 = 3;

/// A channel as it was drawn.
pub(crate) struct Channel {
    pub(crate) rate: RateLaw,
    pub(crate) arq: Arq,
    /// The preset's delay.
    pub(crate) delay: Option<Propagation>,
}

/// Reads a chain, or the word of a preset, and draws it.
pub(crate) fn drawn(node: &Node, duration: Duration, random: &mut Pcg64) -> Result<Channel> {
    let (markov, arq, delay) = match &node.value {
        Value::Text(word) if word == "satellite" => {
            let markov = Markov::satellite().ok_or_else(|| Problem::new(&node.place, "bug: no satellite"))?;
            let arq = (SATELLITE_TRANSMISSIONS, Duration(SATELLITE_DELAY.0 * 2));
            (markov, Some(arq), Some(Propagation::constant(SATELLITE_DELAY)))
        }
        Value::Text(word) => return at(node, Err(unknown("channel", word, &["satellite"]))),
        Value::Table(fields) => {
            check_keys(fields, "markov", MARKOV)?;
            let states = needed(fields, "states", node, "[{ … }, { … }]")?;
            (chain(states)?, fields.get("arq").map(arq).transpose()?, None)
        }
        _ => return Err(wanted(node, "\"satellite\" or { states = [{ … }, { … }] }")),
    };
    if markov.is_too_long(duration) {
        return Err(Problem::new(
            &node.place,
            "the state changes more than a million times: use longer dwell times",
        ));
    }
    let visits = markov.drawn(duration, random);
    let state = |visit: usize| &markov.states()[visit];
    let rates = visits.iter().map(|(at, visit)| (*at, state(*visit).rate)).collect();
    let errors = visits.iter().map(|(at, visit)| (*at, state(*visit).error)).collect();
    let wrong = |(_, why): (usize, &str)| Problem::new(&node.place, why);
    let rate = RateLaw::Steps { steps: Steps::new(rates).map_err(wrong)?, period: None };
    let error = Steps::new(errors).map_err(wrong)?;
    // Without repeat requests a packet is sent once.
    let (transmissions, round) = arq.unwrap_or((1, Duration::default()));
    Ok(Channel { rate, arq: Arq { error, transmissions, round }, delay })
}

fn arq(node: &Node) -> Result<(u32, Duration)> {
    let fields = table(node)?;
    check_keys(fields, "arq", ARQ)?;
    let transmissions = count(needed(fields, "transmissions", node, "3")?, 1..=100)?;
    Ok((transmissions as u32, quantity(needed(fields, "round", node, "\"20 ms\"")?)?))
}

fn chain(node: &Node) -> Result<Markov> {
    let nodes = list(node)?;
    if !(2..=MOST_STATES).contains(&nodes.len()) {
        return Err(Problem::new(&node.place, format!("write 2 to {MOST_STATES} states")));
    }
    let name = |node: &Node| text(needed(table(node)?, "name", node, "\"good\"")?).map(str::to_owned);
    let names = nodes.iter().map(name).collect::<Result<Vec<_>>>()?;
    if let Some(twice) = (1..names.len()).find(|i| names[..*i].contains(&names[*i])) {
        return Err(Problem::new(
            &nodes[twice].place,
            format!("two states are named {:?}: rename one", names[twice]),
        ));
    }
    let states =
        nodes.iter().zip(&names).map(|(node, name)| state(node, name, &names)).collect::<Result<_>>()?;
    Markov::new(states).map_err(|(i, why)| Problem::new(&nodes.get(i).unwrap_or(node).place, why))
}

fn state(node: &Node, name: &str, names: &[String]) -> Result<ChannelState> {
    let fields = table(node)?;
    check_keys(fields, "a state", STATE)?;
    let next = match fields.get("next") {
        Some(node) => weights(node, table(node)?, names)?,
        None => names.iter().map(|other| if other == name { 0.0 } else { 1.0 }).collect(),
    };
    Ok(ChannelState {
        name: name.to_owned(),
        rate: quantity(needed(fields, "rate", node, "\"5 Mbit/s\"")?)?,
        dwell: quantity(needed(fields, "dwell", node, "\"2 s\"")?)?,
        error: optional(fields, "error")?.unwrap_or_default(),
        next,
    })
}

/// Reads how often each of the states follows.
fn weights(node: &Node, fields: &Table, names: &[String]) -> Result<Vec<f64>> {
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some((key, _)) = fields.entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
        return Err(Problem::new(&key.place, unknown("state", &key.name, &known).to_string()));
    }
    if fields.entries.is_empty() {
        return Err(Problem::new(&node.place, "write the states that follow: { good = 3, blocked = 1 }"));
    }
    let weight = |name: &String| {
        let weight = fields.get(name).map(|node| number(node, 0.0..=1e9));
        weight.unwrap_or(Ok(0.0))
    };
    names.iter().map(weight).collect()
}
