//! Arguments of `afteryou run`.

use afteryou_rate::Rate;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

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

As root on Linux 6.10 or newer, a build with the kernel part sends by the rule itself, inside the kernel: from the first
packet on, marked LE, and all connections of COMMAND together take what one would. After
`sudo afteryou kernel load --allow-users` other users' uploads follow that rule, too, each connection for itself.

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

    /// Keep root's rights for COMMAND, which otherwise runs as the user who called sudo
    #[arg(long, conflicts_with = "pid")]
    pub as_root: bool,

    /// Print at the end how many connections sent by the rule in the kernel, and how many did not
    #[arg(long)]
    pub verbose: bool,

    /// The process that becomes the program: the file that takes it into the control group of the run
    #[arg(long, hide = true, value_name = "FILE")]
    pub enter: Option<PathBuf>,

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
