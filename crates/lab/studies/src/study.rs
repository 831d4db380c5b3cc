//! A study: the runs that entries need are made or found in the cache, and each check is judged.

use crate::entry::{At, Call, Check, Exact, Figure, Grid};
use crate::error::{Error, Result};
use crate::exact;
use crate::extent::Extent;
use crate::figures;
use crate::judge::{self, Sample, Value};
use crate::papers;
use crate::plan::{is_run, measure_key, wanted, Chosen, Wanted};
use crate::runs::{self, Making, Run, Runs};
use crate::runs::{Cache, Kept};
use crate::verdict::{EntryVerdict, Finding, Verdict};
use afteryou_engines::{Point, Pool, PoolProgress, Simulator};
use afteryou_scenario::content::ContentHash;
use std::sync::atomic::AtomicBool;

/// Where and how a study runs.
pub struct Setting<'a> {
    /// How much of it.
    pub extent: Extent,
    /// The threads.
    pub pool: Pool,
    /// The hash of the program, part of the key of each run.
    pub build: ContentHash,
    /// Draw the papers' figures, too.
    pub figures: bool,
    /// Ends everything within a moment.
    pub stop: &'a AtomicBool,
    /// The processor time of the calling thread, s.
    pub cpu_s: fn() -> f64,
}

/// One run: a point of a grid with a seed.
#[derive(Clone, Copy)]
struct Job {
    /// Index among the selected points.
    wanted: usize,
    /// From 1.
    repetition: u32,
}

/// Runs what `chosen` needs and `cache` does not have, and judges each entry. `progress` gets the number of runs, those that were
/// there already, and how far the others are.
///
/// # Errors
/// Wrong data of a paper, a run that fails, a cache that cannot be written, and an interruption.
pub fn run(
    chosen: &[Chosen],
    setting: &Setting,
    cache: &mut Cache,
    progress: &mut dyn FnMut(usize, usize, PoolProgress),
) -> Result<Vec<EntryVerdict>> {
    let wanted = wanted(chosen, setting.extent, setting.figures)?;
    let jobs: Vec<Job> = (wanted.iter().enumerate())
        .flat_map(|(index, point)| {
            point.grid.repetitions(setting.extent).map(move |r| Job { wanted: index, repetition: r })
        })
        .collect();
    let kept = make(&wanted, &jobs, setting, cache, progress)?;
    let samples = samples(&wanted, &jobs, &kept);
    let mut verdicts = Vec::with_capacity(chosen.len());
    for (index, chosen) in chosen.iter().enumerate() {
        let ours = |(job, _): &(&Job, &Kept)| wanted[job.wanted].first == index;
        let cpu_s = jobs.iter().zip(&kept).filter(ours).map(|(_, kept)| kept.cpu_s).sum();
        let mut verdict = verdict(chosen, setting.extent, &samples, cpu_s)?;
        if setting.figures {
            let figures = chosen.entry.figures.iter();
            verdict.figures = figures.map(|figure| draw(chosen, figure, &samples)).collect();
        }
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

/// Makes the runs of every job; returns their readings, in order.
fn make(
    wanted: &[Wanted],
    jobs: &[Job],
    setting: &Setting,
    cache: &mut Cache,
    progress: &mut dyn FnMut(usize, usize, PoolProgress),
) -> Result<Vec<Kept>> {
    let run = |index: usize| {
        let job = &jobs[index];
        let Wanted { grid, point, measures, .. } = &wanted[job.wanted];
        Ok(Run { point: Point::new(&Simulator, point.scenario(grid, job.repetition)?), measures })
    };
    let making = Making {
        engine: &Simulator,
        pool: setting.pool,
        build: setting.build,
        stop: setting.stop,
        cpu_s: setting.cpu_s,
    };
    Ok(runs::make(&Runs { count: jobs.len(), at: &run }, &making, cache, progress)?.0)
}

/// For each selected point and measure, the readings in the order of the seeds.
struct Samples<'a> {
    wanted: &'a [Wanted],
    /// By selected point.
    kept: Vec<Vec<&'a Kept>>,
}

fn samples<'a>(wanted: &'a [Wanted], jobs: &[Job], kept: &'a [Kept]) -> Samples<'a> {
    let mut of_points: Vec<Vec<&Kept>> = wanted.iter().map(|_| Vec::new()).collect();
    for (job, kept) in jobs.iter().zip(kept) {
        of_points[job.wanted].push(kept);
    }
    Samples { wanted, kept: of_points }
}

impl Samples<'_> {
    /// Returns the samples of `grid` at `at`, in the order of its axes.
    fn at(&self, grid: &Grid, at: &At, measure: &Call) -> Result<Vec<Sample>> {
        let key = measure_key(measure);
        let places = self.wanted.iter().zip(&self.kept);
        let ours = places.filter(|(wanted, _)| std::ptr::eq(wanted.grid, grid) && wanted.point.is_at(at));
        let sample = |(wanted, kept): (&Wanted, &Vec<&Kept>)| {
            let failed =
                |reason: &str| Error::NoReading(format!("{}: {reason}", wanted.point.words_without(&[])));
            let reading = |kept: &&Kept| match kept.readings.get(&key) {
                Some(Ok(reading)) => Ok(reading.clone()),
                Some(Err(reason)) => Err(failed(reason)),
                None => Err(failed("the measure was not taken")),
            };
            Ok(Sample {
                point: wanted.point.clone(),
                readings: kept.iter().map(reading).collect::<Result<_>>()?,
            })
        };
        ours.map(sample).collect()
    }

    /// Returns the samples of a check: at the defaults of settings that are not stated, and elsewhere.
    fn of(&self, chosen: &Chosen, check: &Check) -> Result<(Vec<Sample>, Vec<Sample>)> {
        let grid = chosen.grid(check)?;
        let mut defaults = grid.defaults();
        // A check that names such a setting means what it names.
        defaults.0.retain(|axis, _| !check.at.0.contains_key(axis));
        let samples = self.at(grid, &check.at, &check.measure)?;
        Ok(samples.into_iter().partition(|sample| sample.point.is_at(&defaults)))
    }
}

/// Draws a figure of an entry, or returns the reason that there is none.
fn draw(chosen: &Chosen, figure: &Figure, samples: &Samples) -> Result<String> {
    let of = |call: &Call| -> Result<Vec<Sample>> {
        let Some(name) = &figure.grid else { return Ok(Vec::new()) };
        samples.at(chosen.grid_of(name, &figure.title)?, &figure.at, call)
    };
    let mut outer = Vec::new();
    for (flow, call) in figure.measures() {
        outer.push((flow, of(&call)?));
    }
    figures::svg(figure, &outer, &figure.inner.as_ref().map_or(Ok(Vec::new()), of)?)
}

fn verdict(chosen: &Chosen, extent: Extent, samples: &Samples, cpu_s: f64) -> Result<EntryVerdict> {
    let (mut findings, mut left_out) = (Vec::new(), 0);
    for exact in &chosen.entry.exact {
        findings.extend(exact.cases.iter().map(|case| of_function(exact, case)));
    }
    for check in &chosen.entry.checks {
        match is_run(check, chosen.grid(check)?, extent) {
            true => findings.extend(of_runs(chosen, check, samples)),
            false => left_out += 1,
        }
    }
    let known = papers::known(&chosen.paper.id)?.of(&chosen.entry.id);
    let stale = known.mark(&mut findings, extent);
    Ok(EntryVerdict {
        paper: &chosen.paper.id,
        entry: chosen.entry,
        findings,
        cpu_s,
        left_out,
        stale,
        figures: Vec::new(),
    })
}

fn of_function(exact: &Exact, case: &crate::entry::Case) -> Finding {
    let inputs: Vec<String> = case.inputs.iter().map(f64::to_string).collect();
    let band = exact.band(case);
    let computed = exact::compute(&exact.function, &case.inputs);
    let value = Value {
        at: inputs.join(", "),
        value: computed.as_ref().copied().unwrap_or(f64::NAN),
        half_width: None,
        seeds: 0,
    };
    let blank = Finding::blank(&exact.id, &exact.what, &exact.unit, exact.published.clone());
    let finding = blank.with(value, band, None);
    Finding {
        published_met: exact.published_met,
        trouble: computed.err().map(|error| error.to_string()),
        ..finding
    }
}

fn of_runs(chosen: &Chosen, check: &Check, samples: &Samples) -> Vec<Finding> {
    let blank = || Finding {
        explains: check.explains,
        ..Finding::blank(&check.id, &check.what, &check.unit, check.published.clone())
    };
    let judged = |samples: &[Sample]| judge::judge(&samples.iter().collect::<Vec<_>>(), &check.judge);
    let failed =
        |error: Error| Finding { trouble: Some(error.to_string()), verdict: Verdict::Missed, ..blank() };
    let (here, elsewhere) = match samples.of(chosen, check) {
        Ok(samples) => samples,
        Err(error) => return vec![failed(error)],
    };
    let mut findings = match judged(&here) {
        Ok(values) => values.into_iter().map(|v| blank().with(v, check.band, check.published_band)).collect(),
        Err(error) => vec![failed(error)],
    };
    for (words, samples) in by_unstated(chosen, check, elsewhere) {
        // A judgement that needs points which a thinner range does not have has no value there.
        let values = judged(&samples).unwrap_or_default();
        findings.extend(values.into_iter().map(|value| {
            let value = Value { at: format!("{words}: {}", value.at), ..value };
            Finding { elsewhere: true, ..blank().with(value, check.band, check.published_band) }
        }));
    }
    findings
}

/// Groups samples away from the defaults by the values of the settings that are not stated.
fn by_unstated(chosen: &Chosen, check: &Check, samples: Vec<Sample>) -> Vec<(String, Vec<Sample>)> {
    let Ok(grid) = chosen.grid(check) else { return Vec::new() };
    let unstated: Vec<&str> =
        grid.axes.iter().filter(|axis| axis.default.is_some()).map(|axis| &*axis.name).collect();
    let mut groups: Vec<(String, Vec<Sample>)> = Vec::new();
    for sample in samples {
        let labels = unstated.iter().filter_map(|axis| Some(format!("{axis} {}", sample.point.label(axis)?)));
        let words = labels.collect::<Vec<_>>().join(", ");
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, group)) => group.push(sample),
            None => groups.push((words, vec![sample])),
        }
    }
    groups
}
