//! Sweeps in the folders of the command: a folder that one has begun the other continues.

use crate::errors;
use crate::rules;
use crate::scenario::Scenario;
use crate::signals::Signals;
use afteryou_base::lock::EvenPoisoned;
use afteryou_engines::sweep::{self, FinishedRun, Folder, Manifest};
use afteryou_engines::{find, Choices, Engine, Error, Event, Jobs, Lineup, Point, Pool};
use afteryou_report::{Folders, Parts, Record};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// Time between two calls of a progress function.
pub const PROGRESS: Duration = Duration::from_millis(200);

/// A finished run: index, key, and a line for the journal.
pub type Line = (usize, String, String);

/// Returns the hash of this extension module, part of the key of each run in a sweep.
#[pyfunction]
pub fn build(py: Python<'_>) -> PyResult<String> {
    Ok(hash(py)?.to_string())
}

/// Returns the file of this extension module.
pub fn program(py: Python<'_>) -> PyResult<PathBuf> {
    py.import("afteryou._afteryou")?.getattr("__file__")?.extract()
}

/// Returns the same as a hash.
pub fn hash(py: Python<'_>) -> PyResult<ContentHash> {
    static HASH: OnceLock<ContentHash> = OnceLock::new();
    if let Some(hash) = HASH.get() {
        return Ok(*hash);
    }
    let path = program(py)?;
    let hash = py.detach(|| File::open(path).and_then(sweep::build))?;
    Ok(*HASH.get_or_init(|| hash))
}

/// Runs with these indices, here and in this thread: a task of a cluster.
#[pyfunction]
#[pyo3(signature = (scenario, engine, seed, repeat, indices))]
pub fn run_part(
    py: Python<'_>,
    scenario: &Scenario,
    engine: &str,
    seed: Option<u64>,
    repeat: Option<u32>,
    indices: Vec<usize>,
) -> PyResult<Vec<Line>> {
    let build = hash(py)?;
    let part = || {
        let engine = find(engine)?;
        let repeat = repeat.or_else(|| engine.repeats(&scenario.experiment));
        let runs = scenario.experiment.lineup(seed, repeat)?;
        let line = |index: usize| {
            let planned = runs.at(index)?;
            let point = Point {
                settings: planned.point,
                repetition: planned.repetition,
                ..Point::new(engine, planned.scenario)
            };
            line(index, runs.number(), &point.run_with(engine, &mut |_| ControlFlow::Continue(()))?, &build)
        };
        indices.into_iter().map(line).collect::<Result<Vec<Line>, Error>>()
    };
    py.detach(part).map_err(|error| errors::of_run(py, &error))
}

fn line(index: usize, runs: usize, outcome: &Outcome, build: &ContentHash) -> Result<Line, Error> {
    let key = sweep::key(build, &outcome.content_hash, outcome.scenario.seed);
    // Without files of its own a run writes nothing, so the folder does not matter.
    let record = Folders::new("", runs, false).write(index, outcome, key);
    let text = serde_json::to_string(&record.map_err(failed)?).map_err(failed)?;
    Ok((index, key.to_string(), text))
}

/// A sweep and its folder. All runs are checked before the first begins.
#[pyclass(frozen, module = "afteryou")]
pub struct Sweep {
    experiment: Experiment,
    engine: &'static dyn Engine,
    choices: Choices,
    build: ContentHash,
    kept: Mutex<Kept>,
    warnings: Vec<String>,
}

/// Where finished runs go: the journal, which is what a later call continues, and the dataset, which is made from it.
struct Kept {
    folder: Folder,
    parts: Parts,
    opened: Instant,
}

impl Kept {
    /// Opens both; runs that the journal has are in the dataset again.
    fn open(out: &Path, manifest: Manifest, dataset: &Path, name: &str) -> Result<Kept, Error> {
        let folder = Folder::open(out, manifest)?;
        let parts = Parts::begin(dataset, name).map_err(failed)?;
        let mut kept = Kept { folder, parts, opened: Instant::now() };
        for run in kept.folder.finished() {
            kept.parts.add(record(&run?.content)?, Duration::ZERO).map_err(failed)?;
        }
        Ok(kept)
    }

    fn keep(&mut self, (index, key, text): &Line) -> Result<(), Error> {
        let key = ContentHash::from_str(key).map_err(failed)?;
        if self.folder.has(*index) {
            return Ok(());
        }
        self.folder.keep(*index, &key, text)?;
        self.parts.add(record(text)?, self.opened.elapsed()).map_err(failed)
    }
}

fn record(text: &str) -> Result<Record, Error> {
    serde_json::from_str(text).map_err(failed)
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Failed(error.into())
}

impl Sweep {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().even_poisoned()
    }
}

#[pymethods]
impl Sweep {
    /// Begins a sweep in a folder, or continues the one that is there. Finished runs are in `dataset`, too: a
    /// folder, and the name of the scenario there.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        out: PathBuf,
        dataset: (PathBuf, String),
        engine: &str,
        seed: Option<u64>,
        repeat: Option<u32>,
    ) -> PyResult<Sweep> {
        let build = hash(py)?;
        let experiment = scenario.experiment.clone();
        let opened = || {
            let (engine, choices) = (find(engine)?, Choices { seed, repeat });
            let lineup = Lineup::new(engine, &experiment, choices)?;
            let rule = rules::used(&lineup.point(0)?.scenario);
            let manifest = Manifest::new(&lineup, experiment.name(), build, None, false);
            let warnings = lineup.warnings();
            let kept = match rule {
                None => Some(Kept::open(&out, manifest, &dataset.0, &dataset.1)?),
                Some(_) => None,
            };
            Ok((engine, choices, kept, warnings))
        };
        let (engine, choices, kept, warnings) =
            py.detach(opened).map_err(|error| errors::of_run(py, &error))?;
        let Some(kept) = kept else {
            let reason =
                "a sweep cannot have rules written in Python: their code is not in the keys of its runs";
            return Err(PyValueError::new_err(reason));
        };
        Ok(Sweep { experiment, engine, choices, build, kept: Mutex::new(kept), warnings })
    }

    /// The number of runs.
    #[getter]
    fn runs(&self) -> usize {
        self.kept().folder.manifest().runs
    }

    /// Sentences about settings that are valid and seldom meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Returns the runs that the folder does not have, as indices from 0.
    fn pending(&self) -> Vec<usize> {
        self.kept().folder.pending()
    }

    /// Keeps finished runs. They are on the disk when this returns; a run that is there already stays as it is.
    fn keep(&self, py: Python<'_>, lines: Vec<Line>) -> PyResult<()> {
        let outcome = py.detach(|| {
            let mut kept = self.kept();
            lines.iter().try_for_each(|line| kept.keep(line))
        });
        outcome.map_err(|error| errors::of_run(py, &error))
    }

    /// Runs everything that is pending on the cores of this machine. `progress` gets the number of runs that have ended.
    fn run_here(&self, py: Python<'_>, threads: Option<usize>, progress: Py<PyAny>) -> PyResult<()> {
        let pending = self.pending();
        let stop = AtomicBool::new(false);
        let mut signals = Signals::default();
        let (mut next, mut raised) = (Instant::now(), None);
        let ran = py.detach(|| {
            let lineup = Lineup::new(self.engine, &self.experiment, self.choices)?;
            let point = |index: usize| lineup.point(index);
            let jobs = Jobs { engine: self.engine, indices: &pending, point: &point, ahead: usize::MAX };
            let keep = |index: usize, outcome: Outcome| {
                let line = line(index, lineup.number(), &outcome, &self.build)?;
                self.kept().keep(&line)
            };
            let pool = threads.map_or_else(Pool::default, Pool::of);
            pool.each(&jobs, &keep, &stop, &mut |event| {
                signals.stop(&stop);
                if let Event::Progress(at) = event {
                    if raised.is_none() && Instant::now() >= next {
                        next = Instant::now() + PROGRESS;
                        raised = Python::attach(|py| progress.call1(py, (at.done,))).err();
                    }
                }
                match raised {
                    Some(_) => Err(Error::Interrupted),
                    None => Ok(()),
                }
            })
        });
        match (ran, raised.or(signals.take())) {
            (_, Some(raised)) => Err(raised),
            (Err(error), None) => Err(errors::of_run(py, &error)),
            (Ok(()), None) => Ok(()),
        }
    }

    /// Puts the journal in order and writes the tables, as CSV and as Parquet, and the page of all runs.
    fn finish(&self, py: Python<'_>) -> PyResult<PathBuf> {
        let finished = py.detach(|| {
            let mut kept = self.kept();
            kept.parts.flush()?;
            let folder = &mut kept.folder;
            folder.sort()?;
            let folders = Folders::new(folder.dir(), folder.manifest().runs, false).with_parquet(true);
            let record =
                |run: Result<FinishedRun, Error>| -> Result<Record, Failed> { Ok(record(&run?.content)?) };
            folders.finish(&folder.manifest().name, || folder.finished().map(record))
        });
        finished.map(|finished| finished.page).map_err(|Failed(error)| errors::of_run(py, &error))
    }
}

/// An error of the tables or of the journal.
struct Failed(Error);

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed(error)
    }
}

impl From<afteryou_report::Error> for Failed {
    fn from(error: afteryou_report::Error) -> Failed {
        Failed(failed(error))
    }
}
