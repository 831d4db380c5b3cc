//! Runs a scenario in network namespaces: the kernel's TCP, our uTP and QUIC, and bare UDP over the scenario's own links.
//!
//! Sockets of senders are in one namespace, those of receivers in another, and the [wire] between them is the scenario's
//! network. A run takes the scenario's duration. Its baseline, if there is one, runs after it.
//!
//! The simulator's applications decide when to send and how much (`flows`). A bulk or sized flow of uTP or QUIC is a transfer of
//! [`mod@crate::run`] instead, whose bytes are compared at both ends. Jobs of TCP flows are steered by the actuators of `afteryou run`
//! (`steering`).
//!
//! # Not implemented
//! Parameters of the kernel's congestion control, our rules in the kernel included. All hosts of a swarm are in the two namespaces, so
//! connections between them are real and their access links are the wire's.

mod flows;
mod ground;
mod measure;
mod opening;
mod programs;
mod ready;
mod recorded;
mod rules;
mod shown;
mod steering;
mod watching;

pub use crate::support::{by_kernel_queues, by_testbed as supports};
pub use ready::{ready, Ready};
pub use shown::Tap;

use crate::error::Error;
use crate::net::Side;
use crate::run::log::{Log, Timing};
use crate::run::{self, transfer, BedProgress, Options, QueueBy};
use crate::wire;
use afteryou_scenario::outcome::{Outcome, Run, Transfer};
use afteryou_scenario::{Checked, Scenario};
use afteryou_sim::director::logs;
use flows::{Broken, Directable, Direction, Shared};
use ground::Ground;
use measure::Raw;
use opening::{Opened, Opening};
use programs::Programs;
use recorded::Logs;
use shown::Shown;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::sync::{mpsc, Arc};
use std::time::Duration;
use steering::Steering;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use watching::{Over, Watching};

/// Data that a background flow of uTP or QUIC has in flight when the run ends get this long to arrive.
const DRAIN: Duration = Duration::from_secs(60);

/// Runs `scenario` and returns what came out, without checks and verdict. `observe` may break everything off.
///
/// # Errors
/// Anything in the scenario that the testbed does not [support](supports), or a user who may not make
/// namespaces. Also a congestion control that the kernel lacks, an interruption, a flow that breaks down or does not
/// finish.
pub fn run(
    scenario: &Checked,
    options: &Options,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    tapped(scenario, options, observe, None)
}

/// Runs a scenario; `tap` sees every packet of the run at its links, some milliseconds later. The baseline is not shown.
///
/// # Errors
/// As [`run()`].
pub fn tapped(
    scenario: &Checked,
    options: &Options,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
    tap: Option<Tap<'_>>,
) -> Result<Outcome, Error> {
    run::check(supports(scenario))?;
    if options.queue_by == QueueBy::Kernel {
        run::check(by_kernel_queues(scenario))?;
    }
    let (run, transfers) = run_one(scenario, options, false, observe, tap)?;
    let baseline = match scenario.baseline {
        true => Some(run_one(&scenario.without_background(), options, true, observe, None)?.0),
        false => None,
    };
    let outcome = Outcome::new("bed", env!("CARGO_PKG_VERSION"), Scenario::clone(scenario), run, baseline);
    Ok(Outcome { transfers, ..outcome })
}

/// A transfer of uTP or QUIC at work.
type Task = JoinHandle<Result<Option<Transfer>, Error>>;

/// Runs the scenario once: prepares the ground, opens the flows, lays the wire, watches, and measures.
fn run_one(
    scenario: &Checked,
    options: &Options,
    is_baseline: bool,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
    tap: Option<Tap<'_>>,
) -> Result<(Run, Vec<Transfer>), Error> {
    let network = scenario.network();
    let mut ground = Ground::prepare(scenario, options)?;
    let timing = ground.timing;
    let (news, received) = mpsc::channel();
    let (routes, laid) = mpsc::channel();
    let recorded = Logs::new(logs(scenario, network));
    let steering = Steering::start(scenario, &ground.topology)?;
    let shared = Shared {
        runtime: ground.runtime.handle().clone(),
        timing,
        news,
        broken: Broken::default(),
        unsent_bytes: ground::unsent_bytes(network),
        routes,
        logs: recorded.clone(),
        steered: steering.steered.clone(),
    };
    let logs: Vec<_> = scenario.flow.iter().map(|_| Arc::new(Log::default())).collect();
    let passed: Arc<[AtomicU64]> = scenario.flow.iter().map(|_| AtomicU64::new(0)).collect();
    let observers = recorded.observers(options.observers.as_ref().filter(|_| !is_baseline));
    let opening = Opening {
        topology: &ground.topology,
        seed: scenario.seed,
        options,
        observers: observers.as_ref(),
        shared: &shared,
    };
    let Opened { directed, transfers, counted } = opening.all(&scenario.flow, &logs, &passed)?;
    let directed = Arc::new(directed);

    let (mut shown, of_wire) = tap.map(Shown::to).unzip();
    let wire = ground.lay_wire(
        scenario,
        wire::Options {
            tap: of_wire,
            routes: (!scenario.hosts.is_empty()).then_some(laid),
            passed: Some(passed),
            logs: recorded.all().to_vec(),
            ..wire::Options::of_scenario(scenario, timing.clock)
        },
    )?;
    let mut programs = Programs::start(scenario, &ground.topology)?;
    ground.wait_for_the_start();

    let (ending, over) = Over::new();
    let transfers = start(transfers, &ground.runtime, timing, &logs, &over);
    let direction = Direction {
        scenario,
        network,
        senders: ground.topology.namespace(Side::Senders),
        timing,
        flows: Arc::clone(&directed),
        counted,
        news: received,
        over: Arc::clone(&ending.flag),
        logs: recorded.clone(),
    };
    let watching = Watching {
        scenario,
        end: options.end,
        is_baseline,
        timing,
        logs: &logs,
        directed: &directed,
        transfers: &transfers,
        broken: &shared.broken,
        programs: &mut programs,
        shown: shown.as_mut(),
        wire: &wire,
    };
    let (ended, flows, end_s) = watching.direct(direction, ending, observe)?;

    for (flow, started, stopped) in programs.times() {
        logs[flow].lasted(started, stopped);
    }
    drop((programs, steering));
    let transferred = collect(scenario, &ground.runtime, transfers)?;
    let report = ground.take_down(wire)?;
    shown.iter_mut().for_each(Shown::catch_up);
    let samples: Vec<_> = (0..scenario.flow.len())
        .map(|flow| directed.get(&flow).map(Directable::samples).unwrap_or_default())
        .collect();
    let raw = Raw { scenario, network, logs: &logs, samples: &samples, flows, ended, report, end_s };
    Ok((measure::measure(raw), transferred))
}

/// Starts the transfers of uTP and QUIC, by flow.
fn start(
    transfers: BTreeMap<usize, (transfer::Ends, SocketAddr)>,
    runtime: &Runtime,
    timing: Timing,
    logs: &[Arc<Log>],
    over: &watch::Receiver<bool>,
) -> BTreeMap<usize, Task> {
    let start = |(index, (ends, to)): (usize, (transfer::Ends, SocketAddr))| {
        let task = ends.run(to, timing, Arc::clone(&logs[index]), over.clone());
        (index, runtime.spawn(task))
    };
    transfers.into_iter().map(start).collect()
}

/// Waits for the transfers and returns them.
fn collect(
    scenario: &Scenario,
    runtime: &Runtime,
    tasks: BTreeMap<usize, Task>,
) -> Result<Vec<Transfer>, Error> {
    let mut transfers = Vec::new();
    for (index, task) in tasks {
        let flow = &scenario.flow[index].name;
        let broken = |reason: String| Error::Flow { flow: flow.clone(), reason };
        let ended = runtime.block_on(async { tokio::time::timeout(DRAIN, task).await });
        let ended = ended.map_err(|_| broken("what was sent did not arrive within a minute".to_owned()))?;
        transfers.extend(ended.map_err(|error| broken(error.to_string()))??);
    }
    Ok(transfers)
}
