//! `afteryou compare`: two results, figure by figure and on one page.

use super::{failure, plot};
use afteryou_report::{read, Pair};
use afteryou_scenario::Outcome;
use afteryou_terminal::{output, Failure};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// What `afteryou compare` can be told.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// result.json of the first run, or its folder
    #[arg(value_name = "A")]
    pub first: PathBuf,

    /// result.json of the second run, or its folder
    #[arg(value_name = "B")]
    pub second: PathBuf,

    /// Write a page with the figures and the curves of both
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou sim FILE --out packets; afteryou fluid FILE --out equations
  afteryou compare packets equations --out both.html

The difference is the second minus the first. Figures that one of the two lacks are a dash there.";

impl CompareArgs {
    /// Prints the comparison, and draws it if a file is named.
    pub fn run(&self) -> Result<(), Failure> {
        let outcomes = [&self.first, &self.second].map(|path| load(path));
        let [first, second] = outcomes;
        let (first, second) = (first?, second?);
        let names = [&self.first, &self.second].map(|path| path.display().to_string());
        let pair = Pair { names: [&names[0], &names[1]], outcomes: [&first, &second] };
        let colour = std::io::stdout().is_terminal() && !afteryou_terminal::no_color();
        output::print(&pair.text(output::table_width(), colour))?;
        match &self.out {
            Some(out) => plot::write(out, pair.html()?.as_bytes()),
            None => Ok(()),
        }
    }
}

fn load(path: &Path) -> Result<Outcome, Failure> {
    let file = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    read(&file).map_err(failure)
}
