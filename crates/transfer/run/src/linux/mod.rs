//! On Linux.

pub mod control;
mod enter;
pub mod front;
mod job;
pub mod message;
mod private;
mod program;
pub mod shown;
mod steering;

use crate::args::RunArgs;
use crate::error::Error;
use nix::sys::signal::Signal;

/// Signals that the program gets if the first process gets them, and that end neither of the two. Those of job control are not among them.
const HANDED_ON: [Signal; 8] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGWINCH,
];

/// Runs as the first or the second process of a run; returns the exit code.
///
/// # Errors
/// See [`Error`].
pub fn run(args: RunArgs) -> Result<u8, Error> {
    if let Some(group) = &args.enter {
        return Err(enter::become_program(group, args.as_root, &args.command));
    }
    match args.steering {
        Some(descriptor) => steering::run(args, descriptor),
        None => front::run(args),
    }
}
