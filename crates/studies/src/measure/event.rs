//! Measures of exact events of senders: `flow` names the sender, `what` the event. The scenario must record events.

use super::{is, nothing, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{Exact, Outcome};

/// Shorter times without progress are no stalls of the figure, s.
const SHORTEST_STALL_S: f64 = 0.1;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "stalls_above",
        help: "number of stalls of `flow` longer than `above`, s",
        take: stalls_above,
    },
    Measure {
        name: "stalls_like",
        help: "part of the stalls of `flow` above 0.1 s that last `from` to `to`, s, or 2, 4 or 8 times as long",
        take: stalls_like,
    },
    Measure {
        name: "mean_cwnd_at",
        help: "mean window of `flow` at its events `what` between `from` and `to`, KiB",
        take: mean_cwnd_at,
    },
    Measure {
        name: "total",
        help: "a counter of `flow` in the whole run: `of` is packets, retransmissions, losses, spurious or timeouts",
        take: total,
    },
    Measure {
        name: "events",
        help: "number of events `what` of `flow` between `from` and `to`",
        take: number,
    },
    Measure { name: "first_event", help: "time of the first event `what` of `flow`, s", take: first },
    Measure {
        name: "cwnd_at_first",
        help: "window of `flow` at its first event `what`, KiB",
        take: cwnd_at_first,
    },
];

fn events<'a>(outcome: &'a Outcome, args: &'a Args) -> Result<impl Iterator<Item = &'a Exact>> {
    let (flow, what) = (args.needed_text("flow")?, args.needed_text("what")?);
    let (from, to) = (args.number("from").unwrap_or(0.0), args.number("to").unwrap_or(f64::INFINITY));
    let events = outcome.run.events.iter();
    Ok(events.filter(move |event| {
        event.what == what && (from..=to).contains(&event.at_s) && is(outcome, &event.flow, flow)
    }))
}

fn number(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok((events(outcome, args)?.count() as f64).into())
}

fn the_first<'a>(outcome: &'a Outcome, args: &'a Args) -> Result<&'a Exact> {
    events(outcome, args)?.next().ok_or_else(|| nothing("there is no such event"))
}

fn first(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(the_first(outcome, args)?.at_s.into())
}

fn cwnd_at_first(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok((the_first(outcome, args)?.cwnd_bytes as f64 / 1024.0).into())
}

/// Lengths of a flow's stalls, s.
fn stalls<'a>(outcome: &'a Outcome, args: &'a Args) -> Result<impl Iterator<Item = f64> + 'a> {
    let flow = args.needed_text("flow")?;
    let events = outcome
        .run
        .events
        .iter()
        .filter(move |event| event.what == "stall" && is(outcome, &event.flow, flow));
    Ok(events.filter_map(|event| event.seconds))
}

fn stalls_above(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let above = args.needed_number("above")?;
    Ok((stalls(outcome, args)?.filter(|seconds| *seconds > above).count() as f64).into())
}

fn stalls_like(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (from, to) = (args.needed_number("from")?, args.needed_number("to")?);
    let all: Vec<f64> = stalls(outcome, args)?.filter(|seconds| *seconds > SHORTEST_STALL_S).collect();
    // A timer that expires again waits twice as long.
    let like = |seconds: &&f64| {
        [1.0, 2.0, 4.0, 8.0].iter().any(|times| (from * times..=to * times).contains(*seconds))
    };
    match all.is_empty() {
        true => Err(nothing("there is no stall")),
        false => Ok((all.iter().filter(like).count() as f64 / all.len() as f64).into()),
    }
}

fn mean_cwnd_at(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let windows: Vec<f64> = events(outcome, args)?.map(|event| event.cwnd_bytes as f64 / 1024.0).collect();
    match windows.is_empty() {
        true => Err(nothing("there is no such event")),
        false => Ok((windows.iter().sum::<f64>() / windows.len() as f64).into()),
    }
}

fn total(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let name = args.needed_text("flow")?;
    let totals = outcome.run.totals.iter().find(|totals| is(outcome, &totals.flow, name));
    let totals = totals.ok_or_else(|| nothing("the run has no such flow"))?;
    let count = match args.needed_text("of")? {
        "packets" => totals.packets,
        "retransmissions" => totals.retransmissions,
        "losses" => totals.losses,
        "spurious" => totals.spurious,
        "timeouts" => totals.timeouts,
        other => return Err(nothing(format!("there is no counter {other:?}"))),
    };
    Ok((count as f64).into())
}
