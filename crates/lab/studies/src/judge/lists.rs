//! Judgements of readings that are lists, such as D_p(N) for N = 1…40. The lists of a point's seeds are averaged place by place.

use super::{at, mean, Judgement, Sample, Value};
use crate::entry::Args;
use crate::error::{Error, Result};
use crate::reading::Reading;

pub(super) const JUDGEMENTS: &[Judgement] = &[
    Judgement {
        name: "peak_over_rest_less",
        help: "peak_over_rest at `minus` less that at `of`",
        judge: peak_over_rest_less,
    },
    Judgement {
        name: "smallest_where",
        help: "the smallest first number of the points whose second one is at least `from`",
        judge: smallest_where,
    },
    Judgement {
        name: "mean_where",
        help: "of each point, the mean of the first numbers of the seeds whose second one is at most `to`",
        judge: mean_where,
    },
    Judgement {
        name: "place_of_maximum",
        help: "of each point, the place of the largest value, from 1",
        judge: place_of_maximum,
    },
    Judgement {
        name: "peak_over_rest",
        help: "of each point, the maximum over `peak` = [from, to] over the mean over `rest` = [from, to]",
        judge: peak_over_rest,
    },
    Judgement {
        name: "mean_over_rest",
        help: "of each point, the mean over `part` = [from, to] over the mean over `rest` = [from, to]",
        judge: mean_over_rest,
    },
];

fn averaged(sample: &Sample) -> Vec<f64> {
    let lists: Vec<Vec<f64>> = sample.readings.iter().map(Reading::list).collect();
    let length = lists.iter().map(Vec::len).min().unwrap_or(0);
    (0..length).map(|place| mean(&lists.iter().map(|list| list[place]).collect::<Vec<_>>())).collect()
}

/// Returns the places from 1 that an argument names, of a list.
fn part<'a>(list: &'a [f64], args: &Args, key: &str) -> Result<&'a [f64]> {
    let bounds = args.0.get(key).and_then(toml::Value::as_array);
    let bounds: Option<Vec<i64>> =
        bounds.map(|bounds| bounds.iter().filter_map(toml::Value::as_integer).collect());
    let wrong =
        || Error::NoReading(format!("{key:?} must be [from, to], two places of a list of {}", list.len()));
    let Some(&[from, to]) = bounds.as_deref() else { return Err(wrong()) };
    let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
    list.get(from.wrapping_sub(1)..to).filter(|part| !part.is_empty()).ok_or_else(wrong)
}

fn each(samples: &[&Sample], of: impl Fn(&[f64]) -> Result<f64>) -> Result<Vec<Value>> {
    let value = |sample: &&Sample| {
        let (at, seeds) = (sample.point.words_without(&[]), sample.readings.len());
        Ok(Value { at, value: of(&averaged(sample))?, half_width: None, seeds })
    };
    samples.iter().map(value).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn place_of_maximum(samples: &[&Sample], _: &Args) -> Result<Vec<Value>> {
    each(samples, |list| {
        let top = largest(list);
        Ok(list.iter().position(|value| *value == top).map_or(f64::NAN, |place| place as f64 + 1.0))
    })
}

fn peak_over_rest(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each(samples, |list| Ok(largest(part(list, args, "peak")?) / mean(part(list, args, "rest")?)))
}

fn peak_over_rest_less(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let ratio = |key: &str| -> Result<Vec<Value>> { peak_over_rest(&at(samples, &args.at(key)?)?, args) };
    let Some(of) = ratio("of")?.into_iter().next() else { return Ok(Vec::new()) };
    let less = |minus: Value| Value { value: minus.value - of.value, ..minus };
    Ok(ratio("minus")?.into_iter().map(less).collect())
}

fn mean_over_rest(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    each(samples, |list| Ok(mean(part(list, args, "part")?) / mean(part(list, args, "rest")?)))
}

fn smallest_where(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let from = args.needed_number("from")?;
    let pair = |sample: &&Sample| match averaged(sample)[..] {
        [first, second] => Some((sample.point.words_without(&[]), first, second)),
        _ => None,
    };
    let fitting = samples.iter().filter_map(pair).filter(|(_, _, second)| *second >= from);
    let smallest = fitting.reduce(|least, next| if next.1 < least.1 { next } else { least });
    Ok(vec![match smallest {
        Some((at, value, _)) => Value { at, ..Value::bare(value, samples) },
        None => Value::bare(f64::NAN, samples),
    }])
}

fn mean_where(samples: &[&Sample], args: &Args) -> Result<Vec<Value>> {
    let to = args.needed_number("to")?;
    let value = |sample: &&Sample| {
        let first = |reading: &Reading| match reading.list()[..] {
            [first, second] if second <= to => Some(first),
            _ => None,
        };
        let fitting: Vec<f64> = sample.readings.iter().filter_map(first).collect();
        Value::of(sample.point.words_without(&[]), &fitting)
    };
    Ok(samples.iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{args, samples};
    use super::*;

    #[test]
    fn places_count_from_one() {
        let mut sample = samples(&[("a", &[0.0])]).remove(0);
        sample.readings =
            vec![Reading::List(vec![1.0, 2.0, 6.0, 1.0]), Reading::List(vec![1.0, 4.0, 2.0, 1.0])];
        let of =
            |judge: fn(&[&Sample], &Args) -> Result<Vec<Value>>, with: &str| judge(&[&sample], &args(with));
        assert_eq!(of(place_of_maximum, "").unwrap()[0].value, 3.0);
        assert_eq!(of(peak_over_rest, "peak = [2, 3]\nrest = [1, 1]").unwrap()[0].value, 4.0);
        assert_eq!(of(mean_over_rest, "part = [2, 3]\nrest = [4, 4]").unwrap()[0].value, 3.5);
        assert!(of(peak_over_rest, "peak = [0, 3]\nrest = [1, 1]").is_err());
    }

    #[test]
    fn the_second_number_of_a_pair_decides_whether_the_first_counts() {
        let mut sample = samples(&[("a", &[0.0])]).remove(0);
        sample.readings = vec![Reading::List(vec![5.0, 0.0]), Reading::List(vec![7.0, 2.0])];
        let of = |judge: fn(&[&Sample], &Args) -> Result<Vec<Value>>, with: &str| {
            judge(&[&sample], &args(with)).unwrap()[0].value
        };
        assert_eq!(of(smallest_where, "from = 1.0"), 6.0);
        assert!(of(smallest_where, "from = 1.5").is_nan());
        assert_eq!(of(mean_where, "to = 0"), 5.0);
    }
}
