//! Measures of exact events of senders: `flow` names the sender, `what` the event. The scenario must record events.

use super::{is, nothing, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{Exact, Outcome};

pub(super) const MEASURES: &[Measure] = &[
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
