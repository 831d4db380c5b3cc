//! Playing a season: every entrant on every cell, and every cell once without a background.

use crate::entrant::Entrant;
use crate::error::{Error, Result};
use crate::figures::Figures;
use crate::grid::Cell;
use crate::plan::{Job, Kept, Plan, Played, Season};
use crate::workers::{self, Ended, Event, Sign, Work};
use afteryou_engines::{Cache, Engine, Point};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// A run of the simulator gives a sign of life several times a second. One that gives none for so long is stuck in a rule.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Calls a run, with whatever its rules need around it.
pub type Around = fn(&(dyn Fn() + Sync));

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
    /// Makes a run, in the calling thread: an interpreter whose rules take part prepares that thread. [`directly`] without one.
    pub around: Around,
    /// Takes the failure of a rule in the calling thread, where rules fail without a panic. It is called with each sign of life.
    pub failure: fn() -> Option<String>,
    /// Ends everything when it is set.
    pub stop: &'a AtomicBool,
}

/// Makes a run without any preparation.
pub fn directly(run: &(dyn Fn() + Sync)) {
    run();
}

/// The progress of a season.
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
    let mut plan = Plan::new(cells, entrants, setting.engine, &setting.build);
    plan.recall(cache);
    plan.play(plan.pending(), setting, cache, progress)?;
    plan.season().ok_or(Error::Lab(afteryou_engines::Error::Interrupted))
}

impl Plan {
    /// Makes these runs, of those that have no outcome, and keeps them. As [`play`].
    ///
    /// # Errors
    /// As [`play`].
    pub fn play(
        &mut self,
        runs: Vec<usize>,
        setting: &Setting,
        cache: &mut Cache<Kept>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<()> {
        let (all, there) = (self.number(), self.number() - self.pending().len());
        let mut at = Progress { all, there, ..Progress::default() };
        let mut left = runs.len();
        let threads = setting.threads.min(setting.engine.at_once());
        workers::run(runs, threads, setting.patience, &self.work(setting), &mut |event| {
            if let Event::Ended(index, ended) = event {
                if matches!(ended, Ended::Silent(_)) {
                    self.count_stuck(index);
                }
                let Some(played) = played(ended) else { return false };
                self.keep(index, played, cache);
                left -= 1;
                at.done += 1;
                at.passed_s += self.cell(index).phases.length_s();
            }
            progress(at);
            !setting.stop.load(Ordering::Relaxed)
        });
        match left {
            0 => Ok(()),
            _ => Err(Error::Lab(afteryou_engines::Error::Interrupted)),
        }
    }

    fn work(&self, setting: &Setting) -> Work<Result<Figures, Reason>> {
        let (jobs, stuck) = (self.jobs.clone(), self.stuck.clone());
        let (engine, around, failure) = (setting.engine, setting.around, setting.failure);
        std::sync::Arc::new(move |index, sign| {
            let job = &jobs[index];
            if job.entrant.is_some_and(|entrant| stuck[entrant].load(Ordering::Relaxed)) {
                return Err(Reason::NotTried);
            }
            let made = OnceLock::new();
            around(&|| {
                let _ = made.set(run(engine, job, sign, failure));
            });
            made.into_inner().unwrap_or(Err(Reason::Interrupted))
        })
    }
}

/// Why a run has no figures.
enum Reason {
    Interrupted,
    NotTried,
    /// Another time it may have some.
    Spoiled,
    Failed(String),
}

/// Returns how a run ended; `None` if it was interrupted.
fn played(ended: Ended<Result<Figures, Reason>>) -> Option<Played> {
    let (outcome, lasts) = match ended {
        Ended::Done(Ok(figures)) => (Ok(figures), true),
        Ended::Done(Err(Reason::Failed(reason))) => (Err(reason), true),
        Ended::Done(Err(Reason::Interrupted)) => return None,
        Ended::Done(Err(Reason::NotTried)) => {
            (Err("not tried, since the rule did not return before".to_owned()), false)
        }
        Ended::Done(Err(Reason::Spoiled)) => (Err("the machine was too slow for this run".to_owned()), false),
        Ended::Panicked(message) => (Err(format!("the rule panicked: {message}")), true),
        Ended::Silent(patience) => {
            (Err(format!("the rule did not return for {} s", patience.as_secs())), false)
        }
    };
    Some(Played { outcome, lasts })
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
    // A rule may fail after the last look.
    match (failed_rule.or_else(failure), outcome) {
        (Some(reason), _) => Err(Reason::Failed(reason)),
        (None, Ok(outcome)) if outcome.run.lateness.is_some_and(|late| late.spoiled()) => {
            Err(Reason::Spoiled)
        }
        (None, Ok(outcome)) => Ok(Figures::of(&outcome)),
        (None, Err(afteryou_engines::Error::Interrupted)) => Err(Reason::Interrupted),
        (None, Err(error)) => Err(failed(&error)),
    }
}
