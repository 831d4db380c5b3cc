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
        name: "curve_low",
        help: "smallest value of a curve between `from` and `to` over its largest",
        take: low,
    },
    Measure {
        name: "curve_range",
        help: "largest value of a curve between `from` and `to` less its smallest",
        take: range,
    },
    Measure {
        name: "curve_rise",
        help: "mean of a curve `after` s later less its mean between `from` and `to`, in units of `unit`",
        take: rise,
    },
    Measure {
        name: "curve_above",
        help: "part of the points of a curve between `from` and `to` that are above `level`",
        take: above,
    },
    Measure {
        name: "curve_below_after",
        help: "time from `from` until a curve is first below `level`, or until `to` if it never is, s; with `over` its mean over that number of following seconds counts",
        take: below_after,
    },
    Measure {
        name: "progress_in",
        help: "data between `from` and `to` by a curve of rates in Mbit/s, MB",
        take: progress_in,
    },
    Measure {
        name: "curve",
        help: "the points of a curve between `from` and `to`, for figures; with `every` only one of that number",
        take: points,
    },
    Measure {
        name: "curve_offset",
        help: "`from_level` less a curve, at its points between `from` and `to`, for figures",
        take: offset,
    },
    Measure {
        name: "progress",
        help: "data since `from` by a curve of rates in Mbit/s, MB, at each of its points up to `to`, for figures",
        take: progress,
    },
];

fn series<'a>(outcome: &'a Outcome, of: &str, quantity: &str) -> Result<&'a Series> {
    let meant = |series: &&Series| series.quantity == quantity && is(outcome, &series.of, of);
    let found = outcome.run.series.iter().find(meant);
    found.ok_or_else(|| nothing(format!("the run has no curve {quantity:?} of {of:?}")))
}

/// Returns all points of the curve `quantity` of `of`, a flow or a link; there is one at least.
pub(super) fn points_of(outcome: &Outcome, of: &str, quantity: &str) -> Result<Vec<[f64; 2]>> {
    let series = series(outcome, of, quantity)?;
    let timed = series.values.iter().enumerate().filter_map(|(index, value)| {
        let at = series.start_s + index as f64 * series.step_s;
        Some([at, (*value)?])
    });
    some(timed.collect())
}

fn some(points: Vec<[f64; 2]>) -> Result<Vec<[f64; 2]>> {
    match points.is_empty() {
        false => Ok(points),
        true => Err(nothing("the curve has no value in that time")),
    }
}

/// Returns the points of the curve in the time that the arguments name; there is one at least.
fn within(outcome: &Outcome, args: &Args) -> Result<Vec<[f64; 2]>> {
    later(outcome, args, 0.0)
}

/// Returns the same curve `after` seconds later.
fn later(outcome: &Outcome, args: &Args, after: f64) -> Result<Vec<[f64; 2]>> {
    let mut points = points_of(outcome, args.needed_text("of")?, args.needed_text("quantity")?)?;
    let (from, to) = (args.number("from").unwrap_or(0.0), args.number("to").unwrap_or(f64::INFINITY));
    let (from, to) = (from + after, to + after);
    points.retain(|[at, _]| (from..=to).contains(at));
    some(points)
}

fn progress(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(Reading::Curve(delivered(outcome, args)?))
}

fn progress_in(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(delivered(outcome, args)?.last().map_or(0.0, |[_, megabytes]| *megabytes).into())
}

fn offset(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let level = args.needed_number("from_level")?;
    let points = within(outcome, args)?;
    Ok(Reading::Curve(points.into_iter().map(|[at, y]| [at, level - y]).collect()))
}

fn largest(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(within(outcome, args)?.iter().map(|[_, y]| *y).fold(f64::NEG_INFINITY, f64::max).into())
}

fn smallest(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(within(outcome, args)?.iter().map(|[_, y]| *y).fold(f64::INFINITY, f64::min).into())
}

/// Returns the data since `from` at each point up to `to`, MB.
fn delivered(outcome: &Outcome, args: &Args) -> Result<Vec<[f64; 2]>> {
    let mut points = within(outcome, args)?;
    let mut megabytes = 0.0;
    for i in 1..points.len() {
        // A value is the mean of the step that ends at its time.
        megabytes += points[i][1] / 8.0 * (points[i][0] - points[i - 1][0]);
        points[i][1] = megabytes;
    }
    points[0][1] = 0.0;
    Ok(points)
}

fn mean_of(points: &[[f64; 2]]) -> f64 {
    points.iter().map(|[_, y]| *y).sum::<f64>() / points.len() as f64
}

fn mean(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(mean_of(&within(outcome, args)?).into())
}

fn rise(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (now, then) = (within(outcome, args)?, later(outcome, args, args.needed_number("after")?)?);
    Ok(((mean_of(&then) - mean_of(&now)) / args.number("unit").unwrap_or(1.0)).into())
}

fn low(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let points = within(outcome, args)?;
    let values = || points.iter().map(|[_, y]| *y);
    Ok((values().fold(f64::INFINITY, f64::min) / values().fold(f64::NEG_INFINITY, f64::max)).into())
}

fn range(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let points = within(outcome, args)?;
    let values = || points.iter().map(|[_, y]| *y);
    Ok((values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)).into())
}

fn above(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (points, level) = (within(outcome, args)?, args.needed_number("level")?);
    let above = points.iter().filter(|[_, y]| *y > level).count();
    Ok((above as f64 / points.len() as f64).into())
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

/// Returns at each point the mean of the `over` seconds that begin there, as far as the curve goes.
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

fn points(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let every = args.number("every").map_or(1, |every| (every as usize).max(1));
    Ok(Reading::Curve(within(outcome, args)?.into_iter().step_by(every).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::outcome::Run;
    use afteryou_scenario::{Link, Scenario};

    /// Returns an outcome with a curve of 1, 2, 3, 4 and so on in steps of a second; the third value is missing.
    fn outcome() -> Outcome {
        let values = (1..=10).map(|value| (value != 3).then_some(f64::from(value))).collect();
        let series = Series {
            of: "a".to_owned(),
            quantity: "cwnd".to_owned(),
            unit: "kB".to_owned(),
            start_s: 0.0,
            step_s: 1.0,
            values,
        };
        let link = Link::new("1 Mbit/s".parse().unwrap(), "1 s".parse().unwrap());
        let scenario = Scenario::new("made up", "10 s".parse().unwrap(), link);
        Outcome::new("sim", "0", scenario, Run { series: vec![series], ..Run::default() }, None)
    }

    #[test]
    fn what_is_delivered_adds_up_over_steps() {
        let args = toml::from_str("of = \"a\"\nquantity = \"cwnd\"\nfrom = 3\nto = 5").unwrap();
        let curve = delivered(&outcome(), &args).unwrap();
        assert_eq!(curve, [[3.0, 0.0], [4.0, 0.625], [5.0, 1.375]], "5 and 6 Mbit/s for a second each");
        assert_eq!(progress_in(&outcome(), &args).unwrap().number(), Some(1.375));
    }

    #[test]
    fn values_that_are_missing_do_not_count() {
        let read = |take: fn(&Outcome, &Args) -> Result<Reading>, with: &str| {
            let args = toml::from_str(&format!("of = \"a\"\nquantity = \"cwnd\"\n{with}")).unwrap();
            take(&outcome(), &args).unwrap().number().unwrap()
        };
        let thin = toml::from_str("of = \"a\"\nquantity = \"cwnd\"\nevery = 4").unwrap();
        assert_eq!(points(&outcome(), &thin).unwrap().list(), [1.0, 6.0, 10.0]);
        let off =
            toml::from_str("of = \"a\"\nquantity = \"cwnd\"\nfrom = 4\nto = 5\nfrom_level = 6").unwrap();
        assert_eq!(offset(&outcome(), &off).unwrap(), Reading::Curve(vec![[4.0, 1.0], [5.0, 0.0]]));
        assert_eq!(read(mean, "to = 3"), 7.0 / 3.0);
        assert_eq!(read(above, "level = 7"), 3.0 / 9.0);
        assert_eq!(read(low, "from = 4"), 0.5);
        assert_eq!(read(range, "from = 4"), 5.0);
        assert_eq!(read(below_after, "from = 0\nlevel = 1.5"), 0.0);
        assert_eq!(read(below_after, "from = 4\nto = 9\nlevel = 1.5"), 5.0, "never, so the whole time");
        assert_eq!(
            means_over(&[[0.0, 8.0], [1.0, 0.0], [2.0, 4.0], [3.0, 9.0]], 2.0),
            [[0.0, 4.0], [1.0, 2.0]]
        );
        assert_eq!(read(rise, "from = 3\nto = 4\nafter = 4\nunit = 2"), 2.0);
    }
}
