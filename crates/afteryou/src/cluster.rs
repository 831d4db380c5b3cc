//! `afteryou sweep --dask`: a sweep on a cluster, which the Python package carries out.

use afteryou_terminal::Failure;
use anyhow::Context;
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names the interpreter that has the package.
const INTERPRETER: &str = "AFTERYOU_PYTHON";

const HELP: &str = "\
Examples:
  afteryou sweep grid.toml --out results --dask tcp://192.0.2.1:8786

The folder is that of afteryou sim FILE --out DIR --no-series --parquet. Runs that are already there are not computed again.
Traces and samples that a FILE names must be below its folder, as with afteryou sim --untrusted; workers receive their contents.
AFTERYOU_PYTHON names the Python interpreter with the package; python3 by default.";

/// The files of a sweep, and the cluster.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct SweepArgs {
    /// Scenario files; with several, each has its own folder in DIR
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Address of the cluster's Dask scheduler
    #[arg(long, value_name = "ADDRESS")]
    pub dask: String,

    /// Keep results in this folder, where an interrupted sweep resumes
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// The engine: sim or fluid
    #[arg(long, value_name = "ENGINE", default_value = "sim")]
    pub engine: String,

    /// Seed of the first repetition, instead of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Repetitions of each combination, instead of the file's
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
}

/// Hands over to the Python package, whose exit code is ours.
pub fn run(args: &SweepArgs) -> Result<(), Failure> {
    let python = env::var_os(INTERPRETER).unwrap_or_else(|| "python3".into());
    let has_package = Command::new(&python)
        .args(["-c", "import afteryou.sweeps, distributed"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_package {
        let python = python.to_string_lossy();
        return Err(Failure::usage(format!(
            "{python} has no package afteryou with Dask: run pip install './python[cluster]' in the checkout, or set {INTERPRETER}"
        )));
    }
    let status = Command::new(&python).args(["-m", "afteryou.sweep_command"]).args(words(args)).status();
    match status.context("cannot start Python")?.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Elsewhere(u8::try_from(code).unwrap_or(1))),
        None => Err(Failure::Interrupted),
    }
}

fn words(args: &SweepArgs) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["--dask".into(), args.dask.clone().into()];
    words.extend(["--out".into(), args.out.clone().into()]);
    words.extend(["--engine".into(), args.engine.clone().into()]);
    for (option, number) in [("--seed", args.seed), ("--repeat", args.repeat.map(u64::from))] {
        words.extend(number.into_iter().flat_map(|number| [option.into(), number.to_string().into()]));
    }
    words.push("--".into());
    words.extend(args.files.iter().map(OsString::from));
    words
}
