//! The runs of an experiment, made one by one: a sweep of any length takes no more memory than a short one.

use crate::error::FileError;
use crate::experiment::{Experiment, Planned};
use crate::limits::{MOST_PARTS, MOST_RUNS};

/// Every run of an experiment, in order: the combinations of its sweep, the last setting varying fastest, each with all
/// repetitions.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    experiment: &'a Experiment,
    seed: u64,
    repeat: u32,
    number: usize,
}

impl Experiment {
    /// Returns the runs, made when they are asked for. `seed` and `repeat` replace the file's.
    ///
    /// # Errors
    /// More runs than anybody means.
    pub fn lineup(&self, seed: Option<u64>, repeat: Option<u32>) -> Result<Runs<'_>, FileError> {
        let (seed, repeat) = (seed.unwrap_or(self.seed), repeat.unwrap_or(self.repeat).max(1));
        let points = self.number_of_points();
        let runs = points.saturating_mul(repeat.into());
        let refused = |reason| Err(FileError::Unreadable { file: self.file.clone(), reason });
        if runs > MOST_RUNS {
            let most = MOST_RUNS / points.max(1);
            return refused(format!(
                "{points} combinations, {repeat} times each, are {runs} runs: repeat 1 to {most} times"
            ));
        }
        if self.parts.saturating_mul(repeat.into()) > MOST_PARTS {
            return refused(format!("{runs} runs hold too much together: repeat less often"));
        }
        Ok(Runs { experiment: self, seed, repeat, number: runs as usize })
    }

    /// Returns every run at once. `seed` and `repeat` replace the file's.
    ///
    /// # Errors
    /// More runs than anybody means.
    pub fn runs(&self, seed: Option<u64>, repeat: Option<u32>) -> Result<Vec<Planned>, FileError> {
        let runs = self.lineup(seed, repeat)?;
        (0..runs.number()).map(|index| runs.at(index)).collect()
    }
}

impl Runs<'_> {
    /// Returns the number of runs, at least one.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the run with this index, from 0.
    ///
    /// # Errors
    /// None for a file that was checked, if the index is below the number of runs.
    pub fn at(&self, index: usize) -> Result<Planned, FileError> {
        let (experiment, index) = (self.experiment, index as u64);
        let point = experiment.point(index / u64::from(self.repeat));
        let before = (index % u64::from(self.repeat)) as u32;
        let scenario = experiment.scenario(&point, self.seed.wrapping_add(before.into()))?;
        Ok(Planned { scenario, point: experiment.shown(&point), repetition: before + 1 })
    }
}
