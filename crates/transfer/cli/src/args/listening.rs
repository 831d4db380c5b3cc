//! `afteryou receive` and `afteryou serve`: the sides that wait.

use super::choice::{Allowing, Choice};
use super::common::{Common, Symlinks};
use super::LISTENING_EXIT_CODES;
use afteryou_transfer::interfaces::listening_address;
use clap::builder::BoolishValueParser;
use clap::{Args, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments of `afteryou receive`.
#[derive(Args, Clone, Debug)]
#[command(after_help = RECEIVE_HELP, after_long_help = format!("{RECEIVE_HELP}\n\n{LISTENING_EXIT_CODES}"))]
pub struct ReceiveArgs {
    /// Directory for received files; nothing is ever written outside
    #[arg(
        value_name = "DIR",
        default_value = ".",
        value_hint = ValueHint::DirPath,
        env = "AFTERYOU_DIR",
        hide_env_values = true
    )]
    pub directory: PathBuf,

    /// The requests that senders may make.
    #[command(flatten)]
    pub allowing: Allowing,

    /// Addresses and tickets.
    #[command(flatten)]
    pub listening: Listening,

    /// Options of every job.
    #[command(flatten)]
    pub common: Common,
}

/// Arguments of `afteryou serve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = SERVE_HELP, after_long_help = format!("{SERVE_HELP}\n\n{LISTENING_EXIT_CODES}"))]
pub struct ServeArgs {
    /// Directory to serve, with everything below it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, env = "AFTERYOU_DIR", hide_env_values = true)]
    pub directory: PathBuf,

    /// Choose how symbolic links are handled. `follow` never leaves DIR
    #[arg(long, value_enum, default_value = "keep", env = "AFTERYOU_SYMLINKS", hide_env_values = true)]
    pub symlinks: Symlinks,

    /// The choice of files.
    #[command(flatten)]
    pub choice: Choice,

    /// Addresses and tickets.
    #[command(flatten)]
    pub listening: Listening,

    /// Options of every job.
    #[command(flatten)]
    pub common: Common,
}

/// Addresses and tickets.
#[derive(Args, Clone, Debug)]
pub struct Listening {
    /// UDP address and port to listen on; port 0 reuses the previous port if it is free
    ///
    /// A link-local address requires its interface: [fe80::1%eth0]:4747.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        value_parser = listening_address,
        default_value = "[::]:0",
        env = "AFTERYOU_LISTEN",
        hide_env_values = true
    )]
    pub listen: SocketAddr,

    /// Put this into the ticket, instead of this machine's own addresses; may be repeated
    #[arg(
        long = "address",
        value_name = "HOST[:PORT]",
        env = "AFTERYOU_ADDRESS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub addresses: Vec<String>,

    /// End after the first job that is complete
    #[arg(
        long,
        env = "AFTERYOU_ONCE",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub once: bool,

    /// For scripts and ssh: print only the ticket, use a temporary key, and end with standard input
    ///
    /// --via ssh starts its peer with this option.
    #[arg(long, conflicts_with_all = ["new_ticket", "ticket_file", "json"])]
    pub ticket_only: bool,

    /// Write the ticket into this file, which only its owner may read, instead of printing it
    #[arg(long, value_name = "FILE", env = "AFTERYOU_TICKET_FILE", hide_env_values = true)]
    pub ticket_file: Option<PathBuf>,

    /// Show the ticket as a QR code on stderr, too
    #[arg(long, env = "AFTERYOU_QR", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub qr: bool,

    /// Make a new secret: tickets printed so far are void
    #[arg(long)]
    pub new_ticket: bool,
}

const RECEIVE_HELP: &str = "\
Examples:
  afteryou receive                                    into this directory; prints a ticket for `afteryou send`
  afteryou receive archive --listen '[::]:4747'       always the same port, so the ticket stays the same
  afteryou receive archive --address example.org:4747 behind a router that forwards the port
  afteryou receive archive --once                     ends when one job is complete

Anybody who has the ticket may send. It holds the addresses, the fingerprint of this machine's key, and a secret.";

const SERVE_HELP: &str = "\
Examples:
  afteryou serve photos                               prints a ticket for `afteryou get`
  afteryou serve photos --max-rate 5Mbit/s
  afteryou serve photos --new-ticket                  void the tickets given out so far

Anybody who has the ticket may read. It holds the addresses, the fingerprint of this machine's key, and a secret.";
