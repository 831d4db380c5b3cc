//! Plans: every run that an experiment asks for, each as a point that a file or another machine can carry.

use crate::engine::Engine;
use crate::lineup::{Choices, Lineup};
use crate::point::Point;
use crate::Result;
use afteryou_scenario::content::ContentHash;
use afteryou_scenario_file::Experiment;
use serde::{Deserialize, Serialize};

/// Every run of an experiment, in order: the combinations of its sweep, each with all repetitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's purpose in one line; may be empty.
    pub name: String,
    /// The runs.
    pub points: Vec<Point>,
}

impl Plan {
    /// Plans every run that `experiment` asks `engine` for.
    ///
    /// # Errors
    /// A number of runs beyond any use, and a setting that the engine does not [support](Engine::supports), with its line in
    /// the file.
    pub fn new(engine: &dyn Engine, experiment: &Experiment, choices: Choices) -> Result<Plan> {
        let lineup = Lineup::new(engine, experiment, choices)?;
        let points = (0..lineup.number()).map(|index| lineup.point(index)).collect::<Result<_>>()?;
        Ok(Plan { name: experiment.name(), points })
    }

    /// Returns the hash of the whole plan: of its points' [hashes](Point::hash) in order.
    pub fn hash(&self) -> ContentHash {
        let hashes: Vec<String> = self.points.iter().map(|point| point.hash().to_string()).collect();
        ContentHash::of_text(&hashes.join("\n"))
    }
}
