//! The time that real packets take.

use super::{Set, Tested};
use crate::choice;
use crate::entry::Kind;
use crate::error::Result;
use crate::extent::Extent;
use crate::plan::wanted;
use afteryou_scenario::Scenario;
use std::collections::HashMap;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The time of a set of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Runs.
    pub runs: usize,
    /// The time of all of them, one after the other, s.
    pub traffic_s: f64,
}

impl Cost {
    /// Returns the cost of the checks `tested`; the same run for two checks counts once.
    ///
    /// # Errors
    /// A scenario that is refused.
    pub fn of(tested: &[Tested]) -> Result<Cost> {
        let mut times = HashMap::new();
        for tested in tested {
            times.extend(tested.real()?.iter().map(|run| (run.hash().to_string(), seconds(&run.scenario))));
        }
        Ok(Cost { runs: times.len(), traffic_s: times.values().sum() })
    }

    /// Returns the time with `beds` testbeds at once, s.
    pub fn with(self, beds: usize) -> f64 {
        self.traffic_s / beds.max(1) as f64
    }
}

impl Set {
    /// Returns the entries of the set, in its order.
    pub fn entries(&self) -> Vec<&str> {
        let mut entries: Vec<&str> = Vec::new();
        for part in &self.parts {
            if !entries.contains(&&*part.entry) {
                entries.push(&part.entry);
            }
        }
        entries
    }
}

fn seconds(scenario: &Scenario) -> f64 {
    scenario.duration.as_secs_f64() * if scenario.baseline { 2.0 } else { 1.0 }
}

/// Counts every run of every entry for which its paper used real packets, with all seeds: the number of runs, and the days
/// they take.
///
/// # Errors
/// Wrong data of a paper.
pub fn days() -> Result<(usize, f64)> {
    let all = choice::all()?;
    let real: Vec<_> =
        all.into_iter().filter(|c| c.entry.kind == Kind::Testbed && !c.paper.by_name).collect();
    let (mut runs, mut traffic_s) = (0, 0.0);
    for wanted in wanted(&real, Extent::Full, false)? {
        let seeds = wanted.grid.repetitions(Extent::Full).count();
        runs += seeds;
        let scenario = wanted.point.scenario(wanted.grid, 1)?;
        traffic_s += seeds as f64 * seconds(&scenario);
    }
    Ok((runs, traffic_s / DAY_S))
}
