//! Runs a scenario in network namespaces: the kernel's TCP, our uTP and QUIC, and bare UDP over the scenario's own links.
//!
//! Sockets of senders are in one namespace, those of receivers in another, and the [wire] between them is the
//! scenario's network. A run takes as long as the scenario says. Its baseline, if there is one, runs after it.
//!
//! The simulator's applications decide when to send and how much (`flows`). A bulk or sized flow of uTP or QUIC is a transfer of
//! [`mod@crate::run`] instead, whose bytes are compared at both ends.
//!
//! # Not implemented
//! Parameters of the kernel's congestion control. All hosts of a swarm are in the two namespaces, so connections between them are
//! real and their access links are the wire's.

mod flows;
mod measure;
mod programs;
mod ready;
mod recorded;
mod shown;

pub use crate::support::{by_kernel_queues, by_testbed as supports};
pub use ready::{ready, Ready};
pub use shown::Tap;

use crate::clock::Clock;
use crate::error::Error;
use crate::net::{Family, KernelQueue, Plan, Side, Topology};
use crate::run::ends::Place;
use crate::run::log::{Log, Timing};
use crate::run::{self, transfer, End, FlowProgress, Options, Progress, QueueBy, Source};
use crate::system::{self, Urgency};
use crate::wire::{self, Outside, Wire};
use afteryou_base::{Span, Time};
use afteryou_cc::Observers;
use afteryou_scenario::outcome::{Outcome, Run, Transfer};
use afteryou_scenario::{Flow, Network, Scenario, Traffic};
use afteryou_sim::director::logs;
use flows::{Broken, Counted, Directable, Directed, Direction, Shared};
use measure::Raw;
use nix::sys::resource::{getrlimit, setrlimit, Resource};
use programs::Programs;
use recorded::Logs;
use shown::Shown;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often senders are looked at.
const SAMPLE: Duration = Duration::from_millis(20);
/// Samples between two calls of the observer.
const OBSERVE_EVERY: u32 = 5;
/// Time for the wire to start.
const SET_UP: Duration = Duration::from_millis(50);
/// Data that a background flow of uTP or QUIC has in flight when the run ends get this long to arrive.
const DRAIN: Duration = Duration::from_secs(60);

/// The kernel holds as much as it sends in this time.
const UNSENT: Duration = Duration::from_millis(20);
/// Bounds of that, bytes: a few packets, and what a busy machine needs.
const UNSENT_BYTES: Range<u32> = 8 << 10..256 << 10;

/// Runs `scenario` and returns what came out, without checks and verdict. `observe` ends everything by returning false.
///
/// # Errors
/// A scenario that contradicts itself or that the testbed does not [support](supports), or a user who may not make
/// namespaces. Also a congestion control that the kernel lacks, an interruption, a flow that breaks down or does not
/// finish.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    observe: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Error> {
    tapped(scenario, options, observe, None)
}

/// The same; `tap` sees every packet of the run at its links, some milliseconds later. The baseline is not shown.
///
/// # Errors
/// As [`run()`].
pub fn tapped(
    scenario: &Scenario,
    options: &Options,
    observe: &mut dyn FnMut(&Progress) -> bool,
    tap: Option<Tap<'_>>,
) -> Result<Outcome, Error> {
    run::check(scenario, supports(scenario))?;
    if options.queue_by == QueueBy::Kernel {
        run::check(scenario, by_kernel_queues(scenario))?;
    }
    let (run, transfers) = run_one(scenario, options, false, observe, tap)?;
    let baseline = match scenario.baseline {
        true => Some(run_one(&scenario.without_background(), options, true, observe, None)?.0),
        false => None,
    };
    let outcome = Outcome::new("bed", env!("CARGO_PKG_VERSION"), scenario.clone(), run, baseline);
    Ok(Outcome { transfers, ..outcome })
}

/// The ends of a flow before the wire is up.
enum Ends {
    Transfer(Box<transfer::Ends>, SocketAddr),
    Directed(Box<Directable>),
    /// Its programs open their own sockets.
    Command,
}

/// A transfer of uTP or QUIC at work.
type Task = JoinHandle<Result<Option<Transfer>, Error>>;

/// Ends all flows, however the run ends.
struct Over {
    flag: Arc<AtomicBool>,
    watched: watch::Sender<bool>,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        let _ = self.watched.send(true);
    }
}

fn run_one(
    scenario: &Scenario,
    options: &Options,
    is_baseline: bool,
    observe: &mut dyn FnMut(&Progress) -> bool,
    tap: Option<Tap<'_>>,
) -> Result<(Run, Vec<Transfer>), Error> {
    let network = scenario.network()?;
    let runtime = runtime().map_err(Error::Thread)?;
    allow_sockets();
    let plan = Plan::of_scenario(scenario)?;
    let mut topology = Topology::build(&plan)?;
    let mut queues = match options.queue_by {
        QueueBy::Afteryou => Vec::new(),
        QueueBy::Kernel => kernel_queues(scenario, &network, plan.mtu)?,
    };
    let clock = Clock::since(Instant::now() + SET_UP);
    let timing = Timing { clock, begins: Time::ZERO, from: Span::ZERO };
    let (news, received) = mpsc::channel();
    let (routes, laid) = mpsc::channel();
    let recorded = Logs::new(logs(scenario, &network));
    let shared = Shared {
        runtime: runtime.handle().clone(),
        timing,
        news,
        broken: Broken::default(),
        unsent_bytes: unsent_bytes(&network),
        routes,
        logs: recorded.clone(),
    };
    let logs: Vec<_> = scenario.flow.iter().map(|_| Arc::new(Log::default())).collect();
    let observers = recorded.observers(options.observers.as_ref().filter(|_| !is_baseline));
    let observers = observers.as_ref();
    let opening = Opening { topology: &topology, seed: scenario.seed, options, observers, shared: &shared };
    let passed: Arc<[AtomicU64]> = scenario.flow.iter().map(|_| AtomicU64::new(0)).collect();
    let (mut directed, mut transfers, mut counted) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (index, (flow, log)) in scenario.flow.iter().zip(&logs).enumerate() {
        match opening.open(index, flow, log)? {
            Ends::Command => drop(counted.insert(index, Counted::Passed(Arc::clone(&passed), index))),
            Ends::Directed(flow) => drop(directed.insert(index, *flow)),
            Ends::Transfer(ends, to) => {
                counted.insert(index, Counted::Transfer(Arc::clone(log)));
                transfers.insert(index, (*ends, to));
            }
        }
    }
    let directed = Arc::new(directed);
    let (mut shown, of_wire) = tap.map(Shown::to).unzip();
    let laid = (!scenario.hosts.is_empty()).then_some(laid);
    let wire_options = wire::Options {
        tap: of_wire,
        routes: laid,
        passed: Some(passed),
        logs: recorded.all().to_vec(),
        outside: queues
            .iter_mut()
            .filter_map(|queue| Some(Outside::new(queue.link, queue.take_tun()?)))
            .collect(),
        ..wire::Options::of_scenario(scenario, clock)
    };
    let wire = Wire::start(&mut topology, scenario, wire_options)?;
    let mut programs = Programs::start(scenario, &topology)?;
    thread::sleep(clock.instant_of(Time::ZERO).saturating_duration_since(Instant::now()));
    let (watched, over) = watch::channel(false);
    let ending = Over { flag: Arc::default(), watched };
    let start = |(index, (ends, to)): (usize, (transfer::Ends, SocketAddr))| {
        let task = ends.run(to, timing, Arc::clone(&logs[index]), over.clone());
        (index, runtime.spawn(task))
    };
    let transfers: BTreeMap<usize, Task> = transfers.into_iter().map(start).collect();
    let direction = Direction {
        scenario,
        network: &network,
        senders: topology.namespace(Side::Senders),
        timing,
        flows: Arc::clone(&directed),
        counted,
        news: received,
        over: Arc::clone(&ending.flag),
        logs: recorded.clone(),
    };
    let ((ended, flows), end_s) = thread::scope(|scope| {
        let director = Directed::start(scope, direction)?;
        let mut watching = Watching {
            scenario,
            end: options.end,
            is_baseline,
            timing,
            logs: &logs,
            directed: &directed,
            director: &director,
            transfers: &transfers,
            broken: &shared.broken,
            programs: &mut programs,
            shown: shown.as_mut(),
            wire: &wire,
        };
        let watched = watching.until_the_end(observe);
        let end_s = timing.now().as_secs_f64().min(scenario.duration.as_secs_f64());
        drop(ending);
        let ended = director.join();
        watched.and(ended).map(|ended| (ended, end_s))
    })?;
    for (flow, started, stopped) in programs.times() {
        logs[flow].lasted(started, stopped);
    }
    drop(programs);
    let transferred = collect(scenario, &runtime, transfers)?;
    let counters = queues.iter().map(KernelQueue::counters).collect::<Result<Vec<_>, _>>()?;
    let mut report = wire.finish()?;
    for (queue, counters) in queues.iter().zip(counters) {
        report.queued_by_kernel(queue, counters);
    }
    shown.iter_mut().for_each(Shown::catch_up);
    let samples: Vec<_> = (0..scenario.flow.len())
        .map(|flow| directed.get(&flow).map(Directable::samples).unwrap_or_default())
        .collect();
    let raw =
        Raw { scenario, network: &network, logs: &logs, samples: &samples, flows, ended, report, end_s };
    Ok((measure::measure(raw), transferred))
}

/// The kernel's queues at the links that data cross.
fn kernel_queues(scenario: &Scenario, network: &Network, mtu: u32) -> Result<Vec<KernelQueue>, Error> {
    let framing = wire::framing(scenario);
    let links = network.links.iter().enumerate();
    let crossed = links.filter(|(link, _)| network.flows_with_data_on(*link).next().is_some());
    crossed.map(|(link, way)| KernelQueue::new(link, way, framing, mtu)).collect()
}

/// The threads of the applications. A receiver that waits for a core reads late, so the kernel acknowledges late and
/// several packets at once. The sender's bursts then lengthen the queue, and the wire's lateness does not show it. So
/// they have real-time priority where allowed.
fn runtime() -> io::Result<Runtime> {
    let urgent = || drop(system::become_real_time(Urgency::Ends));
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().on_thread_start(urgent).build()
}

/// Lets this process have as many sockets as the system allows: each connection of a swarm takes up to three.
fn allow_sockets() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // If this fails, the connection that finds no socket says so.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// Bytes that the kernel may hold of a connection without having sent them: a turned-off flow still sends these.
fn unsent_bytes(network: &Network) -> u32 {
    let slowest = network.links.iter().map(|way| way.link.rate.bytes_per_second()).min().unwrap_or(0);
    let held = slowest as f64 * UNSENT.as_secs_f64();
    (held as u32).clamp(UNSENT_BYTES.start, UNSENT_BYTES.end)
}

/// Opens flows.
struct Opening<'a> {
    topology: &'a Topology,
    seed: u64,
    options: &'a Options,
    observers: Option<&'a Observers>,
    shared: &'a Shared,
}

impl Opening<'_> {
    fn open(&self, index: usize, flow: &Flow, log: &Arc<Log>) -> Result<Ends, Error> {
        if flow.traffic.is_command() {
            return Ok(Ends::Command);
        }
        let is_transfer = ["utp", "quic"].contains(&flow.transport.kind())
            && matches!(flow.traffic, Traffic::Bulk | Traffic::Size(_))
            && flow.active.is_empty();
        if !is_transfer {
            let flow = Directable::open(self.topology, (index, flow), log, self.observers, self.shared)?;
            return Ok(Ends::Directed(Box::new(flow)));
        }
        let addresses = self.topology.addresses(Family::V4, index);
        let [from, to] = [addresses.sender, addresses.receiver].map(|address| SocketAddr::new(address, 0));
        let at_sender = |open: &mut (dyn FnMut() + Send)| self.inside(Side::Senders, open);
        let at_receiver = |open: &mut (dyn FnMut() + Send)| self.inside(Side::Receivers, open);
        let places = [Place::new(from, &at_sender), Place::new(to, &at_receiver)];
        let source = self.options.sources.get(&flow.name).cloned().unwrap_or(Source::Made);
        let observers = self.observers.map(|all| (index, all));
        let ends = transfer::Ends::open(flow, &source, self.seed, observers, places)?;
        let server = ends.server_addr()?;
        Ok(Ends::Transfer(Box::new(ends), server))
    }

    fn inside(&self, side: Side, open: &mut (dyn FnMut() + Send)) -> Result<(), Error> {
        let runtime = &self.shared.runtime;
        self.topology.namespace(side).run(|| {
            let _inside = runtime.enter();
            open();
        })
    }
}

/// A run to be observed while it runs.
struct Watching<'a, 'b, 'c> {
    scenario: &'a Scenario,
    end: End,
    is_baseline: bool,
    timing: Timing,
    logs: &'a [Arc<Log>],
    directed: &'a BTreeMap<usize, Directable>,
    director: &'a Directed<'a>,
    transfers: &'a BTreeMap<usize, Task>,
    broken: &'a Broken,
    programs: &'a mut Programs<'b>,
    shown: Option<&'a mut Shown<'c>>,
    wire: &'a Wire,
}

impl Watching<'_, '_, '_> {
    fn until_the_end(&mut self, observe: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        for tick in 0u32.. {
            thread::sleep(SAMPLE);
            let now = self.timing.now();
            self.logs.iter().for_each(|log| log.sample(now));
            self.directed.values().for_each(|flow| flow.sample(now));
            self.programs.poll(now)?;
            self.shown.iter_mut().for_each(|shown| shown.catch_up());
            if let Some(error) = self.broken.take() {
                return Err(error);
            }
            if tick % OBSERVE_EVERY == 0 && !observe(&self.progress(now)) {
                return Err(Error::Interrupted);
            }
            if self.wire.has_ended() || self.is_over(now)? {
                break;
            }
        }
        self.programs.finish()
    }

    fn is_over(&self, now: Span) -> Result<bool, Error> {
        self.end.is_over(self.scenario, now, |index| self.is_finished(index))
    }

    /// Returns whether a flow of a given size has ended.
    fn is_finished(&self, flow: usize) -> bool {
        match self.transfers.get(&flow) {
            Some(task) => task.is_finished(),
            None => self.director.is_finished(),
        }
    }

    fn progress(&self, now: Span) -> Progress {
        let of_flow = |(flow, log): (&Flow, &Arc<Log>)| {
            let (rate_mbit, received_bytes, controller) = log.progress(now);
            FlowProgress { name: flow.name.clone(), role: flow.role, rate_mbit, received_bytes, controller }
        };
        let length_s = self.scenario.duration.as_secs_f64();
        let runs = if self.scenario.baseline || self.is_baseline { 2.0 } else { 1.0 };
        let before_s = if self.is_baseline { length_s } else { 0.0 };
        Progress {
            is_baseline: self.is_baseline,
            at_s: now.as_secs_f64(),
            elapsed_s: before_s + now.as_secs_f64(),
            total_s: runs * length_s,
            flows: self.scenario.flow.iter().zip(self.logs).map(of_flow).collect(),
            queue_ms: None,
        }
    }
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
