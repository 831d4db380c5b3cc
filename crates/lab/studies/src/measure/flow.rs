//! Measures of flows in a window. `flow` names a flow or a table of the file that stands for several; a list of names adds them up.

use super::{is, nothing, set, window, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{jain, FlowFigures, Outcome, WindowFigures};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "goodput_of_rate",
        help: "payload rate of `flow` over the rate of the bottleneck, 0 to 1",
        take: goodput_of_rate,
    },
    Measure {
        name: "wire_of_rate",
        help: "bytes of `flow` that left the bottleneck, headers included, over its capacity × time, 0 to 1",
        take: wire_of_rate,
    },
    Measure {
        name: "drained",
        help: "bytes of `flow` that left the bottleneck in `window` over those queued when `before` ended, of `packet` bytes each, or over the link's capacity if that is less",
        take: drained,
    },
    Measure {
        name: "byte_share_and_collisions",
        help: "as byte_share, and the number of connections that share a bucket of the queue: two numbers",
        take: byte_share_and_collisions,
    },
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
        name: "completed_in",
        help: "time from the start of `flow`, with its handshake, until its last byte arrived, s",
        take: completed_in,
    },
    Measure {
        name: "goodput_ratio",
        help: "payload rate of `flow` over that of `other`",
        take: goodput_ratio,
    },
    Measure { name: "part", help: "payload rate of `flow` over that of all flows, 0 to 1", take: part },
    Measure {
        name: "smallest_part",
        help: "payload rate of the flow with the least over that of all flows, 0 to 1",
        take: smallest_part,
    },
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

/// Returns the flows that an argument names; all of them without it.
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

fn completed_in(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let name = args.needed_text("flow")?;
    let totals = outcome.run.totals.iter().find(|totals| is(outcome, &totals.flow, name));
    let time = totals.and_then(|totals| totals.completed_in_s);
    time.map(Reading::One).ok_or_else(|| nothing(format!("{name:?} was not completed")))
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

fn smallest_part(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let rates = window(outcome, args)?.flows.iter().map(|flow| flow.goodput_bit_s);
    let all: f64 = rates.clone().sum();
    match all > 0.0 {
        true => Ok((rates.fold(f64::INFINITY, f64::min) / all).into()),
        false => Err(nothing("no flow sent anything in this window")),
    }
}

fn byte_share(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let link = window(outcome, args)?.links.first().ok_or_else(|| nothing("the run has no link"))?;
    let names = args.texts("flow");
    let all: u64 = link.flows.iter().map(|flow| flow.bytes).sum();
    let meant = link.flows.iter().filter(|flow| names.iter().any(|name| is(outcome, &flow.flow, name)));
    let bytes: u64 = meant.map(|flow| flow.bytes).sum();
    match all > 0 {
        true => Ok((bytes as f64 / all as f64).into()),
        false => Err(nothing("no byte left the link in this window, or queues were not recorded")),
    }
}

fn byte_share_and_collisions(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let buckets = window(outcome, args)?.links.first().and_then(|link| link.buckets.as_ref());
    let buckets = buckets.ok_or_else(|| nothing("the queue has no buckets"))?;
    let mut numbers = byte_share(outcome, args)?.list();
    numbers.push(buckets.sharing as f64);
    Ok(Reading::List(numbers))
}

fn goodput_of_rate(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let window = window(outcome, args)?;
    let link = window.links.first().ok_or_else(|| nothing("the run has no link"))?;
    Ok((rate(&named(outcome, window, args, "flow")) / link.capacity_bit_s).into())
}

/// Returns the bytes of the flows with these names that left the bottleneck in a window, and their packets in its queue at
/// the end.
fn at_link(outcome: &Outcome, window: &WindowFigures, names: &[&str]) -> Result<(u64, u64)> {
    let link = window.links.first().ok_or_else(|| nothing("the run has no link"))?;
    let meant = link.flows.iter().filter(|flow| names.iter().any(|name| is(outcome, &flow.flow, name)));
    Ok(meant.fold((0, 0), |(bytes, queued), flow| (bytes + flow.bytes, queued + flow.queued_at_end)))
}

fn wire_of_rate(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let window = window(outcome, args)?;
    let (bytes, _) = at_link(outcome, window, &args.texts("flow"))?;
    let capacity = window.links[0].capacity_bit_s * (window.to_s - window.from_s);
    Ok((bytes as f64 * 8.0 / capacity).into())
}

fn wire_rate(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let window = window(outcome, args)?;
    let (bytes, _) = at_link(outcome, window, &args.texts("flow"))?;
    Ok((bytes as f64 * 8.0 / (window.to_s - window.from_s) / 1e6).into())
}

fn drained(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let names = args.texts("flow");
    let before = args.needed_text("before")?;
    let earlier = outcome.run.windows.iter().find(|window| window.window == before);
    let earlier = earlier.ok_or_else(|| nothing(format!("the run has no window {before:?}")))?;
    let window = window(outcome, args)?;
    let ((bytes, _), (_, queued)) = (at_link(outcome, window, &names)?, at_link(outcome, earlier, &names)?);
    let carried = window.links[0].capacity_bit_s * (window.to_s - window.from_s) / 8.0;
    match queued {
        0 => Err(nothing("nothing was queued")),
        _ => Ok((bytes as f64 / (queued as f64 * args.needed_number("packet")?).min(carried)).into()),
    }
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
