//! Measures of exact events of senders: `flow` names the sender, `what` the event. The scenario must record events.

use super::curve::points_of;
use super::{is, known, nothing, Measure};
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
        help: "part of the stalls of `flow` above 0.1 s that last `from` to `to`, s; with `multiples` also 2, 4 or 8 times as long",
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
    Measure {
        name: "same_sequence",
        help: "1 if the events of `flow` whose names are in `among` are those of `events` in just that order, else 0",
        take: same_sequence,
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
        name: "curve_p95_after",
        help: "95th percentile of the curve `quantity` of `of` in the base round-trip time, and `more` seconds, after each event `what` of `flow`",
        take: p95_after,
    },
    Measure {
        name: "maxima_with_event",
        help: "of the times in which `flow`'s window is above `above` of its largest from `from` on, the part that an event `what` ends",
        take: maxima_with_event,
    },
];

/// Returns the events that the arguments name.
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

fn same_sequence(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (flow, among, expected) = (args.needed_text("flow")?, args.texts("among"), args.texts("events"));
    if expected.is_empty() {
        return Err(nothing("`events` is empty: name them in their order"));
    }
    let all = outcome.run.events.iter().filter(|event| is(outcome, &event.flow, flow));
    let found = all.map(|event| event.what.as_str()).filter(|what| among.contains(what));
    Ok(f64::from(u8::from(found.eq(expected.iter().copied()))).into())
}

/// Counts the maxima of the window that an event ends: it is in the step of the curve in which the window falls.
fn maxima_with_event(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let times: Vec<f64> = events(outcome, args)?.map(|event| event.at_s).collect();
    let mut windows = points_of(outcome, args.needed_text("flow")?, "cwnd")?;
    windows.retain(|[at, _]| *at >= args.number("from").unwrap_or(0.0));
    let largest = windows.iter().map(|[_, cwnd]| *cwnd).fold(0.0, f64::max);
    let level = args.needed_number("above")? * largest;
    let falls = windows.windows(2).filter(|pair| pair[0][1] > level && pair[1][1] <= level);
    // The value at a point of the curve was there when its step ended.
    let falls: Vec<(f64, f64)> = falls.map(|pair| (pair[0][0], 2.0 * pair[1][0] - pair[0][0])).collect();
    let ended = falls.iter().filter(|(from, to)| times.iter().any(|at| (*from..=*to).contains(at)));
    match falls.is_empty() {
        false => Ok((ended.count() as f64 / falls.len() as f64).into()),
        true => Err(nothing("the window never falls from there")),
    }
}

/// Returns the lengths of a flow's stalls, s.
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
    let multiples: &[f64] = if args.flag("multiples") { &[1.0, 2.0, 4.0, 8.0] } else { &[1.0] };
    let like = |seconds: &&f64| multiples.iter().any(|times| (from * times..=to * times).contains(*seconds));
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

fn p95_after(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let length =
        known(outcome, args.needed_text("flow")?)?.rtt.as_secs_f64() + args.number("more").unwrap_or(0.0);
    let starts: Vec<f64> = events(outcome, args)?.map(|event| event.at_s).collect();
    let points = points_of(outcome, args.needed_text("of")?, args.needed_text("quantity")?)?;
    let after = p95_of(&points, &starts, length);
    after.map(Reading::One).ok_or_else(|| nothing("the curve has no value after such an event"))
}

/// Returns the 95th percentile of the points that follow one of `starts` within `length`.
fn p95_of(points: &[[f64; 2]], starts: &[f64], length: f64) -> Option<f64> {
    let follows = |at: f64| starts.iter().any(|start| (*start..=start + length).contains(&at));
    let mut ys: Vec<f64> = points.iter().filter(|[at, _]| follows(*at)).map(|[_, y]| *y).collect();
    ys.sort_by(f64::total_cmp);
    ys.get(ys.len() * 19 / 20).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::outcome::{Run, Series};
    use afteryou_scenario::{Link, Scenario};

    /// Returns an outcome with a window that is at 100 kB from 2 to 4 s and from 6 to 8 s. It also has a base delay that
    /// falls from 80 to 20 ms at 3 s, and a loss in the step after 4 s.
    fn outcome() -> Outcome {
        let curve = |quantity: &str, value: fn(f64) -> f64| Series {
            of: "a".to_owned(),
            quantity: quantity.to_owned(),
            unit: String::new(),
            start_s: 0.0,
            step_s: 1.0,
            values: (0..10).map(|step| Some(value(f64::from(step)))).collect(),
        };
        let windows =
            curve(
                "cwnd",
                |at| if (2.0..=4.0).contains(&at) || (6.0..=8.0).contains(&at) { 100.0 } else { 50.0 },
            );
        let bases = curve("base_delay", |at| if at < 3.0 { 80.0 } else { 20.0 });
        let loss =
            Exact { at_s: 4.5, flow: "a".to_owned(), what: "loss".to_owned(), cwnd_bytes: 0, seconds: None };
        let run = Run { series: vec![windows, bases], events: vec![loss], ..Run::default() };
        let link = Link::new("1 Mbit/s".parse().unwrap(), "1 s".parse().unwrap());
        let scenario = Scenario::new("made up", "10 s".parse().unwrap(), link);
        Outcome::new("sim", "0", scenario, run, None)
    }

    fn read(take: fn(&Outcome, &Args) -> Result<Reading>, with: &str) -> f64 {
        let args = toml::from_str(&format!("flow = \"a\"\nwhat = \"loss\"\n{with}")).unwrap();
        take(&outcome(), &args).unwrap().number().unwrap()
    }

    #[test]
    fn a_base_delay_holds_until_the_next_point() {
        assert_eq!(read(base_at_first, "after = -2.0"), 80.0);
        assert_eq!(read(base_at_first, "after = -1.5"), 20.0);
    }

    #[test]
    fn a_sequence_of_events_is_compared_as_a_whole() {
        assert_eq!(read(same_sequence, "among = [\"loss\", \"timeout\"]\nevents = [\"loss\"]"), 1.0);
        assert_eq!(read(same_sequence, "among = [\"loss\"]\nevents = [\"loss\", \"loss\"]"), 0.0);
        assert_eq!(read(same_sequence, "among = [\"timeout\"]\nevents = [\"timeout\"]"), 0.0);
    }

    #[test]
    fn one_of_two_maxima_ends_with_a_loss() {
        assert_eq!(read(maxima_with_event, "above = 0.9"), 0.5);
    }

    #[test]
    fn the_percentile_is_of_the_points_after_an_event_alone() {
        let points: Vec<[f64; 2]> = (0..200).map(|at| [f64::from(at), f64::from(at)]).collect();
        assert_eq!(p95_of(&points, &[100.0], 19.0), Some(119.0), "the 20th of 20 points");
        assert_eq!(p95_of(&points, &[0.0, 100.0], 9.0), Some(109.0));
        assert_eq!(p95_of(&points, &[100.5], 0.4), None);
    }
}
