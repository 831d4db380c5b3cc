//! The sets of flows of a scenario.

use crate::flow_set::FlowSet;
use crate::scenario::Scenario;
use afteryou_notation::{unknown, Duration, Error};
use std::collections::HashSet;

impl Scenario {
    /// Returns the set of flows of a window, if it has one.
    pub fn set_of(&self, window: &str) -> Option<&FlowSet> {
        self.sets.iter().find(|set| set.window == window)
    }

    /// Returns whether each set has a window, and flows that exist.
    pub(crate) fn check_sets(&self) -> Result<(), Error> {
        for set in &self.sets {
            let window = self.measure.iter().find(|window| window.name == set.window);
            let Some(window) = window else {
                let names: Vec<&str> = self.measure.iter().map(|window| window.name.as_str()).collect();
                return Err(unknown("window", &set.window, &names));
            };
            if self.sets.iter().filter(|other| other.window == set.window).count() > 1 {
                return Err(Error::Contradiction(format!(
                    "window {:?} has two sets of flows: leave one",
                    set.window
                )));
            }
            set.check_step(Duration(window.to.0 - window.from.0))?;
            let names: Vec<&str> = self.flow.iter().map(|flow| flow.name.as_str()).collect();
            let known: HashSet<&str> = names.iter().copied().collect();
            if let Some(flow) = set.flows.iter().find(|flow| !known.contains(flow.as_str())) {
                return Err(unknown("flow", flow, &names));
            }
        }
        Ok(())
    }
}
