//! `afteryou league`: background controllers on a grid of drawn networks, judged by goals.

mod check;
mod grids;

use crate::cache_place;
use crate::runs::show::Show;
use crate::runs::{build, in_colour, on_interrupt};
use afteryou_engines::{find, Cache, Engine, PoolProgress};
use afteryou_files::{check_writable, lock, write_file};
use afteryou_league::page;
use afteryou_league::{
    directly, entrants, play, seed_of_commit, table, Cell, Draw, Entrant, Error, Kept, Order, Progress,
    Scores, Season, Setting, Slices, GOALS, PATIENCE,
};
use afteryou_report::table_text;
use afteryou_terminal::{output, Failure};
use clap::{Args, ValueEnum};
use grids::Grid;
use std::fs::{self, File};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Holds a folder of results for one league.
const LOCK: &str = ".league.lock";

/// Sets of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LeagueSet {
    /// For the design of a rule
    Train,
    /// To judge a rule whose design is finished
    Hold,
}

/// Engines of the league.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LeagueEngine {
    /// The packet simulator
    Sim,
    /// Real packets in real time: hours. Linux, as root
    Bed,
}

/// The controllers that compete, and the grid.
#[derive(Args, Clone, Debug)]
pub struct LeagueArgs {
    /// Controllers, such as vegas or ledbat++,target=25ms; all background controllers by default
    #[arg(value_name = "CONTROLLER")]
    pub controllers: Vec<String>,

    /// Use 200 cells of up to 50 Mbit/s and 40 s, in place of 1200 up to 500 Mbit/s
    #[arg(long)]
    pub quick: bool,

    /// The set of cells; given twice, both sets are drawn and compared
    #[arg(long, value_enum, default_value = "train", value_name = "SET")]
    pub set: Vec<LeagueSet>,

    /// The seed of the grid: other values of the same strata. Given twice, both draws are compared
    #[arg(long, default_value = "1", value_name = "N")]
    pub grid_seed: Vec<u64>,

    /// Take the seed of the grid from a commit, in place of --grid-seed: HASH,2 and HASH,3 are its second and third seed
    #[arg(long, value_name = "HASH[,K]", value_parser = seed_of_commit)]
    pub grid_seed_of: Vec<u64>,

    /// Run this cell of the grid alone, such as train-081. Given several times, each of them
    #[arg(long, value_name = "NAME")]
    pub cell: Vec<String>,

    /// Run 144 probing cells as well, and print slices: means over cells of one kind, with bounds
    #[arg(long)]
    pub slices: bool,

    /// The engine. `bed` prints first how long it will take
    #[arg(long, value_enum, default_value = "sim", value_name = "ENGINE")]
    pub engine: LeagueEngine,

    /// Write a page, a summary, tables and the scenario files of the worst cells into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Exit with 1 if a run failed, two draws differ, or scores are not those that are recorded
    #[arg(long)]
    pub check: bool,

    /// Runs at the same time; the number of cores by default
    #[arg(long, value_name = "N", value_parser = crate::values::jobs)]
    pub jobs: Option<u16>,

    /// Keep the figures of runs in this folder, where an interrupted league resumes; the user's cache by default
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// Runs and judges a league.
///
/// # Errors
/// A controller or a cell that does not exist, more than two draws, a folder that cannot be written or that another league writes. With `--check` a
/// failed run, draws that differ, and scores other than the recorded ones.
pub fn run(args: &LeagueArgs) -> Result<(), Failure> {
    let who = entrants(&args.controllers).map_err(failure)?;
    let grids = args.grids()?;
    let held = args.out.as_deref().map(hold).transpose()?;
    let stop = on_interrupt()?;
    let mut played = Vec::with_capacity(grids.len());
    for Grid { name, cells, probes } in grids {
        let number = cells.len();
        let season = season(args, cells.into_iter().chain(probes).collect(), who.clone(), &stop)?;
        let (season, probes) = season.divide(number);
        let scores = Scores::of(&season, &[1.0; GOALS.len()]);
        let slices = args.slices.then(|| Slices::of(&season, &probes));
        played.push((name, season, scores, slices));
    }
    let draws: Vec<Draw> = played
        .iter()
        .map(|(name, season, scores, slices)| Draw {
            name: name.clone(),
            season,
            scores,
            slices: slices.as_ref(),
        })
        .collect();
    print(&draws)?;
    if let Some(dir) = &args.out {
        write(&draws, &args.command(), dir)?;
    }
    drop(held);
    match args.check {
        true => check::check(args, &draws),
        false => Ok(()),
    }
}

/// Takes a folder for this process, so that no other league writes into it.
fn hold(dir: &Path) -> Result<File, Failure> {
    check_writable(dir)?;
    fs::create_dir_all(dir)?;
    let file = File::create(dir.join(LOCK))?;
    match lock::take(&file) {
        true => Ok(file),
        false => Err(Failure::usage(format!(
            "another league is writing into {}: wait for its end, or choose another folder",
            dir.display()
        ))),
    }
}

fn season(
    args: &LeagueArgs,
    cells: Vec<Cell>,
    who: Vec<Entrant>,
    stop: &AtomicBool,
) -> Result<Season, Failure> {
    let engine: &'static dyn Engine = match args.engine {
        LeagueEngine::Sim => find("sim")?,
        LeagueEngine::Bed => bed(args, &cells, who.len())?,
    };
    let build = build()?;
    let mut cache: Cache<Kept> = match args.cache.clone().or_else(|| cache_place::cache("league")) {
        Some(dir) => Cache::open(&dir, &build)?,
        None => Cache::in_memory(),
    };
    let setting = Setting {
        engine,
        threads: args.threads(),
        build,
        patience: PATIENCE,
        around: directly,
        failure: || None,
        stop,
    };
    let mut show: Option<Show> = None;
    let season = play(cells, who, &setting, &mut cache, &mut |progress: Progress| {
        let show = show.get_or_insert_with(|| {
            let mut show = Show::new(progress.all, std::io::stderr().is_terminal());
            show.was_there(progress.there);
            show
        });
        let Progress { there, done, passed_s, .. } = progress;
        let done = there + done;
        show.draw(PoolProgress { done, work: done as f64, passed_s });
    });
    if let Some(show) = &mut show {
        show.clear();
    }
    let season = season.map_err(failure)?;
    if let Some(reason) = &season.not_kept {
        output::complain(&format!("the figures of this league are not all kept: {reason}\n"));
    }
    Ok(season)
}

/// Returns the testbed as it can be used now, after a word about the time that it will take.
fn bed(args: &LeagueArgs, cells: &[Cell], entrants: usize) -> Result<&'static dyn Engine, Failure> {
    let engine = find("bed")?;
    let runs_s: f64 = cells.iter().map(|cell| cell.phases.length_s() * (entrants + 1) as f64).sum();
    let hours = runs_s / args.threads().min(engine.at_once()) as f64 / 3600.0;
    output::complain(&format!("real packets take real time: about {hours:.1} hours\n"));
    #[cfg(target_os = "linux")]
    afteryou_bed::net::become_root_of_own_namespace()?;
    Ok(engine)
}

fn print(draws: &[Draw<'_>]) -> Result<(), Failure> {
    let (width, colour) = (output::table_width(), in_colour());
    let shown = |table| output::print(&table_text(&table, width, colour));
    for draw in draws {
        let order = Order::of(draw.season, draw.scores).table();
        shown(afteryou_report::table::Table { title: format!("{}: {}", order.title, draw.name), ..order })?;
        for failure in failures(draw.season) {
            output::print(&failure)?;
        }
        draw.slices.iter().flat_map(|slices| slices.tables(&draw.name)).try_for_each(shown)?;
    }
    match draws {
        [first, second] => {
            shown(table::draws(first.season, [&first.name, &second.name], [first.scores, second.scores]))
        }
        _ => Ok(()),
    }
}

/// Returns a line for each entrant with failed runs: how many, and the reason of the first.
fn failures(season: &Season) -> Vec<String> {
    let line = |(entrant, runs): (&Entrant, &Vec<afteryou_league::Outcome>)| {
        let mut failed =
            runs.iter().zip(&season.cells).filter_map(|(run, cell)| Some((run.as_ref().err()?, cell)));
        let (reason, cell) = failed.next()?;
        let number = failed.count() + 1;
        Some(format!("{}: {number} runs failed, the first in {}: {reason}\n", entrant.name, cell.name))
    };
    season.entrants.iter().zip(&season.runs).filter_map(line).collect()
}

fn write(draws: &[Draw<'_>], command: &str, dir: &Path) -> Result<(), Failure> {
    for file in page::files(draws, command).map_err(failure)? {
        let path = dir.join(&file.name);
        check_writable(path.parent().unwrap_or(dir))?;
        write_file(&path, &file.bytes)?;
    }
    output::complain(&format!("Page: {}\n", dir.join("index.html").display()));
    Ok(())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Lab(afteryou_engines::Error::Interrupted) => {
            Failure::Stopped("interrupted: the same command continues from there".to_owned())
        }
        Error::Controller(_) | Error::Twice(_) => Failure::usage(error),
        other => other.into(),
    }
}
