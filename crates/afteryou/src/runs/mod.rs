//! `afteryou sim` and `afteryou fluid`: run scenario files.
//!
//! `engine` is what runs a scenario, `explain` what the fluid engine says without running it, `pool` spreads the runs over the cores, `show` tells how far they are, `files` writes what came out as it comes.

pub mod engine;
mod explain;
mod files;
mod pool;
mod show;

use crate::failure::Failure;
use crate::run_args::{FluidArgs, RunArgs};
use crate::{live, output};
use afteryou_report::{self as report, Brief};
use afteryou_scenario::file::Planned;
use afteryou_scenario::{Experiment, Outcome};
use anyhow::Context;
use engine::Engine;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A file and its runs.
struct Job {
    name: String,
    folder: String,
    runs: Vec<Planned>,
}

/// Runs or explains the files.
pub fn fluid(args: &FluidArgs) -> Result<(), Failure> {
    match args.explain {
        true => {
            read(&args.runs, Engine::Fluid)?.iter().try_for_each(|job| explain::explain(&job.name, &job.runs))
        }
        false => run(&args.runs, Engine::Fluid),
    }
}

/// Runs the files.
pub fn run(args: &RunArgs, engine: Engine) -> Result<(), Failure> {
    // Everything is read and checked before anything is run.
    let jobs = read(args, engine)?;
    let stop = on_interrupt()?;
    if let Some(out) = &args.out {
        report::check_writable(out)?;
    }
    let total = jobs.iter().map(|job| job.runs.len()).sum();
    let mut show = show::Show::new(total, std::io::stderr().is_terminal() && !live::is_dumb());
    for job in &jobs {
        let done = run_job(args, engine, job, jobs.len() > 1, &stop, &mut show);
        show.clear();
        done?;
    }
    Ok(())
}

fn read(args: &RunArgs, engine: Engine) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for (path, folder) in args.files.iter().zip(args.folders()?) {
        let experiment = Experiment::read(path, &args.sets).map_err(Failure::usage)?;
        // Equations draw nothing but start values: what is repeated is a trial.
        let trials = experiment.trials().filter(|_| engine == Engine::Fluid);
        let runs = experiment.runs(args.seed, args.repeat.or(trials)).map_err(Failure::usage)?;
        let name = match experiment.name() {
            name if name.trim().is_empty() => folder.clone(),
            name => name,
        };
        jobs.push(Job { name, folder, runs });
    }
    Ok(jobs)
}

/// Set by Ctrl-C: the runs end, and nothing half-written stays.
fn on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

fn run_job(
    args: &RunArgs,
    engine: Engine,
    job: &Job,
    one_of_many: bool,
    stop: &AtomicBool,
    show: &mut show::Show,
) -> Result<(), Failure> {
    let out = args.out.as_ref().map(|out| if one_of_many { out.join(&job.folder) } else { out.clone() });
    let mut files = files::Files::new(out, job.runs.len());
    let mut briefs = Vec::new();
    let mut alone = None;
    pool::run(engine, &job.runs, args.jobs(), stop, &mut |tick| match tick {
        pool::Tick::Progress(progress) => {
            show.draw(progress);
            Ok(())
        }
        // In the order of the runs, whichever ends first.
        pool::Tick::Done(index, outcome) => {
            show.clear();
            let folder = files.write(index, &outcome)?;
            if args.json {
                output::print(&format!("{}\n", serde_json::to_string(&*outcome)?))?;
            }
            briefs.push(Brief::of(&outcome, &folder));
            if job.runs.len() == 1 {
                alone = Some(outcome);
            }
            Ok(())
        }
    })?;
    show.ended(job.runs.len());
    let written = files.finish(&job.name, &briefs)?;
    tell(args, job, &briefs, alone.as_deref(), written)
}

/// The figures for people on stdout, unless programs read there.
fn tell(
    args: &RunArgs,
    job: &Job,
    briefs: &[Brief],
    alone: Option<&Outcome>,
    written: Option<std::path::PathBuf>,
) -> Result<(), Failure> {
    if args.json {
        return Ok(());
    }
    let colour = std::io::stdout().is_terminal() && !live::no_color();
    let text = match alone {
        Some(outcome) => report::text(outcome, output::table_width(), colour),
        None => report::batch_text(&job.name, briefs, output::table_width(), colour),
    };
    let report = written.map(|path| format!("\nReport: {}\n", path.display())).unwrap_or_default();
    output::print(&format!("{text}{report}"))
}
