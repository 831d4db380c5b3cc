//! `afteryou send`, `receive`, `serve`, `get` and `ctl`: files from machine to machine, in the background.
//!
//! ```
//! use afteryou_transfer_cli::args::SendArgs;
//! use clap::Parser;
//!
//! #[derive(Parser)]
//! struct Command {
//!     #[command(flatten)]
//!     send: SendArgs,
//! }
//!
//! let command = Command::try_parse_from(["send", "photos", "@ticket", "--max-rate", "10M"])?;
//! assert_eq!(command.send.words, ["photos", "@ticket"]);
//! # Ok::<(), clap::Error>(())
//! ```
//!
//! The protocol, the disk and the keys are `afteryou-transfer`'s. This crate is the part that a person sees: the
//! command line (`args`) and the live display (`live`, from `tally` and `situation`). Control from outside is in `ctl`,
//! `signals` and `timetable`. The log is `log`, readiness for a service manager `ready`.
//!
//! `stage` has the surroundings of a job. It adds events to the tally in the caller's thread and does not wait for a view that is not read.
//! `timetable` follows a clock that is passed in. `situation` describes a controller's state in a sentence. `network` makes the marking socket,
//! and one window for a job or for a client's host. `dialing` and `listening` are the two sides of a job, and
//! `downloads` gets files from web servers.

mod afterwards;
pub mod args;
pub mod ctl;
mod dialing;
mod downloads;
pub mod figures;
mod listening;
mod live;
pub mod log;
mod network;
mod notify;
pub mod open_files;
mod pipes;
mod qlogs;
mod qr;
mod queue;
pub mod ready;
pub mod signals;
pub mod situation;
mod sources;
mod stage;
mod summary;
pub mod tally;
pub mod threads;
pub mod timetable;

use afteryou_terminal::Failure;
use args::{Common, GetArgs, ReceiveArgs, SendArgs, ServeArgs};
use clap::Subcommand;
use ctl::CtlArgs;
use std::future::Future;

/// The commands that move files, and the one that controls them.
#[derive(Debug, Subcommand)]
pub enum TransferCommand {
    /// Send files and directories to a waiting `afteryou receive`.
    Send(Box<SendArgs>),
    /// Wait for files; prints the ticket for `afteryou send`.
    Receive(Box<ReceiveArgs>),
    /// Serve files; prints the ticket for `afteryou get`.
    Serve(Box<ServeArgs>),
    /// Get files and directories from a running `afteryou serve`, or files from a web server.
    Get(Box<GetArgs>),
    /// Show running jobs, limit their rate, pause and end them.
    Ctl(CtlArgs),
}

impl TransferCommand {
    /// Runs the command in this thread until its job has ended, and prints its progress and result.
    ///
    /// # Errors
    /// The command's exit code with its reason.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            TransferCommand::Send(args) => run("send", &args.common, dialing::send(args)),
            TransferCommand::Receive(args) => run("receive", &args.common, listening::receive(args)),
            TransferCommand::Serve(args) => run("serve", &args.common, listening::serve(args)),
            TransferCommand::Get(args) => run("get", &args.common, dialing::get(args)),
            TransferCommand::Ctl(args) => ctl::run(args),
        }
    }
}

fn run(
    command: &str,
    common: &Common,
    job: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    log::start(&common.log, common.quiet);
    open_files::raise_limit();
    open_files::check()?;
    let runtime = threads::runtime()?;
    let outcome = runtime.block_on(job);
    // A thread that reads standard input, or a file that is being hashed, is not waited for.
    runtime.shutdown_background();
    if common.notify {
        notify::show(command, &outcome);
    }
    afterwards::run(common, &outcome);
    outcome
}

/// Reads `words` as the command line does.
#[cfg(test)]
fn parsed<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<TransferCommand, clap::Error> {
    #[derive(clap::Parser)]
    struct Words {
        #[command(subcommand)]
        command: TransferCommand,
    }
    clap::Parser::try_parse_from(words).map(|words: Words| words.command)
}
