//! `afteryou run`, with programs of the system and of this test.

mod ends;
mod harm;
mod job;
pub mod namespace;
mod private;
mod settings;
mod steered;

use std::process::{Command, Output};

/// Returns `afteryou run` with options and a command.
pub fn run(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.arg("run").args(words);
    command
}

/// Runs a shell script under `afteryou run`.
pub fn script(script: &str) -> Output {
    run(&["--", "sh", "-c", script]).output().expect("it runs")
}
