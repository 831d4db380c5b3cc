//! The wire between the two TUN devices: the scenario's network, run by the simulator's own links in real time.
//!
//! # Model
//! A packet that the kernel sends in one namespace goes through the links of its flow's route and comes out in the
//! other. Rates, queues, losses, delays, scripted faults and changes of routes are those of [`afteryou_sim::live`]. One
//! implementation serves both engines, and so do the measures at the links.
//!
//! # Time
//! Time zero is the clock's, which may lie ahead when the wire starts. One thread forwards, real-time (SCHED_FIFO) where
//! that is allowed, on a core of its own where there are several. How late it delivered packets is part of the result.
//!
//! # Queues of the kernel
//! A link may have its queue in the kernel ([`Outside`]). The wire writes the packet to the queue's device, and the packet continues
//! when it comes back.
//!
//! # Known bad cases
//! A packet that waits in the device while the thread is busy arrives when it is read. A receiver's kernel works on
//! the wire's thread, so at several hundred Mbit/s the thread's own core is the limit.

mod awake;
mod connections;
mod cores;
mod forwarder;
mod ip;
mod outside;
mod routes;
mod sizes;
mod wake_up;

pub use crate::lateness::LATENESS_BOUND_MS;
pub use cores::{allowed as allowed_cores, run_on, Claim};
pub use forwarder::Counts;
pub use ip::set_tos;
pub use outside::Outside;
pub use routes::Laid;

use crate::clock::Clock;
use crate::error::Error;
use crate::lateness::Distribution;
use crate::net::{KernelQueue, QueueCounters, Topology, Tun};
use crate::system::{self, Urgency};
use afteryou_base::Span;
use afteryou_scenario::outcome::Lateness;
use afteryou_scenario::passage::Content;
use afteryou_scenario::{Checked, Passage, Record, Scenario};
use afteryou_sim::director::SenderLog;
use afteryou_sim::live::{Live, Measured};
use connections::Connections;
use forwarder::Forwarder;
use nix::sys::eventfd::EventFd;
use nix::sys::prctl::set_timerslack;
use routes::Routes;
use sizes::Sizes;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{mpsc, Arc};
use std::thread::{self, JoinHandle};
use wake_up::WakeUp;

/// The longest round-trip time that needs real-time priority: there the bound of its error is 0.2 ms.
pub const SHORT_TRIP: Span = Span::from_millis(10);

/// Sees every packet at every link, on the wire's thread: it has to be quick.
pub type Tap = Box<dyn FnMut(&Passage<'_>) + Send>;

/// How a wire runs.
pub struct Options {
    /// The run's time.
    pub clock: Clock,
    /// Without real-time priority there is no run.
    pub needs_real_time: bool,
    /// The core that the wire's thread runs on, if it is to stay on one.
    pub core: Option<Claim>,
    /// Sees the packets, if anybody does.
    pub tap: Option<Tap>,
    /// Brings the routes of connections between hosts, each before its first packet.
    pub routes: Option<mpsc::Receiver<Laid>>,
    /// Counts the payload of each flow that has come out of the network, bytes.
    pub passed: Option<Arc<[AtomicU64]>>,
    /// Links whose queue is the kernel's.
    pub outside: Vec<Outside>,
    /// By flow, logs in which drops are noted; none where nobody records events.
    pub logs: Vec<Option<SenderLog>>,
}

/// A wire at work. Dropping it ends it.
#[derive(Debug)]
pub struct Wire {
    stop: Arc<EventFd>,
    is_real_time: bool,
    /// None once it was joined.
    thread: Option<JoinHandle<Result<Report, Error>>>,
}

/// Counters of a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Events at the links.
    pub measured: Measured,
    /// How late packets were delivered; none if there was no packet.
    pub lateness: Option<Lateness>,
    /// Values that do not measure the network.
    pub counts: Counts,
    /// Connections that crossed the wire.
    pub connections: usize,
}

impl Report {
    /// Takes the counters of the kernel, which has queued at a link.
    pub fn queued_by_kernel(&mut self, queue: &KernelQueue, counters: QueueCounters) {
        let Some(link) = self.measured.totals.get_mut(queue.link) else { return };
        link.queued_by = Some(queue.description());
        if let Some(packets) = &mut link.packets {
            packets.dropped = counters.drops;
            let gone = packets.delivered + packets.dropped + packets.lost;
            packets.unfinished = (packets.arrived + packets.duplicated).saturating_sub(gone);
        }
    }
}

impl Options {
    /// Returns options with a clock, on any core, with real-time priority if there is some.
    pub fn new(clock: Clock) -> Options {
        Options {
            clock,
            needs_real_time: false,
            core: None,
            tap: None,
            routes: None,
            passed: None,
            outside: Vec::new(),
            logs: Vec::new(),
        }
    }

    /// Returns options for a run of `scenario`: the wire on the last core that no other wire has. Real-time priority is
    /// needed if any path is short.
    pub fn of_scenario(scenario: &Scenario, clock: Clock) -> Options {
        let changed = scenario.route_change.iter().filter_map(|change| change.rtt);
        let mut trips = scenario.flow.iter().map(|flow| flow.rtt).chain(changed);
        Options {
            needs_real_time: trips.any(|trip| trip.0 <= SHORT_TRIP),
            core: Claim::last_free(),
            ..Options::new(clock)
        }
    }
}

impl Wire {
    /// Starts the wire of a topology, which has one.
    ///
    /// # Errors
    /// A second wire, no real-time priority where it is needed.
    pub fn start(topology: &mut Topology, scenario: &Checked, options: Options) -> Result<Wire, Error> {
        let taken = || Error::Tun(io::Error::other("the devices of this topology have a wire already"));
        let tuns = topology.take_tuns().ok_or_else(taken)?;
        let (scenario, mtu) = (scenario.clone(), topology.mtu());
        let stop = Arc::new(EventFd::new().map_err(|error| Error::Tun(error.into()))?);
        let stopped = Arc::clone(&stop);
        let (ready, started) = mpsc::channel();
        let work = move || {
            let is_real_time = prepare(&options)?;
            let _awake = awake::request();
            // If nobody waits for this any more, the wire is dropped and stopped.
            let _ = ready.send(is_real_time);
            forward(&scenario, &tuns, options, mtu, &stopped)
        };
        let thread = thread::Builder::new().name("wire".to_owned()).spawn(work).map_err(Error::Thread)?;
        let mut wire = Wire { stop, is_real_time: false, thread: Some(thread) };
        match started.recv() {
            Ok(is_real_time) => wire.is_real_time = is_real_time,
            // The thread has ended: its result has the reason.
            Err(_) => wire.join().map(drop)?,
        }
        Ok(wire)
    }

    /// Returns whether its thread has real-time priority.
    pub fn is_real_time(&self) -> bool {
        self.is_real_time
    }

    /// Returns whether it ended by itself. Then [`finish`](Self::finish) returns the reason.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it after everything that is due by now, and returns what it did. Packets in queues and on wires stay there.
    ///
    /// # Errors
    /// A packet larger than the devices allow, links that lost count of bytes.
    pub fn finish(mut self) -> Result<Report, Error> {
        self.join()
    }

    fn join(&mut self) -> Result<Report, Error> {
        let thread = self.thread.take().ok_or(Error::Crashed)?;
        // It fails only after 2⁶⁴ − 1 of them.
        let _ = self.stop.write(1);
        thread.join().map_err(|_| Error::Crashed)?
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// Returns the bytes that the rate counts for a packet beside those of IP: the most of all flows.
pub fn framing(scenario: &Scenario) -> u32 {
    Sizes::of_scenario(scenario).framing()
}

/// Prepares the calling thread; returns whether it has real-time priority.
fn prepare(options: &Options) -> Result<bool, Error> {
    run_on(options.core.as_ref().map(Claim::core).as_slice());
    // Without real-time priority timers may be bundled with others that are 1 µs away, not 50 µs as usual.
    let _ = set_timerslack(1_000);
    match system::become_real_time(Urgency::Wire) {
        Ok(()) => Ok(true),
        Err(error) if options.needs_real_time => Err(Error::RealTime(error)),
        Err(_) => Ok(false),
    }
}

fn forward(
    scenario: &Checked,
    tuns: &[Tun; 2],
    options: Options,
    mtu: u32,
    stop: &EventFd,
) -> Result<Report, Error> {
    let Options { clock, mut tap, routes, passed, outside, logs, .. } = options;
    let is_tapped = tap.is_some();
    let mut marked = Vec::new();
    let mut show = |passage: &Passage<'_>| {
        if let Some(tap) = &mut tap {
            with_mark(passage, &mut marked, tap);
        }
    };
    let tap = is_tapped.then_some(&mut show as &mut dyn FnMut(&Passage<'_>));
    let mut live = Live::new(scenario, scenario.network(), tap)?;
    if scenario.record.contains(&Record::Events) {
        live.note_drops(&logs);
    }
    outside.iter().for_each(|outside| live.queue_elsewhere(outside.link));
    let mut forwarder = Forwarder {
        tuns,
        live,
        outside,
        clock,
        sizes: &Sizes::of_scenario(scenario),
        mtu,
        lateness: Distribution::new(),
        counts: Counts::default(),
        connections: Connections::default(),
        routes: Routes::new(routes),
        flows: Vec::new(),
        passed: passed.as_deref().unwrap_or_default(),
        wake_up: WakeUp::default(),
        buffer: vec![0; 1 << 16],
        marked: Vec::new(),
    };
    forwarder.run(stop)?;
    let Forwarder { live, lateness, counts, connections, .. } = forwarder;
    Ok(Report {
        measured: live.finish()?,
        lateness: lateness.lateness(),
        counts,
        connections: connections.len(),
    })
}

/// Shows a packet to `tap` with the mark that a queue has made, which it gets only behind the network.
fn with_mark(passage: &Passage<'_>, marked: &mut Vec<u8>, tap: &mut Tap) {
    let Content::Whole { packet } = passage.content else { return tap(passage) };
    marked.clear();
    marked.extend_from_slice(packet);
    set_tos(marked, passage.dscp.tos(passage.ecn.bits()));
    tap(&Passage { content: Content::Whole { packet: marked }, ..*passage });
}
