//! Measures of flows in a window. `flow` names a flow or a table of the file that stands for several; a list of names adds them up.

use super::{is, nothing, set, window, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{jain, FlowFigures, Outcome, WindowFigures};

pub(super) const MEASURES: &[Measure] = &[
    Measure { name: "goodput", help: "payload rate of `flow`, Mbit/s", take: goodput },
    Measure {
        name: "wire_rate",
        help:
            "rate at which bytes of `flow` left the bottleneck, headers and retransmissions included, Mbit/s",
        take: wire_rate,
    },
    Measure {
        name: "goodput_share",
        help: "payload rate of `flow` over the payload capacity, 0 to 1",
        take: goodput_share,
    },
    Measure {
        name: "goodput_ratio",
        help: "payload rate of `flow` over that of `other`",
        take: goodput_ratio,
    },
    Measure { name: "part", help: "payload rate of `flow` over that of all flows, 0 to 1", take: part },
    Measure {
        name: "byte_share",
        help: "bytes of `flow` that left the bottleneck, retransmissions included, over all, 0 to 1",
        take: byte_share,
    },
    Measure {
        name: "jain",
        help: "Jain's index over `flow`, all flows without it, by payload rate",
        take: jain_index,
    },
    Measure {
        name: "short_term_jain",
        help: "Jain's index of the set in steps, mean, or `p5 = true`",
        take: short_term,
    },
];

/// The flows that an argument names; all of them without it.
fn named<'a>(outcome: &Outcome, window: &'a WindowFigures, args: &Args, key: &str) -> Vec<&'a FlowFigures> {
    let names = args.texts(key);
    let meant =
        |flow: &&FlowFigures| names.is_empty() || names.iter().any(|name| is(outcome, &flow.flow, name));
    window.flows.iter().filter(meant).collect()
}

fn rate(flows: &[&FlowFigures]) -> f64 {
    flows.iter().map(|flow| flow.goodput_bit_s).sum()
}

fn goodput(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok((rate(&named(outcome, window(outcome, args)?, args, "flow")) / 1e6).into())
}

fn goodput_share(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let flows = named(outcome, window(outcome, args)?, args, "flow");
    Ok(flows.iter().map(|flow| flow.share_of_payload_capacity).sum::<f64>().into())
}

fn goodput_ratio(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let window = window(outcome, args)?;
    let [one, other] = ["flow", "other"].map(|key| rate(&named(outcome, window, args, key)));
    match other > 0.0 {
        true => Ok((one / other).into()),
        false => Err(nothing("the other flows sent nothing")),
    }
}

fn part(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let window = window(outcome, args)?;
    let all = rate(&window.flows.iter().collect::<Vec<_>>());
    match all > 0.0 {
        true => Ok((rate(&named(outcome, window, args, "flow")) / all).into()),
        false => Err(nothing("no flow sent anything in this window")),
    }
}

/// Bytes of the named flows that left the bottleneck, and those of all flows; there are some.
fn bytes_out(outcome: &Outcome, args: &Args) -> Result<[u64; 2]> {
    let link = window(outcome, args)?.links.first().ok_or_else(|| nothing("the run has no link"))?;
    let names = args.texts("flow");
    let all: u64 = link.flows.iter().map(|flow| flow.bytes).sum();
    let meant = link.flows.iter().filter(|flow| names.iter().any(|name| is(outcome, &flow.flow, name)));
    let bytes: u64 = meant.map(|flow| flow.bytes).sum();
    match all > 0 {
        true => Ok([bytes, all]),
        false => Err(nothing("no byte left the link in this window, or queues were not recorded")),
    }
}

fn byte_share(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let [bytes, all] = bytes_out(outcome, args)?;
    Ok((bytes as f64 / all as f64).into())
}

fn wire_rate(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let ([bytes, _], window) = (bytes_out(outcome, args)?, window(outcome, args)?);
    Ok((bytes as f64 * 8.0 / (window.to_s - window.from_s) / 1e6).into())
}

fn jain_index(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let flows = named(outcome, window(outcome, args)?, args, "flow");
    let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_bit_s).collect();
    Ok(jain(&rates).into())
}

fn short_term(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let short =
        set(outcome, args)?.short_term.as_ref().ok_or_else(|| nothing("no step had an active flow"))?;
    let low = args.0.get("p5").and_then(toml::Value::as_bool).unwrap_or(false);
    Ok(if low { short.p5 } else { short.mean }.into())
}
