//! What runs a scenario here: packets, or equations.

use crate::failure::Failure;
use afteryou_scenario::{Outcome, Scenario};

/// What runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Packet by packet.
    Simulator,
    /// As differential equations.
    Fluid,
}

impl Engine {
    /// Runs `scenario`; `watch` hears of the time in the run, s, and ends it by returning false.
    pub fn run(self, scenario: &Scenario, watch: &mut dyn FnMut(f64) -> bool) -> Result<Outcome, Failure> {
        match self {
            Engine::Simulator => {
                afteryou_sim::run(scenario, &mut |at| watch(at.at_s)).map_err(simulator_failed)
            }
            Engine::Fluid => {
                let options = afteryou_fluid::Options::of(scenario);
                afteryou_fluid::run(scenario, &options, &mut |at| watch(at.at_s)).map_err(fluid_failed)
            }
        }
    }
}

fn simulator_failed(error: afteryou_sim::Error) -> Failure {
    match error {
        afteryou_sim::Error::Interrupted => Failure::Interrupted,
        afteryou_sim::Error::Scenario(error) => Failure::usage(error),
        other => other.into(),
    }
}

/// All that the fluid engine refuses is in the file.
pub fn fluid_failed(error: afteryou_fluid::Error) -> Failure {
    match error {
        afteryou_fluid::Error::Interrupted => Failure::Interrupted,
        other => Failure::usage(other),
    }
}
