//! Scenarios as differential equations.
//!
//! A [`Scenario`](afteryou_scenario::Scenario) goes in, an [`Outcome`](afteryou_scenario::Outcome) comes out, as from the
//! simulator, but windows and queues are smooth quantities and the answer is there at once. [`explain`] says what follows
//! from a scenario without running it.

mod analysis;
pub mod closed;
mod error;
mod history;
mod integrator;
pub mod model;
mod network;
mod options;
mod phase;
mod plan;
mod record;
mod run;
mod tracks;
mod trajectory;

pub use analysis::{explain, Analysis, Quantity};
pub use error::Error;
pub use network::{Network, Sender};
pub use options::{Base, Feedback, Options, RoundTrip};
pub use run::{run, Progress};
pub use trajectory::Trajectory;

/// A controller or a queue that has a fluid model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What the model takes in, one sentence.
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
