//! Runs the scenarios and prints the table. The simulator's share has the standard deviation of its seeds: where that is
//! large, a mean of few runs means little.

use super::judge::{middle, remark, Figures, Measured, Simulated, Verdict};
use super::rows::{Row, ROWS};
use afteryou_base::lock::EvenPoisoned;
use afteryou_bed::run::{Options, QueueBy};
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
/// The first part of a run is not measured.
const SETTLING: u64 = 4;

struct Settings {
    /// Of each scenario; none: as many as its spread requires.
    runs: Option<u64>,
    seconds: u64,
    at_once: usize,
    only: String,
    check: bool,
    queue_by: QueueBy,
}

/// The rows at work.
struct Rows {
    rows: Vec<&'static Row>,
    simulated: Vec<Simulated>,
    seconds: u64,
    queue_by: QueueBy,
    /// The runs to come, row and seed, the last one next.
    jobs: Mutex<Vec<(usize, u64)>>,
    measured: Mutex<Vec<Measured>>,
    /// Runs that the machine was too slow for.
    spoiled: Mutex<Vec<(usize, u64)>>,
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
    println!(
        "| scenario | runs | utilisation %, bed / sim | share %, bed / sim | mean queue ms, bed / sim | |"
    );
    println!("|---|---|---|---|---|---|");
    let rows = Rows::of(&settings)?;
    let mut all_hold = true;
    while rows.has_jobs() {
        all_hold &= rows.work_off(settings.at_once)?;
        all_hold &= rows.repeat_spoiled()?;
    }
    Ok(all_hold || !settings.check)
}

impl Rows {
    fn of(settings: &Settings) -> Result<Rows, Failure> {
        let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name().contains(&settings.only)).collect();
        let simulated: Vec<Simulated> =
            rows.iter().map(|row| simulated(row, settings.seconds)).collect::<Result<_, Failure>>()?;
        let required = |(row, one): (&&Row, &Simulated)| one.runs_required(&row.judgement());
        let runs: Vec<u64> =
            rows.iter().zip(&simulated).map(|both| settings.runs.unwrap_or_else(|| required(both))).collect();
        let jobs = runs.iter().enumerate().flat_map(|(row, &runs)| (1..=runs).map(move |seed| (row, seed)));
        Ok(Rows {
            jobs: Mutex::new(jobs.rev().collect()),
            measured: Mutex::new(runs.iter().map(|&runs| Measured::of(runs)).collect()),
            spoiled: Mutex::new(Vec::new()),
            seconds: settings.seconds,
            queue_by: settings.queue_by,
            rows,
            simulated,
        })
    }

    fn has_jobs(&self) -> bool {
        !self.jobs.lock().even_poisoned().is_empty()
    }

    /// Runs the jobs, `at_once` testbeds at a time. Returns false if a row misses.
    fn work_off(&self, at_once: usize) -> Result<bool, Failure> {
        let results: Vec<Result<bool, Failure>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(|| self.work())).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.map(|joined| joined.unwrap_or_else(|_| Err("a worker failed".into()))).collect()
        });
        results.into_iter().try_fold(true, |all_hold, holds| Ok(all_hold & holds?))
    }

    fn work(&self) -> Result<bool, Failure> {
        let mut holds = true;
        loop {
            let next = self.jobs.lock().even_poisoned().pop();
            let Some((row, seed)) = next else { return Ok(holds) };
            match self.real(row, seed)? {
                Some(figures) => holds &= self.note(row, figures),
                None => self.spoiled.lock().even_poisoned().push((row, seed)),
            }
        }
    }

    /// Runs alone what the machine was too slow for. Returns false if a row misses, or cannot be measured.
    fn repeat_spoiled(&self) -> Result<bool, Failure> {
        let mut all_hold = true;
        for (row, seed) in self.spoiled.lock().even_poisoned().drain(..) {
            let Some(figures) = self.real(row, seed)? else {
                println!("invalid measurement: the host was too slow for {}", self.rows[row].name());
                all_hold = false;
                continue;
            };
            all_hold &= self.note(row, figures);
        }
        Ok(all_hold)
    }

    /// Runs a row in the testbed; returns `None` if the machine was too slow.
    fn real(&self, index: usize, seed: u64) -> Result<Option<Figures>, Failure> {
        let row = self.rows[index];
        let options = Options { queue_by: self.queue_by, ..Options::default() };
        let scenario = scenario(row, seed, self.seconds)?;
        let outcome = testbed::run(&scenario, &options, &mut |_| ControlFlow::Continue(()))?;
        let lateness = outcome.run.lateness.filter(Lateness::spoiled);
        if let Some(Lateness { departures, .. }) = &lateness {
            eprintln!("{}: p99 of the lateness is {:.1} ms, repeated later", row.name(), departures.p99_ms);
        }
        Ok(lateness.is_none().then(|| figures(&outcome.run)))
    }

    /// Notes a run. Returns false if it was the last of a row that misses.
    fn note(&self, index: usize, figures: Figures) -> bool {
        let (row, simulated) = (self.rows[index], &self.simulated[index]);
        let mut measured = self.measured.lock().even_poisoned();
        match measured[index].add(figures, simulated, &row.judgement()) {
            Verdict::Waits => true,
            Verdict::RunsAgain(seeds) => {
                eprintln!("{}: out of bounds in few runs, repeated with more", row.name());
                self.jobs.lock().even_poisoned().extend(seeds.rev().map(|seed| (index, seed)));
                true
            }
            Verdict::Judged(misses) => print(row, measured[index].runs(), simulated, &misses),
        }
    }
}

fn settings() -> Result<Settings, Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut settings = Settings {
        runs: None,
        seconds: 40,
        at_once: (cores / 2).max(1),
        only: String::new(),
        check: false,
        queue_by: QueueBy::Afteryou,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--runs" => settings.runs = Some(value()?.parse()?),
            "--seconds" => settings.seconds = value()?.parse()?,
            "--at-once" => settings.at_once = value()?.parse()?,
            "--only" => settings.only = value()?,
            "--check" => settings.check = true,
            "--kernel-queues" => settings.queue_by = QueueBy::Kernel,
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

/// Runs the simulator's seeds.
fn simulated(row: &Row, seconds: u64) -> Result<Simulated, Failure> {
    let run = |seed| {
        let scenario = scenario(row, seed, seconds)?;
        Ok(figures(&afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?.run))
    };
    let all: Vec<Figures> = (1..=SEEDS).map(run).collect::<Result<_, Failure>>()?;
    Ok(Simulated::of(&all, &row.judgement()))
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

/// Prints a row; returns whether it is within the bounds.
fn print(row: &Row, runs: &[Figures], simulated: &Simulated, misses: &[&str]) -> bool {
    let (real, deviation) = (middle(runs, row.judgement().by_median), simulated.deviation);
    let simulated = simulated.middle;
    let share = |figures: Figures| figures.share.map_or("–".to_owned(), |share| format!("{share:.1}"));
    let verdict = remark(misses);
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
    misses.is_empty()
}
