//! `afteryou send`, `receive`, `serve` and `get`: files from machine to machine, in the background.
//!
//! The protocol, the disk and the keys are `afteryou-transfer`'s. Here is what a person sees of it: the command line
//! (`args`), what is shown while it runs (`live`, from `tally` and `words`), control from outside (`ctl`, `signals`,
//! `timetable`), and what goes with a program (`manual`, `ready`).

pub mod args;
pub mod ctl;
mod dialing;
pub mod figures;
mod listening;
mod live;
pub mod manual;
mod network;
mod open_files;
pub(crate) mod queue;
mod ready;
mod signals;
mod sources;
mod stage;
mod summary;
pub mod tally;
mod threads;
pub mod timetable;
pub mod words;

use crate::failure::Failure;
use crate::log;
use args::{Common, GetArgs, ReceiveArgs, SendArgs, ServeArgs};
use std::future::Future;

/// `afteryou send`.
pub fn send(args: &SendArgs) -> Result<(), Failure> {
    run(&args.common, dialing::send(args))
}

/// `afteryou get`.
pub fn get(args: &GetArgs) -> Result<(), Failure> {
    run(&args.common, dialing::get(args))
}

/// `afteryou receive`.
pub fn receive(args: &ReceiveArgs) -> Result<(), Failure> {
    run(&args.common, listening::receive(args))
}

/// `afteryou serve`.
pub fn serve(args: &ServeArgs) -> Result<(), Failure> {
    run(&args.common, listening::serve(args))
}

fn run(common: &Common, job: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    log::start(&common.log, common.quiet);
    open_files::raise_limit();
    open_files::check()?;
    let runtime = threads::runtime()?;
    let outcome = runtime.block_on(job);
    // A thread that reads standard input, or a file that is being hashed, is not waited for.
    runtime.shutdown_background();
    outcome
}
