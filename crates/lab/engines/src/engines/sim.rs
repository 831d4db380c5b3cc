//! Packet by packet.

use super::passes::Passes;
use crate::engine::{Capabilities, Engine, Looks, RunProgress};
use crate::error::Error;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Outcome, Passage};
use afteryou_sim::{Sample, Watchers};
use std::ops::ControlFlow;

/// The packet simulator, [`afteryou_sim`].
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

impl Engine for Simulator {
    fn name(&self) -> &str {
        "sim"
    }

    fn summary(&self) -> &str {
        "Run scenario files in the simulator: hours of network in seconds"
    }

    fn description(&self) -> &str {
        "The same file and seed give the same result on every machine."
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { traces: true, on_one_thread: true, ..Capabilities::default() }
    }

    fn supports(&self, scenario: &Checked) -> Result<(), Vec<Unsupported>> {
        afteryou_sim::supports(scenario)
    }

    fn run(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let mut passes = Passes::of(scenario);
        afteryou_sim::run(scenario, &mut |at| watch(passes.at(at.at_s))).map_err(failed)
    }

    fn traced(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
        looks: Looks<'_>,
    ) -> Result<Outcome, Error> {
        let mut passes = Passes::of(scenario);
        let Looks { tap, observers } = looks;
        let mut no_samples = |_: Sample<'_>| {};
        // For a shorter life.
        let tap = tap.map(|tap| tap as &mut dyn FnMut(&Passage<'_>));
        let watchers = Watchers { every: afteryou_sim::NEVER, take: &mut no_samples, tap, observers };
        afteryou_sim::watched(scenario, &mut |at| watch(passes.at(at.at_s)), watchers).map_err(failed)
    }
}

fn failed(error: afteryou_sim::Error) -> Error {
    match error {
        afteryou_sim::Error::Interrupted => Error::Interrupted,
        afteryou_sim::Error::Unsupported(what) => Error::Unsupported(what),
        refused @ afteryou_sim::Error::Scenario(_) => Error::Refused(refused.into()),
        other => Error::Failed(other.into()),
    }
}
