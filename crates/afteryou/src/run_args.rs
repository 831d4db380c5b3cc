//! What `afteryou sim` and `afteryou fluid` can be told.

use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// What `afteryou sim` can be told.
#[derive(Args, Clone, Debug)]
#[command(after_help = SIM_HELP)]
pub struct SimArgs {
    /// Which runs, and what becomes of them.
    #[command(flatten)]
    pub runs: RunArgs,
}

/// What `afteryou fluid` can be told.
#[derive(Args, Clone, Debug)]
#[command(after_help = FLUID_HELP)]
pub struct FluidArgs {
    /// Say what follows from the scenario without running it: equilibrium, time constants, stability, what to expect
    #[arg(long, conflicts_with_all = ["out", "json", "jobs"])]
    pub explain: bool,

    /// Which runs, and what becomes of them.
    #[command(flatten)]
    pub runs: RunArgs,
}

/// Which runs of which files, and what becomes of them.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Scenario files (TOML)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write reports, results and curves into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// For programs: the result of each run as JSON, one in a line, on stdout
    #[arg(long)]
    pub json: bool,

    /// Seed of every random choice, instead of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Run each combination so many times, with seeds N, N+1, …
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: Option<u32>,

    /// Runs at the same time; as many as there are cores if not said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// Replace a setting of the file, such as link.rate="5 Mbit/s" or flow.backup.rtt="10 ms"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

const SIM_HELP: &str = "\
Examples:
  afteryou sim scenarios/home-uplink.toml
  afteryou sim scenarios/home-uplink.toml --set link.rate=\"5 Mbit/s\" --out slow-uplink
  afteryou sim scenarios/rtt-sweep.toml --repeat 10 --out sweep
  afteryou sim scenarios/*.toml --json > results.jsonl

The same file and seed give the same result on every machine. A file with [sweep] or repeat stands for many runs; they \
share the cores. With --out, one run gives report.html, result.json, series.csv and figure.svg; many give report.html, \
runs.csv and a folder for each run; several files get a folder each.

Exit codes:
  0    it went well
  1    it failed
  2    a file or the command line makes no sense
  130  interrupted";

const FLUID_HELP: &str = "\
Examples:
  afteryou fluid --explain scenarios/two-fledbat.toml
  afteryou fluid scenarios/two-fledbat.toml --out fluid
  afteryou fluid scenarios/two-fledbat.toml --set fluid.rtt=constant

The same files as for the simulator, as differential equations: windows and queues are smooth, chance and single packets \
are left out, and the answer is there at once. `afteryou list controllers` says which controllers have a model. The \
section [fluid] of a file says how much of reality is taken in, and where the equations begin.

Exit codes:
  0    it went well
  1    it failed
  2    a file or the command line makes no sense, or something in a file has no model
  130  interrupted";

impl RunArgs {
    /// Runs at the same time.
    pub fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }

    /// A folder name for each file: no two may be the same.
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
