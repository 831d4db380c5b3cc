//! Five papers on background transport, run again: every experiment with its settings, the published number, the band in which
//! ours must lie, and the verdict.
//!
//! ```no_run
//! use afteryou_studies::{choice, run, Cache, Extent, Setting};
//! # use std::sync::atomic::AtomicBool;
//! let chosen = choice::named(&["gong2012/fig2".to_owned()])?;
//! # let build = afteryou_scenario::content::ContentHash::of_text("");
//! let stop = AtomicBool::new(false);
//! let setting = Setting { extent: Extent::Quick, pool: Default::default(), build, figures: false, stop: &stop, cpu_s: || 0.0 };
//! for verdict in run(&chosen, &setting, &mut Cache::in_memory(), &mut |_, _, _| ())? {
//!     println!("{}: {}", verdict.name(), verdict.verdict().word());
//! }
//! # Ok::<(), afteryou_studies::Error>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `papers`, `scenarios`, `entry` | the papers' data, and their types |
//! | `grid`, `plan` | which runs there are, and which ones entries need |
//! | `measure` | functions from a run to numbers, by name |
//! | `judge` | functions from the readings of points to values, by name |
//! | `exact` | functions of the entries without runs |
//! | `runs`, `study` | making the runs that were not made before; judging |
//! | `bed` | the part of the entries that is run on real packets |
//! | `verdict`, `known`, `tables` | values beside their bands, causes of misses, tables of both |
//! | `figures`, `book` | the papers' figures drawn again, and pages of everything |
//!
//! `papers/<paper>/entries.toml` holds grids and entries, `known.toml` the misses that are explained and the verdicts that
//! hang on the seeds. The scenario files are in `scenarios/papers`, one for the common settings of each paper's section; a grid adds
//! what the entry's text names.
//!
//! # Design
//! Measures, judgements and exact functions are plain functions in lists, found by name. There is no language of expressions. The cache keeps
//! readings and no outcomes, under the build's hash. A verdict is taken at the default of a setting that a paper does not state. The
//! rest of its range is judged beside it and decides nothing. An explanation of a miss stores its value and names the check whose runs show the
//! cause, so `--check` notices when it no longer holds.

mod args;
pub mod bed;
pub mod book;
pub mod choice;
mod entry;
mod error;
pub mod exact;
mod extent;
mod figures;
mod grid;
pub mod judge;
mod known;
pub mod measure;
pub mod papers;
mod phase;
mod plan;
mod reading;
mod runs;
mod scenarios;
mod study;
pub mod tables;
mod verdict;

pub use entry::{
    Args, At, Axis, AxisValue, Band, Call, Case, Check, Drawn, Entry, Exact, Figure, Grid, Kind, Labels,
    Paper,
};
pub use error::{Error, Result};
pub use extent::Extent;
pub use grid::GridPoint;
pub use known::{Edge, Known, Miss};
pub use plan::{Chosen, Wanted};
pub use reading::Reading;
pub use runs::{Cache, Kept};
pub use study::{run, Setting};
pub use verdict::{Cause, EntryVerdict, Finding, Simulated, Verdict};
