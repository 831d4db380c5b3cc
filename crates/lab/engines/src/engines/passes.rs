//! Progress of engines that report the time within a scenario alone: the baseline, a second pass, begins at zero again.

use crate::engine::RunProgress;
use afteryou_scenario::Scenario;

/// Counts the passes over a scenario.
pub struct Passes {
    /// Length of a pass, s.
    length_s: f64,
    /// A pass, and one more for the baseline.
    number: f64,
    /// Passes that are over.
    before: f64,
    /// Latest time within the pass, s.
    at_s: f64,
}

impl Passes {
    pub fn of(scenario: &Scenario) -> Passes {
        let number = if scenario.baseline { 2.0 } else { 1.0 };
        Passes { length_s: scenario.duration.as_secs_f64(), number, before: 0.0, at_s: 0.0 }
    }

    /// Returns the progress when the pass under way is at `at_s`.
    pub fn at(&mut self, at_s: f64) -> RunProgress {
        if at_s < self.at_s {
            self.before += 1.0;
        }
        self.at_s = at_s;
        let passed_s = self.before * self.length_s + at_s;
        RunProgress { done: (passed_s / (self.number * self.length_s)).min(1.0), passed_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Link};

    #[test]
    fn a_baseline_is_the_second_half() {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "9 packets".parse().unwrap());
        let mut scenario = Scenario::new("", Duration::from_millis(8_000), link);
        let mut alone = Passes::of(&scenario);
        assert_eq!([2.0, 8.0].map(|at_s| alone.at(at_s).done), [0.25, 1.0]);
        scenario.baseline = true;
        let mut pair = Passes::of(&scenario);
        let progress = [2.0, 8.0, 0.0, 4.0].map(|at_s| pair.at(at_s));
        assert_eq!(progress.map(|progress| progress.done), [0.125, 0.5, 0.5, 0.75]);
        assert_eq!(progress.map(|progress| progress.passed_s), [2.0, 8.0, 8.0, 12.0]);
    }
}
