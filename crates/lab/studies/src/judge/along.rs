//! Judgements along an axis: `along` names it, in the order of the grid. Points that agree in all other axes are one line.

use super::points::value_of_differences;
use super::{at, Judgement, Sample, Value};
use crate::entry::Args;
use crate::error::{Error, Result};

pub(super) const JUDGEMENTS: &[Judgement] = &[
    Judgement {
        name: "once_below",
        help: "of each line, the first place on the axis with a value below `level`",
        judge: once_below,
    },
    Judgement {
        name: "later_below",
        help: "the place of `first_below` at `of` less that at `minus`",
        judge: later_below,
    },
    Judgement {
        name: "smallest_step",
        help: "of each line, the smallest step from a point to the next",
        judge: smallest_step,
    },
    Judgement {
        name: "largest_step",
        help: "of each line, the largest step from a point to the next",
        judge: largest_step,
    },
    Judgement {
        name: "rises",
        help: "of each line, the steps up from a point to the next beyond their own 95 % interval: a number",
        judge: rises,
    },
    Judgement { name: "falls", help: "as rises, down", judge: falls },
    Judgement { name: "largest_along", help: "of each line, the largest value", judge: largest_along },
    Judgement {
        name: "width_of_rise",
        help: "of each line, how far along the axis it is from the crossing of `from` to that of `to`",
        judge: width_of_rise,
    },
    Judgement {
        name: "spread_along",
        help: "of each line, its largest value less its smallest",
        judge: spread_along,
    },
    Judgement { name: "spearman", help: "of each line, the rank correlation with the axis", judge: spearman },
    Judgement {
        name: "first_above",
        help: "of each line, the first place on the axis from which on all values are at least `level`",
        judge: first_above,
    },
    Judgement {
        name: "first_below",
        help: "of each line, the first place on the axis from which on all values are below `level`",
        judge: first_below,
    },
    Judgement {
        name: "crossing",
        help: "of each line, the place at which it first crosses `level`, between points by a straight line",
        judge: crossing,
    },
    Judgement {
        name: "place_of_smallest",
        help: "of each line, the place of its smallest value",
        judge: place_of_smallest,
    },
    Judgement {
        name: "place_of_largest",
        help: "of each line, the place of its largest value",
        judge: place_of_largest,
    },
    Judgement {
        name: "slope",
        help: "of each line, the slope of the straight line of least squares against log2 of the axis",
        judge: slope,
    },
];

/// Points that differ in one axis alone.
struct Line<'a> {
    at: String,
    samples: Vec<&'a Sample>,
    /// Of each point, its place on the axis.
    x: Vec<f64>,
    /// Of each point, the mean over its seeds.
    y: Vec<f64>,
}

impl Line<'_> {
    fn value(&self, value: f64) -> Value {
        Value { at: self.at.clone(), ..Value::bare(value, &self.samples) }
    }

    fn steps(&self) -> impl Iterator<Item = f64> + '_ {
        self.y.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// Returns the number of steps in the direction of `sign` that are larger than half the interval of their differences; a
    /// single seed has no interval.
    fn certain_steps(&self, sign: f64) -> f64 {
        let is_certain = |pair: &&[&Sample]| {
            let [Ok(one), Ok(next)] = [pair[0].numbers(), pair[1].numbers()] else { return false };
            let differences: Vec<f64> =
                one.iter().zip(&next).map(|(one, next)| sign * (next - one)).collect();
            let step = value_of_differences(String::new(), &differences);
            step.half_width.is_some_and(|half_width| step.value > half_width)
        };
        self.samples.windows(2).filter(is_certain).count() as f64
    }
}

fn lines<'a>(samples: &[&'a Sample], args: &Args) -> Result<Vec<Line<'a>>> {
    let axis = args.needed_text("along")?;
    let mut lines: Vec<Line> = Vec::new();
    for sample in samples {
        let at = sample.point.words_without(&[axis]);
        if sample.point.label(axis).is_none() {
            return Err(Error::NoReading(format!("the grid has no axis {axis:?}")));
        }
        let index = lines.iter().position(|line| line.at == at).unwrap_or_else(|| {
            lines.push(Line { at, samples: Vec::new(), x: Vec::new(), y: Vec::new() });
            lines.len() - 1
        });
        // Labels without numbers have the places 1, 2, 3 and so on.
        let place = lines[index].x.len() as f64 + 1.0;
        lines[index].samples.push(sample);
        lines[index].x.push(sample.point.numbers.get(axis).copied().unwrap_or(place));
        lines[index].y.push(sample.mean()?);
    }
    Ok(lines)
}

fn each_line(samples: &[&Sample], args: &Args, of: impl Fn(&Line) -> f64) -> Result<Vec<Value>> {
    Ok(lines(samples, args)?.iter().map(|line| line.value(of(line))).collect())
}

fn smallest_step(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| line.steps().fold(f64::INFINITY, f64::min))
}

fn largest_step(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| line.steps().fold(f64::NEG_INFINITY, f64::max))
}

fn rises(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| line.certain_steps(1.0))
}

fn falls(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| line.certain_steps(-1.0))
}

fn largest_along(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| line.y.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn width_of_rise(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let (from, to) = (args.needed_number("from")?, args.needed_number("to")?);
    each_line(samples, args, |line| crossed(line, to) - crossed(line, from))
}

fn spread_along(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let extreme =
        |line: &Line, start: f64, better: fn(f64, f64) -> f64| line.y.iter().copied().fold(start, better);
    each_line(samples, args, |line| {
        extreme(line, f64::NEG_INFINITY, f64::max) - extreme(line, f64::INFINITY, f64::min)
    })
}

fn spearman(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| correlation(&ranks(&line.x), &ranks(&line.y)))
}

/// Returns the ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mx, my) = (mean(x), mean(y));
    let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| {
        a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>()
    };
    product(x, mx, y, my) / (product(x, mx, x, mx) * product(y, my, y, my)).sqrt()
}

/// Returns the place from which on all values satisfy `holds`; infinite if the last one does not.
fn sustained(line: &Line, holds: impl Fn(f64) -> bool) -> f64 {
    let held = line.y.iter().rev().take_while(|y| holds(**y)).count();
    match held {
        0 => f64::INFINITY,
        held => line.x[line.x.len() - held],
    }
}

fn first_above(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let level = args.needed_number("level")?;
    each_line(samples, args, |line| sustained(line, |y| y >= level))
}

fn first_below(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let level = args.needed_number("level")?;
    each_line(samples, args, |line| sustained(line, |y| y < level))
}

fn once_below(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let level = args.needed_number("level")?;
    each_line(samples, args, |line| {
        let place = line.y.iter().position(|y| *y < level);
        place.map_or(f64::INFINITY, |place| line.x[place])
    })
}

fn later_below(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let place = |key: &str| -> Result<f64> {
        let values = first_below(&at(samples, &args.at(key)?)?, args)?;
        Ok(values.first().map_or(f64::NAN, |value| value.value))
    };
    Ok(vec![Value::bare(place("of")? - place("minus")?, samples)])
}

fn crossing(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let level = args.needed_number("level")?;
    each_line(samples, args, |line| crossed(line, level))
}

/// Returns the place at which a line first crosses `level`; not a number if it does not.
fn crossed(line: &Line, level: f64) -> f64 {
    let pairs = line.x.windows(2).zip(line.y.windows(2));
    let crossed = pairs.filter(|(_, y)| (y[0] - level) * (y[1] - level) <= 0.0 && y[0] != y[1]);
    let place = |(x, y): (&[f64], &[f64])| x[0] + (x[1] - x[0]) * (level - y[0]) / (y[1] - y[0]);
    crossed.map(place).next().unwrap_or(f64::NAN)
}

fn place(line: &Line, better: fn(f64, f64) -> bool) -> f64 {
    let points = line.x.iter().zip(&line.y);
    points
        .reduce(|best, next| if better(*next.1, *best.1) { next } else { best })
        .map_or(f64::NAN, |(x, _)| *x)
}

fn place_of_smallest(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| place(line, |one, other| one < other))
}

fn place_of_largest(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| place(line, |one, other| one > other))
}

fn slope(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_line(samples, args, |line| {
        let x: Vec<f64> = line.x.iter().map(|x| libm::log2(*x)).collect();
        let n = x.len() as f64;
        let (mx, my) = (x.iter().sum::<f64>() / n, line.y.iter().sum::<f64>() / n);
        let across = x.iter().zip(&line.y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
        across / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{args, grid_samples, samples};
    use super::*;

    fn of(judge: fn(&[&Sample], &Args) -> Result<Vec<Value>>, with: &str) -> f64 {
        let samples = grid_samples(&[
            ("l", "1", 0.5),
            ("l", "2", 0.95),
            ("l", "4", 0.8),
            ("l", "8", 0.9),
            ("l", "16", 1.0),
        ]);
        judge(&samples.iter().collect::<Vec<_>>(), &args(with)).unwrap()[0].value
    }

    #[test]
    fn a_sustained_crossing_is_behind_the_last_value_on_the_other_side() {
        assert_eq!(of(first_above, "along = \"n\"\nlevel = 0.9"), 8.0);
        assert_eq!(of(first_below, "along = \"n\"\nlevel = 0.9"), f64::INFINITY);
        assert_eq!(of(once_below, "along = \"n\"\nlevel = 0.9"), 1.0);
        assert_eq!(of(crossing, "along = \"n\"\nlevel = 0.725"), 1.5);
    }

    #[test]
    fn a_step_counts_if_all_seeds_agree_and_not_if_they_scatter() {
        let of = |points: &[(&str, &[f64])], judge: fn(&[&Sample], &Args) -> Result<Vec<Value>>| {
            let samples = samples(points);
            judge(&samples.iter().collect::<Vec<_>>(), &args("along = \"point\"")).unwrap()[0].value
        };
        let clear: [(&str, &[f64]); 3] =
            [("1", &[1.0, 2.0, 3.0]), ("2", &[0.9, 1.9, 2.91]), ("3", &[1.9, 2.95, 3.9])];
        assert_eq!((of(&clear, rises), of(&clear, falls)), (1.0, 1.0));
        let scattered: [(&str, &[f64]); 2] = [("1", &[1.0, 2.0, 3.0]), ("2", &[2.5, 1.0, 3.0])];
        assert_eq!((of(&scattered, rises), of(&scattered, falls)), (0.0, 0.0));
    }

    #[test]
    fn ranks_steps_and_places_are_those_of_the_line() {
        assert!((of(spearman, "along = \"n\"") - 0.7).abs() < 1e-12);
        assert!((of(smallest_step, "along = \"n\"") + 0.15).abs() < 1e-12);
        assert_eq!(of(largest_along, "along = \"n\""), 1.0);
        assert!((of(width_of_rise, "along = \"n\"\nfrom = 0.59\nto = 0.725") - 0.3).abs() < 1e-12);
        assert_eq!(of(place_of_largest, "along = \"n\""), 16.0);
        assert_eq!(of(spread_along, "along = \"n\""), 0.5);
        assert!((of(slope, "along = \"n\"") - 0.095).abs() < 1e-12);
    }
}
