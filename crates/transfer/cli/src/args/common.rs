//! Options of every job.

use crate::log::LogArgs;
use crate::timetable::MaxRate;
use afteryou_notation::{Algorithm, Dscp};
use afteryou_terminal::redact;
use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of every job.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Limit the rate, always or by time of day: 5Mbit/s, 512k, "08:00,512k 19:00,off"
    ///
    /// Rates as afteryou writes them (5Mbit/s, 2MB/s) or as rclone does (512k is 512 KiB a second). A timetable is
    /// rclone's: times of this machine's clock with the rate from then on, "off" for none, and optionally days:
    /// "Mon-08:00,1M Sat-00:00,off". Two rates with a colon are for sending and receiving: 10M:1M. A job that yields needs no limit to
    /// stay unnoticed. The limit is for metered links, and for paths where yielding does not work.
    #[arg(long, value_name = "RATE|TIMETABLE", env = "AFTERYOU_MAX_RATE", hide_env_values = true)]
    pub max_rate: Option<MaxRate>,

    /// Congestion controller for sent data, with optional parameters: NAME[,parameter=value...]
    ///
    /// Any of `afteryou list controllers`. Unless you write restart=false, ledbat++ restarts quickly after yielding.
    #[arg(
        long,
        value_name = "CONTROLLER",
        default_value = "ledbat++",
        value_parser = controller,
        env = "AFTERYOU_CONTROLLER",
        hide_env_values = true
    )]
    pub controller: Algorithm,

    /// DSCP of the packets: le (lower effort), default, cs1, or a number from 0 to 63
    #[arg(long, default_value = "le", env = "AFTERYOU_DSCP", hide_env_values = true)]
    pub dscp: Dscp,

    /// Print one JSON object per line for each event, on stdout
    #[arg(
        long,
        env = "AFTERYOU_JSON",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub json: bool,

    /// Print the name of each file when it is done, and its result
    #[arg(
        long,
        env = "AFTERYOU_LIST",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub list: bool,

    /// Fail (exit code 1 instead of 3) if anything was left out or differs from the source
    #[arg(
        long,
        env = "AFTERYOU_STRICT",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub strict: bool,

    /// Print at the end the number of entries and bytes by result
    #[arg(
        long,
        env = "AFTERYOU_STATS",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub stats: bool,

    /// Run this command in a shell when the job has ended with exit code 0
    ///
    /// `receive` and `serve` end only with --once. Its standard output goes to standard error.
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = shell_command,
        env = "AFTERYOU_ON_SUCCESS",
        hide_env_values = true
    )]
    pub on_success: Option<String>,

    /// Run this command in a shell when the job has ended with another exit code, which AFTERYOU_EXIT_CODE holds
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = shell_command,
        env = "AFTERYOU_ON_FAILURE",
        hide_env_values = true
    )]
    pub on_failure: Option<String>,

    /// Show a desktop notification when the job has ended, with `notify-send` or macOS' `osascript`
    #[arg(
        long,
        env = "AFTERYOU_NOTIFY",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub notify: bool,

    /// Log each connection into a file in this directory (qlog, for qvis), as its sender sees it
    ///
    /// Packets, losses, window, round-trip times, phases and delays of the controller. The sending side has the long log.
    #[arg(long, value_name = "DIR", env = "AFTERYOU_QLOG", hide_env_values = true)]
    pub qlog: Option<PathBuf>,

    /// Options of the log.
    #[command(flatten)]
    pub log: LogArgs,

    /// The side that started this one over ssh prints what becomes of the entries, on the same terminal.
    #[arg(skip)]
    pub is_far_end: bool,

    /// Print nothing but errors
    #[arg(
        long,
        short,
        env = "AFTERYOU_QUIET",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub quiet: bool,

    /// Directory of this machine's key; usually ~/.local/state/afteryou
    #[arg(long, value_name = "DIR", env = "AFTERYOU_STATE", hide_env_values = true)]
    pub state: Option<PathBuf>,

    /// Directory in which `afteryou ctl` finds running jobs; usually afteryou in $XDG_RUNTIME_DIR
    #[arg(long, value_name = "DIR", env = "AFTERYOU_CONTROL_DIR", hide_env_values = true)]
    pub control_dir: Option<PathBuf>,

    /// Longest IP packet of the route, bytes, instead of the system's value: an emulated path is no loopback.
    #[arg(long, value_name = "BYTES", hide = true)]
    pub route_mtu: Option<u32>,

    /// An event for each chunk group that comes off the wire.
    #[arg(long, hide = true, requires = "json")]
    pub json_groups: bool,
}

impl Common {
    /// Returns the controller, with the defaults that suit a transfer rather than those of its draft.
    pub fn controller(&self) -> Algorithm {
        let algorithm = self.controller.clone();
        match algorithm.kind == "ledbat++" && !algorithm.params.contains_key("restart") {
            true => algorithm.with("restart", "true"),
            false => algorithm,
        }
    }
}

/// Handling of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Symlinks {
    /// Send links as links, if they point inside the sent files.
    #[default]
    Keep,
    /// Leave links out.
    Skip,
    /// Send their targets instead.
    Follow,
    /// Send all links as links; `receive` must have --allow-links.
    CopyAsIs,
}

/// Parses a controller that exists, with parameters that it takes.
///
/// # Errors
/// An unknown controller, with the nearest name, or a parameter that its table refuses.
pub fn controller(text: &str) -> Result<Algorithm, afteryou_notation::Error> {
    let algorithm: Algorithm = text.parse()?;
    algorithm.controller()?;
    Ok(algorithm)
}

/// Refuses a ticket, whose shell would print it and whose secret other users would see in the list of processes.
fn shell_command(text: &str) -> Result<String, String> {
    match redact(text) == text {
        true => Ok(text.to_owned()),
        false => {
            Err("a ticket is no command; a command can read it from the file of --ticket-file".to_owned())
        }
    }
}
