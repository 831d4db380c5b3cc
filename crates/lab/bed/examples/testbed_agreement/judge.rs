//! How the testbed's runs are held against the simulator's.

use super::rows::Judgement;
use std::ops::RangeInclusive;

/// Largest standard error of the mean share, points: a third of the bound. Where the simulator's seeds differ more, the testbed
/// runs more often.
const STANDARD_ERROR: f64 = 2.0;

/// The measures to compare.
#[derive(Clone, Copy, Default)]
pub struct Figures {
    pub utilisation: f64,
    /// Of the first of two flows.
    pub share: Option<f64>,
    pub queue_ms: f64,
}

/// The simulator's answer.
pub struct Simulated {
    pub middle: Figures,
    /// Standard deviation of a seed's share, or of a single flow's utilisation, points.
    pub deviation: f64,
}

impl Simulated {
    /// Returns the means or medians of the seeds, and how much their shares differ.
    pub fn of(all: &[Figures], judgement: &Judgement) -> Simulated {
        let share = |one: &Figures| one.share.unwrap_or(one.utilisation);
        let mean = mean_of(all, share);
        let squares: f64 = all.iter().map(|one| (share(one) - mean).powi(2)).sum();
        let deviation = (squares / (all.len() - 1) as f64).sqrt();
        Simulated { middle: middle(all, judgement.by_median), deviation }
    }

    /// Returns the number of runs in the testbed whose mean share has a small enough standard error.
    pub fn runs_required(&self, judgement: &Judgement) -> u64 {
        judgement.runs.max((self.deviation / STANDARD_ERROR).powi(2).ceil() as u64)
    }
}

/// A row's runs in the testbed, and how many it waits for.
pub struct Measured {
    expected: u64,
    runs: Vec<Figures>,
}

/// The consequence of a run.
pub enum Verdict {
    /// Others are to come.
    Waits,
    /// The row is out of bounds with fewer runs than the bounds are for: it runs with these seeds, too.
    RunsAgain(RangeInclusive<u64>),
    /// The measures that are out of bounds.
    Judged(Vec<&'static str>),
}

impl Measured {
    /// Expects `expected` runs.
    pub fn of(expected: u64) -> Measured {
        Measured { expected, runs: Vec::new() }
    }

    /// Returns the runs so far.
    pub fn runs(&self) -> &[Figures] {
        &self.runs
    }

    /// Takes in a run. The bounds are on means: a single run that is beyond them says little, and so the row runs as often as the
    /// bounds require before it counts.
    pub fn add(&mut self, run: Figures, simulated: &Simulated, judgement: &Judgement) -> Verdict {
        self.runs.push(run);
        if (self.runs.len() as u64) < self.expected {
            return Verdict::Waits;
        }
        let misses = misses(middle(&self.runs, judgement.by_median), simulated.middle, judgement);
        let (done, required) = (self.expected, simulated.runs_required(judgement));
        if misses.is_empty() || done >= required {
            return Verdict::Judged(misses);
        }
        self.expected = required;
        Verdict::RunsAgain(done + 1..=required)
    }
}

/// Returns the measures that differ too much.
fn misses(real: Figures, simulated: Figures, judgement: &Judgement) -> Vec<&'static str> {
    let mut misses = Vec::new();
    if (real.utilisation - simulated.utilisation).abs() > judgement.utilisation {
        misses.push("utilisation");
    }
    if real
        .share
        .zip(simulated.share)
        .is_some_and(|(real, simulated)| (real - simulated).abs() > judgement.share)
    {
        misses.push("share");
    }
    let (of_short, of_long) = judgement.queue_ms;
    let least_ms = if real.queue_ms < 10.0 { of_short } else { of_long };
    let bound_ms = (real.queue_ms * judgement.queue).max(least_ms);
    if (real.queue_ms - simulated.queue_ms).abs() > bound_ms {
        misses.push("queue");
    }
    misses
}

/// Returns the means or the medians of runs.
pub fn middle(all: &[Figures], by_median: bool) -> Figures {
    let middle_of = if by_median { median_of } else { mean_of };
    let has_shares = all.iter().any(|one| one.share.is_some());
    Figures {
        utilisation: middle_of(all, |one| one.utilisation),
        share: has_shares.then(|| middle_of(all, |one| one.share.unwrap_or(0.0))),
        queue_ms: middle_of(all, |one| one.queue_ms),
    }
}

fn mean_of(all: &[Figures], of: fn(&Figures) -> f64) -> f64 {
    all.iter().map(of).sum::<f64>() / all.len().max(1) as f64
}

fn median_of(all: &[Figures], of: fn(&Figures) -> f64) -> f64 {
    let mut values: Vec<f64> = all.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Returns the end of a row's line: what is out of bounds.
pub fn remark(misses: &[&str]) -> String {
    if misses.is_empty() {
        return "✓".to_owned();
    }
    format!("✗ {}", misses.join(", "))
}
