//! Judgements of points by themselves.

use super::{mean, Judgement, Sample, Value};
use crate::entry::{Args, Band};
use crate::error::Result;
use afteryou_plot::Estimate;

pub(super) const JUDGEMENTS: &[Judgement] = &[
    Judgement { name: "each", help: "a value of each point: the mean over its seeds", judge: each },
    Judgement { name: "mean", help: "the mean over all points", judge: over_all },
    Judgement { name: "smallest", help: "the smallest mean of a point", judge: smallest },
    Judgement {
        name: "smallest_reading",
        help: "the smallest reading of a point, whichever seed has it",
        judge: smallest_reading,
    },
    Judgement { name: "largest", help: "the largest mean of a point", judge: largest },
    Judgement { name: "spread", help: "the largest mean of a point less the smallest", judge: spread },
    Judgement {
        name: "deviation",
        help: "of each point the standard deviation over its seeds",
        judge: deviation,
    },
    Judgement {
        name: "off_by",
        help: "of each point, the distance of its mean from `from`, over `from`",
        judge: off_by,
    },
    Judgement {
        name: "share_below",
        help: "the part of the points whose mean is below `level`",
        judge: share_below,
    },
    Judgement {
        name: "count_within",
        help: "the number of points whose mean is from `from` to `to`",
        judge: count_within,
    },
    Judgement {
        name: "share_of_runs",
        help: "the part of the single runs, of all points, whose reading is from `from` to `to`",
        judge: share_of_runs,
    },
];

fn each(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    samples.iter().map(|sample| Ok(Value::of(sample.point.words_without(&[]), &sample.numbers()?))).collect()
}

/// Returns the means over the points, one of each seed: points of one seed share its luck.
fn by_seed(samples: &[&Sample]) -> Result<Vec<f64>> {
    let numbers: Vec<Vec<f64>> = samples.iter().map(|sample| sample.numbers()).collect::<Result<_>>()?;
    let seeds = numbers.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..seeds).map(|seed| mean(&numbers.iter().map(|of| of[seed]).collect::<Vec<_>>())).collect())
}

fn over_all(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    Ok(vec![Value::of(String::new(), &by_seed(samples)?)])
}

fn means(samples: &[&Sample]) -> Result<Vec<f64>> {
    samples.iter().map(|sample| sample.mean()).collect()
}

fn extreme(samples: &[&Sample], better: fn(f64, f64) -> bool) -> Result<Vec<Value>> {
    let values = each(samples, &Args::default())?;
    let best =
        values.into_iter().reduce(|best, next| if better(next.value, best.value) { next } else { best });
    Ok(best.into_iter().collect())
}

fn smallest(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    extreme(samples, |one, other| one < other)
}

fn smallest_reading(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    let least = |sample: &&Sample| -> Result<Value> {
        let value = sample.numbers()?.into_iter().fold(f64::INFINITY, f64::min);
        Ok(Value { at: sample.point.words_without(&[]), ..Value::bare(value, &[sample]) })
    };
    let values = samples.iter().map(least).collect::<Result<Vec<_>>>()?;
    let least = values.into_iter().reduce(|least, next| if next.value < least.value { next } else { least });
    Ok(least.into_iter().collect())
}

fn largest(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    extreme(samples, |one, other| one > other)
}

fn spread(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    let means = means(samples)?;
    let (low, high) =
        means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    Ok(vec![Value::bare(high - low, samples)])
}

fn deviation(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    let of = |sample: &&Sample| {
        let numbers = sample.numbers()?;
        let mean = mean(&numbers);
        let squares = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        let deviation = (squares / (numbers.len().max(2) - 1) as f64).sqrt();
        let at = sample.point.words_without(&[]);
        Ok(Value { at, value: deviation, half_width: None, seeds: numbers.len() })
    };
    samples.iter().map(of).collect()
}

fn off_by(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let from = args.needed_number("from")?;
    let of = |value: Value| Value {
        value: (value.value / from - 1.0).abs(),
        half_width: value.half_width.map(|half_width| half_width / from.abs()),
        ..value
    };
    Ok(each(samples, args)?.into_iter().map(of).collect())
}

fn share_below(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let (means, level) = (means(samples)?, args.needed_number("level")?);
    let below = means.iter().filter(|mean| **mean < level).count();
    Ok(vec![Value::bare(below as f64 / means.len() as f64, samples)])
}

fn count_within(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let band = Band { min: args.number("from"), max: args.number("to") };
    let within = means(samples)?.into_iter().filter(|mean| band.holds(*mean)).count();
    Ok(vec![Value::bare(within as f64, samples)])
}

fn share_of_runs(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let band = Band { min: args.number("from"), max: args.number("to") };
    let readings: Vec<f64> =
        samples.iter().map(|sample| sample.numbers()).collect::<Result<Vec<_>>>()?.concat();
    let within = readings.iter().filter(|reading| band.holds(**reading)).count();
    Ok(vec![Value::bare(within as f64 / readings.len() as f64, samples)])
}

/// Returns the value of numbers that are differences, with the half width of their 95 % interval.
pub(super) fn value_of_differences(at: String, differences: &[f64]) -> Value {
    let estimate = Estimate::of(differences);
    let half_width = estimate.and_then(|estimate| estimate.half_width);
    Value { at, value: mean(differences), half_width, seeds: differences.len() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{args, samples};
    use super::*;

    #[test]
    fn the_spread_is_between_means_of_points_not_between_seeds() {
        let samples = samples(&[("a", &[1.0, 3.0]), ("b", &[5.0, 5.0])]);
        let samples: Vec<&Sample> = samples.iter().collect();
        assert_eq!(spread(&samples, &Args::default()).unwrap()[0].value, 3.0);
        assert_eq!(smallest_reading(&samples, &Args::default()).unwrap()[0].value, 1.0);
        assert_eq!(smallest(&samples, &Args::default()).unwrap()[0].at, "a");
        assert_eq!(over_all(&samples, &Args::default()).unwrap()[0].value, 3.5);
        assert_eq!(share_below(&samples, &args("level = 3.0")).unwrap()[0].value, 0.5);
        assert_eq!(off_by(&samples, &args("from = 4.0")).unwrap()[1].value, 0.25);
        assert_eq!(count_within(&samples, &args("from = 2")).unwrap()[0].value, 2.0);
        assert_eq!(share_of_runs(&samples, &args("from = 2")).unwrap()[0].value, 0.75);
        assert_eq!(deviation(&samples, &Args::default()).unwrap()[0].value, 2.0f64.sqrt());
    }
}
