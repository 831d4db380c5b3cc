//! Runs the scenarios and prints the table. The simulator's share has the standard deviation of its seeds: where that is
//! large, a mean of few runs means little.

use super::rows::{Row, ROWS};
use afteryou_base::lock::EvenPoisoned;
use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::outcome::{Lateness, Run};
use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Seeds of the simulator.
const SEEDS: u64 = 24;
/// Largest standard error of the mean share, points: a third of the bound. Where the simulator's seeds differ more, the testbed
/// runs more often.
const STANDARD_ERROR: f64 = 2.0;
/// The first part of a run is not measured.
const SETTLING: u64 = 4;

struct Settings {
    /// Of each scenario; none: as many as its spread requires.
    runs: Option<u64>,
    seconds: u64,
    at_once: usize,
    only: String,
    check: bool,
}

/// The measures to compare.
#[derive(Clone, Copy, Default)]
struct Figures {
    utilisation: f64,
    /// Of the first of two flows.
    share: Option<f64>,
    queue_ms: f64,
}

/// The simulator's answer.
struct Simulated {
    middle: Figures,
    /// Standard deviation of a seed's share, points.
    deviation: f64,
}

impl Simulated {
    /// Runs in the testbed whose mean share has a small enough standard error.
    fn runs_required(&self, fewest: u64) -> u64 {
        fewest.max((self.deviation / STANDARD_ERROR).powi(2).ceil() as u64)
    }
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
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name().contains(&settings.only)).collect();
    println!(
        "| scenario | runs | utilisation %, bed / sim | share %, bed / sim | mean queue ms, bed / sim | |"
    );
    println!("|---|---|---|---|---|---|");
    let simulated: Vec<Simulated> =
        rows.iter().map(|row| simulated(row, settings.seconds)).collect::<Result<_, Failure>>()?;
    let required = |(row, one): (&&Row, &Simulated)| one.runs_required(row.judgement().runs);
    let runs: Vec<u64> =
        rows.iter().zip(&simulated).map(|both| settings.runs.unwrap_or_else(|| required(both))).collect();
    let jobs: Vec<(usize, u64)> =
        runs.iter().enumerate().flat_map(|(row, &runs)| (1..=runs).map(move |seed| (row, seed))).collect();
    let queue = Mutex::new(jobs.into_iter().rev().collect::<Vec<_>>());
    let done: Mutex<Vec<Vec<Figures>>> = Mutex::new(vec![Vec::new(); rows.len()]);
    let spoiled = Mutex::new(Vec::new());
    // Notes a run; false if it was the last of a row that misses.
    let note = |row: usize, figures| {
        let mut done = done.lock().even_poisoned();
        done[row].push(figures);
        done[row].len() as u64 != runs[row] || print(rows[row], &done[row], &simulated[row])
    };
    let work = || -> Result<bool, Failure> {
        let mut holds = true;
        loop {
            let next = queue.lock().even_poisoned().pop();
            let Some((row, seed)) = next else { return Ok(holds) };
            let Some(figures) = real(rows[row], seed, settings.seconds)? else {
                spoiled.lock().even_poisoned().push((row, seed));
                continue;
            };
            holds &= note(row, figures);
        }
    };
    let mut all_hold = true;
    let results: Vec<Result<bool, Failure>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.at_once).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|joined| joined.unwrap_or_else(|_| Err("a worker failed".into()))).collect()
    });
    for holds in results {
        all_hold &= holds?;
    }
    for (row, seed) in spoiled.lock().even_poisoned().drain(..) {
        let name = rows[row].name();
        let Some(figures) = real(rows[row], seed, settings.seconds)? else {
            println!("invalid measurement: the host was too slow for {name}");
            all_hold = false;
            continue;
        };
        all_hold &= note(row, figures);
    }
    Ok(all_hold || !settings.check)
}

fn settings() -> Result<Settings, Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut settings =
        Settings { runs: None, seconds: 40, at_once: (cores / 2).max(1), only: String::new(), check: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--runs" => settings.runs = Some(value()?.parse()?),
            "--seconds" => settings.seconds = value()?.parse()?,
            "--at-once" => settings.at_once = value()?.parse()?,
            "--only" => settings.only = value()?,
            "--check" => settings.check = true,
            other => return Err(format!("unknown argument {other}: see the head of this file").into()),
        }
    }
    Ok(settings)
}

fn scenario(row: &Row, seed: u64, seconds: u64) -> Result<Checked, Failure> {
    let text = row.text(seconds / SETTLING, seconds);
    let experiment = Experiment::parse(&text, &row.name(), &[])?;
    let run = experiment.runs(Some(seed), Some(1))?.pop().ok_or("a file without a run")?;
    Ok(run.scenario)
}

/// Runs in the testbed; returns `None` if the machine was too slow.
fn real(row: &Row, seed: u64, seconds: u64) -> Result<Option<Figures>, Failure> {
    let scenario = scenario(row, seed, seconds)?;
    let outcome = testbed::run(&scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
    let lateness = outcome.run.lateness.filter(Lateness::spoiled);
    if let Some(Lateness { departures, .. }) = &lateness {
        eprintln!("{}: p99 of the lateness is {:.1} ms, repeated later", row.name(), departures.p99_ms);
    }
    Ok(lateness.is_none().then(|| figures(&outcome.run)))
}

/// Runs the simulator's seeds.
fn simulated(row: &Row, seconds: u64) -> Result<Simulated, Failure> {
    let run = |seed| {
        let scenario = scenario(row, seed, seconds)?;
        Ok(figures(&afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?.run))
    };
    let all: Vec<Figures> = (1..=SEEDS).map(run).collect::<Result<_, Failure>>()?;
    let share = |one: &Figures| one.share.unwrap_or(0.0);
    let mean = mean_of(&all, share);
    let variance = all.iter().map(|one| (share(one) - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
    Ok(Simulated { middle: middle(&all, row.judgement().by_median), deviation: variance.sqrt() })
}

fn figures(run: &Run) -> Figures {
    let Some(window) = run.windows.first() else { return Figures::default() };
    let link = &window.links[0];
    let sum: f64 = window.flows.iter().map(|flow| flow.goodput_bit_s).sum();
    Figures {
        utilisation: link.utilisation * 100.0,
        share: (window.flows.len() > 1).then(|| window.flows[0].goodput_bit_s / sum.max(1.0) * 100.0),
        queue_ms: link.queuing_delay.map_or(0.0, |delay| delay.mean_ms),
    }
}

/// Returns the means or the medians of runs.
fn middle(all: &[Figures], by_median: bool) -> Figures {
    let middle_of = if by_median { median_of } else { mean_of };
    let has_shares = all.iter().any(|one| one.share.is_some());
    Figures {
        utilisation: middle_of(all, |one| one.utilisation),
        share: has_shares.then(|| middle_of(all, |one| one.share.unwrap_or(0.0))),
        queue_ms: middle_of(all, |one| one.queue_ms),
    }
}

fn mean_of(all: &[Figures], of: fn(&Figures) -> f64) -> f64 {
    all.iter().map(of).sum::<f64>() / all.len().max(1) as f64
}

fn median_of(all: &[Figures], of: fn(&Figures) -> f64) -> f64 {
    let mut values: Vec<f64> = all.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Prints a row; returns whether it is within the bounds or known not to be.
fn print(row: &Row, runs: &[Figures], &Simulated { middle: simulated, deviation }: &Simulated) -> bool {
    let judgement = row.judgement();
    let real = middle(runs, judgement.by_median);
    let share = |figures: Figures| figures.share.map_or("–".to_owned(), |share| format!("{share:.1}"));
    let mut misses = Vec::new();
    if (real.utilisation - simulated.utilisation).abs() > 3.0 {
        misses.push("utilisation");
    }
    if real
        .share
        .zip(simulated.share)
        .is_some_and(|(real, simulated)| (real - simulated).abs() > judgement.share)
    {
        misses.push("share");
    }
    let bound_ms = (real.queue_ms * judgement.queue).max(if real.queue_ms < 10.0 { 1.0 } else { 3.0 });
    if (real.queue_ms - simulated.queue_ms).abs() > bound_ms {
        misses.push("queue");
    }
    let verdict = match (misses.is_empty(), row.known) {
        (true, _) => "✓".to_owned(),
        (false, Some(why)) => format!("{}: {why}", misses.join(", ")),
        (false, None) => format!("✗ {}", misses.join(", ")),
    };
    println!(
        "| {} | {} | {:.1} / {:.1} | {} / {}{} | {:.1} / {:.1} | {verdict} |",
        row.name(),
        runs.len(),
        real.utilisation,
        simulated.utilisation,
        share(real),
        share(simulated),
        simulated.share.map_or(String::new(), |_| format!(" ± {deviation:.1}")),
        real.queue_ms,
        simulated.queue_ms
    );
    misses.is_empty() || row.known.is_some()
}
