//! Runs a scenario in network namespaces: the kernel's TCP, our uTP and bare UDP over the scenario's own links.
//!
//! Sockets of senders are in one namespace, those of receivers in another, and the [wire] between them is the
//! scenario's network. A run takes as long as the scenario says. Its baseline, if there is one, runs after it.
//!
//! # Not implemented
//! Traffic in chunks, on and off, or of many transfers; flows that are active at times; parameters of the kernel's
//! congestion control; QUIC; programs of the user as flows.

mod measure;
mod support;
mod tcp;

pub use support::supports;

use crate::clock::Clock;
use crate::error::Error;
use crate::net::{Family, Plan, Side, Topology};
use crate::run::log::{Log, Timing};
use crate::run::{cbr, transfer, FlowProgress, Options, Progress, Source};
use crate::wire::{self, Wire};
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Outcome, Run, Transfer};
use afteryou_scenario::{Flow, Rate, Scenario, Traffic};
use afteryou_utp::{Endpoint, EndpointConfig};
use measure::Raw;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often senders are looked at.
const SAMPLE: Duration = Duration::from_millis(20);
/// Samples between two calls of the observer.
const OBSERVE_EVERY: u32 = 5;
/// Time for the wire to start.
const SET_UP: Duration = Duration::from_millis(50);
/// What a background flow of uTP has on its way when the run ends gets this long to arrive.
const DRAIN: Duration = Duration::from_secs(60);

/// Runs `scenario` and returns what came out, without checks and verdict. `observe` ends everything by returning false.
///
/// # Errors
/// A scenario that contradicts itself or that the testbed does not [support](supports), a user who may not make namespaces, a
/// congestion control that the kernel does not give, an interruption, a flow that breaks down or does not finish.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    observe: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Error> {
    scenario.check()?;
    if let Some(reason) = supports(scenario).err().into_iter().flatten().next() {
        return Err(reason.into());
    }
    let (run, transfers) = run_one(scenario, options, false, observe)?;
    let baseline = match scenario.baseline {
        true => Some(run_one(&scenario.without_background(), options, true, observe)?.0),
        false => None,
    };
    let outcome = Outcome::new("bed", env!("CARGO_PKG_VERSION"), scenario.clone(), run, baseline);
    Ok(Outcome { transfers, ..outcome })
}

/// The sockets of a flow before the wire is up.
enum Ends {
    Tcp(tcp::Ends),
    Utp(transfer::Ends),
    Cbr(cbr::Ends),
}

/// A flow at work.
enum Running {
    Tcp(tcp::Running),
    Utp(JoinHandle<Result<Option<Transfer>, Error>>),
    Cbr(cbr::Call),
}

/// Tells all flows that the run is over, however it ends.
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
) -> Result<(Run, Vec<Transfer>), Error> {
    let network = scenario.network()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(Error::Thread)?;
    let mut topology = Topology::build(&Plan::of_scenario(scenario)?)?;
    let flows = scenario.flow.iter().enumerate();
    let opened = flows.map(|(index, flow)| {
        open(&topology, runtime.handle(), scenario.seed, (index, flow), options, is_baseline)
    });
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let clock = Clock::since(Instant::now() + SET_UP);
    let wire = Wire::start(&mut topology, scenario, wire::Options::of_scenario(scenario, clock))?;
    thread::sleep(clock.instant_of(Time::ZERO).saturating_duration_since(Instant::now()));
    let timing = Timing { clock, begins: Time::ZERO, from: Span::ZERO };
    let (watched, over) = watch::channel(false);
    let ending = Over { flag: Arc::default(), watched };
    let (mut logs, mut running) = (Vec::new(), Vec::new());
    for (index, (ends, server)) in opened.into_iter().enumerate() {
        let log = Arc::new(Log::default());
        let (of_flow, flag) = (Arc::clone(&log), Arc::clone(&ending.flag));
        running.push(match ends {
            Ends::Tcp(ends) => Running::Tcp(ends.start(timing, of_flow, flag)?),
            Ends::Utp(ends) => Running::Utp(runtime.spawn(ends.run(server, timing, of_flow, over.clone()))),
            Ends::Cbr(ends) => {
                let rate = Rate::from_bits(network.rate_of_flow(index));
                Running::Cbr(ends.start(server, rate, timing, of_flow, flag)?)
            }
        });
        logs.push(log);
    }
    let watching = Watching { scenario, is_baseline, timing, logs: &logs, running: &running, wire: &wire };
    watching.until_the_end(observe)?;
    let end_s = timing.now().as_secs_f64().min(scenario.duration.as_secs_f64());
    drop(ending);
    let (samples, transfers) = collect(scenario, &runtime, running)?;
    let report = wire.finish()?;
    let raw = Raw { scenario, network: &network, logs: &logs, samples: &samples, report, end_s };
    Ok((measure::measure(raw), transfers))
}

/// Opens the sockets of a flow, and returns where its receiver is.
fn open(
    topology: &Topology,
    runtime: &Handle,
    seed: u64,
    (index, flow): (usize, &Flow),
    options: &Options,
    is_baseline: bool,
) -> Result<(Ends, SocketAddr), Error> {
    let addresses = topology.addresses(Family::V4, index);
    let [from, to] = [addresses.sender, addresses.receiver].map(|address| SocketAddr::new(address, 0));
    if let Traffic::Cbr { rate, payload, .. } = flow.traffic {
        let bind = |side, address: SocketAddr| {
            let bound = topology.namespace(side).run(move || UdpSocket::bind(address))?;
            bound.map_err(|source| Error::Socket { address, source })
        };
        let sockets = [bind(Side::Senders, from)?, bind(Side::Receivers, to)?];
        let ends = cbr::Ends::with_sockets(flow, sockets, rate, payload)?;
        let server = ends.server_addr()?;
        return Ok((Ends::Cbr(ends), server));
    }
    if flow.transport.kind() == "tcp" {
        return Ok((Ends::Tcp(tcp::Ends::open(topology, index, flow)?), to));
    }
    let bind = |side, address: SocketAddr, config: EndpointConfig| {
        let bound = topology.namespace(side).run(move || {
            let _inside = runtime.enter();
            Endpoint::bind(address, config)
        })?;
        bound.map_err(|source| Error::Socket { address, source })
    };
    let client = |config: EndpointConfig| bind(Side::Senders, from, config);
    let server = |config: EndpointConfig| bind(Side::Receivers, to, config);
    let source = options.sources.get(&flow.name).cloned().unwrap_or(Source::Made);
    let observers = options.observers.as_ref().filter(|_| !is_baseline).map(|all| (index, all));
    let ends = transfer::Ends::open(flow, &source, seed, observers, [&client, &server])?;
    let server = ends.server_addr();
    Ok((Ends::Utp(ends), server))
}

/// A run to be looked at while it goes on.
struct Watching<'a> {
    scenario: &'a Scenario,
    is_baseline: bool,
    timing: Timing,
    logs: &'a [Arc<Log>],
    running: &'a [Running],
    wire: &'a Wire,
}

impl Watching<'_> {
    fn until_the_end(&self, observe: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        for tick in 0u32.. {
            thread::sleep(SAMPLE);
            let now = self.timing.now();
            self.logs.iter().for_each(|log| log.sample(now));
            for running in self.running {
                if let Running::Tcp(running) = running {
                    running.sample(now);
                }
            }
            if tick % OBSERVE_EVERY == 0 && !observe(&self.progress(now)) {
                return Err(Error::Interrupted);
            }
            if self.wire.has_ended() || self.is_over(now)? {
                break;
            }
        }
        Ok(())
    }

    /// Sizes end a run when they are sent, otherwise the scenario's duration does.
    fn is_over(&self, now: Span) -> Result<bool, Error> {
        let timed_out = now >= self.scenario.duration.0;
        let flows = self.scenario.flow.iter().zip(self.running);
        let mut sized = flows.filter(|(flow, _)| matches!(flow.traffic, Traffic::Size(_))).peekable();
        if sized.peek().is_none() {
            return Ok(timed_out);
        }
        match sized.find(|(_, running)| !running.is_finished()) {
            None => Ok(true),
            Some((flow, _)) if timed_out => Err(Error::Unfinished {
                flow: flow.name.clone(),
                seconds: self.scenario.duration.as_secs_f64(),
            }),
            Some(_) => Ok(false),
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

impl Running {
    fn is_finished(&self) -> bool {
        match self {
            Running::Tcp(running) => running.is_finished(),
            Running::Utp(task) => task.is_finished(),
            Running::Cbr(_) => false,
        }
    }
}

/// Waits for all flows; returns the samples of each flow and what transfers of uTP came to.
fn collect(
    scenario: &Scenario,
    runtime: &Runtime,
    running: Vec<Running>,
) -> Result<(Vec<Vec<tcp::Sample>>, Vec<Transfer>), Error> {
    let (mut samples, mut transfers) = (Vec::new(), Vec::new());
    for (flow, running) in scenario.flow.iter().zip(running) {
        let broken = |reason: String| Error::Flow { flow: flow.name.clone(), reason };
        let mut of_flow = Vec::new();
        match running {
            Running::Tcp(running) => of_flow = running.join(flow)?,
            Running::Cbr(call) => call.join(),
            Running::Utp(task) => {
                let ended = runtime.block_on(async { tokio::time::timeout(DRAIN, task).await });
                let ended =
                    ended.map_err(|_| broken("what was sent did not arrive within a minute".to_owned()))?;
                transfers.extend(ended.map_err(|error| broken(error.to_string()))??);
            }
        }
        samples.push(of_flow);
    }
    Ok((samples, transfers))
}
