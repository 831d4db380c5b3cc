//! Experiments as people write them: TOML files.
//!
//! A file is declarative: it may leave times and paths to chance, stand for many flows with one table, and vary settings.
//! [`Experiment::runs`] decides all of that and makes one concrete [`Scenario`](afteryou_scenario::Scenario) of each combination and
//! repetition. Every error points at its line.
//!
//! ```
//! use afteryou_scenario_file::Experiment;
//!
//! let text = r#"
//! duration = "60 s"
//! link = { rate = "10 Mbit/s", buffer = "300 ms" }
//! flow = { name = "backup", controller = "ledbat++", rtt = "50 ms", role = "background" }
//! sweep."link.buffer" = ["50 ms", "300 ms"]
//! "#;
//! let runs = Experiment::parse(text, "backup.toml", &[])?.runs(Some(1), None)?;
//! assert_eq!(runs.len(), 2);
//! assert_eq!(runs[1].scenario.flow[0].name, "backup");
//! let wrong = Experiment::parse(&text.replace("rtt", "rrt"), "backup.toml", &[]).unwrap_err();
//! assert!(wrong.to_string().contains("rtt"), "the error names the word that was meant");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Repetition i has the seed of the file plus i. Each flow's draws come from streams that are named after it, so another
//! flow, or another order of flows, changes nobody's luck.
//!
//! An assignment ("link.rate=5 Mbit/s") replaces the file's value, and its sweep's values of the same setting.
//!
//! # Design
//! | file | has |
//! |---|---|
//! | `tree.rs` | a file as a tree whose nodes know their place, so an error in a swept value points at that value |
//! | `key.rs`, `keys.rs`, `keys/` | every key once, for checker, schema and manual |
//! | `element.rs`, `element/` | network elements in words: key, reader, sentence |
//! | `experiment.rs`, `runs.rs` | a file, and the runs that are made of it |
//! | `root.rs`, `sweep.rs`, `range.rs` | what a file varies, and assignments |
//! | `whole.rs` | one concrete scenario from the tree; a file for each of its sections |
//! | `check.rs`, `locate.rs` | the place in the file of what a scenario or an engine refuses |
//! | `schema.rs` | the JSON schema of files |
//! | `traps.rs` | warnings of settings that are valid and seldom meant |

mod check;
mod choice;
mod distribution;
pub mod element;
mod error;
mod experiment;
mod flow;
mod fluid;
mod folder;
mod hosts;
mod key;
pub mod keys;
mod limits;
mod link;
mod locate;
mod measure;
mod names;
mod noise;
mod outside;
mod path;
mod range;
mod read;
mod root;
mod runs;
mod schema;
mod sweep;
#[cfg(test)]
mod tests;
mod traffic;
pub mod traps;
mod tree;
mod whole;

pub use error::{FileError, Wrong};
pub use experiment::{Experiment, Planned};
pub use runs::Runs;
pub use schema::schema;
