//! The network elements of a link: what `loss`, `duplicate` and their kind may be.

use crate::distribution::law;
use crate::error::Problem;
use crate::keys::{AGGREGATE, GILBERT_ELLIOTT, JITTER, LOSS, PROPAGATION, RATE};
use crate::markov::{self, Channel};
use crate::outside::Outside;
use crate::read::{check_keys, count, flag, list, needed, number, pair, quantity, table, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::catalogue::NONE;
use afteryou_notation::{Duration, Probability, Rate, Size};
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::{
    Aggregate, Elements, GilbertElliott, Jitter, LossLaw, Propagation, RateLaw, Steps,
};

/// Most acknowledgements that wait for one another.
const MOST_ACKS: u64 = 100_000;
/// Longest mean burst, packets.
const LONGEST_BURST: f64 = 1e6;

/// Independent losses and elements of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imperfections {
    pub(crate) loss: Probability,
    pub(crate) elements: Elements,
}

/// Reads the elements in `fields`; what they do not name is as in `base`.
pub(crate) fn imperfections(fields: &Table, base: Imperfections, files: &Outside) -> Result<Imperfections> {
    let Imperfections { mut loss, mut elements } = base;
    if let Some(node) = fields.get("elements") {
        elements = as_in_results(node)?;
    }
    if let Some(node) = fields.get("loss") {
        let (independent, law) = losses(node)?;
        loss = independent;
        // A result's scenario has both: a probability, and the elements that came of it.
        if fields.get("elements").is_none() {
            elements.loss = law;
        }
    }
    if let Some(node) = fields.get("duplicate") {
        elements.duplicate = quantity(node)?;
    }
    if let Some(node) = fields.get("delay") {
        let propagation = propagation(node)?;
        elements.delay = (propagation != Propagation::constant(Duration::default())).then_some(propagation);
    }
    if let Some(node) = fields.get("jitter") {
        elements.jitter = jitter(node, files)?;
    }
    if let Some(node) = fields.get("aggregate") {
        elements.aggregate = aggregate(node)?;
    }
    if let Some(node) = fields.get("burst") {
        let burst: Size = quantity(node)?;
        if burst.bytes() == 0 {
            let reason = "a bucket holds at least 1 B: leave it out for a link without one";
            return Err(Problem::new(&node.place, reason.to_owned()));
        }
        elements.burst = Some(burst);
    }
    Ok(Imperfections { loss, elements })
}

/// `{ acks = 8, time = "5 ms" }`, or `"none"`.
fn aggregate(node: &Node) -> Result<Option<Aggregate>> {
    if matches!(&node.value, Value::Text(word) if word == NONE) {
        return Ok(None);
    }
    let fields = table(node)?;
    check_keys(fields, "aggregate", AGGREGATE)?;
    let acks = fields.get("acks").map_or(Ok(MOST_ACKS), |node| count(node, 1..=MOST_ACKS))?;
    let time = quantity(needed(fields, "time", node, "\"5 ms\"")?)?;
    Ok(Some(Aggregate { acks: acks as u32, time }))
}

/// Elements in the form that a result's scenario has.
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

/// The context of a link's settings beside its own table.
pub(crate) struct Context<'a> {
    /// The files that it names.
    pub(crate) files: &'a Outside,
    /// How long the run is.
    pub(crate) duration: Duration,
    /// Seed of what is drawn.
    pub(crate) seed: u64,
}

/// A rate; or a law in a table, which is put among the elements of `of`. Then the rate is its mean over the run.
pub(crate) fn rate(node: &Node, of: &mut Imperfections, link: &str, context: &Context<'_>) -> Result<Rate> {
    of.elements.rate = None;
    of.elements.arq = None;
    let Value::Table(fields) = &node.value else { return constant_rate(node) };
    check_keys(fields, "rate", RATE)?;
    let alone = fields.entries.len() == 1;
    match (fields.get("steps"), fields.get("trace"), fields.get("markov")) {
        (Some(node), None, None) if alone => {
            of.elements.rate = Some(RateLaw::Steps { steps: steps(node, quantity)?, period: None });
        }
        (None, Some(node), None) => {
            let repeat = fields.get("loop").map_or(Ok(false), flag)?;
            of.elements.rate = Some(context.files.trace(node, repeat)?);
        }
        (None, None, Some(node)) if alone => {
            let mut random = afteryou_scenario::random::stream(context.seed, &format!("channel of {link}"));
            let Channel { rate, arq, delay } = markov::drawn(node, context.duration, &mut random)?;
            of.elements.rate = Some(rate);
            of.elements.arq = Some(arq);
            of.elements.delay = of.elements.delay.take().or(delay);
        }
        _ => {
            let forms = "write a rate, { steps = [[\"0 s\", \"10 Mbit/s\"], …] }, { trace = \"file\", loop = true } or \
                { markov = \"satellite\" }";
            return Err(Problem::new(&node.place, forms));
        }
    }
    let Some(law) = &of.elements.rate else { return constant_rate(node) };
    law.check().map_err(|why| Problem::new(&node.place, why))?;
    let mean = law.mean(Duration::default(), context.duration);
    match Rate::from_bits(mean.round() as u64) {
        rate if rate.bytes_per_second() > 0 => Ok(rate),
        rate => Err(Problem::new(
            &node.place,
            format!("{rate} over the run carries nothing: use at least 8 bit/s"),
        )),
    }
}

fn constant_rate(node: &Node) -> Result<Rate> {
    let rate: Rate = quantity(node)?;
    match rate.bytes_per_second() {
        0 => Err(Problem::new(&node.place, format!("{rate} carries nothing: use at least 8 bit/s"))),
        _ => Ok(rate),
    }
}

/// A time, or `{ steps = … }`.
fn propagation(node: &Node) -> Result<Propagation> {
    let Value::Table(fields) = &node.value else { return Ok(Propagation::constant(quantity(node)?)) };
    check_keys(fields, "delay", PROPAGATION)?;
    Ok(Propagation {
        steps: steps(needed(fields, "steps", node, "[[\"0 s\", \"10 ms\"]]")?, quantity)?,
        reorder: fields.get("reorder").map_or(Ok(false), flag)?,
    })
}

/// Pairs of a time and a value.
pub(crate) fn steps<T: Copy>(node: &Node, value: impl Fn(&Node) -> Result<T>) -> Result<Steps<T>> {
    let written = list(node)?;
    let step = |node: &Node| {
        let [at, of] = pair(node)?;
        Ok((quantity(at)?, value(of)?))
    };
    let points = written.iter().map(step).collect::<Result<Vec<_>>>()?;
    Steps::new(points).map_err(|(at, why)| Problem::new(&written.get(at).unwrap_or(node).place, why))
}

/// A law of delays, or `"none"`.
pub(crate) fn jitter(node: &Node, files: &Outside) -> Result<Option<Jitter>> {
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

/// Reads what the data of a flow meet before their first link.
pub(crate) fn elements_of_flow(fields: &Table, files: &Outside) -> Result<Elements> {
    let mut elements = fields.get("elements").map_or(Ok(Elements::default()), as_in_results)?;
    if let Some(node) = fields.get("loss") {
        let (independent, law) = losses(node)?;
        let written = (independent.ratio() > 0.0).then_some(LossLaw::Independent(independent));
        elements.loss = law.or(written);
    }
    if let Some(node) = fields.get("duplicate") {
        elements.duplicate = quantity(node)?;
    }
    if let Some(node) = fields.get("jitter") {
        elements.jitter = jitter(node, files)?;
    }
    Ok(elements)
}

/// A probability, or a law.
fn losses(node: &Node) -> Result<(Probability, Option<LossLaw>)> {
    let Value::Table(fields) = &node.value else { return Ok((quantity(node)?, None)) };
    check_keys(fields, "loss", LOSS)?;
    let law = match (fields.get("gilbert_elliott"), fields.get("every")) {
        (Some(chain), None) => LossLaw::GilbertElliott(gilbert_elliott(chain)?),
        (None, Some(every)) => LossLaw::Every(count(every, 1..=u64::MAX)?),
        _ => {
            let message =
                "write a probability, { gilbert_elliott = { mean = \"1 %\", burst = 5 } } or { every = 100 }";
            return Err(Problem::new(&node.place, message));
        }
    };
    Ok((Probability::default(), Some(law)))
}

fn gilbert_elliott(node: &Node) -> Result<GilbertElliott> {
    let fields = table(node)?;
    check_keys(fields, "gilbert_elliott", GILBERT_ELLIOTT)?;
    let classic = ["p", "r", "good", "bad"].into_iter().find(|name| fields.get(name).is_some());
    if classic.is_none() {
        let mean = quantity(needed(fields, "mean", node, "\"1 %\"")?)?;
        let burst = number(needed(fields, "burst", node, "5")?, 1.0..=LONGEST_BURST)?;
        let impossible =
            "no chain has a loss rate this high in bursts this short: use a longer burst or fewer losses";
        return GilbertElliott::of_mean(mean, burst).ok_or_else(|| Problem::new(&node.place, impossible));
    }
    if fields.get("mean").or(fields.get("burst")).is_some() {
        return Err(Problem::new(&node.place, "write either mean and burst, or p, r, good and bad"));
    }
    let of_state = |name: &str, otherwise: f64| {
        let otherwise = Probability::from_ratio(otherwise).unwrap_or_default();
        fields.get(name).map_or(Ok(otherwise), quantity)
    };
    Ok(GilbertElliott {
        p: quantity(needed(fields, "p", node, "\"0.1 %\"")?)?,
        r: quantity(needed(fields, "r", node, "\"20 %\"")?)?,
        good: of_state("good", 0.0)?,
        bad: of_state("bad", 1.0)?,
    })
}
