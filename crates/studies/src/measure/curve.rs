//! Measures of the curves of a run: `of` names a flow or a link, `quantity` what is drawn ("goodput", "cwnd", "queuing_delay",
//! "base_delay"), and `from` and `to` bound the time, s.

use super::event::events;
use super::{is, nothing, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{Outcome, Series};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "curve_growth",
        help: "growth of a curve between `from` and `to` for each `per`, s",
        take: growth,
    },
    Measure { name: "curve_max", help: "largest value of a curve between `from` and `to`", take: largest },
    Measure { name: "curve_min", help: "smallest value of a curve between `from` and `to`", take: smallest },
    Measure { name: "curve_mean", help: "mean value of a curve between `from` and `to`", take: mean },
    Measure {
        name: "curve_below_after",
        help: "time from `from` until a curve is first below `level`, or until `to` if it never is, s; with `over` its mean over the following so many seconds counts",
        take: below_after,
    },
    Measure {
        name: "curve_p95_after",
        help: "95th percentile of a curve in the empty path's round trip, and `more` seconds, after each event `what` of `flow`",
        take: p95_after,
    },
    Measure {
        name: "curve",
        help: "the points of a curve between `from` and `to`, for figures",
        take: points,
    },
];

fn series<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a Series> {
    let (of, quantity) = (args.needed_text("of")?, args.needed_text("quantity")?);
    let meant = |series: &&Series| series.quantity == quantity && is(outcome, &series.of, of);
    let found = outcome.run.series.iter().find(meant);
    found.ok_or_else(|| nothing(format!("the run has no curve {quantity:?} of {of:?}")))
}

/// The points of the curve in the time that the arguments name; there is one at least.
fn within(outcome: &Outcome, args: &Args) -> Result<Vec<[f64; 2]>> {
    let series = series(outcome, args)?;
    let (from, to) = (args.number("from").unwrap_or(0.0), args.number("to").unwrap_or(f64::INFINITY));
    let timed = series.values.iter().enumerate().filter_map(|(index, value)| {
        let at = series.start_s + index as f64 * series.step_s;
        Some([at, (*value)?])
    });
    let points: Vec<[f64; 2]> = timed.filter(|[at, _]| (from..=to).contains(at)).collect();
    match points.is_empty() {
        false => Ok(points),
        true => Err(nothing("the curve has no value in that time")),
    }
}

fn largest(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(within(outcome, args)?.iter().map(|[_, y]| *y).fold(f64::NEG_INFINITY, f64::max).into())
}

fn smallest(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(within(outcome, args)?.iter().map(|[_, y]| *y).fold(f64::INFINITY, f64::min).into())
}

fn mean(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let points = within(outcome, args)?;
    Ok((points.iter().map(|[_, y]| *y).sum::<f64>() / points.len() as f64).into())
}

fn growth(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let points = within(outcome, args)?;
    let ([start, low], [end, high]) = (points[0], points[points.len() - 1]);
    match end > start {
        true => Ok(((high - low) / (end - start) * args.needed_number("per")?).into()),
        false => Err(nothing("the curve has one value in that time")),
    }
}

fn below_after(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (from, level) = (args.needed_number("from")?, args.needed_number("level")?);
    let points = match args.number("over") {
        Some(over) => means_over(&within(outcome, args)?, over),
        None => within(outcome, args)?,
    };
    let first = points.iter().find(|[_, y]| *y < level);
    let until = first.map(|[at, _]| *at).or(args.number("to"));
    until.map(|until| (until - from).into()).ok_or_else(|| nothing("the curve was never below that level"))
}

/// At each point the mean of the `over` seconds that begin there, as far as the curve goes.
fn means_over(points: &[[f64; 2]], over: f64) -> Vec<[f64; 2]> {
    let last = points.last().map_or(0.0, |[at, _]| *at);
    let whole = points.iter().enumerate().take_while(|(_, [at, _])| at + over <= last);
    let mean = |(index, [from, _]): (usize, &[f64; 2])| {
        let ys = points[index..].iter().take_while(|[at, _]| *at < from + over).map(|[_, y]| *y);
        let (number, sum) = ys.fold((0.0, 0.0), |(number, sum), y| (number + 1.0, sum + y));
        [*from, sum / number]
    };
    whole.map(mean).collect()
}

fn p95_after(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let name = args.needed_text("flow")?;
    let flow = outcome.scenario.flow.iter().find(|flow| is(outcome, &flow.name, name));
    let flow = flow.ok_or_else(|| nothing(format!("there is no flow {name:?}")))?;
    let length = flow.rtt.as_secs_f64() + args.number("more").unwrap_or(0.0);
    let starts: Vec<f64> = events(outcome, args)?.map(|event| event.at_s).collect();
    let is_after = |at: f64| starts.iter().any(|start| (*start..=start + length).contains(&at));
    let mut ys: Vec<f64> =
        within(outcome, args)?.into_iter().filter(|[at, _]| is_after(*at)).map(|[_, y]| y).collect();
    ys.sort_by(f64::total_cmp);
    let place = (ys.len() * 19 / 20).min(ys.len().saturating_sub(1));
    ys.get(place).map(|y| (*y).into()).ok_or_else(|| nothing("the curve has no value after such an event"))
}

fn points(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(Reading::Curve(within(outcome, args)?))
}
