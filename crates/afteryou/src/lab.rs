//! `afteryou lab`: the lab page that a build put into this program.

use afteryou_terminal::{output, Failure};
use anyhow::anyhow;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The page, empty if the build had none.
const PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lab.html"));

/// Options of `afteryou lab`.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct LabArgs {
    /// Write the page into this file and do not open it
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

const HELP: &str = "\
The page is one file of less than 2 MB. It has the simulator inside, works without a server, and uses no network.

Examples:
  afteryou lab                  opens it in the browser
  afteryou lab --out lab.html   writes it, for a colleague or a web server";

/// Writes the page, and opens it unless `--out` names a file.
///
/// # Errors
/// A build without the page, a file that cannot be written, and a system that opens no browser.
pub fn run(args: &LabArgs) -> Result<(), Failure> {
    if PAGE.is_empty() {
        return Err(Failure::from(anyhow!(
            "this afteryou was built without the lab page: at the project's root, run web/build, then build it with \
             AFTERYOU_LAB=target/lab/lab.html in the environment"
        )));
    }
    match &args.out {
        Some(file) => Ok(write(file)?),
        None => open(),
    }
}

fn write(file: &Path) -> anyhow::Result<()> {
    Ok(afteryou_files::write_file(file, PAGE)?)
}

fn open() -> Result<(), Failure> {
    // It is kept: the browser reads it after this program has ended.
    let file = std::env::temp_dir().join(concat!("afteryou-lab-", env!("CARGO_PKG_VERSION"), ".html"));
    write(&file)?;
    output::print(&format!("{}\n", file.display()))?;
    let started = opener(&file).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match started {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::from(anyhow!("no browser could be started: open that file in one"))),
    }
}

/// Returns the system's program that opens a file with the user's choice.
fn opener(file: &Path) -> Command {
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "windows" => ("cmd", &["/C", "start", ""]),
        "macos" => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(words).arg(file);
    command
}
