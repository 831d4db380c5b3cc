//! A run to make, complete, as a value that a file or another machine can carry.

use crate::engine::{Engine, Looks, RunProgress};
use crate::engines;
use crate::error::Error;
use crate::Result;
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::content_hash;
use afteryou_scenario::{Checked, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// One run to make, complete: an engine and a concrete scenario.
///
/// A point carries everything that its run depends on, so it may be stored, sent to another machine and run there. A
/// scenario that asks for a baseline means a pair of runs, which share one seed and come back as one outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Name of the engine.
    pub engine: String,
    /// Version of the engine.
    pub version: String,
    /// The scenario to run.
    pub scenario: Checked,
    /// Where in a sweep this is: the varied settings and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub settings: BTreeMap<String, String>,
    /// Which of several repetitions this is, from 1.
    #[serde(default = "first_repetition")]
    pub repetition: u32,
}

fn first_repetition() -> u32 {
    1
}

impl Point {
    /// Creates a point outside of any sweep.
    pub fn new(engine: &dyn Engine, scenario: Checked) -> Point {
        let (name, version) = (engine.name().to_owned(), engine.version().to_owned());
        Point { engine: name, version, scenario, settings: BTreeMap::new(), repetition: first_repetition() }
    }

    /// Returns the name of the result, known before anything runs: the [`Outcome::content_hash`] of the outcome. It is made
    /// of the engine, its version and the scenario, seed included. Two points of different sweeps that ask for the same run
    /// have the same hash. Parameters of controllers, queues and transports count as they were written, so "40ms" and "40
    /// ms" differ.
    pub fn hash(&self) -> ContentHash {
        content_hash(&self.engine, &self.version, &self.scenario)
    }

    /// Runs this point with the engine of the [list](crate::ENGINES) that it names. `watch` may break the run off.
    ///
    /// # Errors
    /// An engine that is not in the list, and as [`Engine::run`].
    pub fn run(&self, watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>) -> Result<Outcome> {
        self.run_with(engines::find(&self.engine)?, watch)
    }

    /// Runs this point with `engine`, which may be one that is not in the list. `watch` may break the run off.
    ///
    /// # Errors
    /// [`Error::OtherEngine`] if the point names another one or another version, and as [`Engine::run`].
    pub fn run_with(
        &self,
        engine: &dyn Engine,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome> {
        self.check_engine(engine)?;
        Ok(self.placed(engine.run(&self.scenario, watch)?))
    }

    /// Runs the point as [`run`](Self::run) does, with `looks`. An engine may not support it.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with) and [`Engine::traced`].
    pub fn traced(
        &self,
        engine: &dyn Engine,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
        looks: Looks<'_>,
    ) -> Result<Outcome> {
        self.check_engine(engine)?;
        Ok(self.placed(engine.traced(&self.scenario, watch, looks)?))
    }

    fn check_engine(&self, engine: &dyn Engine) -> Result<()> {
        let (planned, given) = ((&*self.engine, &*self.version), (engine.name(), engine.version()));
        if planned != given {
            let named = |(name, version): (&str, &str)| format!("{name} {version}");
            return Err(Error::OtherEngine { planned: named(planned), given: named(given) });
        }
        Ok(())
    }

    fn placed(&self, outcome: Outcome) -> Outcome {
        Outcome { point: self.settings.clone(), repetition: self.repetition, ..outcome }
    }
}
