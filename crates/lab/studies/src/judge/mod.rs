//! Judgements: functions from the readings of several points to values that a band holds or does not, by name.
//!
//! | module | judgements |
//! |---|---|
//! | `points` | each point, the mean, the extremes, the spread over seeds |
//! | `pairs` | differences and ratios between two sets of points |
//! | `along` | an axis: order, rank correlation, crossings |
//! | `lists` | readings that are lists: place of the maximum, means of parts |

mod along;
mod lists;
mod pairs;
mod points;

use crate::entry::{Args, At, Call};
use crate::error::{Error, Result};
use crate::grid::GridPoint;
use crate::reading::Reading;
use afteryou_plot::Estimate;

/// The readings of a point, one of each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The point.
    pub point: GridPoint,
    /// Its readings in the order of the seeds.
    pub readings: Vec<Reading>,
}

impl Sample {
    /// Returns the numbers that were read, one of each seed.
    ///
    /// # Errors
    /// Readings that are lists.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        let numbers: Option<Vec<f64>> = self.readings.iter().map(Reading::number).collect();
        numbers.ok_or_else(|| {
            Error::NoReading("the measure reads lists, and this judgement takes numbers".to_owned())
        })
    }

    /// Returns the mean over the seeds.
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub fn mean(&self) -> Result<f64> {
        Ok(mean(&self.numbers()?))
    }
}

/// A value to hold against a band.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The points that it is about, as words; empty if it is about all.
    pub at: String,
    /// The value: a mean over seeds where there are several.
    pub value: f64,
    /// Half the width of its 95 % interval, where it is known.
    pub half_width: Option<f64>,
    /// Seeds that it was made of.
    pub seeds: usize,
}

impl Value {
    /// Returns a value of a point's seeds.
    fn of(at: String, numbers: &[f64]) -> Value {
        let estimate = Estimate::of(numbers);
        Value {
            at,
            value: mean(numbers),
            half_width: estimate.and_then(|e| e.half_width),
            seeds: numbers.len(),
        }
    }

    /// Returns a value of several points, about which no interval is known.
    fn bare(value: f64, samples: &[&Sample]) -> Value {
        let seeds = samples.iter().map(|sample| sample.readings.len()).min().unwrap_or(0);
        Value { at: String::new(), value, half_width: None, seeds }
    }
}

/// Returns the mean; not a number if there are none.
fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// A judgement.
#[derive(Clone, Copy)]
pub struct Judgement {
    /// Its name in the papers' files.
    pub name: &'static str,
    /// Its values and arguments in one sentence.
    pub help: &'static str,
    /// Judges the readings.
    pub judge: fn(&[&Sample], &Args) -> Result<Vec<Value>>,
}

/// Returns every judgement, module by module.
pub fn all() -> impl Iterator<Item = &'static Judgement> {
    [points::JUDGEMENTS, pairs::JUDGEMENTS, along::JUDGEMENTS, lists::JUDGEMENTS].into_iter().flatten()
}

/// Returns the judgement with this name.
///
/// # Errors
/// [`Error::NoReading`] if there is none.
pub fn find(name: &str) -> Result<&'static Judgement> {
    let found = all().find(|judgement| judgement.name == name);
    found.ok_or_else(|| Error::NoReading(format!("there is no judgement {name:?}")))
}

/// Returns the values that the judgement `call` makes of `samples`.
///
/// # Errors
/// An unknown judgement, a missing argument, or samples that it cannot judge.
pub fn judge(samples: &[&Sample], call: &Call) -> Result<Vec<Value>> {
    if samples.is_empty() {
        return Err(Error::NoReading("the check names points that the grid does not have".to_owned()));
    }
    let judged = (find(&call.name)?.judge)(samples, &call.with);
    judged.map_err(|error| Error::NoReading(format!("judgement {}: {error}", call.name)))
}

/// Returns the samples at the points that an argument names.
fn at<'a>(samples: &[&'a Sample], at: &At) -> Result<Vec<&'a Sample>> {
    let found: Vec<&Sample> = samples.iter().filter(|sample| sample.point.is_at(at)).copied().collect();
    match found.is_empty() {
        false => Ok(found),
        true => Err(Error::NoReading(format!("no point is at {:?}", at.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn args(text: &str) -> Args {
        toml::from_str(text).unwrap()
    }

    pub(super) fn sample(labels: &[(&str, &str)], numbers: &[f64]) -> Sample {
        let number = |(axis, label): &(&str, &str)| Some(((*axis).to_owned(), label.parse().ok()?));
        let point = GridPoint {
            labels: labels.iter().map(|(axis, label)| ((*axis).to_owned(), (*label).to_owned())).collect(),
            numbers: labels.iter().filter_map(number).collect(),
            set: Vec::new(),
        };
        Sample { point, readings: numbers.iter().map(|number| Reading::One(*number)).collect() }
    }

    /// Returns samples at points of one axis, each with the numbers of its seeds.
    pub(super) fn samples(points: &[(&str, &[f64])]) -> Vec<Sample> {
        points.iter().map(|(label, numbers)| sample(&[("point", label)], numbers)).collect()
    }

    /// Returns samples at points of the axes "kind" and "n", each with one number.
    pub(super) fn grid_samples(points: &[(&str, &str, f64)]) -> Vec<Sample> {
        points.iter().map(|(kind, n, number)| sample(&[("kind", kind), ("n", n)], &[*number])).collect()
    }

    #[test]
    fn names_of_judgements_and_measures_are_unique() {
        let mut names: Vec<&str> = all().map(|judgement| judgement.name).collect();
        names.extend(crate::measure::all().map(|measure| measure.name));
        let number = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), number);
    }
}
