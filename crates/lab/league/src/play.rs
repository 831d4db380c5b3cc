//! A season: every entrant on every cell, and every cell once without a background.

use crate::entrant::Entrant;
use crate::error::{Error, Result};
use crate::figures::Figures;
use crate::grid::{Cell, Foreground};
use crate::workers::{self, Ended, Sign, Work};
use afteryou_engines::{sweep, Cache, Engine, Point};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario_file::Experiment;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// A run of the simulator gives a sign of life several times a second. One that gives none for so long is stuck in a rule.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Cells in which an entrant may be stuck before the others are not tried.
const MOST_STUCK: usize = 3;

/// A run's figures, or the reason that it has none.
pub type Outcome = Result<Figures, String>;

/// The cached part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept(pub Outcome);

/// Where and how runs are made.
#[derive(Clone)]
pub struct Setting<'a> {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Runs at the same time.
    pub threads: usize,
    /// The hash of the program, part of the key of each run.
    pub build: ContentHash,
    /// How long a run may give no sign of life.
    pub patience: Duration,
    /// Takes the failure of a rule in the calling thread, where rules fail without a panic.
    pub failure: fn() -> Option<String>,
    /// Ends everything when it is set.
    pub stop: &'a AtomicBool,
}

/// How far a season is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Runs of the season.
    pub all: usize,
    /// Runs that were made before.
    pub there: usize,
    /// Runs that have ended in this call.
    pub done: usize,
    /// Time that has passed within them, s.
    pub passed_s: f64,
}

/// The runs of a season.
#[derive(Clone, Debug, PartialEq)]
pub struct Season {
    /// The cells.
    pub cells: Vec<Cell>,
    /// The entrants.
    pub entrants: Vec<Entrant>,
    /// Of each cell, the run without a background; empty figures where nobody would be left.
    pub alone: Vec<Outcome>,
    /// Of each entrant, the run of each cell.
    pub runs: Vec<Vec<Outcome>>,
    /// Why the cache did not take everything, if it did not.
    pub not_kept: Option<String>,
}

/// A run to make.
struct Job {
    cell: usize,
    /// `None` without a background.
    entrant: Option<usize>,
    file: String,
    name: String,
    key: ContentHash,
}

/// Runs a season. Runs in `cache` are not repeated. A run that fails is a result, too. `progress` is called after each run.
///
/// # Errors
/// [`afteryou_engines::Error::Interrupted`] if the flag was set: what has ended by then is in the cache.
pub fn play(
    cells: Vec<Cell>,
    entrants: Vec<Entrant>,
    setting: &Setting,
    cache: &mut Cache<Kept>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Season> {
    let jobs = Arc::new(jobs(&cells, &entrants, setting));
    let mut results: Vec<Option<Outcome>> =
        jobs.iter().map(|job| cache.get(&job.key).map(|kept| kept.0.clone())).collect();
    let mut pending: Vec<usize> = (0..jobs.len()).filter(|job| results[*job].is_none()).collect();
    // The longest first, so that no thread ends long after the others.
    pending.sort_by(|a, b| cells[jobs[*b].cell].packets().total_cmp(&cells[jobs[*a].cell].packets()));
    let there = jobs.len() - pending.len();
    let mut at = Progress { all: jobs.len(), there, ..Progress::default() };
    let stuck: Arc<Vec<AtomicBool>> = Arc::new(entrants.iter().map(|_| AtomicBool::new(false)).collect());
    let mut times_stuck = vec![0; entrants.len()];
    let work: Work<Result<Figures, Reason>> = {
        let (jobs, stuck, engine, failure) = (jobs.clone(), stuck.clone(), setting.engine, setting.failure);
        Arc::new(move |index, sign| {
            let job = &jobs[index];
            match job.entrant.is_some_and(|entrant| stuck[entrant].load(Ordering::Relaxed)) {
                true => Err(Reason::NotTried),
                false => run(engine, job, sign, failure),
            }
        })
    };
    let mut not_kept = None;
    let threads = setting.threads.min(setting.engine.at_once());
    workers::run(
        pending,
        threads,
        setting.patience,
        &work,
        &mut |index, ended| {
            let job = &jobs[index];
            if let (Ended::Silent(_), Some(entrant)) = (&ended, job.entrant) {
                times_stuck[entrant] += 1;
                stuck[entrant].store(times_stuck[entrant] >= MOST_STUCK, Ordering::Relaxed);
            }
            let (outcome, is_kept) = match outcome(ended) {
                Ok(outcome) => outcome,
                Err(interrupted) => return !interrupted,
            };
            if is_kept && not_kept.is_none() {
                not_kept = cache.put(&job.key, Kept(outcome.clone())).err().map(|error| error.to_string());
            }
            results[index] = Some(outcome);
            at.done += 1;
            at.passed_s += cells[job.cell].phases.length_s();
            progress(at);
            true
        },
        &mut || !setting.stop.load(Ordering::Relaxed),
    );
    let results: Option<Vec<Outcome>> = results.into_iter().collect();
    let Some(results) = results else { return Err(Error::Lab(afteryou_engines::Error::Interrupted)) };
    Ok(Season { not_kept, ..season(cells, entrants, &jobs, results) })
}

/// Why a run has no figures.
enum Reason {
    Interrupted,
    NotTried,
    /// Another time it may have some.
    Spoiled,
    Failed(String),
}

/// Returns the outcome of a job and whether it is the same each time; or whether it was interrupted.
fn outcome(ended: Ended<Result<Figures, Reason>>) -> Result<(Outcome, bool), bool> {
    Ok(match ended {
        Ended::Done(Ok(figures)) => (Ok(figures), true),
        Ended::Done(Err(Reason::Failed(reason))) => (Err(reason), true),
        Ended::Done(Err(Reason::Interrupted)) => return Err(true),
        Ended::Done(Err(Reason::NotTried)) => {
            (Err("not tried, since the rule did not return before".to_owned()), false)
        }
        Ended::Done(Err(Reason::Spoiled)) => (Err("the machine was too slow for this run".to_owned()), false),
        Ended::Panicked(message) => (Err(format!("the rule panicked: {message}")), true),
        Ended::Silent(patience) => {
            (Err(format!("the rule did not return for {} s", patience.as_secs())), false)
        }
    })
}

/// Returns every run of a season: of each cell the one without a background, then those of the entrants.
fn jobs(cells: &[Cell], entrants: &[Entrant], setting: &Setting) -> Vec<Job> {
    let engine = format!("{} {}", setting.engine.name(), setting.engine.version());
    let job = |index: usize, cell: &Cell, entrant: Option<usize>| {
        let file = cell.file(entrant.map(|entrant| &entrants[entrant].controller));
        let key = sweep::key(&setting.build, &ContentHash::of_text(&format!("{engine}\n{file}")), cell.seed);
        Job { cell: index, entrant, file, name: cell.name.clone(), key }
    };
    let mut jobs = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        if cell.foreground != Foreground::Nobody {
            jobs.push(job(index, cell, None));
        }
        jobs.extend((0..entrants.len()).map(|entrant| job(index, cell, Some(entrant))));
    }
    jobs
}

fn run(
    engine: &dyn Engine,
    job: &Job,
    sign: &Sign,
    failure: fn() -> Option<String>,
) -> Result<Figures, Reason> {
    let failed = |error: &dyn std::fmt::Display| Reason::Failed(error.to_string());
    let experiment = Experiment::parse(&job.file, &job.name, &[]).map_err(|error| failed(&error))?;
    let mut runs = experiment.runs(None, None).map_err(|error| failed(&error))?;
    let planned = runs.swap_remove(0);
    let mut failed_rule = failure().and(None);
    let outcome = Point::new(engine, planned.scenario).run_with(engine, &mut |_| {
        failed_rule = failure();
        match sign.continues() && failed_rule.is_none() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    match outcome {
        _ if failed_rule.is_some() => Err(Reason::Failed(failed_rule.unwrap_or_default())),
        Ok(outcome) if outcome.run.lateness.is_some_and(|late| late.spoiled()) => Err(Reason::Spoiled),
        Ok(outcome) => Ok(Figures::of(&outcome)),
        Err(afteryou_engines::Error::Interrupted) => Err(Reason::Interrupted),
        Err(error) => Err(failed(&error)),
    }
}

fn season(cells: Vec<Cell>, entrants: Vec<Entrant>, jobs: &[Job], results: Vec<Outcome>) -> Season {
    let mut alone: Vec<Outcome> = cells.iter().map(|_| Ok(Figures::default())).collect();
    let mut runs: Vec<Vec<Outcome>> = entrants.iter().map(|_| Vec::with_capacity(cells.len())).collect();
    // Jobs go through the cells in order.
    for (job, result) in jobs.iter().zip(results) {
        match job.entrant {
            None => alone[job.cell] = result,
            Some(entrant) => runs[entrant].push(result),
        }
    }
    Season { cells, entrants, alone, runs, not_kept: None }
}
