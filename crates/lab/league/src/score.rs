//! Scores: of a cell and a goal, of a goal, of an entrant.

use crate::figures::Figures;
use crate::goal::{Goal, Over, GOALS};
use crate::plan::Season;

/// Groups of cells that the jackknife leaves out one after another.
const GROUPS: usize = 20;
/// Two scores are alike if they differ by no more than this.
pub const ALIKE: f64 = 0.01;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// The score of one entrant.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The index of the entrant.
    pub entrant: usize,
    /// The mean of its goals.
    pub total: Estimate,
    /// Of each goal; `None` where no cell had an answer.
    pub goals: Vec<Option<Estimate>>,
    /// Cells in which its run failed.
    pub failed: usize,
}

/// The scores of a season.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Of each entrant, of each goal, of each cell: the score, where the goal is asked and there is an answer.
    pub cells: Vec<Vec<Vec<Option<f64>>>>,
    /// The same, the numbers before they are scored.
    pub numbers: Vec<Vec<Vec<Option<f64>>>>,
    /// Each entrant, the best first.
    pub standings: Vec<Standing>,
}

impl Scores {
    /// Judges a season, with a weight for each goal.
    pub fn of(season: &Season, weights: &[f64]) -> Scores {
        let by_entrant =
            |number: fn(&Season, usize, &Goal, usize) -> Option<f64>| -> Vec<Vec<Vec<Option<f64>>>> {
                let of_goal = |entrant: usize, goal: &Goal| {
                    (0..season.cells.len()).map(|cell| number(season, entrant, goal, cell)).collect()
                };
                (0..season.entrants.len())
                    .map(|entrant| GOALS.iter().map(|goal| of_goal(entrant, goal)).collect())
                    .collect()
            };
        let (numbers, cells) = (by_entrant(number), by_entrant(score));
        let standing = |(entrant, scores): (usize, &Vec<Vec<Option<f64>>>)| Standing {
            entrant,
            total: jackknife(&|left_out| total(scores, weights, left_out)).unwrap_or_default(),
            goals: GOALS
                .iter()
                .zip(scores)
                .map(|(goal, scores)| jackknife(&|left_out| over(goal.over, scores, left_out)))
                .collect(),
            failed: season.runs[entrant].iter().filter(|run| run.is_err()).count(),
        };
        let mut standings: Vec<Standing> = cells.iter().enumerate().map(standing).collect();
        // Equal scores stay in the order of the entrants.
        standings.sort_by(|a, b| b.total.mean.total_cmp(&a.total.mean));
        Scores { cells, numbers, standings }
    }

    /// Returns the mean score of an entrant's goal over some of the cells.
    pub fn mean_of(&self, entrant: usize, goal: usize, is_chosen: impl Fn(usize) -> bool) -> Option<f64> {
        let scores = self.cells[entrant][goal].iter().enumerate();
        mean(scores.filter(|(cell, _)| is_chosen(*cell)).filter_map(|(_, score)| *score))
    }

    /// Returns the cells of an entrant from the worst on, by the mean of the scores that they have.
    pub fn worst(&self, entrant: usize, most: usize) -> Vec<(usize, f64)> {
        let goals = || GOALS.iter().zip(&self.cells[entrant]).filter(|(goal, _)| goal.over == Over::All);
        let of_cell = |cell: usize| Some((cell, mean(goals().filter_map(|(_, scores)| scores[cell]))?));
        let number = self.cells[entrant].first().map_or(0, Vec::len);
        let mut all: Vec<(usize, f64)> = (0..number).filter_map(of_cell).collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        all.truncate(most);
        all
    }
}

impl Estimate {
    /// Returns the difference to another estimate, and the standard error of the difference.
    pub fn less(self, other: Estimate) -> Estimate {
        let error = libm::sqrt(self.error * self.error + other.error * other.error);
        Estimate { mean: self.mean - other.mean, error }
    }

    /// Returns whether a difference is within [`ALIKE`], or within two standard errors.
    pub fn is_alike(self) -> bool {
        self.mean.abs() <= ALIKE.max(2.0 * self.error)
    }
}

fn number(season: &Season, entrant: usize, goal: &Goal, cell: usize) -> Option<f64> {
    let (run, alone) = (season.runs[entrant][cell].as_ref().ok()?, season.alone[cell].as_ref().ok()?);
    goal.number(&season.cells[cell], run, alone)
}

/// Returns the score of a cell. A run that failed has the score 0 of each goal that is asked, so no rule gains by breaking.
fn score(season: &Season, entrant: usize, goal: &Goal, cell: usize) -> Option<f64> {
    let at = &season.cells[cell];
    let alone: &Figures = season.alone[cell].as_ref().ok()?;
    match &season.runs[entrant][cell] {
        Err(_) => goal.is_asked(at).then_some(0.0),
        Ok(run) => goal.number(at, run, alone).map(|number| goal.score(at, number)),
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns the score of a goal without the cells of one group.
fn over(over: Over, scores: &[Option<f64>], left_out: Option<usize>) -> Option<f64> {
    let kept = scores.iter().enumerate().filter(|(cell, _)| Some(cell % GROUPS) != left_out);
    let scores = kept.filter_map(|(_, score)| *score);
    match over {
        Over::All => mean(scores),
        Over::WorstTenth => {
            let mut sorted: Vec<f64> = scores.collect();
            sorted.sort_by(f64::total_cmp);
            let tenth = sorted.len().div_ceil(10);
            mean(sorted.into_iter().take(tenth))
        }
    }
}

/// Returns the weighted mean of the goals without the cells of one group.
fn total(scores: &[Vec<Option<f64>>], weights: &[f64], left_out: Option<usize>) -> Option<f64> {
    let of_goal = |((goal, scores), weight): ((&Goal, &Vec<Option<f64>>), &f64)| {
        Some((over(goal.over, scores, left_out)? * weight, *weight))
    };
    let weighed: Vec<(f64, f64)> = GOALS.iter().zip(scores).zip(weights).filter_map(of_goal).collect();
    let (sum, weight) =
        weighed.iter().fold((0.0, 0.0), |(sum, all), (score, weight)| (sum + score, all + weight));
    (weight > 0.0).then(|| sum / weight)
}

/// Returns a statistic with its standard error by the grouped jackknife: cells serve several goals, so that the errors of goals are not
/// independent, and a worst tenth has no simple formula (Efron and Tibshirani 1993, chapter 11).
fn jackknife(statistic: &dyn Fn(Option<usize>) -> Option<f64>) -> Option<Estimate> {
    let whole = statistic(None)?;
    let parts: Vec<f64> = (0..GROUPS).filter_map(|group| statistic(Some(group))).collect();
    let n = parts.len() as f64;
    let center = parts.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = parts.iter().map(|part| (part - center) * (part - center)).sum();
    let error = if parts.len() > 1 { libm::sqrt((n - 1.0) / n * squares) } else { 0.0 };
    Some(Estimate { mean: whole, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_hides_what_the_worst_tenth_shows() {
        let scores: Vec<Option<f64>> = (0..100).map(|i| Some(if i < 10 { 0.0 } else { 1.0 })).collect();
        assert_eq!(over(Over::All, &scores, None), Some(0.9));
        assert_eq!(over(Over::WorstTenth, &scores, None), Some(0.0));
        assert_eq!(over(Over::All, &[None, None], None), None);
    }

    #[test]
    fn the_error_of_a_mean_is_that_of_the_textbook() {
        // The error of a mean of independent numbers is their standard deviation over the root of their number.
        let mut random = afteryou_scenario::random::stream(1, "test");
        let scores: Vec<Option<f64>> =
            (0..2000).map(|_| Some(afteryou_scenario::random::uniform(&mut random))).collect();
        let estimate = jackknife(&|left_out| over(Over::All, &scores, left_out)).unwrap();
        let expected = libm::sqrt(1.0 / 12.0 / 2000.0);
        assert!((0.4..2.0).contains(&(estimate.error / expected)), "{} beside {expected}", estimate.error);
    }

    #[test]
    fn two_draws_are_alike_within_a_hundredth_or_two_errors() {
        let of = |mean, error| Estimate { mean, error };
        assert!(of(0.90, 0.0).less(of(0.905, 0.0)).is_alike());
        assert!(!of(0.90, 0.001).less(of(0.95, 0.001)).is_alike());
        assert!(of(0.90, 0.03).less(of(0.95, 0.01)).is_alike());
    }
}
