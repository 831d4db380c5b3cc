//! Real packets over real sockets.

use crate::engine::{Engine, Looks, Progress};
use crate::error::Error;
use afteryou_bed::run::{self, Options, QueueBy};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Outcome, Scenario};

/// Real packets, [`afteryou_bed`], with its [default options](Options). It runs over its relay where that supports the
/// scenario, which needs no privileges. Otherwise, on Linux, it runs in the network namespaces of its testbed.
#[derive(Clone, Copy, Debug)]
pub struct Bed;

impl Engine for Bed {
    fn name(&self) -> &str {
        "bed"
    }

    fn summary(&self) -> &str {
        "Run scenario files with real packets, over sockets of this machine and an emulated link"
    }

    fn description(&self) -> &str {
        "Flows of uTP and UDP over one link are on loopback, and a relay emulates the link. Everything else, TCP of the kernel \
         first, runs in network namespaces: on Linux, as root. A run takes the scenario's duration. On a busy machine the \
         measurement is invalid: the report has the lateness."
    }

    fn supports(&self, scenario: &Scenario) -> Result<(), Vec<Unsupported>> {
        let by_relay = run::supports(scenario);
        #[cfg(target_os = "linux")]
        return by_relay.or_else(|_| afteryou_bed::testbed::supports(scenario));
        #[cfg(not(target_os = "linux"))]
        by_relay
    }

    fn run(&self, scenario: &Scenario, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
        observed(scenario, watch, Looks::default())
    }

    fn traced(
        &self,
        scenario: &Scenario,
        watch: &mut dyn FnMut(Progress) -> bool,
        looks: Looks<'_>,
    ) -> Result<Outcome, Error> {
        observed(scenario, watch, looks)
    }

    /// Returns 1: two emulations would make each other late.
    fn at_once(&self) -> usize {
        1
    }
}

/// [`Bed`] with the kernel's own queues at the links that data cross, on Linux.
#[derive(Clone, Copy, Debug)]
pub struct BedOfKernelQueues;

impl Engine for BedOfKernelQueues {
    fn name(&self) -> &str {
        Bed.name()
    }

    /// Returns a version of its own: the results are others than those of our own queues.
    fn version(&self) -> &str {
        concat!(env!("CARGO_PKG_VERSION"), "+kernel-queues")
    }

    fn summary(&self) -> &str {
        "Run scenario files with real packets and the kernel's own queues, in network namespaces"
    }

    fn supports(&self, scenario: &Scenario) -> Result<(), Vec<Unsupported>> {
        #[cfg(target_os = "linux")]
        return afteryou_bed::testbed::supports(scenario)
            .and_then(|()| afteryou_bed::testbed::by_kernel_queues(scenario));
        #[cfg(not(target_os = "linux"))]
        {
            let _ = scenario;
            Err(vec![Unsupported::new(
                "link.queue",
                "the kernel queues on Linux alone: leave --queue-by out",
            )])
        }
    }

    fn run(&self, scenario: &Scenario, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
        self.traced(scenario, watch, Looks::default())
    }

    fn traced(
        &self,
        scenario: &Scenario,
        watch: &mut dyn FnMut(Progress) -> bool,
        looks: Looks<'_>,
    ) -> Result<Outcome, Error> {
        if let Err(reasons) = self.supports(scenario) {
            return Err(reasons.into_iter().next().map_or(Error::Interrupted, Error::Unsupported));
        }
        let outcome = in_testbed(scenario, watch, looks, QueueBy::Kernel)?;
        // The name of the result has the version.
        let Outcome { run, baseline, transfers, .. } = outcome;
        let outcome = Outcome::new(self.name(), self.version(), scenario.clone(), run, baseline);
        Ok(Outcome { transfers, ..outcome })
    }

    fn at_once(&self) -> usize {
        Bed.at_once()
    }
}

fn observed(
    scenario: &Scenario,
    watch: &mut dyn FnMut(Progress) -> bool,
    looks: Looks<'_>,
) -> Result<Outcome, Error> {
    // The relay sees payloads of sockets and no packets.
    if looks.tap.is_some() || run::supports(scenario).is_err() {
        return in_testbed(scenario, watch, looks, QueueBy::Afteryou);
    }
    let options = Options { observers: looks.observers, ..Options::default() };
    run::run(scenario, &options, &mut |at| watch(progress(scenario, at))).map_err(failed)
}

/// Runs `scenario` in network namespaces, whether it needs them or not.
#[cfg(target_os = "linux")]
pub(super) fn in_testbed(
    scenario: &Scenario,
    watch: &mut dyn FnMut(Progress) -> bool,
    Looks { tap, observers }: Looks<'_>,
    queue_by: QueueBy,
) -> Result<Outcome, Error> {
    let options = Options { observers, queue_by, ..Options::default() };
    let mut observe = |at: &run::Progress| watch(progress(scenario, at));
    afteryou_bed::testbed::tapped(scenario, &options, &mut observe, tap).map_err(failed)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn in_testbed(
    scenario: &Scenario,
    watch: &mut dyn FnMut(Progress) -> bool,
    looks: Looks<'_>,
    _: QueueBy,
) -> Result<Outcome, Error> {
    if looks.tap.is_some() {
        return Err(Error::NoPackets { engine: Bed.name().to_owned() });
    }
    // Refuses what needs namespaces.
    let options = Options { observers: looks.observers, ..Options::default() };
    run::run(scenario, &options, &mut |at| watch(progress(scenario, at))).map_err(failed)
}

fn progress(scenario: &Scenario, at: &run::Progress) -> Progress {
    let before_s = if at.is_baseline { scenario.duration.as_secs_f64() } else { 0.0 };
    let done = if at.total_s > 0.0 { at.elapsed_s / at.total_s } else { 0.0 };
    Progress { done: done.clamp(0.0, 1.0), passed_s: at.at_s.max(0.0) + before_s }
}

fn failed(error: afteryou_bed::Error) -> Error {
    match error {
        afteryou_bed::Error::Interrupted => Error::Interrupted,
        afteryou_bed::Error::Unsupported(what) => Error::Unsupported(what),
        refused @ afteryou_bed::Error::Scenario(_) => Error::Refused(refused.into()),
        other => Error::Failed(other.into()),
    }
}
