//! Plans: every run that an experiment asks for, each as a point that a file or another machine can carry.

use crate::engine::Engine;
use crate::engines;
use crate::error::Error;
use crate::{Progress, Result};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::file::Planned;
use afteryou_scenario::outcome::content_hash;
use afteryou_scenario::{Experiment, Outcome, Passage, Scenario};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run to make, complete: an engine and a concrete scenario.
///
/// A point carries everything that its run depends on, so it may be stored, sent to another machine and run there.
/// A scenario that asks for a baseline stands for a pair of runs, which share one seed and come back as one outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Name of the engine.
    pub engine: String,
    /// Version of the engine.
    pub version: String,
    /// The scenario to run.
    pub scenario: Scenario,
    /// The point of the sweep: the varied settings and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub settings: BTreeMap<String, String>,
    /// The number of the repetition, from 0.
    #[serde(default)]
    pub repetition: u32,
}

impl Point {
    /// A point outside of any sweep.
    pub fn new(engine: &dyn Engine, scenario: Scenario) -> Point {
        let (name, version) = (engine.name().to_owned(), engine.version().to_owned());
        Point { engine: name, version, scenario, settings: BTreeMap::new(), repetition: 0 }
    }

    /// The name of the result, known before anything runs: the [`Outcome::content_hash`] of what comes out, made of the engine,
    /// its version and the scenario, seed included. Two points of different sweeps that ask for the same run have the same
    /// hash. Parameters of controllers, queues and transports count as they were written, so "40ms" and "40 ms" differ.
    pub fn hash(&self) -> ContentHash {
        content_hash(&self.engine, &self.version, &self.scenario)
    }

    /// Runs this point with the engine of the [list](crate::ENGINES) that it names. `watch` ends the run by returning false.
    ///
    /// # Errors
    /// An engine that is not in the list, and as [`Engine::run`].
    pub fn run(&self, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome> {
        self.run_with(engines::find(&self.engine)?, watch)
    }

    /// Runs this point with `engine`, which may be one that is not in the list. `watch` ends the run by returning false.
    ///
    /// # Errors
    /// [`Error::OtherEngine`] if the point names another one or another version, and as [`Engine::run`].
    pub fn run_with(&self, engine: &dyn Engine, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome> {
        self.check_engine(engine)?;
        Ok(self.placed(engine.run(&self.scenario, watch)?))
    }

    /// The same, and shows `tap` every packet at every link. An engine may not be able to.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with) and [`Engine::traced`].
    pub fn traced(
        &self,
        engine: &dyn Engine,
        watch: &mut dyn FnMut(Progress) -> bool,
        tap: &mut dyn FnMut(&Passage<'_>),
    ) -> Result<Outcome> {
        self.check_engine(engine)?;
        Ok(self.placed(engine.traced(&self.scenario, watch, tap)?))
    }

    fn check_engine(&self, engine: &dyn Engine) -> Result<()> {
        let (wanted, given) = ((&*self.engine, &*self.version), (engine.name(), engine.version()));
        if wanted != given {
            let named = |(name, version): (&str, &str)| format!("{name} {version}");
            return Err(Error::OtherEngine { wanted: named(wanted), given: named(given) });
        }
        Ok(())
    }

    fn placed(&self, outcome: Outcome) -> Outcome {
        Outcome { point: self.settings.clone(), repetition: self.repetition, ..outcome }
    }
}

/// Settings of a plan that replace those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Seed of the first repetition; the next ones have the seeds after it.
    pub seed: Option<u64>,
    /// Repetitions of each combination, at least 1.
    pub repeat: Option<u32>,
}

/// Every run of an experiment, in order: the combinations of its sweep, each with all repetitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's purpose in one line; may be empty.
    pub name: String,
    /// The runs.
    pub points: Vec<Point>,
}

impl Plan {
    /// Every run that `experiment` asks `engine` for.
    ///
    /// # Errors
    /// A number of runs beyond any use, and a setting that the engine does not [support](Engine::supports), with its line in
    /// the file.
    pub fn new(engine: &dyn Engine, experiment: &Experiment, choices: Choices) -> Result<Plan> {
        let repeat = choices.repeat.or_else(|| engine.repeats(experiment));
        let runs = experiment.runs(choices.seed, repeat)?;
        for run in &runs {
            let reasons = engine.supports(&run.scenario).err().unwrap_or_default();
            if let Some(first) = reasons.first() {
                return Err(experiment.refused(run, first).into());
            }
        }
        let point = |Planned { scenario, point, repetition }| Point {
            settings: point,
            repetition,
            ..Point::new(engine, scenario)
        };
        Ok(Plan { name: experiment.name(), points: runs.into_iter().map(point).collect() })
    }

    /// The hash of the whole plan: of its points' [hashes](Point::hash) in order.
    pub fn hash(&self) -> ContentHash {
        let hashes: Vec<String> = self.points.iter().map(|point| point.hash().to_string()).collect();
        ContentHash::of_text(&hashes.join("\n"))
    }
}
