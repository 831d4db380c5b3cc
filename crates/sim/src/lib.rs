//! Packet-level simulation: hours of network in seconds, the same bits every time.
//!
//! A [`Scenario`] goes in, an [`Outcome`] comes out. Time is integer nanoseconds, randomness comes from named streams of
//! the scenario's seed, and nothing else is asked of the machine, so that a run is the same everywhere. Each run proves
//! that no byte was lost or invented by the simulator itself: see [`outcome::Ledger`].
//!
//! ```text
//!   sender ──▶ [queue] ▶ link ▶ wire (rtt/2) ──▶ receiver
//!      ▲                                            │
//!      └── wire (rtt/2) ◀ link ◀ [queue] ◀──────────┘
//! ```
//!
//! [`outcome::Ledger`]: afteryou_scenario::outcome::Ledger

mod calendar;
mod error;
mod flow;
mod link;
mod net;
mod packet;
mod ranges;
mod record;
mod script;
mod source;
mod tcp;
mod world;

pub use error::Error;
pub use world::Progress;

use afteryou_scenario::outcome::Outcome;
use afteryou_scenario::Scenario;

/// Runs `scenario`, and once more without its background flows if it asks for that. `watch` is called now and then with
/// how far the run is; it ends everything by returning false.
///
/// # Errors
/// A scenario that contradicts itself, an interruption, or a bug of the simulator that its own books show.
pub fn run(scenario: &Scenario, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Outcome, Error> {
    scenario.check()?;
    let run = world::run(scenario, watch)?;
    let baseline = match scenario.baseline {
        true => Some(world::run(&scenario.without_background(), watch)?),
        false => None,
    };
    Ok(Outcome::new("sim", env!("CARGO_PKG_VERSION"), scenario.clone(), run, baseline))
}
