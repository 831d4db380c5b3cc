//! The `afteryou` command, as a library so that its parts can be tested.
//!
//! Thin on purpose: parse ([`cli`]), call, print. What a subcommand needs to know about controllers and queues comes
//! from their own tables.

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
