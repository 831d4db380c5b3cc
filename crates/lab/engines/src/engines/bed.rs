//! Real packets over real sockets.

use crate::engine::{Capabilities, Engine, Looks, RunProgress};
use crate::error::Error;
use afteryou_bed::run::{self, Options, QueueBy};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Outcome, Scenario};
use std::ops::ControlFlow;

/// Real packets, [`afteryou_bed`]. A run is over its relay where that supports the scenario, which needs no privileges. Otherwise, on Linux,
/// it is in the network namespaces of its testbed.
#[derive(Clone, Copy, Debug)]
pub struct Bed {
    queue_by: QueueBy,
    in_namespaces: bool,
    at_once: usize,
}

impl Bed {
    /// Returns a bed with the queues of afteryou that makes one run at a time: two emulations would make each other late.
    pub const fn new() -> Bed {
        Bed { queue_by: QueueBy::Afteryou, in_namespaces: false, at_once: 1 }
    }

    /// Returns the same bed with queues by `queue_by` at the links that data cross. The kernel's are in namespaces alone.
    /// Results with them have a version of their own.
    pub const fn queued_by(self, queue_by: QueueBy) -> Bed {
        Bed { queue_by, ..self }
    }

    /// Returns the same bed in namespaces for every scenario, with `at_once` runs at the same time, at least one. It is for
    /// scenarios so slow that a core serves more than one, on a machine without other work. The lateness of results shows
    /// whether it went well.
    pub const fn in_namespaces(self, at_once: usize) -> Bed {
        let at_once = if at_once == 0 { 1 } else { at_once };
        Bed { in_namespaces: true, at_once, ..self }
    }

    fn is_by_kernel(&self) -> bool {
        self.queue_by == QueueBy::Kernel
    }

    /// Returns whether a run is in namespaces. The relay sees payloads of sockets and no packets.
    fn leaves_relay(&self, scenario: &Checked, shows_packets: bool) -> bool {
        self.in_namespaces || self.is_by_kernel() || shows_packets || run::supports(scenario).is_err()
    }
}

impl Default for Bed {
    fn default() -> Bed {
        Bed::new()
    }
}

impl Engine for Bed {
    fn name(&self) -> &str {
        "bed"
    }

    fn version(&self) -> &str {
        match self.queue_by {
            QueueBy::Afteryou => env!("CARGO_PKG_VERSION"),
            QueueBy::Kernel => concat!(env!("CARGO_PKG_VERSION"), "+kernel-queues"),
        }
    }

    fn summary(&self) -> &str {
        "Run scenario files with real packets, over sockets of this machine and an emulated link"
    }

    fn description(&self) -> &str {
        "Flows of uTP and UDP over one link are on loopback, and a relay emulates the link. Everything else, TCP of the kernel \
         first, runs in network namespaces: on Linux, as root. A run takes the scenario's duration. On a busy machine the \
         measurement is invalid: the report has the lateness."
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { traces: true, real_packets: true, ..Capabilities::default() }
    }

    fn supports(&self, scenario: &Checked) -> Result<(), Vec<Unsupported>> {
        match self.queue_by {
            QueueBy::Afteryou => over_relay_or_in_namespaces(scenario),
            QueueBy::Kernel => by_kernel_queues(scenario),
        }
    }

    fn needs_root(&self, scenario: &Checked, shows_packets: bool) -> bool {
        cfg!(target_os = "linux") && self.leaves_relay(scenario, shows_packets)
    }

    fn run(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        self.traced(scenario, watch, Looks::default())
    }

    fn traced(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
        Looks { tap, observers }: Looks<'_>,
    ) -> Result<Outcome, Error> {
        let options = Options { observers, queue_by: self.queue_by, ..Options::default() };
        let mut observe = |at: &run::BedProgress| watch(progress(scenario, at));
        if !self.leaves_relay(scenario, tap.is_some()) {
            return run::run(scenario, &options, &mut observe).map_err(failed);
        }
        #[cfg(target_os = "linux")]
        let outcome = afteryou_bed::testbed::tapped(scenario, &options, &mut observe, tap).map_err(failed)?;
        #[cfg(not(target_os = "linux"))]
        let outcome = match (tap, self.supports(scenario).err().into_iter().flatten().next()) {
            (Some(_), _) => return Err(Error::NoPackets { engine: self.name().to_owned() }),
            (None, Some(reason)) => return Err(Error::Unsupported(reason)),
            (None, None) => run::run(scenario, &options, &mut observe).map_err(failed)?,
        };
        match self.queue_by {
            QueueBy::Afteryou => Ok(outcome),
            // The name of the result has the version.
            QueueBy::Kernel => {
                let Outcome { run, baseline, transfers, .. } = outcome;
                let outcome =
                    Outcome::new(self.name(), self.version(), Scenario::clone(scenario), run, baseline);
                Ok(Outcome { transfers, ..outcome })
            }
        }
    }

    fn at_once(&self) -> usize {
        self.at_once
    }
}

#[cfg(target_os = "linux")]
fn over_relay_or_in_namespaces(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    run::supports(scenario).or_else(|_| afteryou_bed::testbed::supports(scenario))
}

#[cfg(not(target_os = "linux"))]
fn over_relay_or_in_namespaces(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    run::supports(scenario)
}

#[cfg(target_os = "linux")]
fn by_kernel_queues(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    afteryou_bed::testbed::supports(scenario)?;
    afteryou_bed::testbed::by_kernel_queues(scenario)
}

#[cfg(not(target_os = "linux"))]
fn by_kernel_queues(_: &Checked) -> Result<(), Vec<Unsupported>> {
    Err(vec![Unsupported::new("link.queue", "the kernel queues on Linux alone: leave --queue-by out")])
}

fn progress(scenario: &Checked, at: &run::BedProgress) -> RunProgress {
    let before_s = if at.is_baseline { scenario.duration.as_secs_f64() } else { 0.0 };
    let done = if at.total_s > 0.0 { at.elapsed_s / at.total_s } else { 0.0 };
    RunProgress { done: done.clamp(0.0, 1.0), passed_s: at.at_s.max(0.0) + before_s }
}

fn failed(error: afteryou_bed::Error) -> Error {
    match error {
        afteryou_bed::Error::Interrupted => Error::Interrupted,
        afteryou_bed::Error::Unsupported(what) => Error::Unsupported(what),
        refused @ afteryou_bed::Error::Scenario(_) => Error::Refused(refused.into()),
        other => Error::Failed(other.into()),
    }
}
