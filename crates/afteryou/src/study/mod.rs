//! `afteryou study`: the experiments of five papers, run again beside their published numbers.

mod bed;
mod cpu;
mod list;

use crate::cache_place;
use crate::runs::show::Show;
use crate::runs::{build, in_colour, on_interrupt};
use afteryou_engines::Pool;
use afteryou_files::{check_writable, write_file};
use afteryou_report::table_text;
use afteryou_scenario::content::ContentHash;
use afteryou_studies::{book, choice, tables, Cache, Chosen, EntryVerdict, Error, Extent, Setting, Verdict};
use afteryou_terminal::{output, Failure};
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// The word for every paper.
const ALL: &str = "all";

/// Engines of studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StudyEngine {
    /// The packet simulator, and the fluid model where the paper has one
    Sim,
    /// Real packets, only for the testbed set: about two hours of traffic, several runs at the same time. Linux, as root
    Bed,
}

/// The studies, and the part of them that runs.
#[derive(Args, Clone, Debug)]
pub struct StudyArgs {
    /// Papers (gong2012) or entries (gong2012/fig2), or the word all
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// Print the entries instead of running them
    #[arg(long)]
    pub list: bool,

    /// The engine. `bed` prints first how long it will take
    #[arg(long, value_enum, default_value = "sim", value_name = "ENGINE")]
    pub engine: StudyEngine,

    /// With --engine bed: print how many days all experiments would take on real packets
    #[arg(long, conflicts_with_all = ["list", "ids"])]
    pub all: bool,

    /// Exit with 1 on any unexplained miss, and on any explanation that is no longer valid
    #[arg(long)]
    pub check: bool,

    /// Use thinner grids and fewer seeds, but never shorter runs
    #[arg(long, conflicts_with_all = ["full_repeats", "second_seeds"])]
    pub quick: bool,

    /// Run every seed of the papers' protocols, where the usual run has fewer
    #[arg(long, conflicts_with = "second_seeds")]
    pub full_repeats: bool,

    /// Use the same number of other seeds, to find verdicts that depend on the seeds
    #[arg(long)]
    pub second_seeds: bool,

    /// Write a book into this folder: a summary, a page for each paper with its figures, the scenario files
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Print the findings of each entry as JSON, one entry per line
    #[arg(long)]
    pub json: bool,

    /// Runs at the same time; the number of cores by default
    #[arg(long, value_name = "N", value_parser = crate::values::jobs)]
    pub jobs: Option<u16>,

    /// Keep the readings of runs in this folder, where an interrupted study resumes; the user's cache by default
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

impl StudyArgs {
    fn extent(&self) -> Extent {
        match (self.quick, self.full_repeats, self.second_seeds) {
            (true, _, _) => Extent::Quick,
            (_, true, _) => Extent::Full,
            (_, _, true) => Extent::Second,
            _ => Extent::Usual,
        }
    }

    /// Returns the papers and entries that are named; nothing for all.
    fn names(&self) -> &[String] {
        match &self.ids[..] {
            [only] if only == ALL => &[],
            ids => ids,
        }
    }

    /// Returns whether the command would run everything for hours although nobody has asked for everything.
    fn is_by_mistake(&self) -> bool {
        self.ids.is_empty() && !self.list && !self.all && self.extent() != Extent::Quick
    }

    fn pool(&self) -> Pool {
        self.jobs.map_or_else(Pool::default, |jobs| Pool::of(jobs.into()))
    }
}

/// Lists or runs the studies.
///
/// # Errors
/// Options that exclude each other, an experiment that does not exist, and all of them without the word `all`. A directory that cannot be
/// written, a run that fails, and with `--check` a verdict that does not hold.
pub fn run(args: &StudyArgs) -> Result<(), Failure> {
    let is_bed = args.engine == StudyEngine::Bed;
    refuse_together(args)?;
    if args.all {
        return bed::print_days();
    }
    let chosen = choice::named(args.names()).map_err(failure)?;
    if args.is_by_mistake() {
        return Err(Failure::usage(match is_bed {
            true => "the bed set takes hours of traffic: name some of it (afteryou study --engine bed --list shows it), or write \
                     `afteryou study --engine bed all`"
                .to_owned(),
            false => format!(
                "all {} experiments take hours: name some of them (afteryou study --list shows all), use --quick, or write \
                 `afteryou study all`",
                chosen.len()
            ),
        }));
    }
    if args.list {
        return match is_bed {
            true => bed::print(&chosen, args.json),
            false => list::print(&chosen, args.json),
        };
    }
    if let Some(dir) = &args.out {
        check_writable(dir)?;
    }
    let verdicts = match is_bed {
        true => bed::verdicts(args, &chosen)?,
        false => simulated(args, &chosen)?,
    };
    print(&verdicts, args.json)?;
    if let Some(dir) = &args.out {
        write_book(&verdicts, dir)?;
    }
    if args.check {
        return check(&verdicts);
    }
    Ok(())
}

/// Refuses options that the engine does not have.
fn refuse_together(args: &StudyArgs) -> Result<(), Failure> {
    let is_bed = args.engine == StudyEngine::Bed;
    if is_bed && args.extent() != Extent::Usual {
        let reason =
            "--engine bed runs each point once: leave --quick, --full-repeats and --second-seeds out";
        return Err(Failure::usage(reason));
    }
    if args.all && !is_bed {
        return Err(Failure::usage("--all belongs to --engine bed: without it every entry is run anyway"));
    }
    Ok(())
}

fn open_cache(args: &StudyArgs, build: &ContentHash) -> Result<Cache, Failure> {
    match args.cache.clone().or_else(|| cache_place::cache("study")) {
        Some(dir) => Ok(Cache::open(&dir, build)?),
        None => Ok(Cache::in_memory()),
    }
}

fn simulated(args: &StudyArgs, chosen: &[Chosen]) -> Result<Vec<EntryVerdict>, Failure> {
    let build = build()?;
    let stop = on_interrupt()?;
    let mut cache = open_cache(args, &build)?;
    let setting = Setting {
        extent: args.extent(),
        pool: args.pool(),
        build,
        figures: args.out.is_some(),
        stop: &stop,
        cpu_s: cpu::of_this_thread,
    };
    let mut show: Option<Show> = None;
    let verdicts = afteryou_studies::run(chosen, &setting, &mut cache, &mut |all, there, progress| {
        let show = show.get_or_insert_with(|| {
            let mut show = Show::new(all, std::io::stderr().is_terminal());
            show.was_there(there);
            show
        });
        show.draw(progress);
    });
    if let Some(show) = &mut show {
        show.clear();
    }
    verdicts.map_err(failure)
}

fn print(verdicts: &[EntryVerdict], json: bool) -> Result<(), Failure> {
    if json {
        return verdicts.iter().try_for_each(|verdict| {
            let line = serde_json::json!({
                "entry": verdict.name(),
                "verdict": verdict.verdict(),
                "met_elsewhere": verdict.met_elsewhere(),
                "left_out": verdict.left_out,
                "stale": verdict.stale,
                "findings": verdict.findings,
            });
            output::print(&format!("{line}\n"))
        });
    }
    let (width, colour) = (output::table_width(), in_colour());
    for verdict in verdicts {
        output::print(&table_text(&tables::findings(verdict), width, colour))?;
        output::print(&remarks(verdict))?;
    }
    output::print(&table_text(&tables::summary(verdicts), width, colour))
}

fn remarks(verdict: &EntryVerdict) -> String {
    let lines = tables::remarks(verdict);
    let wrapped =
        lines.iter().map(|line| textwrap::indent(&textwrap::fill(line, output::width() - 2), "  ") + "\n");
    wrapped.collect::<String>() + "\n"
}

fn check(verdicts: &[EntryVerdict]) -> Result<(), Failure> {
    let missed = verdicts.iter().filter(|verdict| verdict.verdict() == Verdict::Missed);
    let missed: Vec<String> = missed.map(EntryVerdict::name).collect();
    let stale: Vec<String> =
        verdicts.iter().filter(|v| !v.stale.is_empty()).map(EntryVerdict::name).collect();
    let mut faults = Vec::new();
    if !missed.is_empty() {
        faults.push(format!("missed and not explained: {}", missed.join(", ")));
    }
    if !stale.is_empty() {
        faults.push(format!("explanations do not hold: {}", stale.join(", ")));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Verdict(faults.join("; "))),
    }
}

fn write_book(verdicts: &[EntryVerdict], dir: &Path) -> Result<(), Failure> {
    for file in book::files(verdicts).map_err(failure)? {
        let path = dir.join(&file.name);
        let folder = path.parent().unwrap_or(dir);
        check_writable(folder)?;
        write_file(&path, file.text.as_bytes())?;
    }
    output::complain(&format!("Book: {}\n", dir.join("index.html").display()));
    Ok(())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Lab(afteryou_engines::Error::Interrupted) => {
            Failure::Stopped("interrupted: the same command continues from there".to_owned())
        }
        Error::Unknown { .. } | Error::NotInBedSet => Failure::usage(error),
        other => other.into(),
    }
}
