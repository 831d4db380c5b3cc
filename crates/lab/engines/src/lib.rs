//! Runs experiments: engines behind one trait, plans of runs that can be stored and sent, and a pool that carries them out.
//!
//! ```
//! use afteryou_engines::{find, Choices, Plan, Pool};
//! use afteryou_scenario_file::Experiment;
//! use std::sync::atomic::AtomicBool;
//!
//! let file = "
//!     duration = '4 s'
//!     link = { rate = '5 Mbit/s', buffer = '50 packets' }
//!     flow = { name = 'a', controller = 'cubic', rtt = '20 ms' }
//!     sweep.'link.rate' = ['2 Mbit/s', '5 Mbit/s']";
//! let engine = find("sim")?;
//! let plan = Plan::new(engine, &Experiment::parse(file, "rates.toml", &[])?, Choices::default())?;
//! let outcomes = Pool::default().outcomes(engine, &plan.points, &AtomicBool::new(false))?;
//! for (point, outcome) in plan.points.iter().zip(&outcomes) {
//!     println!("{} {:?}: {} bit/s", point.hash(), point.settings, outcome.run.windows[0].flows[0].goodput_bit_s);
//! }
//! # assert!(outcomes.len() == 2 && outcomes.iter().all(|outcome| outcome.run.windows[0].flows[0].goodput_bit_s > 1.5e6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here prints or reads a terminal, and files are written by [`sweep`] alone. A callback receives progress and
//! outcomes, a flag ends everything, and errors are returned. So the command line, a notebook and a cluster use the
//! same code.
//!
//! | task | call |
//! |---|---|
//! | an engine by name, all engines | [`find`], [`ENGINES`] |
//! | can this engine run that scenario? | [`Engine::supports`] |
//! | what else an engine can do | [`Engine::capabilities`] |
//! | every run of an experiment | [`Plan::new`] |
//! | a name for a run that is the same on every machine | [`Point::hash`] |
//! | one run | [`Point::run`] |
//! | all runs on all cores | [`Pool::run`], [`Pool::outcomes`] |
//! | runs without having all of them in memory | [`Lineup`], [`Pool::each`] |
//! | a sweep on the disk that survives a kill; parts of one | [`sweep`] |
//! | what a program keeps of runs, found again by content | [`Cache`] |
//! | the engines that support a controller, a queue, a transport | [`coverage`] |
//!
//! # Design
//! `engines/` has a file for each engine, which turns the `run` of the engine's crate into an [`Engine`]. A subcommand is made of each
//! entry of [`ENGINES`], so a new engine touches its own crate and this one. A [`Point`] carries an engine, its version and a concrete scenario, and a
//! run depends on nothing else. So a store or a cluster recognises a run that it already has. `ordered.rs` spreads jobs over threads and returns
//! results in job order. The first error in that order ends everything: one thread and many threads give the same result.
//!
//! The caller chooses the content of a line of a sweep's journal. `afteryou` keeps the run's rows and its part in the page. A worker
//! writes the files of its run and then the line, so a kill loses no finished run. Tables are written from the journal in the order of the
//! runs, in two passes: columns first, since rows of one table may differ, then values.

mod cache;
pub mod coverage;
mod engine;
mod engines;
mod error;
mod lineup;
mod ordered;
mod plan;
mod point;
mod pool;
pub mod sweep;

pub use cache::Cache;
pub use engine::{Capabilities, Engine, Looks, RunProgress};
#[cfg(feature = "bed")]
pub use engines::Bed;
pub use engines::{find, Fluid, Simulator, ENGINES};
pub use error::{Error, Source};
pub use lineup::{Choices, Lineup};
pub use ordered::each;
pub use plan::Plan;
pub use point::Point;
pub use pool::{Event, Jobs, Pool, PoolProgress, AHEAD};

/// The result of a plan or a run.
pub type Result<T> = std::result::Result<T, Error>;
