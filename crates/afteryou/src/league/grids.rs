//! The draws of the grid that a command line names, and the command that repeats them.

use super::{LeagueArgs, LeagueEngine, LeagueSet};
use afteryou_league::{draw, probing, Cell, Set, QUICK, WHOLE};
use afteryou_terminal::Failure;
use clap::ValueEnum;
use std::thread::available_parallelism;

/// Most draws of the grid in one call.
const MOST_DRAWS: usize = 2;

/// A draw of the grid: its name, its cells, and the probing cells of slices.
pub(super) struct Grid {
    pub(super) name: String,
    pub(super) cells: Vec<Cell>,
    pub(super) probes: Vec<Cell>,
}

impl LeagueArgs {
    /// Returns the draws of the grid.
    pub(super) fn grids(&self) -> Result<Vec<Grid>, Failure> {
        let strata = if self.quick { QUICK } else { WHOLE };
        let sets = self.set.iter().map(|set| match set {
            LeagueSet::Train => Set::Train,
            LeagueSet::Hold => Set::Hold,
        });
        let grid = |set: Set, seed: u64| Grid {
            name: format!("{}, seed {seed}", set.name()),
            cells: draw(strata, set, seed),
            probes: if self.slices { probing(set, seed) } else { Vec::new() },
        };
        let grids: Vec<Grid> =
            sets.flat_map(|set| self.seeds().iter().map(move |seed| grid(set, *seed))).collect();
        match grids.len() > MOST_DRAWS {
            true => Err(Failure::usage(format!(
                "{} draws: two sets, or two seeds of one, can be compared",
                grids.len()
            ))),
            false => grids.into_iter().map(|grid| self.chosen(grid)).collect(),
        }
    }

    /// Returns a draw with the cells that the command line names; all without a name.
    fn chosen(&self, mut grid: Grid) -> Result<Grid, Failure> {
        let is_unknown = |name: &&String| grid.cells.iter().all(|cell| cell.name != **name);
        if let Some(name) = self.cell.iter().find(is_unknown) {
            let [first, .., last] = &grid.cells[..] else { return Ok(grid) };
            return Err(Failure::usage(format!(
                "there is no cell {name} in {}: use a name from {} to {}",
                grid.name, first.name, last.name
            )));
        }
        grid.cells.retain(|cell| self.cell.is_empty() || self.cell.contains(&cell.name));
        Ok(grid)
    }

    /// Returns the seeds of the grid: those of commits, or else those that are given.
    pub(super) fn seeds(&self) -> &[u64] {
        if self.grid_seed_of.is_empty() {
            &self.grid_seed
        } else {
            &self.grid_seed_of
        }
    }

    /// Returns the number of runs at the same time.
    pub(super) fn threads(&self) -> usize {
        self.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from)
    }

    /// Returns the command that repeats this league, without the options that change no number.
    pub(super) fn command(&self) -> String {
        let mut words = vec!["afteryou league".to_owned()];
        words.extend(self.controllers.iter().map(|name| match name.contains([' ', '\'']) {
            true => format!("'{}'", name.replace('\'', "'\\''")),
            false => name.clone(),
        }));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.cell.iter().map(|cell| format!("--cell {cell}")));
        let sets = self.set.iter().filter_map(|set| set.to_possible_value());
        words.extend(sets.map(|set| format!("--set {}", set.get_name())));
        words.extend(self.seeds().iter().map(|seed| format!("--grid-seed {seed}")));
        words.extend(self.slices.then(|| "--slices".to_owned()));
        words.extend((self.engine == LeagueEngine::Bed).then(|| "--engine bed".to_owned()));
        words.join(" ")
    }
}
