//! Values of real packets, held against bands that are as wide as one run needs.

use super::Tested;
use crate::entry::{Band, Check};
use crate::error::{Error, Result};
use crate::judge::{self, Sample, Value};
use crate::plan::Chosen;
use crate::verdict::{Cause, EntryVerdict, Finding, Simulated, Verdict};
use afteryou_plot::Estimate;
use std::collections::BTreeMap;

/// Standard deviations by which one run may lie from the mean.
const DEVIATIONS: f64 = 2.0;

/// Returns the findings of a check from one reading of each point, and from the simulator's readings there.
pub fn findings(tested: &Tested, real: &Result<Vec<Sample>>, simulated: Result<Vec<Sample>>) -> Vec<Finding> {
    let check = tested.check;
    let blank = || Finding {
        explains: check.explains,
        ..Finding::blank(&check.id, &check.what, &check.unit, check.published.clone())
    };
    let failed = |reason: String| Finding { trouble: Some(reason), verdict: Verdict::Missed, ..blank() };
    let real = match real {
        Ok(samples) => samples,
        Err(error) => return vec![failed(error.to_string())],
    };
    let simulated = match simulated.and_then(|samples| beside(check, &samples)) {
        Ok(simulated) => simulated,
        Err(error) => return vec![failed(format!("the simulator: {error}"))],
    };
    match judged(check, real) {
        Ok(values) => {
            let is_only = values.len() == 1;
            let beside = |value: &Value| simulated.get(place(value, is_only)).copied();
            values.into_iter().map(|value| finding(check, blank(), beside(&value), value)).collect()
        }
        Err(error) => vec![failed(error.to_string())],
    }
}

fn judged(check: &Check, samples: &[Sample]) -> Result<Vec<Value>> {
    judge::judge(&samples.iter().collect::<Vec<_>>(), &check.judge)
}

/// Returns the simulator's values, each seed judged as the one run on real packets is, by the points that they are about.
fn beside(check: &Check, samples: &[Sample]) -> Result<BTreeMap<String, Simulated>> {
    let seeds = samples.iter().map(|sample| sample.readings.len()).min().unwrap_or(0);
    let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for seed in 0..seeds {
        let of_seed = |sample: &Sample| Sample {
            point: sample.point.clone(),
            readings: vec![sample.readings[seed].clone()],
        };
        let values = judged(check, &samples.iter().map(of_seed).collect::<Vec<_>>())?;
        let is_only = values.len() == 1;
        for value in &values {
            numbers.entry(place(value, is_only).to_owned()).or_default().push(value.value);
        }
    }
    let simulated = |numbers: &[f64]| {
        let estimate = Estimate::of(numbers)?;
        let spread = DEVIATIONS * deviation(numbers, estimate.mean);
        Some(Simulated { mean: estimate.mean, spread })
    };
    Ok(numbers.into_iter().filter_map(|(at, numbers)| Some((at, simulated(&numbers)?))).collect())
}

/// Returns the point that a value is about. The only value of a check is one of all points: the smallest is at another of
/// them in each run.
fn place(value: &Value, is_only: bool) -> &str {
    if is_only {
        ""
    } else {
        &value.at
    }
}

/// Returns the standard deviation of a sample; 0 of a single number.
fn deviation(numbers: &[f64], mean: f64) -> f64 {
    let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
    libm::sqrt(squares / (numbers.len() as f64 - 1.0).max(1.0))
}

fn finding(check: &Check, blank: Finding, simulated: Option<Simulated>, value: Value) -> Finding {
    let Some(beside) = simulated else {
        let trouble = Some(Error::NoReading("the simulator has no value here".to_owned()).to_string());
        return Finding { at: value.at, trouble, verdict: Verdict::Missed, ..blank };
    };
    let widened = |limit: f64, by: f64| limit + if by.is_finite() { by } else { 0.0 };
    let band = Band {
        min: check.band.min.map(|min| widened(min, -beside.spread)),
        max: check.band.max.map(|max| widened(max, beside.spread)),
    };
    let number = value.value;
    let finding = Finding {
        half_width: None,
        simulated: Some(beside),
        ..blank.with(value, band, check.published_band)
    };
    // Both engines agree: the band's fault is not this engine's.
    if finding.verdict == Verdict::Missed && misses_alike(check.band, number, beside.mean) {
        let why = "the simulator misses the same limit at this point".to_owned();
        return Finding { verdict: Verdict::Explained, explained: Some((Cause::InSim, why)), ..finding };
    }
    finding
}

/// Returns whether both values are outside on the same side.
fn misses_alike(band: Band, one: f64, other: f64) -> bool {
    let below = |value: f64| band.min.is_some_and(|min| value < min);
    let above = |value: f64| band.max.is_some_and(|max| value > max);
    (below(one) && below(other)) || (above(one) && above(other))
}

/// Returns verdicts by entry, in the order in which entries come first.
pub fn by_entry(findings: impl Iterator<Item = (Chosen, Vec<Finding>, f64)>) -> Vec<EntryVerdict> {
    let mut verdicts: Vec<EntryVerdict> = Vec::new();
    for (chosen, findings, cpu_s) in findings {
        match verdicts.iter_mut().find(|verdict| std::ptr::eq(verdict.entry, chosen.entry)) {
            Some(verdict) => {
                verdict.findings.extend(findings);
                verdict.cpu_s += cpu_s;
            }
            None => verdicts.push(EntryVerdict {
                paper: &chosen.paper.id,
                entry: chosen.entry,
                findings,
                cpu_s,
                left_out: 0,
                stale: Vec::new(),
                figures: Vec::new(),
            }),
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice;
    use crate::grid::GridPoint;
    use crate::reading::Reading;

    fn sample(numbers: &[f64]) -> Sample {
        let point = GridPoint { labels: Vec::new(), numbers: BTreeMap::new(), set: Vec::new() };
        Sample { point, readings: numbers.iter().map(|number| Reading::One(*number)).collect() }
    }

    /// Returns the verdict on one value beside the simulator's, for a band of 0.38 to 0.52.
    fn of(value: f64, simulated: &[f64]) -> Finding {
        let chosen = choice::named(&["alsaadi2017/fig2".to_owned()]).unwrap()[0];
        let check = chosen.entry.checks.iter().find(|check| check.id == "pie-mod").unwrap();
        let grid = chosen.grid(check).unwrap();
        let tested = Tested { chosen, check, grid, points: Vec::new(), real: &[] };
        let mut findings = findings(&tested, &Ok(vec![sample(&[value])]), Ok(vec![sample(simulated)]));
        findings.remove(0)
    }

    #[test]
    fn a_band_is_widened_by_two_standard_deviations_of_the_seeds() {
        // Deviations of 0.01 around 0.5: the sample's standard deviation is 0.01 × √(4/3).
        let seeds = [0.49, 0.51, 0.49, 0.51];
        let spread = 2.0 * 0.01 * (4.0_f64 / 3.0).sqrt();
        let finding = of(0.53, &seeds);
        assert!((finding.simulated.unwrap().spread - spread).abs() < 1e-12);
        assert!((finding.band.max.unwrap() - 0.52 - spread).abs() < 1e-12);
        assert_eq!(finding.verdict, Verdict::Met);
        assert_eq!(of(0.55, &seeds).verdict, Verdict::Missed);
        assert_eq!(of(0.53, &[0.5, 0.5]).verdict, Verdict::Missed, "seeds that agree widen nothing");
    }

    #[test]
    fn the_smallest_of_all_points_is_compared_wherever_it_lies() {
        let chosen = choice::named(&["alsaadi2017/s4D-fifo".to_owned()]).unwrap()[0];
        let check = chosen.entry.checks.iter().find(|check| check.id == "smallest").unwrap();
        let grid = chosen.grid(check).unwrap();
        let tested = Tested { chosen, check, grid, points: Vec::new(), real: &[] };
        let at = |rate: &str, numbers: &[f64]| Sample {
            point: GridPoint { labels: vec![("rate".to_owned(), rate.to_owned())], ..sample(&[]).point },
            ..sample(numbers)
        };
        let real = vec![at("1 Mbit/s", &[0.985]), at("4 Mbit/s", &[0.99])];
        let simulated = vec![at("1 Mbit/s", &[0.986, 0.998]), at("4 Mbit/s", &[0.997, 0.984])];
        let findings = findings(&tested, &Ok(real), Ok(simulated));
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((finding.verdict, &*finding.at), (Verdict::Met, "1 Mbit/s"));
        assert!((finding.simulated.unwrap().mean - 0.985).abs() < 1e-12);
    }

    #[test]
    fn a_miss_that_the_simulator_has_on_the_same_side_is_explained() {
        assert_eq!(of(0.6, &[0.58, 0.58]).verdict, Verdict::Explained);
        assert_eq!(of(0.6, &[0.3, 0.3]).verdict, Verdict::Missed);
    }
}
