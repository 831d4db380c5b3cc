//! As differential equations.

use super::passes::Passes;
use crate::engine::{Capabilities, Engine, RunProgress};
use crate::error::Error;
use afteryou_fluid::Options;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Outcome};
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;

/// The fluid model, [`afteryou_fluid`].
#[derive(Clone, Copy, Debug)]
pub struct Fluid;

impl Engine for Fluid {
    fn name(&self) -> &str {
        "fluid"
    }

    fn summary(&self) -> &str {
        "Solve scenario files as differential equations, in milliseconds"
    }

    fn description(&self) -> &str {
        "Windows and queues are smooth, without randomness or single packets, and the answer takes milliseconds. \
         `afteryou list controllers` shows which controllers have a model. The section [fluid] of a file chooses \
         the effects that the equations include, and their start values."
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { explains: true, ..Capabilities::default() }
    }

    fn supports(&self, scenario: &Checked) -> Result<(), Vec<Unsupported>> {
        afteryou_fluid::supports(scenario, &Options::of(scenario))
    }

    fn run(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let mut passes = Passes::of(scenario);
        let mut at = |at: afteryou_fluid::FluidProgress| watch(passes.at(at.at_s));
        afteryou_fluid::run(scenario, &Options::of(scenario), &mut at).map_err(failed)
    }

    /// Returns the trials: equations draw nothing but start values.
    fn repeats(&self, experiment: &Experiment) -> Option<u32> {
        experiment.trials()
    }
}

/// Converts an error of the equations: all that they refuse is in the file.
fn failed(error: afteryou_fluid::Error) -> Error {
    match error {
        afteryou_fluid::Error::Interrupted => Error::Interrupted,
        afteryou_fluid::Error::Unsupported(what) => Error::Unsupported(what),
        other => Error::Refused(other.into()),
    }
}
