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

pub mod cli;
mod cluster;
pub mod demo;
pub mod demo_args;
pub mod doctor;
pub mod figures;
pub mod lab;
pub mod list;
pub mod live;
pub mod manual;
pub mod run_args;
pub mod runs;
pub mod study;
mod values;
