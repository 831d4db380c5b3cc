//! The command line: subcommands, and the messages about words that are refused.

use crate::cluster::{self, SweepArgs};
use crate::demo_args::DemoArgs;
use crate::doctor::{self, DoctorArgs};
use crate::figures::{CompareArgs, PlotArgs, ReportArgs};
use crate::kernel::{self, KernelArgs};
use crate::lab::{self, LabArgs};
use crate::league::{self, LeagueArgs};
use crate::list::ListArgs;
use crate::manual::{self, CompletionsArgs, ManArgs};
use crate::run_args::{EngineCommand, MergeArgs};
use crate::runs;
use crate::study::{self, StudyArgs};
use crate::{demo, list};
use afteryou_cc::list::Entry;
use afteryou_notation::catalogue;
use afteryou_run::{ProxyArgs, RunArgs};
use afteryou_terminal::output;
use afteryou_terminal::{redact, Failure};
use afteryou_transfer_cli::TransferCommand;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use std::borrow::Cow;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Background transport that yields to everything else: file transfers, and experiments.
#[derive(Debug, Parser)]
#[command(name = "afteryou", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Move files, and control what moves them.
    #[command(flatten)]
    Transfer(TransferCommand),
    /// Run a program whose downloads and uploads give way to everybody else.
    Run(RunArgs),
    /// Serve a proxy for HTTP and SOCKS5 whose downloads and uploads give way to everybody else.
    Proxy(ProxyArgs),
    /// Load background controllers into the kernel, for the TCP of every program (Linux).
    Kernel(KernelArgs),
    /// Watch a background transfer yield to an upload, with real packets on this machine.
    Demo(DemoArgs),
    /// Run scenario files with an engine of the lab.
    #[command(flatten)]
    Engine(EngineCommand),
    /// Join parts of a sweep that other processes or machines ran.
    Merge(MergeArgs),
    /// Run a sweep on a Dask cluster, with the Python package.
    Sweep(SweepArgs),
    /// Draw a figure from saved results: curves, bars, distributions, maps.
    Plot(PlotArgs),
    /// Draw the pages of a saved result or sweep again.
    Report(ReportArgs),
    /// Print results side by side, with the differences.
    Compare(CompareArgs),
    /// Repeat the experiments of five papers and compare them with the published numbers.
    Study(StudyArgs),
    /// Let background controllers compete on a grid of networks, and judge them.
    League(LeagueArgs),
    /// Open the lab page: the simulator in a browser, with sliders.
    Lab(LabArgs),
    /// List controllers, queues or transports with every parameter.
    List(ListArgs),
    /// Check this machine and the path to a peer, and suggest remedies.
    Doctor(DoctorArgs),
    /// Print or install completions for a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages.
    Man(ManArgs),
}

const AFTER_HELP: &str = "\
Examples:
  afteryou receive archive                    waits for files and prints a ticket
  afteryou send photos TICKET                 sends them from another machine
  afteryou ctl                                shows running jobs
  afteryou doctor                             checks this machine
  afteryou demo                               a transfer yields on a home uplink
  afteryou demo --rate 5Mbit/s --rtt 120ms    the same on a slower, longer path
  afteryou demo --controller cubic --check    a transfer that does not yield: exits 1
  afteryou sim scenarios/home-uplink.toml     the same in the simulator, at once
  afteryou fluid --explain FILE               its equilibrium and stability, without a run
  afteryou plot RESULT --y goodput --out x.svg  a figure of what it saved
  afteryou study gong2012/fig1-droptail       a paper's figure again, beside its numbers
  afteryou league --quick                     all background controllers compared
  afteryou list controllers                   the values of --controller
  afteryou list queues --json                 the same for queues, for programs

Exit codes:
  0  success
  1  failure, or a bad verdict with --check
  2  the command line (or a scenario file) is invalid
  3  a transfer is complete, but entries were left out, or differ from the source; a joined sweep lacks runs
  130  interrupted by Ctrl-C";

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// As the subcommand: arguments that contradict each other, a file that cannot be read or written, a verdict that `--check` fails.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Transfer(command) => command.run(),
            Command::Run(args) => args.run(),
            Command::Proxy(args) => args.run(),
            Command::Kernel(args) => kernel::run(&args),
            Command::Completions(args) => manual::completions(&args, Cli::command()),
            Command::Man(args) => manual::man(&args, Cli::command()),
            Command::Demo(args) => {
                args.check()?;
                demo::run(args)
            }
            Command::Engine(command) => runs::run(&command),
            Command::Merge(args) => runs::merge::run(&args),
            Command::Sweep(args) => cluster::run(&args),
            Command::Plot(args) => args.run(),
            Command::Report(args) => args.run(),
            Command::Compare(args) => args.run(),
            Command::Study(args) => study::run(&args),
            Command::League(args) => league::run(&args),
            Command::Lab(args) => lab::run(&args),
            Command::List(args) => list::run(&args),
            Command::Doctor(args) => doctor::run(&args),
        }
    }
}

/// Runs the whole program: reads `words`, acts on them and complains on stderr.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(code(words, &[]))
}

/// Runs the whole program with controllers of your own: every subcommand finds them by name.
///
/// ```no_run
/// # use afteryou_base::About;
/// # use afteryou_cc::newreno::ENTRY;
/// # use afteryou_cc::list::Entry;
/// # use std::process::ExitCode;
/// static MY_CONTROLLER: Entry = Entry { about: About { name: "my-controller", ..ENTRY.about }, ..ENTRY };
///
/// fn main() -> ExitCode {
///     afteryou::cli::main_with(std::env::args_os(), &[&MY_CONTROLLER])
/// }
/// ```
///
/// A controller that [cannot be registered](catalogue::register) is complained about before `words` are looked at.
pub fn main_with(words: impl IntoIterator<Item = OsString>, controllers: &[&'static Entry]) -> ExitCode {
    ExitCode::from(code(words, controllers))
}

/// Names the library with the code of this program, where another language's interpreter is the running executable. Its hash is
/// part of the keys of runs in sweeps and studies. The first call counts.
pub fn is_within(library: PathBuf) {
    runs::is_within(library);
}

/// Runs [`main_with`]; returns the exit code as a number, for a program that is started from another language.
pub fn code(words: impl IntoIterator<Item = OsString>, controllers: &[&'static Entry]) -> u8 {
    if let Err(error) = controllers.iter().try_for_each(|entry| catalogue::register(entry)) {
        return Failure::from(error).report();
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    match cli.command.run() {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// Answers a refused value in the words of its own reader; clap answers the rest (and `--help`).
fn refused(error: &clap::Error) -> u8 {
    if let Some(failure) = refused_value(error).or_else(|| foreign(error)) {
        return failure.report();
    }
    let text = error.render().to_string();
    match redact(&text) {
        Cow::Borrowed(_) => match error.print().and_then(|()| io::stdout().flush()) {
            // Help and version. A reader that has seen enough is no failure.
            Err(failed) if !error.use_stderr() && failed.kind() != io::ErrorKind::BrokenPipe => {
                return Failure::from(anyhow::Error::new(failed).context("cannot write to standard output"))
                    .report();
            }
            _ => {}
        },
        // A ticket in the wrong place. Without colours, which matter less.
        Cow::Owned(text) => output::complain(&text),
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Returns the answer to an option of rsync, rclone, scp or curl.
fn foreign(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = word.split('=').next().unwrap_or_default();
    let answer = afteryou_transfer_cli::args::foreign_option(option)?;
    Some(Failure::usage(format!("{option} is an option of another program: {answer}")))
}

fn refused_value(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let reason = error.source()?;
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if option.starts_with("--") => {
            let option = option.split(' ').next().unwrap_or_default();
            Some(Failure::usage(format!("{option}: {reason}")))
        }
        _ => Some(Failure::usage(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_contradiction() {
        Cli::command().debug_assert();
    }
}
