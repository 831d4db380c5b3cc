//! A sweep in a folder: runs that are there are not repeated, and each run is there as soon as it has ended.

use super::ended::Ended;
use super::show::Show;
use super::{without_curves, words_of_all, Job};
use crate::run_args::RunArgs;
use afteryou_base::lock::EvenPoisoned;
use afteryou_engines::sweep::{self, Folder, Manifest};
use afteryou_engines::{Error, Event, Jobs, AHEAD};
use afteryou_files::ResultFolder;
use afteryou_report::{FinishedSweep, Folders, Record};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::Outcome;
use afteryou_terminal::{output, Failure};
use anyhow::Context;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

/// Runs what `out` does not have yet, and writes the tables and the page of everything that it has then.
pub(super) fn run(
    args: &RunArgs,
    job: &Job,
    out: &Path,
    stop: &AtomicBool,
    show: &mut Show,
) -> Result<(), Failure> {
    let build = build()?;
    let series = !args.no_series;
    let manifest = Manifest::new(&job.lineup, job.file.name.clone(), build, args.shard, series);
    if !Folder::holds_sweep(out) {
        // The files of a single run would be taken for the sweep's.
        ResultFolder::open(out)?.finish()?;
    }
    let folder = Folder::open(out, manifest).map_err(Ended::from)?;
    let (pending, all) = (folder.pending(), folder.manifest().indices().count());
    show.was_there(all - pending.len());
    let folders = Folders::new(out, job.lineup.number(), series).with_parquet(args.parquet);
    let folder = Mutex::new(folder);
    let keep = |index: usize, outcome: Outcome| -> Result<Option<Box<Outcome>>, Ended> {
        let key = sweep::key(&build, &outcome.content_hash, outcome.scenario.seed);
        let record = folders.write(index, &outcome, key)?;
        let line = serde_json::to_string(&record)?;
        folder.lock().even_poisoned().keep(index, &key, &line)?;
        Ok(args.json.then(|| Box::new(if series { outcome } else { without_curves(outcome) })))
    };
    let jobs = Jobs {
        engine: job.lineup.engine(),
        indices: &pending,
        point: &|index| job.lineup.point(index),
        // An outcome that waits for its turn to be printed is large.
        ahead: if args.json { AHEAD } else { usize::MAX },
    };
    let ended = args.pool().each(&jobs, &keep, stop, &mut |event| match event {
        Event::Progress(progress) => {
            show.draw(progress);
            Ok::<(), Ended>(())
        }
        Event::Done(_, None) => Ok(()),
        Event::Done(_, Some(outcome)) => {
            show.clear();
            Ok(output::print(&format!("{}\n", serde_json::to_string(&*outcome)?))?)
        }
    });
    show.clear();
    let mut folder = folder.into_inner().even_poisoned();
    if let Err(Ended::InLab(Error::Interrupted)) = ended {
        let done = all - folder.pending().len();
        let out = out.display();
        return Err(Failure::Stopped(format!(
            "interrupted: {done} of {all} runs are in {out}, and the same command continues from there"
        )));
    }
    ended?;
    show.ended(pending.len());
    folder.sort().map_err(Ended::from)?;
    let finished = finish(&folder, &job.file.name, args.parquet)?;
    match args.json {
        true => Ok(()),
        false => output::print(&words_of_all(
            &job.file.name,
            &finished.briefs,
            finished.runs,
            Some(&finished.page),
            args.verbose,
        )),
    }
}

/// Writes the tables and the page of everything that `folder` has.
pub(super) fn finish(folder: &Folder, title: &str, parquet: bool) -> Result<FinishedSweep, Ended> {
    let record =
        |run: Result<sweep::FinishedRun, Error>| Ok::<Record, Ended>(serde_json::from_str(&run?.content)?);
    let manifest = folder.manifest();
    let folders = Folders::new(folder.dir(), manifest.runs, manifest.series).with_parquet(parquet);
    folders.finish(title, || folder.finished().map(record))
}

/// Writes the tables and the page of a sweep anew whose runs have no files of their own, and returns the page. None if `dir` holds
/// something else.
///
/// # Errors
/// `png` for runs without curves, a sweep that another process is running, tables that cannot be read or written.
pub fn redraw_tables(dir: &Path, png: bool) -> Result<Option<PathBuf>, Failure> {
    if !Folder::holds_sweep(dir) {
        return Ok(None);
    }
    let manifest = Folder::open_to_read(dir).map_err(Ended::from)?.manifest().clone();
    if manifest.series {
        return Ok(None);
    }
    if png {
        let dir = dir.display();
        return Err(Failure::usage(format!(
            "{dir} has no curves to draw (--no-series): leave --png out, or draw its tables with afteryou plot {dir}"
        )));
    }
    let name = manifest.name.clone();
    // With the lock: a sweep that is running would lose its unfinished files.
    let folder = Folder::open(dir, manifest).map_err(Ended::from)?;
    let finished = finish(&folder, &name, dir.join("runs.parquet").is_file())?;
    Ok(Some(finished.page))
}

/// The file with the code of this program, where that is not the running executable.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the library that this program is within. The first call counts.
pub(crate) fn is_within(library: PathBuf) {
    PROGRAM.get_or_init(|| library);
}

/// Returns the hash of this program.
pub(crate) fn build() -> Result<ContentHash, Failure> {
    let opened = match PROGRAM.get() {
        Some(library) => File::open(library),
        None => executable(),
    };
    let hash = opened
        .and_then(sweep::build)
        .context("cannot read this program, whose hash is part of the key of a run")?;
    Ok(hash)
}

fn executable() -> io::Result<File> {
    // On Linux this opens the running program even where another one has taken its place.
    let running = Path::new("/proc/self/exe");
    let path = if cfg!(target_os = "linux") { running.to_owned() } else { std::env::current_exe()? };
    File::open(&path).or_else(|_| File::open(std::env::current_exe()?))
}
