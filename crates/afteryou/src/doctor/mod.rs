//! `afteryou doctor`: what this machine and the path to a peer or a web server can do, and what to do about the rest.
//!
//! Nothing here needs privileges, changes a setting or sends a packet to anybody but the peer of the ticket or the server of the URL. All
//! checks of a machine and a ticket together take less than ten seconds, and so do those of a URL.

mod far;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod marks;
mod portable;
mod report;
mod web;

use afteryou_terminal::output;
use afteryou_terminal::Failure;
use afteryou_transfer_cli::args::{read_ticket, read_url};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;

/// Arguments of `afteryou doctor`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DoctorArgs {
    /// Also check the path to the peer of this ticket (or @FILE, a file that holds it), or to the web server of this URL
    #[arg(value_name = "TICKET|URL")]
    pub word: Option<OsString>,

    /// A ticket; neither AFTERYOU_TICKET nor a file shows in `ps`
    #[arg(long, env = "AFTERYOU_TICKET", hide_env_values = true)]
    pub ticket: Option<OsString>,

    /// Print a JSON array, described below
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou doctor
  afteryou doctor @ticket.txt      also checks the path to a listening peer
  afteryou doctor https://example.org/disk.iso     also checks a web server

With a URL, doctor downloads a part of the file for at most 10 s, at most 32 MiB, and stores nothing.

The JSON is an array of {name, state, seen, todo}; state is \"ok\", \"warn\" (transfers work, something could be better) or \
\"fail\"; todo is null when there is nothing to do. The exit code is 1 if anything failed.";

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Transfers work, something could be better.
    Warn,
    /// Something does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject of the check.
    pub name: String,
    /// How bad it is.
    pub state: Severity,
    /// The finding.
    pub seen: String,
    /// The advice.
    pub todo: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, seen: impl Into<String>) -> Check {
        Check { name: name.into(), state: Severity::Ok, seen: seen.into(), todo: None }
    }

    fn warn(name: impl Into<String>, seen: impl Into<String>, todo: impl Into<String>) -> Check {
        Check { name: name.into(), state: Severity::Warn, seen: seen.into(), todo: Some(todo.into()) }
    }

    fn fail(name: impl Into<String>, seen: impl Into<String>, todo: impl Into<String>) -> Check {
        Check { state: Severity::Fail, ..Check::warn(name, seen, todo) }
    }
}

/// Checks the machine and prints the findings.
///
/// # Errors
/// A word that is neither ticket nor URL, a standard output that cannot be written, and any check that failed.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    // A word that is neither is reported at once.
    let url = args.word.as_ref().map_or(Ok(None), |word| read_url(word))?;
    let word = args.word.as_ref().filter(|_| url.is_none());
    let ticket = word.or(args.ticket.as_ref().filter(|_| url.is_none()));
    let far_end = ticket.map(|word| read_ticket(word)).transpose()?;
    let mut checks = of_this_machine();
    if let Some((ticket, _)) = far_end {
        checks.extend(far::checks(&ticket)?);
    }
    if let Some(url) = url {
        checks.extend(web::checks(&url)?);
    }
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&checks)? + "\n",
        false => report::text(&checks, output::width()),
    })?;
    match checks.iter().filter(|check| check.state == Severity::Fail).count() {
        0 => Ok(()),
        1 => Err(Failure::Verdict("1 check failed".into())),
        failed => Err(Failure::Verdict(format!("{failed} checks failed"))),
    }
}

#[cfg(target_os = "linux")]
fn of_this_machine() -> Vec<Check> {
    let mut checks = portable::checks();
    checks.extend(marks::checks());
    checks.extend(kernel::checks());
    checks
}

#[cfg(not(target_os = "linux"))]
fn of_this_machine() -> Vec<Check> {
    portable::checks()
}
