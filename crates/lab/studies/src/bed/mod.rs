//! The bed set: those points of the papers' experiments that are run on real packets, in minutes instead of days.
//!
//! `papers/bed.toml` names checks of entries and thins out their points. A point is run once in the testbed, and with
//! several seeds in the simulator. One run is no mean, so each value is compared with the entry's band, widened on
//! either side by two standard deviations. Those are of the simulator's seeds at the same points.

mod cost;
mod judged;

pub use cost::{days, Cost};

use crate::entry::{At, Check, Grid};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::grid::GridPoint;
use crate::judge::Sample;
use crate::plan::{measure_key, Chosen};
use crate::runs::{self, Making, Run, Runs};
use crate::runs::{Cache, Kept};
use crate::verdict::EntryVerdict;
use afteryou_engines::{Bed, Engine, Point, Pool, PoolProgress, Simulator};
use afteryou_scenario::content::ContentHash;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Times that a run which the machine spoiled is made again, alone.
const AGAIN: usize = 2;

/// The set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Seeds of the simulator at each point.
    pub seeds: u32,
    /// Assignments for all runs.
    #[serde(default)]
    pub set: Vec<String>,
    /// Assignments for runs on real packets alone, after all others.
    #[serde(default)]
    pub real: Vec<String>,
    /// Parts of entries.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// Checks of an entry, at some of their points.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The paper and the entry: "gong2012/fig2".
    pub entry: String,
    /// The checks.
    pub checks: Vec<String>,
    /// The points that are left of each check's; a check ignores axes that its grid does not have.
    #[serde(default)]
    pub at: At,
    /// Assignments for its runs.
    #[serde(default)]
    pub set: Vec<String>,
    /// Assignments for some of its points.
    #[serde(default)]
    pub only: Vec<Only>,
}

/// Assignments for the points at some labels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    /// The points.
    pub at: At,
    /// The assignments.
    pub set: Vec<String>,
}

/// Where and how the set is run.
pub struct Setting<'a> {
    /// Testbeds at the same time.
    pub beds: usize,
    /// The simulator's threads.
    pub pool: Pool,
    /// The hash of the program, part of the key of each run.
    pub build: ContentHash,
    /// Ends everything within a moment.
    pub stop: &'a AtomicBool,
    /// The processor time of the calling thread, s.
    pub cpu_s: fn() -> f64,
}

/// Part of the work of a bed study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Real packets.
    Bed,
    /// Runs that the machine spoiled, again and alone.
    Again,
    /// The simulator's seeds at the same points.
    Simulator,
}

/// Reports a phase, its runs, those that were there already, and how far the others are.
pub type PhaseProgress<'a> = dyn FnMut(Phase, usize, usize, PoolProgress) + 'a;

/// Returns the set.
///
/// # Errors
/// A file that is wrong; a test reads it.
pub fn set() -> Result<Set> {
    toml::from_str(include_str!("../../papers/bed.toml"))
        .map_err(|error| Error::data("bed", error.to_string()))
}

/// A check of the set, at its points.
pub struct Tested<'a> {
    /// The entry.
    pub chosen: Chosen,
    /// The check.
    pub check: &'static Check,
    /// The check's grid.
    pub grid: &'static Grid,
    /// Its points, with the set's assignments.
    pub points: Vec<GridPoint>,
    /// Assignments for real packets.
    real: &'a [String],
}

impl Set {
    /// Returns the checks of `chosen` entries that are in the set.
    ///
    /// # Errors
    /// A part that names what is not there.
    pub fn tested(&self, chosen: &[Chosen]) -> Result<Vec<Tested<'_>>> {
        let mut tested = Vec::new();
        for part in &self.parts {
            let named = |chosen: &&Chosen| format!("{}/{}", chosen.paper.id, chosen.entry.id) == part.entry;
            let Some(chosen) = chosen.iter().find(named) else { continue };
            for name in &part.checks {
                let fault = |what: &str| Error::data("bed", format!("{}/{name}: {what}", part.entry));
                let check = chosen.entry.checks.iter().find(|check| check.id == *name);
                let check = check.ok_or_else(|| fault("the entry has no such check"))?;
                let grid = chosen.grid(check)?;
                let points = self.points(part, check, grid);
                if points.is_empty() {
                    return Err(fault("no point is left of this check"));
                }
                tested.push(Tested { chosen: *chosen, check, grid, points, real: &self.real });
            }
        }
        Ok(tested)
    }

    fn points(&self, part: &Part, check: &Check, grid: &'static Grid) -> Vec<GridPoint> {
        let has_axis = |name: &str| grid.axes.iter().any(|axis| axis.name == name);
        let left = part.at.0.iter().filter(|(axis, _)| has_axis(axis));
        let left = At(left.map(|(axis, labels)| (axis.clone(), labels.clone())).collect());
        let mut defaults = grid.defaults();
        defaults.0.retain(|axis, _| !check.at.0.contains_key(axis));
        let points = grid.points(Extent::Usual).into_iter();
        let ours = points.filter(|p| p.is_at(&check.at) && p.is_at(&left) && p.is_at(&defaults));
        let with_set = |mut point: GridPoint| {
            let only = part.only.iter().filter(|only| point.is_at(&only.at)).flat_map(|only| &only.set);
            let set: Vec<String> = self.set.iter().chain(&part.set).chain(only).cloned().collect();
            point.set.extend(set);
            point
        };
        ours.map(with_set).collect()
    }
}

impl Tested<'_> {
    /// Returns its runs on real packets, one for each point.
    ///
    /// # Errors
    /// A scenario that is refused.
    pub fn real(&self) -> Result<Vec<Point>> {
        let run = |point: &GridPoint| -> Result<Point> {
            let mut point = point.clone();
            point.set.extend(self.real.iter().cloned());
            Ok(Point::new(&Bed::new(), point.scenario(self.grid, 1)?))
        };
        self.points.iter().map(run).collect()
    }

    /// Returns its runs in the simulator: for each point all seeds.
    fn simulated(&self, seeds: u32) -> Result<Vec<Point>> {
        let runs = self.points.iter().flat_map(|point| (1..=seeds).map(move |seed| (point, seed)));
        runs.map(|(point, seed)| Ok(Point::new(&Simulator, point.scenario(self.grid, seed)?))).collect()
    }

    /// Returns a sample of each point from its readings, `each` to a point.
    fn samples(&self, kept: &[Kept], each: usize) -> Result<Vec<Sample>> {
        let key = measure_key(&self.check.measure);
        let sample = |(point, kept): (&GridPoint, &[Kept])| {
            let reading = |kept: &Kept| match kept.readings.get(&key) {
                Some(Ok(reading)) => Ok(reading.clone()),
                Some(Err(reason)) => Err(Error::NoReading(format!("{}: {reason}", point.words_without(&[])))),
                None => Err(Error::NoReading("the measure was not taken".to_owned())),
            };
            let readings = kept.iter().map(reading).collect::<Result<_>>()?;
            Ok(Sample { point: point.clone(), readings })
        };
        self.points.iter().zip(kept.chunks(each)).map(sample).collect()
    }
}

/// Runs the part of the set that `chosen` has, and judges each of its checks.
///
/// # Errors
/// Wrong data of a paper, no entry of the set among `chosen`, a run that fails, a cache that cannot be written, an interruption.
pub fn run(
    chosen: &[Chosen],
    setting: &Setting,
    cache: &mut Cache,
    progress: &mut PhaseProgress<'_>,
) -> Result<Vec<EntryVerdict>> {
    let set = set()?;
    let tested = set.tested(chosen)?;
    if tested.is_empty() {
        return Err(Error::NotInBedSet);
    }
    let real = Batch::of(&tested, Tested::real)?;
    let (mut kept, mut spoiled) =
        real.make(&Bed::new().in_namespaces(setting.beds), setting, cache, Phase::Bed, progress)?;
    for _ in 0..AGAIN {
        if spoiled > 0 {
            (kept, spoiled) =
                real.make(&Bed::new().in_namespaces(1), setting, cache, Phase::Again, progress)?;
        }
    }
    let seeds = Batch::of(&tested, |tested| tested.simulated(set.seeds))?;
    let (simulated, _) = seeds.make(&Simulator, setting, cache, Phase::Simulator, progress)?;
    let seeds = set.seeds as usize;
    let findings = tested.iter().zip(kept.iter().zip(&simulated)).map(|(tested, (kept, simulated))| {
        let findings = judged::findings(tested, &tested.samples(kept, 1), tested.samples(simulated, seeds));
        let cpu_s: f64 = kept.iter().chain(simulated).map(|kept| kept.cpu_s).sum();
        (tested.chosen, findings, cpu_s)
    });
    Ok(judged::by_entry(findings))
}

/// Runs of several checks.
struct Batch {
    points: Vec<Point>,
    /// By check, its measure.
    measures: Vec<BTreeMap<String, crate::entry::Call>>,
    /// By check, its number of runs.
    numbers: Vec<usize>,
}

impl Batch {
    fn of<'a>(tested: &[Tested<'a>], points: impl Fn(&Tested<'a>) -> Result<Vec<Point>>) -> Result<Batch> {
        let of_checks: Vec<Vec<Point>> = tested.iter().map(points).collect::<Result<_>>()?;
        let measure = |tested: &Tested| {
            let call = &tested.check.measure;
            BTreeMap::from([(measure_key(call), call.clone())])
        };
        Ok(Batch {
            measures: tested.iter().map(measure).collect(),
            numbers: of_checks.iter().map(Vec::len).collect(),
            points: of_checks.into_iter().flatten().collect(),
        })
    }

    /// Makes each check's runs; returns their readings, and how many runs the machine spoiled.
    fn make(
        &self,
        engine: &dyn Engine,
        setting: &Setting,
        cache: &mut Cache,
        phase: Phase,
        progress: &mut PhaseProgress<'_>,
    ) -> Result<(Vec<Vec<Kept>>, usize)> {
        let making = Making {
            engine,
            pool: if engine.at_once() < usize::MAX { Pool::of(engine.at_once()) } else { setting.pool },
            build: setting.build,
            stop: setting.stop,
            cpu_s: setting.cpu_s,
        };
        let of_runs = self.numbers.iter().zip(&self.measures).flat_map(|(n, m)| std::iter::repeat_n(m, *n));
        let measures: Vec<_> = of_runs.collect();
        let run = |index: usize| Ok(Run { point: self.points[index].clone(), measures: measures[index] });
        let needed = Runs { count: self.points.len(), at: &run };
        let mut show = |all, there, done| progress(phase, all, there, done);
        let (kept, spoiled) = runs::make(&needed, &making, cache, &mut show)?;
        let mut left = kept.into_iter();
        Ok((self.numbers.iter().map(|number| left.by_ref().take(*number).collect()).collect(), spoiled))
    }
}
