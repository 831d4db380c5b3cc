//! The league of background controllers. Runs without a rule in Python may be made on a cluster; those with one are made here.

use crate::errors;
use crate::rule_threads;
use crate::rules;
use crate::signals::Signals;
use crate::standings::League;
use crate::sweep::{hash, Line, PROGRESS};
use afteryou_base::lock::EvenPoisoned;
use afteryou_cc::list::{Class, CONTROLLERS};
use afteryou_engines::{find, Cache, Engine, Error as Lab};
use afteryou_files::check_writable;
use afteryou_league::{
    directly, draw, entrants, probing, Around, Cell, Entrant, Error, Kept, Plan, Played, Progress, Set,
    Setting, QUICK, WHOLE,
};
use afteryou_scenario::content::ContentHash;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Engines whose measures the goals are for.
const ENGINES: [&str; 2] = ["sim", "bed"];
/// After its patience, the league has given a run up before the rule is ended.
const MARGIN: Duration = Duration::from_millis(300);
/// Cells that show how long a rule takes, in quarters of all, the longest first.
const SAMPLE: [usize; 3] = [1, 2, 3];
/// Held while rules run: they share the interpreter, and the end of one league ends all rules that are left.
static RULES: Mutex<()> = Mutex::new(());

/// Controllers, quick, set, seed of the grid, every n-th cell, engine, slices: all that indices of runs depend on.
type Choices = (Vec<String>, bool, String, u64, usize, String, bool);

/// Returns the built-in background controllers.
#[pyfunction]
pub fn background() -> Vec<&'static str> {
    let background = CONTROLLERS.iter().filter(|entry| entry.class == Class::Background);
    background.map(|entry| entry.name).collect()
}

/// Runs these indices, here and in this thread: a task of a cluster.
#[pyfunction]
pub fn league_part(
    py: Python<'_>,
    choices: Choices,
    patience_s: f64,
    indices: Vec<usize>,
) -> PyResult<Vec<Line>> {
    let (engine, who, build) = (engine(py, &choices)?, who(py, &choices)?, hash(py)?);
    let (patience, set) = (patience(patience_s)?, set(&choices)?);
    let part = || {
        let mut plan = plan(&choices, set, who, engine, &build);
        let stop = AtomicBool::new(false);
        let (threads, around) = (1, directly);
        let setting = Setting { engine, threads, build, patience, around, failure: || None, stop: &stop };
        plan.play(indices.clone(), &setting, &mut Cache::in_memory(), &mut |_| ())?;
        let line = |index: &usize| {
            let text = serde_json::to_string(&plan.played(*index))?;
            Ok((*index, plan.key(*index).to_string(), text))
        };
        indices.iter().map(line).collect::<Result<Vec<Line>, Error>>()
    };
    py.detach(part).map_err(|error| failed(py, &error))
}

fn plan(choices: &Choices, set: Set, who: Vec<Entrant>, engine: &dyn Engine, build: &ContentHash) -> Plan {
    let (_, _, _, seed, every, _, slices) = choices;
    let mut cells = grid(choices, set);
    if *slices {
        cells.extend(probing(set, *seed).into_iter().step_by((*every).max(1)));
    }
    Plan::new(cells, who, engine, build)
}

/// Returns the cells of the grid, without the probing cells of slices.
fn grid(choices: &Choices, set: Set) -> Vec<Cell> {
    let (_, quick, _, seed, every, ..) = choices;
    let cells = draw(if *quick { QUICK } else { WHOLE }, set, *seed);
    cells.into_iter().step_by((*every).max(1)).collect()
}

fn engine(py: Python<'_>, choices: &Choices) -> PyResult<&'static dyn Engine> {
    let engine = find(&choices.5).map_err(|error| errors::of_run(py, &error))?;
    match ENGINES.contains(&engine.name()) {
        true => Ok(engine),
        false => Err(PyValueError::new_err(format!(
            "the engine {:?} has no league: choose \"sim\" or \"bed\"",
            engine.name()
        ))),
    }
}

fn set(choices: &Choices) -> PyResult<Set> {
    let known = [Set::Train, Set::Hold].into_iter().find(|set| set.name() == choices.2);
    known.ok_or_else(|| {
        PyValueError::new_err(format!("there is no set {:?}: choose \"train\" or \"hold\"", choices.2))
    })
}

fn patience(patience_s: f64) -> PyResult<Duration> {
    let patience = Duration::try_from_secs_f64(patience_s).ok().filter(|patience| !patience.is_zero());
    patience.ok_or_else(|| {
        PyValueError::new_err(format!("patience is {patience_s} s: write a number above 0, such as 30"))
    })
}

/// Returns the entrants, rules in Python last: so runs of the others have the same indices on a worker, which knows no rules.
fn who(py: Python<'_>, choices: &Choices) -> PyResult<Vec<Entrant>> {
    let mut who = py.detach(|| entrants(&choices.0)).map_err(|error| failed(py, &error))?;
    who.iter_mut().for_each(|entrant| entrant.lasts = !rules::is_rule(&entrant.controller.kind));
    who.sort_by_key(|entrant| !entrant.lasts);
    Ok(who)
}

fn failed(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Lab(error) => errors::of_run(py, error),
        Error::Controller(_) | Error::Twice(_) => errors::of_choice(py, &error.to_string()),
        error => errors::other(py, error),
    }
}

/// A league under way.
#[pyclass(frozen, module = "afteryou")]
pub struct Season {
    engine: &'static dyn Engine,
    build: ContentHash,
    choices: Choices,
    patience: Duration,
    state: Mutex<State>,
}

/// The finished runs.
struct State {
    plan: Plan,
    cache: Cache<Kept>,
}

#[pymethods]
impl Season {
    /// Draws the grid and takes the runs that the folder `cache` has. The folder `out` is checked.
    #[new]
    fn new(
        py: Python<'_>,
        choices: Choices,
        patience_s: f64,
        cache: Option<PathBuf>,
        out: Option<PathBuf>,
    ) -> PyResult<Season> {
        let (engine, who, build) = (engine(py, &choices)?, who(py, &choices)?, hash(py)?);
        let (patience, set) = (patience(patience_s)?, set(&choices)?);
        check_rules(&choices, &who, engine)?;
        if let Some(out) = out {
            check_writable(&out).map_err(|error| errors::other(py, &error))?;
        }
        let begun = || {
            let cache = cache.map_or_else(|| Ok(Cache::in_memory()), |dir| Cache::open(&dir, &build))?;
            let mut plan = plan(&choices, set, who, engine, &build);
            plan.recall(&cache);
            Ok(Mutex::new(State { plan, cache }))
        };
        let state = py.detach(begun).map_err(|error: Lab| errors::of_run(py, &error))?;
        Ok(Season { engine, build, choices, patience, state })
    }

    /// The number of runs.
    #[getter]
    fn runs(&self, py: Python<'_>) -> usize {
        self.with(py, |state| state.plan.number())
    }

    /// Returns the choices without the rules in Python, for workers.
    #[getter]
    fn choices(&self) -> Choices {
        let mut choices = self.choices.clone();
        choices.0.retain(|name| !rules::is_rule(name.split(',').next().unwrap_or_default()));
        choices
    }

    /// Returns the runs that have not been made, as indices from 0: those with a rule in Python, or the others.
    fn pending(&self, py: Python<'_>, rules: bool) -> Vec<usize> {
        self.with(py, |state| pending(&state.plan, rules))
    }

    /// Keeps runs that were made elsewhere; one that is there already stays as it is.
    fn keep(&self, py: Python<'_>, lines: Vec<Line>) -> PyResult<()> {
        let kept = self.with(py, |State { plan, cache }| {
            for (index, _, text) in &lines {
                let played: Played = serde_json::from_str(text)?;
                if plan.played(*index).is_none() {
                    plan.keep(*index, played, cache);
                }
            }
            Ok::<(), Error>(())
        });
        kept.map_err(|error| failed(py, &error))
    }

    /// Makes runs on this machine. `progress` gets the number of runs that there are.
    fn run_here(
        &self,
        py: Python<'_>,
        runs: Vec<usize>,
        threads: Option<usize>,
        progress: Py<PyAny>,
    ) -> PyResult<()> {
        let mut next = Instant::now();
        self.play(py, runs, threads, &mut |at| {
            if Instant::now() < next {
                return Ok(());
            }
            next = Instant::now() + PROGRESS;
            Python::attach(|py| progress.call1(py, (at.there + at.done,))).map(drop)
        })
    }

    /// Runs a few cells of each rule in Python and returns how long the others will take, s.
    fn time_rules(&self, py: Python<'_>) -> PyResult<f64> {
        let mut left_s = 0.0;
        for runs in self.with(py, |state| by_rule(&state.plan)) {
            let mut sample: Vec<usize> =
                SAMPLE.iter().map(|quarter| runs[runs.len() * quarter / 4]).collect();
            sample.dedup();
            let packets = |run: &usize| self.with(py, |state| state.plan.cell(*run).packets());
            let (mut spent_s, mut spent_packets) = (0.0, 0.0);
            for run in &sample {
                let began = Instant::now();
                self.play(py, vec![*run], Some(1), &mut |_| Ok(()))?;
                // A run that failed says nothing about others.
                let is_ok =
                    |state: &mut State| state.plan.played(*run).is_some_and(|run| run.outcome.is_ok());
                if self.with(py, is_ok) {
                    spent_s += began.elapsed().as_secs_f64();
                    spent_packets += packets(run);
                }
            }
            if spent_packets > 0.0 {
                let left = runs.iter().filter(|run| !sample.contains(run)).map(packets).sum::<f64>();
                left_s += spent_s / spent_packets * left;
            }
        }
        Ok(left_s)
    }

    /// Judges the runs.
    fn finish(&self, py: Python<'_>) -> PyResult<League> {
        let season = self.with(py, |state| state.plan.season());
        let season = season.ok_or_else(|| errors::of_run(py, &Lab::Interrupted))?;
        let cells = grid(&self.choices, set(&self.choices)?).len();
        let (controllers, quick, set, seed, every, engine, slices) = &self.choices;
        let (sparse, mut argument) = match every {
            0 | 1 => (String::new(), String::new()),
            every => (format!(", one cell in {every}"), format!(", every={every}")),
        };
        if *slices {
            argument += ", slices=True";
        }
        let names: Vec<String> = controllers.iter().map(|name| format!("{name:?}")).collect();
        let python = if *quick { "True" } else { "False" };
        let command = format!(
            "afteryou.league([{}], quick={python}, set={set:?}, grid_seed={seed}, engine={engine:?}{argument})",
            names.join(", ")
        );
        let (season, probes) = season.divide(cells);
        let probes = slices.then_some(probes);
        Ok(py.detach(|| League::new(season, probes.as_ref(), format!("{set}, seed {seed}{sparse}"), command)))
    }
}

impl Season {
    /// Calls a function with what has been played, without the interpreter: another thread may hold the one and wait for the other.
    fn with<Out: Send>(&self, py: Python<'_>, call: impl FnOnce(&mut State) -> Out + Send) -> Out {
        py.detach(|| call(&mut self.state.lock().even_poisoned()))
    }

    /// Makes runs that all have a rule in Python, or none of them.
    fn play(
        &self,
        py: Python<'_>,
        runs: Vec<usize>,
        threads: Option<usize>,
        report: &mut (dyn FnMut(Progress) -> PyResult<()> + Send),
    ) -> PyResult<()> {
        let stop = AtomicBool::new(false);
        let (mut signals, mut raised) = (Signals::default(), None);
        let played = self.with(py, |State { plan, cache }| {
            let has_rules = runs.iter().any(|run| is_of_rule(plan, *run));
            let _alone = has_rules.then(|| RULES.lock().even_poisoned());
            let (around, failure): (Around, fn() -> _) = match has_rules {
                true => (rule_threads::around, rule_threads::failure),
                false => (directly, || None),
            };
            let threads = threads.or_else(|| available_parallelism().ok().map(usize::from)).unwrap_or(1);
            let (engine, build, patience) = (self.engine, self.build, self.patience);
            let setting = Setting { engine, threads, build, patience, around, failure, stop: &stop };
            let played = plan.play(runs, &setting, cache, &mut |at| {
                signals.stop(&stop);
                if has_rules {
                    rule_threads::end_silent(patience + MARGIN);
                }
                if raised.is_none() {
                    raised = report(at).err();
                    stop.fetch_or(raised.is_some(), std::sync::atomic::Ordering::Relaxed);
                }
            });
            if has_rules {
                rule_threads::end_all();
            }
            played
        });
        match (played, raised.or(signals.take())) {
            (_, Some(raised)) => Err(raised),
            (Err(error), None) => Err(failed(py, &error)),
            (Ok(()), None) => Ok(()),
        }
    }
}

/// Refuses rules in Python where they would take days, or cannot run.
fn check_rules(choices: &Choices, who: &[Entrant], engine: &dyn Engine) -> PyResult<()> {
    let Some(rule) = who.iter().find(|entrant| !entrant.lasts).map(|entrant| &entrant.controller.kind) else {
        return Ok(());
    };
    if !engine.capabilities().on_one_thread {
        let engine = engine.name();
        return Err(PyValueError::new_err(format!(
            "the rule {rule:?} is written in Python, which runs in \"sim\", not in {engine:?}"
        )));
    }
    match choices.1 {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "the rule {rule:?} is written in Python and would take a day on the whole grid: use quick=True, or write the rule in Rust"
        ))),
    }
}

fn is_of_rule(plan: &Plan, run: usize) -> bool {
    plan.entrant(run).is_some_and(|entrant| !entrant.lasts)
}

fn pending(plan: &Plan, rules: bool) -> Vec<usize> {
    plan.pending().into_iter().filter(|run| is_of_rule(plan, *run) == rules).collect()
}

/// Returns the runs that have not been made, for each rule in Python, the longest first.
fn by_rule(plan: &Plan) -> Vec<Vec<usize>> {
    let mut rules: Vec<(&Entrant, Vec<usize>)> = Vec::new();
    for run in pending(plan, true) {
        let Some(entrant) = plan.entrant(run) else { continue };
        match rules.iter_mut().find(|(known, _)| *known == entrant) {
            Some((_, runs)) => runs.push(run),
            None => rules.push((entrant, vec![run])),
        }
    }
    rules.into_iter().map(|(_, runs)| runs).collect()
}
