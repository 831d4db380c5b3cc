//! The engine's functions for scenarios without a fault.

use afteryou_fluid::{Analysis, Error, FluidProgress, Options};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Outcome, Scenario};
use std::ops::ControlFlow;

fn checked(scenario: &Scenario) -> Checked {
    scenario.clone().checked().unwrap()
}

pub fn run(
    scenario: &Scenario,
    options: &Options,
    watch: &mut dyn FnMut(FluidProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    afteryou_fluid::run(&checked(scenario), options, watch)
}

pub fn explain(scenario: &Scenario, options: &Options) -> Result<Analysis, Error> {
    afteryou_fluid::explain(&checked(scenario), options)
}

pub fn supports(scenario: &Scenario, options: &Options) -> Result<(), Vec<Unsupported>> {
    afteryou_fluid::supports(&checked(scenario), options)
}
