//! Measures of the curves of a run: `of` names a flow or a link, `quantity` what is drawn ("goodput", "cwnd", "queuing_delay",
//! "base_delay"), and `from` and `to` bound the time, s.

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
        help: "time from `from` until a curve is first below `level`, or until `to` if it never is, s",
        take: below_after,
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
    let points = within(outcome, args)?;
    let first = points.iter().find(|[_, y]| *y < level);
    let until = first.map(|[at, _]| *at).or(args.number("to"));
    until.map(|until| (until - from).into()).ok_or_else(|| nothing("the curve was never below that level"))
}

fn points(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(Reading::Curve(within(outcome, args)?))
}
