//! `afteryou study --engine bed`: some of the papers' experiments on real packets.

use super::{cpu, failure, open_cache, StudyArgs};
use crate::runs::show::Show;
use crate::runs::{build, in_colour, on_interrupt};
use afteryou_report::table::{Cell, Column, Table};
use afteryou_report::table_text;
use afteryou_studies::bed::{self, Cost, Phase, Setting};
use afteryou_studies::{Chosen, EntryVerdict, Error};
use afteryou_terminal::{output, Failure};
use std::io::IsTerminal;

/// Testbeds at the same time, where a core does not carry them all. Each has 20 Mbit/s at most, which takes a fifth of a core.
const BEDS: usize = 4;

/// Runs the chosen part of the bed set. The cost is printed first.
pub(super) fn verdicts(args: &StudyArgs, chosen: &[Chosen]) -> Result<Vec<EntryVerdict>, Failure> {
    let set = bed::set().map_err(failure)?;
    let tested = set.tested(chosen).map_err(failure)?;
    if tested.is_empty() {
        return Err(failure(Error::NotInBedSet));
    }
    let cost = Cost::of(&tested).map_err(failure)?;
    let beds = args.jobs.map_or_else(|| BEDS.min(2 * cores()), usize::from);
    output::complain(&format!(
        "{} runs on real packets, {} of traffic: {} with {beds} at the same time; then {} seeds of each in sim.\n",
        cost.runs,
        minutes(cost.traffic_s),
        minutes(cost.with(beds)),
        set.seeds
    ));
    let stop = on_interrupt()?;
    let build = build()?;
    let mut cache = open_cache(args, &build)?;
    let setting = Setting { beds, pool: args.pool(), build, stop: &stop, cpu_s: cpu::of_this_thread };
    let mut show: Option<(Phase, Show)> = None;
    let mut progress = |phase, all, there, progress| {
        if show.as_ref().is_none_or(|(shown, _)| *shown != phase) {
            if let Some((_, shown)) = &mut show {
                shown.clear();
            }
            let mut begun = Show::new(all, std::io::stderr().is_terminal());
            begun.was_there(there);
            show = Some((phase, begun));
        }
        if let Some((_, show)) = &mut show {
            show.draw(progress);
        }
    };
    let verdicts = bed::run(chosen, &setting, &mut cache, &mut progress);
    if let Some((_, show)) = &mut show {
        show.clear();
    }
    verdicts.map_err(failure)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn minutes(seconds: f64) -> String {
    match seconds < 90.0 {
        true => format!("{seconds:.0} s"),
        false => format!("{:.0} minutes", seconds / 60.0),
    }
}

/// Prints how long every run of every entry would take whose paper used real packets.
pub(super) fn print_days() -> Result<(), Failure> {
    let (runs, days) = bed::days().map_err(failure)?;
    output::print(&format!(
        "All entries of kind testbed are {runs} runs: {days:.0} days on real packets, one after the other. \
         afteryou study --engine bed --list prints the part that takes minutes.\n"
    ))
}

/// Prints the chosen part of the set: entry, check, points, time.
pub(super) fn print(chosen: &[Chosen], json: bool) -> Result<(), Failure> {
    let set = bed::set().map_err(failure)?;
    let tested = set.tested(chosen).map_err(failure)?;
    let whole = Cost::of(&tested).map_err(failure)?;
    let mut rows = Vec::new();
    for tested in &tested {
        let cost = Cost::of(std::slice::from_ref(tested)).map_err(failure)?;
        let entry = format!("{}/{}", tested.chosen.paper.id, tested.chosen.entry.id);
        if json {
            let points: Vec<String> = tested.points.iter().map(|point| point.words_without(&[])).collect();
            let check = &tested.check.id;
            let line = serde_json::json!({ "entry": entry, "check": check, "points": points, "seconds": cost.traffic_s });
            output::print(&format!("{line}\n"))?;
        }
        let words = [entry, tested.check.id.clone(), cost.runs.to_string(), minutes(cost.traffic_s)];
        rows.push(words.map(Cell::new).into());
    }
    if json {
        return Ok(());
    }
    let columns = vec![
        Column::words("study"),
        Column::words("check"),
        Column::numbers("runs"),
        Column::numbers("time"),
    ];
    let title = format!("The bed set: {} runs, {} of traffic", whole.runs, minutes(whole.traffic_s));
    let note = "Runs that several checks need are made once.";
    let table = Table { title, note, grouped: 1, columns, rows };
    output::print(&table_text(&table, output::table_width(), in_colour()))
}
