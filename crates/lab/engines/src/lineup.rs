//! Every run of an experiment, made one by one: a sweep of any length takes no more memory than a short one.

use crate::engine::Engine;
use crate::point::Point;
use crate::Result;
use afteryou_scenario::content::{ContentHash, Hasher};
use afteryou_scenario_file::traps::Traps;
use afteryou_scenario_file::{Experiment, Planned, Runs};

/// Settings of a plan that replace those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Seed of the first repetition; the next ones have the seeds after it.
    pub seed: Option<u64>,
    /// Repetitions of each combination, at least 1.
    pub repeat: Option<u32>,
}

/// Every run of an experiment, in order, made when it is asked for.
#[derive(Clone)]
pub struct Lineup<'a> {
    engine: &'a dyn Engine,
    runs: Runs<'a>,
    hash: ContentHash,
    traps: Traps,
}

impl<'a> Lineup<'a> {
    /// Lines up every run that `experiment` asks `engine` for.
    ///
    /// # Errors
    /// More runs than anybody means, and whatever the engine does not [support](Engine::supports), with its line in the file.
    pub fn new(engine: &'a dyn Engine, experiment: &'a Experiment, choices: Choices) -> Result<Lineup<'a>> {
        let repeat = choices.repeat.or_else(|| engine.repeats(experiment));
        let runs = experiment.lineup(choices.seed, repeat)?;
        let mut lineup = Lineup { engine, runs, hash: ContentHash::of_text(""), traps: Traps::default() };
        let mut hasher = Hasher::default();
        for index in 0..runs.number() {
            let run = runs.at(index)?;
            let reasons = engine.supports(&run.scenario).err().unwrap_or_default();
            if let Some(first) = reasons.first() {
                return Err(experiment.refused(&run, first).into());
            }
            lineup.traps.look(&run);
            let separator = if index > 0 { "\n" } else { "" };
            hasher.update(separator.as_bytes());
            hasher.update(lineup.made(run).hash().to_string().as_bytes());
        }
        lineup.hash = hasher.finish();
        Ok(lineup)
    }

    /// Returns the number of runs.
    pub fn number(&self) -> usize {
        self.runs.number()
    }

    /// Returns the run with this index, from 0.
    ///
    /// # Errors
    /// None below the number of runs.
    pub fn point(&self, index: usize) -> Result<Point> {
        Ok(self.made(self.runs.at(index)?))
    }

    /// Returns the hash of the whole sweep: of its points' [hashes](Point::hash) in order.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Returns a sentence for each setting of the runs that is valid and seldom meant.
    pub fn warnings(&self) -> Vec<String> {
        self.traps.sentences()
    }

    /// Returns the engine that runs it.
    pub fn engine(&self) -> &'a dyn Engine {
        self.engine
    }

    fn made(&self, Planned { scenario, point, repetition }: Planned) -> Point {
        Point { settings: point, repetition, ..Point::new(self.engine, scenario) }
    }
}
