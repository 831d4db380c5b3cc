//! Scenarios as differential equations.
//!
//! ```
//! use afteryou_fluid::{explain, run, Options};
//! use afteryou_scenario::{Duration, Flow, Link, Role, Scenario, Window};
//! use std::ops::ControlFlow;
//!
//! let rtt = Duration::from_millis(50);
//! let end = Duration::from_millis(60_000);
//! let mut scenario = Scenario::new(
//!     "two that share",
//!     end,
//!     Link::new("10 Mbit/s".parse()?, "100 packets".parse()?),
//! );
//! scenario.flow = ["a", "b"].map(|name| Flow::new(name, Role::Background, "fledbat", rtt)).to_vec();
//! scenario.measure = vec![Window { name: "late".into(), from: Duration::from_millis(30_000), to: end }];
//!
//! let scenario = scenario.checked()?;
//! let analysis = explain(&scenario, &Options::default())?;
//! let expected = analysis.value("fledbat × 2, 50 ms", "delay at rest").unwrap();
//! let outcome = run(&scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
//! let measured = outcome.run.windows[0].bottleneck().unwrap().queuing_delay.unwrap().mean_ms;
//! assert!((measured / expected - 1.0).abs() < 0.001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [checked scenario](afteryou_scenario::Checked) goes in, an [`Outcome`](afteryou_scenario::Outcome) comes out, as from the
//! simulator. Windows and queues are smooth quantities, and the answer is there at once: [`run`]. [`explain`] states what
//! follows from a scenario without running it, from the [closed forms](closed). [`Network`] and [`Trajectory`] are the
//! equations themselves, for the study of a single curve. [`orbit`] samples them, [`curve`] measures the samples, and
//! [`carofiglio`] has a paper's statements as functions.
//!
//! ```text
//!   scenario ──plan──▶ network ──integrator──▶ trajectory ──record──▶ outcome
//!      └──────────────▶ closed forms ───────────────────────────────▶ analysis
//! ```
//! Rules are in [`model`], one file each. The floating-point operations are + − × ÷ √, the rest comes from `libm`, in one order:
//! a run is the same to the last bit on every machine.
//!
//! # What it is good for
//! Equilibria, shares, what a parameter does, whether a loop is stable. Beside the simulator: LEDBAT++ alone on 20
//! Mbit/s is within a hundredth of its utilisation up to round trips of 200 ms. The mean delay of two flows of LEDBAT
//! or fLEDBAT on 10 Mbit/s is within a hundredth. The share of LEDBAT++, LEDBAT or fLEDBAT beside CUBIC or NewReno in a
//! buffer of 30 ms is within a tenth of the link.
//!
//! # Known bad cases
//! Loss-based flows in their mean do not swing. One or two of them keep the queue fuller than in truth, by a tenth with
//! 500 ms of buffer and by four tenths with 30 ms. A latecomer never sees it emptier. LEDBAT and LEDBAT++ beside them
//! can have a share of a buffer of two or three targets that packets do not give them. The other way round, the saw of
//! a real NewReno leaves room in a buffer of little more than a target. With 1.4 targets and a path of 50 ms LEDBAT has
//! 1.4 % of 10 Mbit/s here and 11 % in the simulator with a target of 100 ms. With a target of 25 ms it has 3 % of 20
//! Mbit/s here and 55 % there.
//!
//! The window is the data in flight; here the queue follows the rate, and the rate follows the window. A flow whose
//! slow start overshoots falls deeper than in truth, to nothing instead of 41 ms of queue in
//! `scenarios/home-uplink.toml`.
//!
//! Senders that do not pace have the [bursts of their trains](Sender::paced). Those that pace are spread evenly, which
//! real ones are not in slow start. On paths beyond 350 ms, and in short buffers from 100 ms on, LEDBAT++ uses less in
//! truth. Everything else that single packets decide is missing: recovery, timeouts, delayed acks.
//!
//! # Beside the simulator
//! Slowdowns are events, since their mean gives 1.0 where a lone flow has 0.93. Loss events are a rate, so loss-based flows do not swing: the
//! engine's main difference from the simulator. `bench/fluid_agreement.rs` compares both in classes that the closed forms make. In the
//! stable, roomy class (twenty packets or more of each flow in flight) total, queue and every flow agree within 5 %: one packet is 5 % of twenty.

mod analysis;
pub mod carofiglio;
pub mod closed;
pub mod curve;
mod entry;
mod error;
mod history;
mod integrator;
pub mod model;
mod network;
mod options;
pub mod orbit;
mod phase;
mod plan;
mod record;
mod run;
mod support;
mod tracks;
mod train;
mod trajectory;

pub use analysis::{explain, Analysis, Quantity};
pub use error::Error;
pub use network::{Network, Sender};
pub use options::{Base, Feedback, Options, Pacing, RoundTrip};
pub use plan::supports;
pub use run::{run, FluidProgress};
pub use trajectory::Trajectory;

/// A controller or a queue that has a fluid model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// The model's scope, in one sentence.
    pub summary: &'static str,
    /// Where the model comes from.
    pub source: &'static str,
}

/// Controllers that have a model.
pub const CONTROLLERS: &[Entry] = &[
    Entry {
        name: "ledbat",
        summary: "steers towards the target in proportion to the distance",
        source: "RFC 6817; Carofiglio 2013, eq. 3-4",
    },
    Entry {
        name: "fledbat",
        summary: "constant growth, and a decrease in proportion to window and excess delay",
        source: "Carofiglio 2013, eq. 8-9",
    },
    Entry {
        name: "ledbat++",
        summary: "the rule of a round trip as a rate, slow start and slowdowns as events",
        source: "draft-irtf-iccrg-ledbat-plus-plus-01; Bagnulo 2022, appendix",
    },
    Entry {
        name: "newreno",
        summary: "a packet more per round trip, half at each loss event; loss events as a rate",
        source: "RFC 5681; Misra, Gong and Towsley 2000",
    },
    Entry {
        name: "cubic",
        summary: "averaged over its epochs: the last maximum and the time since the last loss event",
        source: "RFC 9438; Vardoyan, Hollot and Towsley 2018",
    },
];

/// Queues that have a model.
pub const QUEUES: &[Entry] = &[Entry {
    name: "droptail",
    summary: "what does not fit is lost, in proportion to each flow's rate",
    source: "first in, first out",
}];
