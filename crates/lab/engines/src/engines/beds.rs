//! Several testbeds at the same time.

use super::bed::{in_testbed, Bed};
use crate::engine::{Engine, Looks, Progress};
use crate::error::Error;
use afteryou_bed::run::QueueBy;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Outcome, Scenario};

/// The testbed of [`Bed`], several runs at once: for scenarios so slow that a core serves more than one, on a machine without other work.
/// Results have the name of [`Bed`], and their lateness shows whether it went well.
#[derive(Clone, Copy, Debug)]
pub struct Beds {
    at_once: usize,
}

impl Beds {
    /// Returns testbeds of which `at_once` run at the same time, at least one.
    pub fn of(at_once: usize) -> Beds {
        Beds { at_once: at_once.max(1) }
    }
}

impl Engine for Beds {
    fn name(&self) -> &str {
        Bed.name()
    }

    fn summary(&self) -> &str {
        "Run scenario files with real packets in network namespaces, several at the same time"
    }

    fn supports(&self, scenario: &Scenario) -> Result<(), Vec<Unsupported>> {
        Bed.supports(scenario)
    }

    fn run(&self, scenario: &Scenario, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
        in_testbed(scenario, watch, Looks::default(), QueueBy::Afteryou)
    }

    fn traced(
        &self,
        scenario: &Scenario,
        watch: &mut dyn FnMut(Progress) -> bool,
        looks: Looks<'_>,
    ) -> Result<Outcome, Error> {
        in_testbed(scenario, watch, looks, QueueBy::Afteryou)
    }

    fn at_once(&self) -> usize {
        self.at_once
    }
}
