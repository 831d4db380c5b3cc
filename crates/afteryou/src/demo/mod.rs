//! `afteryou demo`: a real transfer over real sockets through an emulated home uplink yields to an upload.
//!
//! `timetable` makes the scenario, and the bed runs it. `show` draws it while it runs, `judge` compares the outcome
//! with bounds, and `report` writes the page.

mod judge;
mod show;
mod timetable;

use crate::demo_args::DemoArgs;
use crate::live;
use afteryou_bed::run::{self, BedProgress, End, Options, Source};
use afteryou_bed::Error;
use afteryou_files::ResultFolder;
use afteryou_report as report;
use afteryou_scenario::{Checked, Outcome};
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::ops::ControlFlow;

/// Runs the demo.
///
/// # Errors
/// A directory for results that cannot be written, and a `--file` that is empty or cannot be read. A run that the testbed or the relay
/// cannot do, and a bad verdict with `--check`.
pub fn run(args: DemoArgs) -> Result<(), Failure> {
    // Fails before half a minute of work, not after it.
    let mut folder = ResultFolder::open(&args.out)?;
    let file_bytes = args.file.as_ref().map(|path| {
        let metadata = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        anyhow::Ok(metadata.len())
    });
    let file_bytes = file_bytes.transpose()?;
    if let (Some(path), Some(0)) = (&args.file, file_bytes) {
        return Err(Failure::usage(format!(
            "--file {} is empty: name a file of 1 B or more",
            path.display()
        )));
    }
    let scenario = timetable::scenario(&args, file_bytes).checked()?;
    let sources = args.file.iter().map(|path| (timetable::BACKUP.to_owned(), Source::File(path.clone())));
    let end = End::Sizes; // a file ends its demo
    let options = Options { sources: BTreeMap::from_iter(sources), end, ..Options::default() };

    let stderr = std::io::stderr().is_terminal();
    let no_color = afteryou_terminal::no_color();
    let mut view = live::view(stderr, no_color);
    let mut show = show::Show::new(&scenario, timetable::expected_s(&args, file_bytes));
    let mut observe = |progress: &BedProgress| {
        view.draw(&show.frame(progress));
        ControlFlow::Continue(()) // Ctrl-C ends the process
    };
    let outcome = match args.real {
        true => run_real(&scenario, &options, &mut observe),
        false => run::run(&scenario, &options, &mut observe),
    };
    view.finish();
    let mut outcome = outcome?;
    judge::judge(&mut outcome);

    let written = report::write_outcome(&mut folder, &outcome)?;
    folder.finish()?;
    tell(&args, &outcome, &written, no_color)?;
    let verdict = outcome.verdict.filter(|verdict| !verdict.good && args.check);
    match verdict {
        Some(verdict) => Err(Failure::Verdict(verdict.headline)),
        None => Ok(()),
    }
}

/// Runs the scenario with the kernel's TCP.
#[cfg(target_os = "linux")]
fn run_real(
    scenario: &Checked,
    options: &Options,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    afteryou_bed::testbed::run(scenario, options, observe)
}

/// Runs the scenario without it: the testbed is for Linux; the relay refuses the upload with a message.
#[cfg(not(target_os = "linux"))]
fn run_real(
    scenario: &Checked,
    options: &Options,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    run::run(scenario, options, observe)
}

/// Prints the result for programs on stdout, or the verdict for people.
fn tell(
    args: &DemoArgs,
    outcome: &Outcome,
    written: &report::Written,
    no_color: bool,
) -> Result<(), Failure> {
    let colour = |is_terminal: bool| is_terminal && !no_color;
    let hint = if args.verbose { "" } else { " (every table here: --verbose)" };
    let files = format!("\nReport: {}{hint}\n", written.report.display());
    let write = if args.verbose { report::text } else { report::brief_text };
    if !args.json {
        let width = output::table_width();
        let text = write(outcome, width, colour(std::io::stdout().is_terminal()));
        return output::print(&format!("{text}{files}"));
    }
    let text = write(outcome, output::width(), colour(std::io::stderr().is_terminal()));
    output::paint(&format!("{text}{files}"));
    let json = serde_json::to_string_pretty(outcome)?;
    output::print(&format!("{json}\n"))
}
