//! The command line of the engines: one subcommand for each engine of the lab's list.

mod traces;

pub use traces::Traces;

use crate::values;
use afteryou_bed::run::QueueBy;
use afteryou_engines::sweep::Shard;
use afteryou_engines::{Bed, Choices, Engine, Pool, ENGINES};
use afteryou_scenario_file::Experiment;
use afteryou_terminal::Failure;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use std::fmt;
use std::path::{Path, PathBuf};

/// Runs of scenario files with an engine: `afteryou sim FILE` and its like.
pub struct EngineCommand {
    /// The engine whose name is the subcommand.
    pub engine: &'static dyn Engine,
    /// Explain instead of running; the fluid engine alone has closed forms.
    pub explain: bool,
    /// End the programs that killed runs have left behind.
    pub clean: bool,
    /// Packets and senders in files of their own.
    pub traces: Traces,
    /// The runs, and the files that they write.
    pub runs: RunArgs,
}

/// The files, their runs, and the files that they write.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Scenario files (TOML)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write reports, results and curves into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print the result of each run as JSON, one per line, on stdout
    #[arg(long)]
    pub json: bool,

    /// Print every table, not only the headline
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,

    /// Seed of every random choice, instead of the file's
    #[arg(long, value_name = "N", value_parser = values::seed)]
    pub seed: Option<u64>,

    /// Run each combination this many times, with seeds N, N+1, …
    #[arg(long, value_name = "N", value_parser = values::repeat)]
    pub repeat: Option<u32>,

    /// Runs at the same time; the number of cores by default
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    pub jobs: Option<u16>,

    /// Write only tables into --out, without curves and without a folder for each run of a sweep
    #[arg(long)]
    pub no_series: bool,

    /// Write tables and curves as Parquet, too
    #[arg(long, requires = "out")]
    pub parquet: bool,

    /// Run part I of N of a sweep: every N-th run, from the I-th; join the folders with afteryou merge
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<Shard>,

    /// Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,

    /// For scenarios that others wrote: open files only below the scenario's folder, links resolved, and start no program
    #[arg(long)]
    pub untrusted: bool,
}

/// Parts of a sweep that are put together.
#[derive(Args, Clone, Debug)]
#[command(after_help = MERGE_HELP)]
pub struct MergeArgs {
    /// Folders that --shard, or interrupted sweeps, wrote
    #[arg(value_name = "DIR", required = true)]
    pub parts: Vec<PathBuf>,

    /// Write the whole sweep into this folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Write tables as Parquet, too
    #[arg(long)]
    pub parquet: bool,

    /// Print every table, not the first rows alone
    #[arg(long, short)]
    pub verbose: bool,
}

const MERGE_HELP: &str = "\
Examples:
  afteryou sim FILE --shard 1/2 --out part1     on one machine
  afteryou sim FILE --shard 2/2 --out part2     on another, with the same program
  afteryou merge part1 part2 --out whole        as if one machine had run all

Parts of different sweeps, or by different builds of the program, are refused, and so are parts that have the same run with
different results. A sweep that lacks runs can be completed by running it into the same folder.

Exit codes:
  0  all runs are there
  1  it failed
  2  the parts do not belong together
  3  the parts were joined, and runs are missing";

const EXPLAIN: &str = "explain";

const TRACE: &str = "trace";

const TRACE_HELP: &str =
    "Write every packet at every link into this file (pcapng, for Wireshark); the file must describe one run";

const QLOG: &str = "qlog";

const QLOG_HELP: &str =
    "Write every sender into a file in this folder (qlog, for qvis); the file must describe one run";

const EXPLAIN_HELP: &str =
    "Print the equilibrium, time constants and stability of the scenario, and the expected shares, without running it";

const CLEAN: &str = "clean";

const CLEAN_HELP: &str =
    "End the programs that killed runs have left behind, as every run does before it begins; takes no file";

const QUEUE_BY: &str = "queue-by";

const QUEUE_BY_HELP: &str = "Choose the queues at links that data cross: those of afteryou, as in the simulator, or the kernel's own \
                             queue disciplines below htb";

/// Values of that option.
const AFTERYOU: &str = "afteryou";
const KERNEL: &str = "kernel";

/// For what is the same with every engine.
const AFTERWORD: &str = "\
A file with [sweep] or repeat describes many runs; they use all cores. With --out, one run gives report.html, result.json, \
series.csv and figure.svg; many give report.html, runs.csv, flows.csv and a folder for each run; several files get a folder each. \
An interrupted or killed sweep continues where it was when the same command is run again.

Exit codes:
  0    success
  1    failure
  2    a file or the command line is invalid, or the engine does not support a setting of a file
  130  interrupted";

/// The bed whose links the kernel queues at.
static BED_OF_KERNEL_QUEUES: Bed = Bed::new().queued_by(QueueBy::Kernel);

fn after_help(engine: &dyn Engine) -> String {
    let name = engine.name();
    let explain = match engine.capabilities().explains {
        true => format!(
            "  afteryou {name} --explain scenarios/two-fledbat.toml\n  \
             afteryou {name} --explain --json scenarios/two-fledbat.toml\n"
        ),
        false => String::new(),
    };
    format!(
        "Examples:\n  afteryou {name} FILE\n  afteryou {name} FILE --set link.rate=\"5 Mbit/s\" --out slow-uplink\n  \
         afteryou {name} FILE --repeat 10 --out repeated\n  afteryou {name} FILE --json > results.jsonl\n{explain}\n\
         {} {AFTERWORD}",
        engine.description()
    )
}

fn subcommand(engine: &'static dyn Engine) -> Command {
    let command = Command::new(engine.name());
    let command = match engine.capabilities().explains {
        true => command.arg(
            Arg::new(EXPLAIN)
                .long(EXPLAIN)
                .help(EXPLAIN_HELP)
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["out", "verbose", "jobs", "no_series", "shard"]),
        ),
        false => command,
    };
    // Every engine takes both, so that one that cannot write them names an engine that does; only those that can list them.
    let traces = [(TRACE, "FILE", TRACE_HELP), (QLOG, "DIR", QLOG_HELP)];
    let command = traces.into_iter().fold(command, |command, (name, value, help)| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        let arg = arg.conflicts_with("shard").hide(!engine.capabilities().traces);
        command.arg(arg.value_parser(clap::value_parser!(PathBuf)))
    });
    // After the arguments, whose own description would take the place of the engine's.
    let command = RunArgs::augment_args(command).about(engine.summary()).after_help(after_help(engine));
    if !engine.capabilities().real_packets {
        return command;
    }
    let clean = Arg::new(CLEAN).long(CLEAN).help(CLEAN_HELP).action(ArgAction::SetTrue);
    let queue_by = Arg::new(QUEUE_BY).long(QUEUE_BY).value_name("WHO").help(QUEUE_BY_HELP);
    let queue_by = queue_by.value_parser([AFTERYOU, KERNEL]).default_value(AFTERYOU);
    command
        .arg(queue_by)
        .arg(clean.conflicts_with_all(["files", TRACE, QLOG]))
        .mut_arg("files", |files| files.required_unless_present(CLEAN).required(false))
}

impl Subcommand for EngineCommand {
    fn augment_subcommands(command: Command) -> Command {
        ENGINES.iter().fold(command, |command, engine| command.subcommand(subcommand(*engine)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        EngineCommand::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        ENGINES.iter().any(|engine| engine.name() == name)
    }
}

impl FromArgMatches for EngineCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<EngineCommand, clap::Error> {
        let none = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(none)?;
        let engine = afteryou_engines::find(name).map_err(|_| none())?;
        let explain = engine.capabilities().explains && matches.get_flag(EXPLAIN);
        let traces = Traces { trace: matches.get_one(TRACE).cloned(), qlog: matches.get_one(QLOG).cloned() };
        let clean = engine.capabilities().real_packets && matches.get_flag(CLEAN);
        let is_by_kernel = || matches.get_one::<String>(QUEUE_BY).is_some_and(|who| who == KERNEL);
        let engine = match engine.capabilities().real_packets && is_by_kernel() {
            true => &BED_OF_KERNEL_QUEUES,
            false => engine,
        };
        Ok(EngineCommand { engine, explain, clean, traces, runs: RunArgs::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = EngineCommand::from_arg_matches(matches)?;
        Ok(())
    }
}

impl fmt::Debug for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.engine.name())
            .field("explain", &self.explain)
            .field("clean", &self.clean)
            .field("traces", &self.traces)
            .field("runs", &self.runs)
            .finish()
    }
}

impl RunArgs {
    /// Returns the threads for the runs.
    pub fn pool(&self) -> Pool {
        self.jobs.map_or_else(Pool::default, |jobs| Pool::of(jobs.into()))
    }

    /// Returns the settings that replace those of a plan's files.
    pub fn choices(&self) -> Choices {
        Choices { seed: self.seed, repeat: self.repeat }
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// A file that cannot be read or is no scenario, with the line, and a `--set` that it has no key for. With `--untrusted`, more than a
    /// stranger's file may ask for.
    pub fn read(&self, file: &Path) -> Result<Experiment, Failure> {
        let read = if self.untrusted { Experiment::read_untrusted } else { Experiment::read };
        read(file, &self.sets).map_err(Failure::usage)
    }

    /// Returns a folder name for each file: no two may be the same.
    ///
    /// # Errors
    /// Two files of the same name, if results are kept: they would share a folder.
    pub fn folders(&self) -> Result<Vec<String>, Failure> {
        let mut names: Vec<String> = Vec::new();
        for file in &self.files {
            let stem = file.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy().into_owned());
            if names.contains(&stem) && self.out.is_some() {
                let reason = format!("two files are named {stem:?} and would share a folder: rename one");
                return Err(Failure::usage(reason));
            }
            names.push(stem);
        }
        Ok(names)
    }
}
