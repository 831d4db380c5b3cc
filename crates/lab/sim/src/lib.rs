//! Packet-level simulation: hours of network in seconds, the same bits every time.
//!
//! ```
//! use afteryou_scenario_file::Experiment;
//! use std::ops::ControlFlow;
//!
//! let file = r#"
//! duration = "30 s"
//! measure = { name = "together", from = "15 s" }
//! link = { rate = "10 Mbit/s", buffer = "300 ms" }
//! flow = [
//!     { name = "upload", controller = "cubic", rtt = "50 ms", start = "10 s" },
//!     { name = "backup", controller = "ledbat++", rtt = "50 ms", role = "background" },
//! ]
//! "#;
//! let runs = Experiment::parse(file, "beside.toml", &[])?.runs(Some(1), None)?;
//! let outcome = afteryou_sim::run(&runs[0].scenario, &mut |_| ControlFlow::Continue(()))?;
//! for flow in &outcome.run.windows[0].flows {
//!     println!("{}: {:.2} Mbit/s", flow.flow, flow.goodput_bit_s / 1e6);
//! }
//! # assert!(outcome.run.windows[0].flows[0].share_of_payload_capacity > 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Scenario`] goes in, an [`Outcome`] comes out. Time is integer nanoseconds, and randomness comes from named
//! streams of the scenario's seed. Nothing else is asked of the machine, so a run is the same everywhere. Each run
//! proves that no byte was lost or invented by the simulator itself: see [`outcome::Ledger`].
//!
//! ```text
//!   sender ──▶ [queue] ▶ link ▶ … ▶ [queue] ▶ link ▶ wire (delay) ──▶ receiver
//!      ▲                                                                  │
//!      └── wire (delay) ◀ link ◀ [queue] ◀ … ◀ link ◀ [queue] ◀───────────┘
//! ```
//!
//! A path may have any number of links each way, and a link is one direction: data of one flow and acknowledgements of
//! another meet in its queue.
//!
//! [`outcome::Ledger`]: afteryou_scenario::outcome::Ledger
//!
//! # Modules
//! | file | has |
//! |---|---|
//! | `world`, `world/steps` | the loop over events; a run carried on in pieces |
//! | `calendar` | events by time, ties in the order of scheduling; a wheel of buckets for later ones |
//! | `net`, `link`, `element` | links, each one way with a meter of its own; delay lines; losses, jitter, changing rates |
//! | `connection`, `tcp` | two protocol ends with their controllers and timers |
//! | `application` | when to send and what, one file for each kind of traffic |
//! | `steering` | jobs whose windows and rates the rule of `afteryou run` sets |
//! | `instruments` | what links, senders and applications carry to be measured: meters, delays, logs |
//! | `record`, `sample` | the recorder on top: it reads those at the edges of windows and steps |
//! | [`live`], [`director`] | the network and the applications alone, for the testbed |
//!
//! A packet is 32 bytes by value. SACK blocks and uTP headers are in slabs that it points to. A packet counts its hops. A connection's
//! hops take a power of two of places, filled in when it is opened. So adding a link in a scenario touches no code here. At a link with
//! DropTail and a constant rate a packet goes onto its line when it reaches the queue (`link/foreseen.rs`). Elsewhere it does when it begins
//! to be sent. Links of the first kind have no events of their own.
//!
//! An application asks for news ("as many bytes have arrived", "everything is acknowledged"), so a packet of a bulk flow costs its application
//! nothing. Timers belong to the place in the slab of connections, because their entries in the calendar name it. Every application keeps
//! books: offered = delivered + closed + queued. At a link, arrived = delivered + dropped + lost + queued + in flight, counted independently
//! on both sides. A run whose books do not balance is an error and no result.
//!
//! The rules of TCP's sender are those of `afteryou-sender`. `tcp/acks.rs`, `tcp/sender/timers.rs` and `tcp/sender.rs` have TCP's
//! acknowledgements, timeouts and handshake. `connection/utp.rs` runs the real uTP connection with its real headers and leaves payload out.
//! Only the receiver's clock is skewed, in integers ([`Time::as_micros_on_clock`](afteryou_base::Time::as_micros_on_clock)).
//!
//! # Choices that the RFCs leave open
//! With RACK the lower bound of the timeout lies on top of the smoothed round-trip time, as in Linux. The timer starts afresh when the oldest
//! segment is sent again. Otherwise a timeout comes before RACK can see that a retransmission was lost. PRR's proportional part is rounded up
//! to whole segments, as in the example of RFC 9937 §8. The preset `classic` has neither RACK nor PRR, so it shows the timeouts of its time.

mod application;
mod arena;
#[cfg(test)]
mod audit;
mod calendar;
mod connection;
pub mod director;
mod element;
mod error;
mod instruments;
mod link;
pub mod live;
mod net;
mod packet;
mod record;
mod sample;
mod script;
mod steering;
mod tap;
mod tcp;
mod world;

pub use error::Error;
pub use sample::Sample;
pub use world::{SimProgress, Steps};

use afteryou_base::Span;
use afteryou_cc::Observers;
use afteryou_scenario::outcome::Outcome;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Flow, Passage, Scenario, TransportKind};
use sample::Sampler;
use std::ops::ControlFlow;
use world::Looks;

/// Returns whether a checked scenario can be simulated.
///
/// # Errors
/// Everything in it that only real packets can do.
pub fn supports(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    let reason = |flow: &Flow| {
        let (key, what) = match (flow.traffic.is_command(), flow.transport.kind) {
            (true, _) => ("traffic", "a command sends real packets: use afteryou bed"),
            (false, TransportKind::Quic) => {
                ("transport", "the simulator has no QUIC: use utp or tcp, or run it with afteryou bed")
            }
            (false, TransportKind::Tcp | TransportKind::Utp | TransportKind::Udp) => return None,
        };
        Some(Unsupported::of_flow(flow, key, format!("flow {:?}: {what}", flow.name)))
    };
    let reasons: Vec<_> = scenario.flow.iter().filter_map(reason).collect();
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(reasons),
    }
}

/// Runs `scenario`, and once more without its background flows if it asks for that. `watch` is called now and then with
/// how far the run is; it may break everything off.
///
/// # Errors
/// Anything in the scenario that it does not [support](supports), an interruption, or a bug of the simulator that its own books show.
pub fn run(
    scenario: &Checked,
    watch: &mut dyn FnMut(SimProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    sampled(scenario, watch, Span::ZERO, &mut |_| {})
}

/// Runs a scenario, and shows `take` the state of every flow's controller each time that `every` has passed, from the
/// beginning to the end. If `every` is zero, `take` is never called. The baseline is not sampled. The run's measures are the
/// same with samples and without.
///
/// # Errors
/// As [`run`].
pub fn sampled(
    scenario: &Checked,
    watch: &mut dyn FnMut(SimProgress) -> ControlFlow<()>,
    every: Span,
    take: &mut dyn FnMut(Sample<'_>),
) -> Result<Outcome, Error> {
    watched(scenario, watch, Watchers { every, take, tap: None, observers: None })
}

/// No samples at all.
pub const NEVER: Span = Span::ZERO;

/// Observers of a run. Its measures are the same with them and without.
pub struct Watchers<'a> {
    /// Time between two samples of the controllers, or [`NEVER`].
    pub every: Span,
    /// Takes the samples.
    pub take: &'a mut dyn FnMut(Sample<'_>),
    /// Sees every packet at every link, if anybody does, some [before their time](Passage::known).
    pub tap: Option<&'a mut dyn FnMut(&Passage<'_>)>,
    /// See every sender, if anybody does.
    pub observers: Option<Observers>,
}

/// Runs `scenario` before the eyes of `watchers`, which do not see its baseline.
///
/// # Errors
/// As [`run`].
pub fn watched(
    scenario: &Checked,
    watch: &mut dyn FnMut(SimProgress) -> ControlFlow<()>,
    watchers: Watchers<'_>,
) -> Result<Outcome, Error> {
    if let Some(reason) = supports(scenario).err().into_iter().flatten().next() {
        return Err(reason.into());
    }
    let Watchers { every, take, tap, observers } = watchers;
    let looks = Looks { tap, observers };
    let run = world::run(scenario, watch, &mut Sampler::new(every, take), looks)?;
    let no_samples = &mut |_: Sample<'_>| {};
    let baseline = match scenario.baseline {
        true => {
            let mut sampler = Sampler::new(Span::ZERO, no_samples);
            Some(world::run(&scenario.without_background(), watch, &mut sampler, Looks::default())?)
        }
        false => None,
    };
    Ok(Outcome::new("sim", env!("CARGO_PKG_VERSION"), Scenario::clone(scenario), run, baseline))
}
