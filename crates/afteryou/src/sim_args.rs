//! What `afteryou sim` can be told.

use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// What `afteryou sim` can be told.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct SimArgs {
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

const AFTER_HELP: &str = "\
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

impl SimArgs {
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
