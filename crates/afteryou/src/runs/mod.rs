//! `afteryou sim`, `afteryou fluid` and the other engines: run scenario files.
//!
//! The lab plans and runs, the report's room writes files. Here is what a person sees: `show` draws the progress, `explain`
//! prints what the fluid engine's closed forms say.

mod explain;
mod show;
mod trace;

use crate::run_args::{EngineCommand, RunArgs};
use afteryou_lab::{Event, Plan};
use afteryou_report::{self as report, Brief, Folders};
use afteryou_scenario::{traps, Experiment, Outcome};
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use anyhow::Context;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A file.
struct File {
    /// What it shows, or else the name of its folder.
    name: String,
    folder: String,
    experiment: Experiment,
}

/// A file and its runs.
struct Job {
    file: File,
    plan: Plan,
}

/// Runs or explains the files.
pub fn run(command: &EngineCommand) -> Result<(), Failure> {
    let (engine, args) = (command.engine, &command.runs);
    // Everything is read and checked before anything is run.
    let files = read(args)?;
    if command.explain {
        return files.iter().try_for_each(|file| explain::explain(&file.name, &file.experiment, args));
    }
    let jobs = files.into_iter().map(|file| {
        let plan = Plan::new(engine, &file.experiment, args.choices()).map_err(failure)?;
        Ok(Job { file, plan })
    });
    let jobs = jobs.collect::<Result<Vec<Job>, Failure>>()?;
    if command.trace.is_some() {
        stands_for_one_run(&jobs)?;
    }
    let stop = on_interrupt()?;
    if let Some(out) = &args.out {
        report::check_writable(out)?;
    }
    let total = jobs.iter().map(|job| job.plan.points.len()).sum();
    let mut show = show::Show::new(total, std::io::stderr().is_terminal() && !afteryou_terminal::is_dumb());
    for job in &jobs {
        let done = run_job(command, job, jobs.len() > 1, &stop, &mut show);
        show.clear();
        done?;
    }
    Ok(())
}

fn read(args: &RunArgs) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for (path, folder) in args.files.iter().zip(args.folders()?) {
        let experiment = Experiment::read(path, &args.sets).map_err(Failure::usage)?;
        let name = match experiment.name() {
            name if name.trim().is_empty() => folder.clone(),
            name => name,
        };
        files.push(File { name, folder, experiment });
    }
    Ok(files)
}

/// Set by Ctrl-C: the runs end, and nothing half-written stays.
fn on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// A packet trace is of one run.
fn stands_for_one_run(jobs: &[Job]) -> Result<(), Failure> {
    let runs: usize = jobs.iter().map(|job| job.plan.points.len()).sum();
    if runs == 1 {
        return Ok(());
    }
    let advice = "give one file, fix what its [sweep] varies by --set, and --repeat 1";
    Err(Failure::usage(format!("--trace is for one run, and this command line stands for {runs}: {advice}")))
}

fn run_job(
    command: &EngineCommand,
    job: &Job,
    one_of_many: bool,
    stop: &AtomicBool,
    show: &mut show::Show,
) -> Result<(), Failure> {
    let EngineCommand { engine, trace, runs: args, .. } = command;
    let points = &job.plan.points;
    let out = args.out.as_ref().map(|out| if one_of_many { out.join(&job.file.folder) } else { out.clone() });
    let folders = out.map(|out| Folders::new(out, points.len()));
    warn(&job.file.name, warnings(job));
    let mut silent = None;
    let mut briefs = Vec::new();
    let mut alone = None;
    let mut take = |index: usize, outcome: Box<Outcome>| -> Result<(), Failure> {
        let folder = folders.as_ref().map(|folders| folders.write(index, &outcome)).transpose()?;
        if args.json {
            output::print(&format!("{}\n", serde_json::to_string(&*outcome)?))?;
        }
        silent = silent.take().or(traps::of_run(&outcome.run));
        briefs.push(Brief::of(&outcome, &folder.unwrap_or_default()));
        if points.len() == 1 {
            alone = Some(outcome);
        }
        Ok(())
    };
    let mut report = |event| match event {
        Event::Progress(progress) => {
            show.draw(progress);
            Ok(())
        }
        Event::Done(index, outcome) => {
            show.clear();
            take(index, outcome).map_err(Ended::Here)
        }
    };
    let ended = match trace {
        Some(path) => trace::run(*engine, &points[0], path, stop, &mut report),
        None => args.pool().run(*engine, points, stop, &mut report),
    };
    ended.map_err(|ended| match ended {
        Ended::InLab(error) => failure(error),
        Ended::Here(failure) => failure,
    })?;
    show.ended(points.len());
    warn(&job.file.name, silent);
    let page = folders.map(|folders| folders.finish(&job.file.name, &briefs)).transpose()?;
    print(args, job, &briefs, alone.as_deref(), page.as_deref())
}

/// What a file seldom means.
fn warnings(job: &Job) -> Vec<String> {
    let points = &job.plan.points;
    let mut warnings = points.first().map(|point| traps::of_scenario(&point.scenario)).unwrap_or_default();
    if let [first, second, ..] = points.as_slice() {
        let repeats = first.settings == second.settings;
        warnings.extend(traps::of_repetitions(&first.scenario, &second.scenario).filter(|_| repeats));
    }
    warnings
}

fn warn(file: &str, warnings: impl IntoIterator<Item = String>) {
    for warning in warnings {
        let text = afteryou_terminal::printable(&format!("{file}: warning: {warning}"));
        afteryou_terminal::complain(&format!("{text}\n"));
    }
}

/// Why the runs of a file ended before their end.
enum Ended {
    InLab(afteryou_lab::Error),
    Here(Failure),
}

impl From<afteryou_lab::Error> for Ended {
    fn from(error: afteryou_lab::Error) -> Ended {
        Ended::InLab(error)
    }
}

/// The exit code follows from whose fault it is.
fn failure(error: afteryou_lab::Error) -> Failure {
    match error {
        afteryou_lab::Error::Interrupted => Failure::Interrupted,
        of_the_input if of_the_input.is_usage() => Failure::usage(of_the_input),
        other => other.into(),
    }
}

/// The figures for people on stdout, unless programs read there.
fn print(
    args: &RunArgs,
    job: &Job,
    briefs: &[Brief],
    alone: Option<&Outcome>,
    page: Option<&Path>,
) -> Result<(), Failure> {
    if args.json {
        return Ok(());
    }
    let colour = std::io::stdout().is_terminal() && !afteryou_terminal::no_color();
    let text = match alone {
        Some(outcome) => report::text(outcome, output::table_width(), colour),
        None => report::batch_text(&job.file.name, briefs, output::table_width(), colour),
    };
    let report = page.map(|path| format!("\nReport: {}\n", path.display())).unwrap_or_default();
    output::print(&format!("{text}{report}"))
}
