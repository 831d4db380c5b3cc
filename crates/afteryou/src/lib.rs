//! The `afteryou` command, as a library so that its parts can be tested.
//!
//! ```
//! use afteryou::cli::{Cli, Command};
//! use clap::Parser;
//!
//! let cli = Cli::try_parse_from(["afteryou", "demo", "--controller", "cubic"])?;
//! assert!(matches!(cli.command, Command::Demo(_)));
//! # Ok::<(), clap::Error>(())
//! ```
//!
//! Thin on purpose: parse ([`cli`]), call, print. Subcommands learn about controllers and queues from the algorithms'
//! own tables.
//!
//! # Modules
//! `runs` serves every engine of the list. [`demo`] has `timetable` (the scenario) and `judge` (the verdict); `show` and [`live`] draw the frames
//! of the live view. `figures` is `plot` and `compare`, [`doctor`] tries what this machine and a path can do.
//!
//! `tests/all/book` makes the book's pages about controllers and queues. It is the one place that sees lists, sources, simulator and
//! figures together. `encounters.rs` lets `ledbat++`, `ledbat` and, as a control, `cubic` meet one CUBIC in every queue, unmarked and marked. The pages'
//! statement about priority follows from that. Without `UPDATE_BOOK=1` the test asserts that the pages are current and that no relative
//! link is broken. It also asserts that at 1 % of loss or less no flow is at its floor for more than 3 s in a row.
//!
//! `build.rs` embeds the lab page if `AFTERYOU_LAB` names it. Without it `afteryou lab` explains how to build the page, so a plain
//! `cargo build` needs no second target.

mod cache_place;
pub mod cli;
mod cluster;
pub mod demo;
pub mod demo_args;
pub mod doctor;
pub mod figures;
pub mod kernel;
pub mod lab;
pub mod league;
pub mod list;
pub mod live;
pub mod manual;
pub mod run_args;
pub mod runs;
pub mod study;
mod values;
