//! Measures of exact events of senders: `flow` names the sender, `what` the event. The scenario must record events.

use super::curve::points_of;
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
    Measure {
        name: "base_at_first",
        help: "base delay of `flow` by its own estimate, `after` s after its first event `what`, ms",
        take: base_at_first,
    },
    Measure {
        name: "maxima_with_event",
        help: "of the times in which `flow`'s window is above `above` of its largest from `from` on, the part that an event `what` ends",
        take: maxima_with_event,
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

fn base_at_first(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let at = the_first(outcome, args)?.at_s + args.needed_number("after")?;
    let bases = points_of(outcome, args.needed_text("flow")?, "base_delay")?;
    let held = bases.iter().take_while(|[time, _]| *time <= at).last();
    held.map(|[_, base]| Reading::One(*base)).ok_or_else(|| nothing("the flow had no base delay then"))
}

/// An event ends such a time if it is in the step of the curve in which the window falls.
fn maxima_with_event(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let times: Vec<f64> = events(outcome, args)?.map(|event| event.at_s).collect();
    let mut windows = points_of(outcome, args.needed_text("flow")?, "cwnd")?;
    windows.retain(|[at, _]| *at >= args.number("from").unwrap_or(0.0));
    let largest = windows.iter().map(|[_, cwnd]| *cwnd).fold(0.0, f64::max);
    let level = args.needed_number("above")? * largest;
    let falls = windows.windows(2).filter(|pair| pair[0][1] > level && pair[1][1] <= level);
    // The value at a point of the curve was there when its step ended.
    let (falls, step) = (falls.map(|pair| pair[0][0]).collect::<Vec<_>>(), windows[1][0] - windows[0][0]);
    let ended =
        falls.iter().filter(|fall| times.iter().any(|at| (**fall..=**fall + 2.0 * step).contains(at)));
    match falls.is_empty() {
        false => Ok((ended.count() as f64 / falls.len() as f64).into()),
        true => Err(nothing("the window never falls from there")),
    }
}
