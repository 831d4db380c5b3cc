//! Commands of the user's that run when a job has ended.
//!
//! Only the command line and the environment of this process name them. Nothing that a peer sends takes part: neither a
//! path nor a reason is passed on, only the exit code.

use crate::args::Common;
use afteryou_terminal::output::complain;
use afteryou_terminal::Failure;
use std::process::{Command, Stdio};

/// Holds the exit code of the job, for the command.
const CODE: &str = "AFTERYOU_EXIT_CODE";

/// A command that itself runs afteryou does not start itself again.
const OWN: [&str; 2] = ["AFTERYOU_ON_SUCCESS", "AFTERYOU_ON_FAILURE"];

/// Runs the command for this outcome, if there is one, and waits for it. The exit code of the job stays what it was.
pub fn run(common: &Common, outcome: &Result<(), Failure>) {
    let code = outcome.as_ref().err().map_or(0, Failure::code);
    let (option, line) = match code {
        0 => ("--on-success", &common.on_success),
        _ => ("--on-failure", &common.on_failure),
    };
    let Some(line) = line else { return };
    tracing::info!(code, "running the command of {option}");
    let mut command = shell(line);
    OWN.iter().for_each(|name| _ = command.env_remove(name));
    // Standard output may hold the file that was got.
    let status = command.env(CODE, code.to_string()).stdin(Stdio::null()).stdout(std::io::stderr()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => complain(&format!("afteryou: the command of {option} failed ({status})\n")),
        Err(error) => complain(&format!("afteryou: cannot run the command of {option}: {error}\n")),
    }
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", line]);
    command
}
