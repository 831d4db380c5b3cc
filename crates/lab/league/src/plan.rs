//! The plan of a season: every run, and the outcomes of those that have been made, here or on another machine.

use crate::entrant::Entrant;
use crate::figures::Figures;
use crate::grid::{Cell, Foreground};
use afteryou_engines::{sweep, Cache, Engine};
use afteryou_scenario::content::ContentHash;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Cells in which an entrant may be stuck before the others are not tried.
const MOST_STUCK: usize = 3;

/// A run's figures, or the reason that it has none.
pub type Outcome = Result<Figures, String>;

/// The cached part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept(pub Outcome);

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Its figures, or the reason that it has none.
    pub outcome: Outcome,
    /// The run ends like this every time, so a cache may keep it.
    pub lasts: bool,
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

impl Season {
    /// Divides a season after this number of cells: those of the grid, and [probing cells](crate::probing) behind them.
    pub fn divide(mut self, cells: usize) -> (Season, Season) {
        let rest = Season {
            cells: self.cells.split_off(cells.min(self.cells.len())),
            entrants: self.entrants.clone(),
            alone: self.alone.split_off(cells.min(self.alone.len())),
            runs: self.runs.iter_mut().map(|runs| runs.split_off(cells.min(runs.len()))).collect(),
            not_kept: None,
        };
        (self, rest)
    }
}

/// A run to make.
pub(crate) struct Job {
    cell: usize,
    /// `None` without a background.
    pub entrant: Option<usize>,
    pub file: String,
    pub name: String,
    key: ContentHash,
}

/// Every run of a season, with the outcomes that there are. A run has an index, which is the same in every plan of the same cells
/// whose entrants begin like these.
pub struct Plan {
    cells: Vec<Cell>,
    entrants: Vec<Entrant>,
    pub(crate) jobs: Arc<Vec<Job>>,
    played: Vec<Option<Played>>,
    times_stuck: Vec<usize>,
    /// Entrants that are not tried any more.
    pub(crate) stuck: Arc<Vec<AtomicBool>>,
    not_kept: Option<String>,
}

impl Plan {
    /// Plans a season: every entrant on every cell, and every cell once without a background. `build` is the hash of the program.
    pub fn new(cells: Vec<Cell>, entrants: Vec<Entrant>, engine: &dyn Engine, build: &ContentHash) -> Plan {
        let jobs = jobs(&cells, &entrants, engine, build);
        Plan {
            played: vec![None; jobs.len()],
            jobs: Arc::new(jobs),
            times_stuck: vec![0; entrants.len()],
            stuck: Arc::new(entrants.iter().map(|_| AtomicBool::new(false)).collect()),
            not_kept: None,
            cells,
            entrants,
        }
    }

    /// Takes the outcomes that `cache` has.
    pub fn recall(&mut self, cache: &Cache<Kept>) {
        for index in self.pending() {
            if self.may_be_kept(index) {
                let kept = cache.get(&self.jobs[index].key);
                self.played[index] = kept.map(|kept| Played { outcome: kept.0.clone(), lasts: true });
            }
        }
    }

    /// Returns the number of runs.
    pub fn number(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the runs without an outcome, the longest first: so no thread ends long after the others.
    pub fn pending(&self) -> Vec<usize> {
        let mut pending: Vec<usize> = (0..self.number()).filter(|run| self.played[*run].is_none()).collect();
        pending.sort_by(|a, b| self.cell(*b).packets().total_cmp(&self.cell(*a).packets()));
        pending
    }

    /// Returns the cell of a run.
    pub fn cell(&self, index: usize) -> &Cell {
        &self.cells[self.jobs[index].cell]
    }

    /// Returns the entrant of a run; `None` without a background.
    pub fn entrant(&self, index: usize) -> Option<&Entrant> {
        Some(&self.entrants[self.jobs[index].entrant?])
    }

    /// Returns the key of a run.
    pub fn key(&self, index: usize) -> &ContentHash {
        &self.jobs[index].key
    }

    /// Returns a run that has ended.
    pub fn played(&self, index: usize) -> Option<&Played> {
        self.played[index].as_ref()
    }

    /// Keeps a run that has ended, in `cache` as well if it may.
    pub fn keep(&mut self, index: usize, played: Played, cache: &mut Cache<Kept>) {
        if played.lasts && self.may_be_kept(index) && self.not_kept.is_none() {
            let put = cache.put(&self.jobs[index].key, Kept(played.outcome.clone()));
            self.not_kept = put.err().map(|error| error.to_string());
        }
        self.played[index] = Some(played);
    }

    /// Counts a run whose rule did not return. After several, the entrant's other cells are not tried.
    pub(crate) fn count_stuck(&mut self, index: usize) {
        let Some(entrant) = self.jobs[index].entrant else { return };
        self.times_stuck[entrant] += 1;
        self.stuck[entrant].store(self.times_stuck[entrant] >= MOST_STUCK, Ordering::Relaxed);
    }

    fn may_be_kept(&self, index: usize) -> bool {
        self.entrant(index).is_none_or(|entrant| entrant.lasts)
    }

    /// Returns the season; `None` while runs have no outcome.
    pub fn season(&self) -> Option<Season> {
        let (cells, entrants) = (self.cells.clone(), self.entrants.clone());
        let mut alone: Vec<Outcome> = cells.iter().map(|_| Ok(Figures::default())).collect();
        let mut runs = vec![Vec::with_capacity(cells.len()); entrants.len()];
        for (job, played) in self.jobs.iter().zip(&self.played) {
            let outcome = played.as_ref()?.outcome.clone();
            match job.entrant {
                None => alone[job.cell] = outcome,
                // An entrant's jobs are in the order of the cells.
                Some(entrant) => runs[entrant].push(outcome),
            }
        }
        Some(Season { cells, entrants, alone, runs, not_kept: self.not_kept.clone() })
    }
}

/// Returns every run of a season: first those without a background, then those of each entrant. So entrants that are added change no index.
fn jobs(cells: &[Cell], entrants: &[Entrant], engine: &dyn Engine, build: &ContentHash) -> Vec<Job> {
    let engine = format!("{} {}", engine.name(), engine.version());
    let job = |index: usize, cell: &Cell, entrant: Option<usize>| {
        let file = cell.file(entrant.map(|entrant| &entrants[entrant].controller));
        let key = sweep::key(build, &ContentHash::of_text(&format!("{engine}\n{file}")), cell.seed);
        Job { cell: index, entrant, file, name: cell.name.clone(), key }
    };
    let all = || cells.iter().enumerate();
    let alone = all().filter(|(_, cell)| cell.foreground != Foreground::Nobody);
    let mut jobs: Vec<Job> = alone.map(|(index, cell)| job(index, cell, None)).collect();
    for entrant in 0..entrants.len() {
        jobs.extend(all().map(|(index, cell)| job(index, cell, Some(entrant))));
    }
    jobs
}
