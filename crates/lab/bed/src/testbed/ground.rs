//! The ground of a run: namespaces, the kernel's queues, the threads of the applications, and the clock.

use super::rules::Rules;
use crate::clock::Clock;
use crate::error::Error;
use crate::net::{KernelQueue, Plan, Topology};
use crate::run::log::Timing;
use crate::run::{Options, QueueBy};
use crate::system::{self, Urgency};
use crate::wire::{self, Outside, Wire};
use afteryou_base::{Span, Time};
use afteryou_scenario::{Checked, Network};
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use std::io;
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time for the wire to start.
const SET_UP: Duration = Duration::from_millis(50);
/// The kernel holds as much as it sends in this time.
const UNSENT: Duration = Duration::from_millis(20);
/// Bounds of that, bytes: a few packets, and what a busy machine needs.
const UNSENT_BYTES: Range<u32> = 8 << 10..256 << 10;

/// The resources of a run that outlive its flows and its wire.
pub(super) struct Ground {
    queues: Vec<KernelQueue>,
    _rules: Rules,
    pub(super) topology: Topology,
    pub(super) runtime: Runtime,
    pub(super) timing: Timing,
}

impl Ground {
    /// Makes the namespaces and starts the threads. The run begins a moment later.
    pub(super) fn prepare(scenario: &Checked, options: &Options) -> Result<Ground, Error> {
        let runtime = runtime().map_err(Error::Thread)?;
        allow_sockets();
        let plan = Plan::of_scenario(scenario)?;
        let rules = Rules::of_scenario(scenario)?;
        let topology = Topology::build(&plan)?;
        let queues = match options.queue_by {
            QueueBy::Afteryou => Vec::new(),
            QueueBy::Kernel => kernel_queues(scenario, plan.mtu)?,
        };
        let clock = Clock::since(Instant::now() + SET_UP);
        let timing = Timing { clock, begins: Time::ZERO, from: Span::ZERO };
        Ok(Ground { queues, _rules: rules, topology, runtime, timing })
    }

    /// Starts the wire between the namespaces, with the kernel's queues.
    pub(super) fn lay_wire(&mut self, scenario: &Checked, options: wire::Options) -> Result<Wire, Error> {
        let queues = self.queues.iter_mut();
        let outside = queues.filter_map(|queue| Some(Outside::new(queue.link, queue.take_tun()?))).collect();
        Wire::start(&mut self.topology, scenario, wire::Options { outside, ..options })
    }

    /// Sleeps until the run begins.
    pub(super) fn wait_for_the_start(&self) {
        let start = self.timing.clock.instant_of(Time::ZERO);
        thread::sleep(start.saturating_duration_since(Instant::now()));
    }

    /// Ends the wire and returns its counters, with those of the kernel's queues.
    pub(super) fn take_down(&self, wire: Wire) -> Result<wire::Report, Error> {
        let counters = self.queues.iter().map(KernelQueue::counters).collect::<Result<Vec<_>, _>>()?;
        let mut report = wire.finish()?;
        for (queue, counters) in self.queues.iter().zip(counters) {
            report.queued_by_kernel(queue, counters);
        }
        Ok(report)
    }
}

/// Returns the kernel's queues at the links that data cross.
fn kernel_queues(scenario: &Checked, mtu: u32) -> Result<Vec<KernelQueue>, Error> {
    let framing = wire::framing(scenario);
    let network = scenario.network();
    let links = network.links.iter().enumerate();
    let crossed = links.filter(|(link, _)| network.flows_with_data_on(*link).next().is_some());
    crossed.map(|(link, way)| KernelQueue::new(link, way, framing, mtu)).collect()
}

/// Starts the threads of the applications. A receiver that waits for a core reads late, so the kernel acknowledges late and
/// several packets at once. The sender's bursts then lengthen the queue, and the wire's lateness does not show it. So they
/// have real-time priority where allowed.
fn runtime() -> io::Result<Runtime> {
    let urgent = || drop(system::become_real_time(Urgency::Ends));
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().on_thread_start(urgent).build()
}

/// Lets this process have as many sockets as the system allows: each connection of a swarm takes up to three.
fn allow_sockets() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // If this fails, the connection that finds no socket reports it.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// Returns the bytes that the kernel may hold of a connection without having sent them: a turned-off flow still sends these.
pub(super) fn unsent_bytes(network: &Network) -> u32 {
    let slowest = network.links.iter().map(|way| way.link.rate.bytes_per_second()).min().unwrap_or(0);
    let held = slowest as f64 * UNSENT.as_secs_f64();
    (held as u32).clamp(UNSENT_BYTES.start, UNSENT_BYTES.end)
}
