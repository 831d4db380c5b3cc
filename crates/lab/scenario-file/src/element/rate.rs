//! In place of the transmitter: rates that change, repeat requests, a token bucket. Acknowledgements that wait for others.

use super::markov::{self, Channel, MARKOV};
use super::{said_steps, steps, Help, Imperfections, Words, Written};
use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::outside::Outside;
use crate::read::{check_keys, count, flag, needed, quantity, table, Result};
use crate::tree::{Node, Value};
use afteryou_notation::catalogue::NONE;
use afteryou_notation::{format, Duration, Rate, Size};
use afteryou_scenario::element::{Aggregate, Arq, RateLaw};

/// Most acknowledgements that wait for one another.
const MOST_ACKS: u64 = 100_000;

/// `rate` of a link, if it is a table: `steps`, or `trace`.
pub(crate) const RATE_LAW: &[Key] = &[
    key("steps", Takes::RateSteps, "from when, and which rate; 0 bit/s is an outage"),
    key(
        "trace",
        Takes::Text,
        "a file beside the scenario (with `--untrusted`, below its folder): Mahimahi's packet-delivery trace, or lines `time,rate`",
    ),
    key("loop", Takes::Flag, "the trace begins again when it is over"),
    key("markov", Takes::Markov(MARKOV), "a chain of states, drawn for each run, or the preset satellite"),
];

/// `aggregate` of a link.
const AGGREGATE: &[Key] = &[
    key("acks", Takes::Count, "number of acknowledgements that leave together; any number by default"),
    key("time", Takes::Time, "none waits longer than this"),
];

/// The elements in place of the transmitter, and acknowledgements that wait. A rate is read with the link.
pub(crate) const RATE: &[Words] = &[
    Words { name: "rate", key: None, said: |elements| elements.rate.as_ref().map(said_rate) },
    Words { name: "ARQ", key: None, said: |elements| elements.arq.as_ref().map(said_arq) },
    Words {
        name: "aggregate",
        key: Some(Written {
            takes: Takes::OrNone(AGGREGATE),
            help: Help::of_directions(
                "acknowledgements wait before it and leave together, in each direction; none by default",
                "acknowledgements wait before it and leave together; none by default",
            ),
            read: |node, of, _| {
                of.elements.aggregate = aggregate(node)?;
                Ok(())
            },
        }),
        said: |elements| {
            let Aggregate { acks, time } = elements.aggregate?;
            Some(format!("{acks} ACKs, or those of {time}"))
        },
    },
    Words {
        name: "burst",
        key: Some(Written {
            takes: Takes::Size,
            help: Help::of_links(
                "size of a token bucket, as htb has it: packets may leave together; none by default",
            ),
            read: |node, of, _| {
                of.elements.burst = Some(bucket(node)?);
                Ok(())
            },
        }),
        said: |elements| elements.burst.map(|burst| burst.to_string()),
    },
];

/// The context of a link's settings beside its own table.
pub(crate) struct Context<'a> {
    /// The files that it names.
    pub(crate) files: &'a Outside,
    /// How long the run is.
    pub(crate) duration: Duration,
    /// Seed of what is drawn.
    pub(crate) seed: u64,
}

/// Reads a rate; or a law in a table, which is put among the elements of `of`. Then the rate is its mean over the run.
pub(crate) fn rate(node: &Node, of: &mut Imperfections, link: &str, context: &Context<'_>) -> Result<Rate> {
    of.elements.rate = None;
    of.elements.arq = None;
    let Value::Table(fields) = &node.value else { return constant_rate(node) };
    check_keys(fields, "rate", RATE_LAW)?;
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

/// Reads `{ acks = 8, time = "5 ms" }`, or `"none"`.
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

fn bucket(node: &Node) -> Result<Size> {
    let size: Size = quantity(node)?;
    match size.bytes() {
        0 => {
            let reason = "a bucket holds at least 1 B: leave it out for a link without one";
            Err(Problem::new(&node.place, reason.to_owned()))
        }
        _ => Ok(size),
    }
}

fn said_rate(law: &RateLaw) -> String {
    match law {
        RateLaw::Steps { steps: of_rate, period } => {
            let again = period.map(|period| format!(", again after {period}")).unwrap_or_default();
            format!("{}{again}", said_steps(of_rate))
        }
        RateLaw::Opportunities { at_ms, repeat } => {
            let again = if *repeat { ", looped" } else { "" };
            format!("trace of {} opportunities{again}", format::count(at_ms.len() as u64))
        }
    }
}

fn said_arq(Arq { error, transmissions, round }: &Arq) -> String {
    format!("error rate {}, at most {transmissions} transmissions, {round} apart", said_steps(error))
}
