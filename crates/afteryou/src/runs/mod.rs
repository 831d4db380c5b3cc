//! `afteryou sim`, `afteryou fluid` and the other engines: run scenario files.
//!
//! The lab plans and runs, the report's room writes files. `sweep` keeps runs in a folder and resumes an interrupted
//! sweep. `merge` joins such folders, `show` draws the progress, and `explain` prints the closed forms of the fluid
//! engine.

mod ended;
mod explain;
pub mod merge;
pub(crate) mod show;
mod sweep;
pub mod traced;

pub use sweep::redraw_tables;
pub(crate) use sweep::{build, is_within};

use crate::run_args::{EngineCommand, RunArgs};
use afteryou_engines::sweep::Folder;
use afteryou_engines::{Event, Jobs, Lineup, AHEAD};
use afteryou_files::ResultFolder;
use afteryou_report::{self as report, Brief, MOST_SHOWN};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use anyhow::Context;
use ended::{failure, Ended};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A file.
struct File {
    /// The sweep's title, or else the name of its folder.
    name: String,
    folder: String,
    experiment: Experiment,
}

/// A file and its runs.
struct Job<'a> {
    file: &'a File,
    lineup: Lineup<'a>,
}

/// Becomes root if a run needs it, as the testbed does. A user without it is root of a namespace of their own, where the
/// system allows that; this has to come before the first thread.
#[cfg(target_os = "linux")]
fn become_root_if_needed(command: &EngineCommand, files: &[File]) -> Result<(), Failure> {
    if !command.engine.capabilities().real_packets {
        return Ok(());
    }
    let shows_packets = command.traces.trace.is_some();
    let needs_root = |file: &File| -> Result<bool, Failure> {
        let runs = file.experiment.runs(command.runs.seed, Some(1)).map_err(Failure::usage)?;
        Ok(runs.iter().any(|run| command.engine.needs_root(&run.scenario, shows_packets)))
    };
    let needs = files.iter().map(needs_root).collect::<Result<Vec<_>, _>>()?;
    match needs.contains(&true) {
        true => Ok(afteryou_bed::net::become_root_of_own_namespace()?),
        false => Ok(()),
    }
}

/// Ends the programs that killed runs have left behind.
fn clean() -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    let ended = afteryou_bed::net::clean();
    // Elsewhere the bed starts none.
    #[cfg(not(target_os = "linux"))]
    let ended = 0;
    output::print(&match ended {
        0 => "no program of a killed run is left\n".to_owned(),
        1 => "ended 1 program of a killed run\n".to_owned(),
        more => format!("ended {more} programs of killed runs\n"),
    })
}

/// Runs or explains the files.
///
/// # Errors
/// A file that is no scenario or that the engine does not support, and a directory for results that cannot be written. A user who may not
/// use the testbed, an interruption, and a run that fails.
pub fn run(command: &EngineCommand) -> Result<(), Failure> {
    let (engine, args) = (command.engine, &command.runs);
    if command.clean {
        return clean();
    }
    command.traces.check(engine)?;
    // Everything is read and checked before anything is run.
    let files = read(args)?;
    if command.explain {
        return files.iter().try_for_each(|file| explain::explain(&file.name, &file.experiment, args));
    }
    let jobs = files.iter().map(|file| {
        let lineup = Lineup::new(engine, &file.experiment, args.choices()).map_err(failure)?;
        Ok(Job { file, lineup })
    });
    let jobs = jobs.collect::<Result<Vec<Job>, Failure>>()?;
    if let Some(option) = command.traces.option() {
        stands_for_one_run(&jobs, args, option)?;
    }
    for job in &jobs {
        job.lineup.warnings().iter().for_each(|warning| complain(&job.file.name, warning));
    }
    #[cfg(target_os = "linux")]
    become_root_if_needed(command, &files)?;
    let stop = on_interrupt()?;
    if let Some(out) = &args.out {
        afteryou_files::check_writable(out)?;
    }
    let total = jobs.iter().map(|job| job.runs(args)).sum();
    let mut show = show::Show::new(total, std::io::stderr().is_terminal() && !afteryou_terminal::is_dumb());
    for job in &jobs {
        let out =
            args.out
                .as_ref()
                .map(|out| if jobs.len() > 1 { out.join(&job.file.folder) } else { out.clone() });
        let done = match out {
            Some(out) if job.is_sweep(args) && command.traces.option().is_none() => {
                sweep::run(args, job, &out, &stop, &mut show)
            }
            out => run_job(command, job, out.as_deref(), &stop, &mut show),
        };
        show.clear();
        done?;
    }
    Ok(())
}

impl Job<'_> {
    /// Returns whether there is more than one run, or a part of them. A sweep with one value is a sweep, too: it has the same files.
    fn is_sweep(&self, args: &RunArgs) -> bool {
        let varies = || self.lineup.point(0).is_ok_and(|point| !point.settings.is_empty());
        self.lineup.number() > 1 || args.shard.is_some() || varies()
    }

    /// Returns the number of its runs that are to be made.
    fn runs(&self, args: &RunArgs) -> usize {
        let all = 0..self.lineup.number();
        all.filter(|index| args.shard.is_none_or(|shard| shard.has(*index))).count()
    }
}

fn read(args: &RunArgs) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for (path, folder) in args.files.iter().zip(args.folders()?) {
        let experiment = args.read(path)?;
        let name = match experiment.name() {
            name if name.trim().is_empty() => folder.clone(),
            name => name,
        };
        files.push(File { name, folder, experiment });
    }
    Ok(files)
}

/// Returns the flag that Ctrl-C sets: the runs end, and nothing half-written remains.
pub(crate) fn on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

fn complain(name: &str, warning: &str) {
    output::complain(&format!("warning: {name}: {warning}\n"));
}

/// Checks that an option has one run to be of, as traces are.
fn stands_for_one_run(jobs: &[Job], args: &RunArgs, option: &str) -> Result<(), Failure> {
    let runs: usize = jobs.iter().map(|job| job.lineup.number()).sum();
    if runs == 1 && args.shard.is_none() {
        return Ok(());
    }
    let advice = "give one file without [sweep], --repeat 1 and no --shard";
    Err(Failure::usage(format!("{option} is for one run, and this command line has {runs}: {advice}")))
}

/// Makes one run, whose files go into `out`, or many whose results are printed alone.
fn run_job(
    command: &EngineCommand,
    job: &Job,
    out: Option<&Path>,
    stop: &AtomicBool,
    show: &mut show::Show,
) -> Result<(), Failure> {
    if let Some(out) = out {
        Folder::refuse_sweep(out).map_err(failure)?;
    }
    // From now on no other run writes there. Of many runs without a sweep's folder none has files.
    let mut folder = out.map(ResultFolder::open).transpose()?;
    let EngineCommand { traces, runs: args, .. } = command;
    let indices: Vec<usize> = (0..job.lineup.number()).collect();
    let (mut briefs, mut alone) = (Vec::new(), None);
    let mut take = |outcome: Outcome| -> Result<(), Failure> {
        outcome.warnings.iter().for_each(|warning| complain(&job.file.name, warning));
        let outcome = if args.no_series { without_curves(outcome) } else { outcome };
        if let Some(mut folder) = folder.take() {
            report::write_outcome(&mut folder, &outcome)?;
            if !args.no_series {
                report::write_series(&mut folder, &outcome, args.parquet)?;
            }
            folder.finish()?;
        }
        if args.json {
            return output::print(&format!("{}\n", serde_json::to_string(&outcome)?));
        }
        if briefs.len() < MOST_SHOWN {
            briefs.push(Brief::of(&outcome, ""));
        }
        if indices.len() == 1 {
            alone = Some(outcome);
        }
        Ok(())
    };
    let mut report = |event: Event| match event {
        Event::Progress(progress) => {
            show.draw(progress);
            Ok::<(), Ended>(())
        }
        Event::Done(_, outcome) => {
            show.clear();
            Ok(take(*outcome)?)
        }
    };
    let (engine, point) = (job.lineup.engine(), |index| job.lineup.point(index));
    match traces.option() {
        Some(_) => traced::run(engine, &point(0).map_err(failure)?, traces, stop, &mut report)?,
        None => {
            let jobs = Jobs { engine, indices: &indices, point: &point, ahead: AHEAD };
            args.pool().each(&jobs, &|_, outcome| Ok::<_, Ended>(Box::new(outcome)), stop, &mut report)?;
        }
    }
    show.ended(indices.len());
    let page = out.map(|out| out.join("report.html"));
    match alone {
        _ if args.json => Ok(()),
        Some(outcome) => {
            let write = if args.verbose { report::text } else { report::brief_text };
            let text = write(&outcome, output::table_width(), in_colour());
            output::print(&format!("{text}{}", where_it_is(page.as_deref(), args.verbose)))
        }
        None => output::print(&words_of_all(
            &job.file.name,
            &briefs,
            indices.len(),
            page.as_deref(),
            args.verbose,
        )),
    }
}

/// Returns an outcome that keeps its figures alone.
fn without_curves(mut outcome: Outcome) -> Outcome {
    outcome.run.series.clear();
    outcome.baseline.iter_mut().for_each(|run| run.series.clear());
    outcome
}

/// Returns the first runs of a sweep, as many as a terminal shows.
fn words_of_all(title: &str, briefs: &[Brief], runs: usize, page: Option<&Path>, verbose: bool) -> String {
    let (width, colour) = (output::table_width(), in_colour());
    let text = match verbose {
        true => report::batch_text(title, briefs, runs, width, colour),
        false => match report::brief_batch_text(title, briefs, runs, width, colour) {
            (text, 0) => text,
            (text, left_out) => format!("{text}  … {left_out} more rows\n"),
        },
    };
    format!("{text}{}", where_it_is(page, verbose))
}

/// Returns where everything is that the terminal does not show.
fn where_it_is(page: Option<&Path>, verbose: bool) -> String {
    match (page, verbose) {
        (Some(path), true) => format!("\nReport: {}\n", path.display()),
        (Some(path), false) => format!("\nReport: {} (every table here: --verbose)\n", path.display()),
        (None, true) => String::new(),
        (None, false) => "\nEvery table: --verbose. A report with figures: --out DIR\n".to_owned(),
    }
}

pub(crate) fn in_colour() -> bool {
    std::io::stdout().is_terminal() && !afteryou_terminal::no_color()
}
