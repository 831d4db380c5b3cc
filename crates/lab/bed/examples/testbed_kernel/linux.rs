//! Runs the rows and prints the table.

use super::figures::{Figures, Silence};
use super::judge::Runs;
use super::rows::{rows, Failure, Home, Row};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Time;
use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::outcome::{Lateness, Outcome};
use afteryou_scenario::{Checked, Passage};
use afteryou_sim::{Watchers, NEVER};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

/// Times that a run is repeated if the machine was too slow for it.
const REPEATED: usize = 2;

struct Settings {
    runs: u64,
    at_once: usize,
    only: String,
    check: bool,
}

/// A run in the testbed to make.
#[derive(Clone, Copy)]
struct Job {
    row: Row,
    seed: u64,
    /// Where the background runs; a run without it otherwise.
    home: Option<Home>,
}

/// Measures what the command line asks for.
pub fn main() -> ExitCode {
    if let Err(error) = testbed::ready() {
        println!("SKIPPED: {error}");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let settings = settings()?;
    let present = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    if present.contains("afteryou") {
        eprintln!("the kernel has rules of another program's, which are measured: {}", present.trim());
    }
    println!("| row | share alone: sim, kernel, uTP | mean queue alone, ms | p95, ms | share beside | mean queue beside, ms | kept, stay; from 2 s | silence, s | missed |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let chosen: Vec<Row> = rows().into_iter().filter(|row| row.name().contains(&settings.only)).collect();
    let jobs = chosen.iter().flat_map(|row| jobs(row, settings.runs)).collect();
    let made = in_testbed(jobs, settings.at_once)?;
    let mut all_hold = true;
    for row in &chosen {
        let runs = of_row(row, &made, settings.runs)?;
        let misses = runs.misses(row);
        print(row, &runs, &misses);
        all_hold &= misses.is_empty();
    }
    Ok(all_hold || !settings.check)
}

fn settings() -> Result<Settings, Failure> {
    let mut settings = Settings { runs: 5, at_once: 1, only: String::new(), check: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--runs" => settings.runs = value()?.parse()?,
            "--at-once" => settings.at_once = value()?.parse()?,
            "--only" => settings.only = value()?,
            "--check" => settings.check = true,
            other => return Err(format!("unknown argument {other}: see the head of this file").into()),
        }
    }
    Ok(settings)
}

/// Returns a row's runs in the testbed.
fn jobs(row: &Row, runs: u64) -> Vec<Job> {
    let real = row.homes().iter().filter(|home| **home != Home::Simulator).copied().map(Some);
    let homes: Vec<Option<Home>> = real.chain(row.has_utp.then_some(None)).collect();
    (1..=runs).flat_map(|seed| homes.iter().map(move |home| Job { row: *row, seed, home: *home })).collect()
}

/// Returns a row's figures, those of the testbed from `made`.
fn of_row(row: &Row, made: &[(Job, Figures)], runs: u64) -> Result<Runs, Failure> {
    let at = |home: Option<Home>| {
        let mut of_home: Vec<_> =
            made.iter().filter(|(job, _)| job.row == *row && job.home == home).collect();
        // Runs of the same seed beside each other.
        of_home.sort_by_key(|(job, _)| job.seed);
        of_home.into_iter().map(|(_, figures)| *figures)
    };
    Ok(Runs {
        simulator: (1..=runs)
            .map(|seed| {
                simulated(&row.scenario(Home::Simulator, seed)?)
                    .inspect(|figures| eprintln!("{}, sim, seed {seed}: {figures:.3?}", row.name()))
            })
            .collect::<Result<_, _>>()?,
        kernel: at(Some(Home::Kernel)).collect(),
        utp: at(Some(Home::Utp)).collect(),
        without: at(None).map(|figures| figures.cubic).collect(),
    })
}

/// Makes runs in the testbed, `at_once` at a time. Runs for which the machine was too slow are repeated alone.
fn in_testbed(jobs: Vec<Job>, at_once: usize) -> Result<Vec<(Job, Figures)>, Failure> {
    let (left, made, spoiled) = (Mutex::new(jobs), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || -> Result<(), Failure> {
        loop {
            let next = left.lock().even_poisoned().pop();
            let Some(job) = next else { return Ok(()) };
            match real(job)? {
                Some(figures) => made.lock().even_poisoned().push((job, figures)),
                None => spoiled.lock().even_poisoned().push(job),
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| Err("a worker failed".into())))
    })?;
    for job in spoiled.into_inner().even_poisoned() {
        let repeated = (0..REPEATED).find_map(|_| real(job).transpose()).transpose()?;
        let figures = repeated.ok_or("invalid measurement: the host was too slow")?;
        made.lock().even_poisoned().push((job, figures));
    }
    Ok(made.into_inner().even_poisoned())
}

/// Makes a run in the testbed; returns `None` if the machine was too slow.
fn real(Job { row, seed, home }: Job) -> Result<Option<Figures>, Failure> {
    let scenario = match home {
        Some(home) => row.scenario(home, seed)?,
        None => row.without(seed)?,
    };
    let mut silence = Silence::default();
    let mut see = |passage: &Passage<'_>| silence.see(passage);
    let go = &mut |_: &_| ControlFlow::Continue(());
    let outcome = testbed::tapped(&scenario, &Options::default(), go, Some(&mut see))?;
    if let Some(Lateness { departures, .. }) = outcome.run.lateness.filter(Lateness::spoiled) {
        eprintln!("{}: p99 of the lateness is {:.1} ms, to be repeated", row.name(), departures.p99_ms);
        return Ok(None);
    }
    let figures = figures(&scenario, &outcome, silence);
    eprintln!("{}, {home:?}, seed {seed}: {figures:.3?}", row.name());
    Ok(Some(figures))
}

fn simulated(scenario: &Checked) -> Result<Figures, Failure> {
    let mut silence = Silence::default();
    let mut see = |passage: &Passage<'_>| silence.see(passage);
    let watchers = Watchers { every: NEVER, take: &mut |_| {}, tap: Some(&mut see), observers: None };
    let outcome = afteryou_sim::watched(scenario, &mut |_| ControlFlow::Continue(()), watchers)?;
    Ok(figures(scenario, &outcome, silence))
}

fn figures(scenario: &Checked, outcome: &Outcome, silence: Silence) -> Figures {
    Figures::of(&outcome.run, silence.until(Time::ZERO + scenario.duration.0))
}

fn print(row: &Row, runs: &Runs, misses: &[String]) {
    let homes = [&runs.simulator, &runs.kernel, &runs.utp];
    let all: Vec<Figures> =
        homes.into_iter().filter(|runs| !runs.is_empty()).map(|runs| Figures::middle(runs)).collect();
    let list = |decimals: usize, of: fn(&Figures) -> f64| {
        all.iter().map(|figures| format!("{:.decimals$}", of(figures))).collect::<Vec<_>>().join(", ")
    };
    let kept = match runs.without.is_empty() {
        true => "–".to_owned(),
        false => runs.kept().map(|kept| format!("{kept:.3}")).join("; "),
    };
    let verdict = if misses.is_empty() { "✓".to_owned() } else { misses.join(", ") };
    println!(
        "| {} | {} | {} | {} | {} | {} | {kept} | {} | {verdict} |",
        row.name(),
        list(3, |run| run.alone),
        list(1, |run| run.queue_ms),
        list(1, |run| run.p95_ms),
        list(3, |run| run.beside),
        list(1, |run| run.queue_beside_ms),
        list(1, |run| run.silence_s),
    );
}
