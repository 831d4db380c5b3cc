//! `afteryou plot`, `afteryou report` and `afteryou compare`: figures and pages of what earlier runs saved.

mod compare;
mod plot;

pub use compare::CompareArgs;
pub use plot::PlotArgs;

use afteryou_report as report;
use afteryou_terminal::{output, Failure};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `afteryou report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArgs {
    /// Folder that a run or a sweep wrote with --out
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Write each figure as figure.png, too
    #[arg(long)]
    pub png: bool,
}

const REPORT_HELP: &str = "\
Examples:
  afteryou report slow-uplink
  afteryou report sweep --png

Results stay as they are; report.html and figure.svg are written anew.";

impl ReportArgs {
    /// Draws the pages again and prints where they are.
    ///
    /// # Errors
    /// A directory without results, results that cannot be read, pages that cannot be written, and `--png` for a sweep without curves.
    pub fn run(&self) -> Result<(), Failure> {
        let page = match crate::runs::redraw_tables(&self.dir, self.png)? {
            Some(page) => page,
            None => report::redraw(&self.dir, self.png).map_err(failure)?,
        };
        output::print(&format!("Report: {}\n", page.display()))
    }
}

/// Returns the failure: the fault is in a path that the user named, or else in the machine.
fn failure(error: impl Into<report::Error>) -> Failure {
    use afteryou_plot::Error::{NotATable, NotAnOutcome, Plot, Read};
    match error.into() {
        report::Error::Figure(error @ (Plot(_) | NotATable { .. } | NotAnOutcome { .. } | Read { .. })) => {
            Failure::usage(error)
        }
        other => other.into(),
    }
}
