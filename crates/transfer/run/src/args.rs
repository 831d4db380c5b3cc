//! Arguments of `afteryou run`.

use afteryou_rate::Rate;
use clap::Args;
use std::ffi::OsString;

/// Words about exit codes.
const AFTER_HELP: &str = "\
Examples:
  afteryou run -- curl -O https://example.org/large.iso
  afteryou run -- restic backup ~/photos
  afteryou run --max-rate 20Mbit/s -- pip download torch
  afteryou run --pid 4711

TCP connections to other machines yield in both directions, those of all processes that COMMAND starts
included. Connections over UDP (QUIC) are not steered, which is said once. No root is needed, and no change of the
program: its sockets are set from outside, and have what they had before when run ends. Where the system forbids
that, a private proxy takes its place for programs that honour http_proxy and https_proxy.

Exit codes:
  COMMAND's own, or 128 and the number of the signal that ended it
  2    the command line is invalid
  125  run itself failed
  126  COMMAND was found and cannot be started
  127  COMMAND was not found";

/// Run a program whose downloads and uploads give way to everybody else, without a change of it and without root.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct RunArgs {
    /// Move at most this much a second in each direction
    #[arg(long, value_name = "RATE", env = "AFTERYOU_MAX_RATE")]
    pub max_rate: Option<Rate>,

    /// Print on stderr what is being done, once a second while it changes
    #[arg(long)]
    pub status: bool,

    /// Steer a process that runs already, and its descendants, until it ends
    #[arg(long, value_name = "N", conflicts_with = "command", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Option<i32>,

    /// Send downloads through a private proxy, which COMMAND finds in http_proxy and https_proxy
    ///
    /// It is used without this option where the sockets of COMMAND may not be touched. Programs that do not honour
    /// these variables are not steered by it.
    #[arg(long, conflicts_with = "pid")]
    pub proxy: bool,

    /// The second process of a run: the descriptor to the first
    #[arg(long, hide = true, value_name = "FD")]
    pub steering: Option<i32>,

    /// The second process of a run: the descriptor of the list of sockets
    #[arg(long, hide = true, value_name = "FD", requires = "steering")]
    pub record: Option<i32>,

    /// The program and its arguments
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
