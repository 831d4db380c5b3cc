//! Judgements of two sets of points: `of` and `minus` (or `over`) name them, and points that agree in all other axes are pairs.

use super::points::value_of_differences;
use super::{at, mean, Judgement, Sample, Value};
use crate::entry::{Args, At};
use crate::error::{Error, Result};
use std::collections::HashMap;

pub(super) const JUDGEMENTS: &[Judgement] = &[
    Judgement {
        name: "difference",
        help: "of each pair, `of` less `minus`, seed by seed",
        judge: difference,
    },
    Judgement {
        name: "lower_end_of_difference",
        help: "of each pair, the lower end of the 95 % interval of `difference`",
        judge: lower_end_of_difference,
    },
    Judgement {
        name: "difference_between",
        help: "of each pair, `of` less `minus` at the points `here`, less the same at the points `there`, seed by seed",
        judge: difference_between,
    },
    Judgement {
        name: "mean_difference",
        help: "the mean over `of` less the mean over `minus`",
        judge: mean_difference,
    },
    Judgement {
        name: "relative_change",
        help: "of each pair, `of` less `minus` over `minus`",
        judge: relative_change,
    },
    Judgement { name: "ratio", help: "of each pair, the mean of `of` over the mean of `over`", judge: ratio },
    Judgement {
        name: "smallest_difference",
        help: "the smallest of `difference`",
        judge: smallest_difference,
    },
    Judgement {
        name: "share_of_pairs_below",
        help: "the part of the pairs whose `difference` is below `level`",
        judge: share_below,
    },
];

/// Returns the pairs of samples that agree in every axis that the two sets do not name.
fn pairs<'a>(samples: &[&'a Sample], one: &At, other: &At) -> Result<Vec<(String, &'a Sample, &'a Sample)>> {
    let named: Vec<&str> = one.0.keys().chain(other.0.keys()).map(String::as_str).collect();
    // An axis on which `one` names several points distinguishes the pairs.
    let is_one = |axis: &&&str| one.0.get(**axis).is_none_or(|labels| labels.all().len() == 1);
    let hidden: Vec<&str> = named.iter().filter(is_one).copied().collect();
    let others = at(samples, other)?.into_iter();
    let others: HashMap<String, &Sample> =
        others.map(|sample| (sample.point.words_without(&named), sample)).collect();
    let pair = |sample: &'a Sample| {
        let words = sample.point.words_without(&named);
        let missing = || Error::NoReading(format!("there is nothing beside the point {words:?}"));
        let partner = *others.get(&words).ok_or_else(missing)?;
        Ok((sample.point.words_without(&hidden), sample, partner))
    };
    at(samples, one)?.into_iter().map(pair).collect()
}

fn each_pair(
    samples: &[&Sample],
    args: &Args,
    second: &str,
    make: fn(f64, f64) -> f64,
) -> Result<Vec<Value>> {
    let pairs = pairs(samples, &args.at("of")?, &args.at(second)?)?;
    let value = |(at, one, other): (String, &Sample, &Sample)| {
        let (one, other) = (one.numbers()?, other.numbers()?);
        let made: Vec<f64> = one.iter().zip(&other).map(|(one, other)| make(*one, *other)).collect();
        Ok(value_of_differences(at, &made))
    };
    pairs.into_iter().map(value).collect()
}

fn difference(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_pair(samples, args, "minus", |one, other| one - other)
}

fn lower_end_of_difference(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let lower = |value: Value| match value.half_width {
        Some(half) => Ok(Value { value: value.value - half, half_width: None, ..value }),
        None => Err(Error::NoReading("an interval needs three seeds or more".to_owned())),
    };
    difference(samples, args)?.into_iter().map(lower).collect()
}

fn difference_between(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let [of, minus, here, there] = ["of", "minus", "here", "there"].map(|key| args.at(key));
    let (of, minus, here, there) = (of?, minus?, here?, there?);
    let named: Vec<&str> =
        [&of, &minus, &here, &there].iter().flat_map(|at| at.0.keys()).map(|k| &**k).collect();
    let numbers = |words: &str, first: &At, second: &At| -> Result<Vec<f64>> {
        let meant = |sample: &&&Sample| {
            let point = &sample.point;
            point.is_at(first) && point.is_at(second) && point.words_without(&named) == words
        };
        let missing = || Error::NoReading(format!("a point beside {words:?} is missing"));
        samples.iter().find(meant).ok_or_else(missing)?.numbers()
    };
    let value = |words: String| -> Result<Value> {
        let [a, b] = [numbers(&words, &of, &here)?, numbers(&words, &minus, &here)?];
        let [c, d] = [numbers(&words, &of, &there)?, numbers(&words, &minus, &there)?];
        let made: Vec<f64> =
            a.iter().zip(&b).zip(c.iter().zip(&d)).map(|((a, b), (c, d))| (a - b) - (c - d)).collect();
        Ok(value_of_differences(words, &made))
    };
    let ours = samples.iter().filter(|sample| sample.point.is_at(&of) && sample.point.is_at(&here));
    ours.map(|sample| value(sample.point.words_without(&named))).collect()
}

fn relative_change(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each_pair(samples, args, "minus", |one, other| (one - other) / other)
}

fn ratio(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let pairs = pairs(samples, &args.at("of")?, &args.at("over")?)?;
    let value = |(at, one, other): (String, &Sample, &Sample)| {
        let (value, seeds) = (one.mean()? / other.mean()?, one.readings.len());
        Ok(Value { at, value, half_width: None, seeds })
    };
    pairs.into_iter().map(value).collect()
}

fn mean_difference(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let mean_of = |key: &str| -> Result<f64> {
        let means: Vec<f64> = at(samples, &args.at(key)?)?.iter().map(|s| s.mean()).collect::<Result<_>>()?;
        Ok(mean(&means))
    };
    Ok(vec![Value::bare(mean_of("of")? - mean_of("minus")?, samples)])
}

fn smallest_difference(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let values = difference(samples, args)?;
    let smallest =
        values.into_iter().reduce(|least, next| if next.value < least.value { next } else { least });
    Ok(smallest.into_iter().collect())
}

fn share_below(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let (values, level) = (difference(samples, args)?, args.needed_number("level")?);
    let below = values.iter().filter(|value| value.value < level).count();
    Ok(vec![Value::bare(below as f64 / values.len() as f64, samples)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{args, grid_samples, sample};
    use super::*;

    /// Differences of 2, 4 and 6: mean 4, standard error 2/√3, and Student's t of two degrees of freedom is 4.303.
    #[test]
    fn the_lower_end_of_a_difference_is_that_of_its_paired_interval() {
        let samples =
            [sample(&[("kind", "x")], &[3.0, 5.0, 7.0]), sample(&[("kind", "y")], &[1.0, 1.0, 1.0])];
        let samples: Vec<&Sample> = samples.iter().collect();
        let with = args("of = { kind = \"x\" }\nminus = { kind = \"y\" }");
        let lower = &lower_end_of_difference(&samples, &with).unwrap()[0];
        assert!((lower.value - (4.0 - 4.303 * 2.0 / 3.0f64.sqrt())).abs() < 0.001, "{}", lower.value);
        let with_one_seed = grid_samples(&[("x", "1", 5.0), ("y", "1", 1.0)]);
        assert!(lower_end_of_difference(&with_one_seed.iter().collect::<Vec<_>>(), &with).is_err());
    }

    #[test]
    fn pairs_agree_in_every_other_axis() {
        let samples = grid_samples(&[("x", "1", 5.0), ("x", "2", 7.0), ("y", "1", 1.0), ("y", "2", 10.0)]);
        let samples: Vec<&Sample> = samples.iter().collect();
        let with = args("of = { kind = \"x\" }\nminus = { kind = \"y\" }\nlevel = 0.0");
        let values = difference(&samples, &with).unwrap();
        let found: Vec<_> = values.iter().map(|value| (&*value.at, value.value)).collect();
        assert_eq!(found, [("1", 4.0), ("2", -3.0)]);
        assert_eq!(smallest_difference(&samples, &with).unwrap()[0].value, -3.0);
        assert_eq!(share_below(&samples, &with).unwrap()[0].value, 0.5);
        assert_eq!(mean_difference(&samples, &with).unwrap()[0].value, 0.5);
        let with = args("of = { n = [\"1\", \"2\"] }\nminus = { n = \"1\" }");
        let values = difference(&samples, &with).unwrap();
        let found: Vec<_> = values.iter().map(|value| (&*value.at, value.value)).collect();
        assert_eq!(found, [("x, 1", 0.0), ("x, 2", 2.0), ("y, 1", 0.0), ("y, 2", 9.0)]);
        let between = args(
            "of = { n = \"2\" }\nminus = { n = \"1\" }\nhere = { kind = \"y\" }\nthere = { kind = \"x\" }",
        );
        assert_eq!(difference_between(&samples, &between).unwrap()[0].value, 9.0 - 2.0);
        let over = args("of = { kind = \"y\" }\nover = { kind = \"x\" }");
        assert_eq!(ratio(&samples, &over).unwrap()[0].value, 0.2);
    }
}
