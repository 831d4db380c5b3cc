//! Arguments of `afteryou proxy`.

use afteryou_rate::Rate;
use afteryou_transfer_cli::log::LogArgs;
use clap::{Args, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Words about use and exit codes.
const AFTER_HELP: &str = "\
Examples:
  afteryou proxy                       waits at 127.0.0.1:8118, for programs of this host
  eval \"$(afteryou proxy --env)\"       the programs of this shell use it from now on
  curl -O https://example.org/x.iso    yields
  afteryou proxy --listen 0.0.0.0:8118 --credentials proxy.password     for other hosts, too

The proxy serves HTTP, tunnels (CONNECT) and SOCKS5 at one port. It never opens TLS. On Linux its transfers yield
in both directions. `afteryou ctl` shows, limits, pauses and ends it like any job.

Exit codes:
  0  Ctrl-C, SIGTERM or `afteryou ctl stop` ended it
  1  it cannot listen here
  2  the command line is invalid";

/// Arguments of `afteryou proxy`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ProxyArgs {
    /// TCP address and port to listen on
    ///
    /// Other hosts reach every address but 127.0.0.1 and [::1], which requires --credentials.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8118",
        env = "AFTERYOU_PROXY_LISTEN",
        hide_env_values = true
    )]
    pub listen: SocketAddr,

    /// File with NAME:PASSWORD in its first line, which all clients have to give; only you may be able to read it
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        env = "AFTERYOU_PROXY_CREDENTIALS",
        hide_env_values = true
    )]
    pub credentials: Option<PathBuf>,

    /// Move at most this much a second in each direction
    #[arg(long, value_name = "RATE", env = "AFTERYOU_MAX_RATE", hide_env_values = true)]
    pub max_rate: Option<Rate>,

    /// Most connections of clients at a time; others wait
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2000,
        value_parser = clap::value_parser!(u32).range(1..=20_000),
        env = "AFTERYOU_PROXY_CONNECTIONS",
        hide_env_values = true
    )]
    pub max_connections: u32,

    /// Print the variables for programs of this host as lines of a shell, and end
    #[arg(long)]
    pub env: bool,

    /// Print on stderr what is being done, once a second while it changes
    #[arg(long)]
    pub status: bool,

    /// Options of the log.
    #[command(flatten)]
    pub log: LogArgs,
}
