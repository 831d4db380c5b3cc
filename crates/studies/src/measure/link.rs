//! Measures of a link in a window. `link` names it; without it the bottleneck is meant.

use super::{nothing, window, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{LinkFigures, Outcome};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "queue_and_utilisation",
        help: "mean queue in packets, and the utilisation: two numbers",
        take: queue_and_utilisation,
    },
    Measure { name: "utilisation", help: "bytes out over capacity × time, 0 to 1", take: utilisation },
    Measure { name: "queue", help: "time-weighted mean of the queue, packets", take: queue },
    Measure {
        name: "queue_of_buffer",
        help: "mean queue over the buffer, E[Q]/Q_max, 0 to 1",
        take: queue_of_buffer,
    },
    Measure {
        name: "class_queue",
        help: "mean number of packets of `class`, best effort or lower effort, in the queue",
        take: class_queue,
    },
    Measure {
        name: "queue_empty",
        help: "part of the time in which the queue is empty, P(Q = 0)",
        take: queue_empty,
    },
    Measure {
        name: "queuing_delay",
        help: "queuing delay of packets, ms: `stat` is mean, p50, p95 or max",
        take: queuing_delay,
    },
    Measure { name: "dropped", help: "packets that the queue dropped in the whole run", take: dropped },
];

fn queue_and_utilisation(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let packets =
        link(outcome, args)?.queue_packets.ok_or_else(|| nothing("the queue's length was not recorded"))?;
    Ok(Reading::List(vec![packets, link(outcome, args)?.utilisation]))
}

fn link<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a LinkFigures> {
    let links = &window(outcome, args)?.links;
    let found = match args.text("link") {
        None => links.first(),
        Some(name) => links.iter().find(|link| link.link == name),
    };
    found.ok_or_else(|| nothing("the run has no such link"))
}

fn utilisation(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(link(outcome, args)?.utilisation.into())
}

fn queue(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let packets = link(outcome, args)?.queue_packets;
    packets.map(Reading::One).ok_or_else(|| nothing("the queue's length was not recorded"))
}

fn queue_of_buffer(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let part = link(outcome, args)?.queue_of_buffer;
    part.map(Reading::One)
        .ok_or_else(|| nothing("the queue's length was not recorded, or it has no limit in packets"))
}

fn queue_empty(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let length = link(outcome, args)?.queue_length.as_ref();
    length.map(|length| length.empty.into()).ok_or_else(|| nothing("the queue's length was not recorded"))
}

fn queuing_delay(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let delay = link(outcome, args)?.queuing_delay.as_ref();
    let delay = delay.ok_or_else(|| nothing("no packet crossed the link in this window"))?;
    Ok(match args.text("stat").unwrap_or("mean") {
        "mean" => delay.mean_ms,
        "p50" => delay.p50_ms,
        "p95" => delay.p95_ms,
        "max" => delay.max_ms,
        other => return Err(nothing(format!("there is no statistic {other:?}"))),
    }
    .into())
}

fn class_queue(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let wanted = args.needed_text("class")?;
    let class = link(outcome, args)?.classes.iter().find(|class| class.class == wanted);
    let packets = class.and_then(|class| class.queue_packets);
    packets.map(Reading::One).ok_or_else(|| nothing(format!("the queue of {wanted:?} was not recorded")))
}

fn dropped(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let links = &outcome.run.links;
    let found = match args.text("link") {
        None => links.first(),
        Some(name) => links.iter().find(|link| link.link == name),
    };
    let packets = found.and_then(|link| link.packets.as_ref());
    packets.map(|packets| (packets.dropped as f64).into()).ok_or_else(|| nothing("the run has no such link"))
}
