//! Many runs on several cores. Outcomes are handed over in the order of the runs, whichever ends first.

use crate::failure::Failure;
use afteryou_scenario::file::Planned;
use afteryou_scenario::Outcome;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);
/// Parts of a run in the counters of progress.
const PARTS: f64 = 1e6;

/// What the caller hears.
pub(super) enum Tick {
    /// How far all of them are.
    Progress(Progress),
    /// The run with this index has ended.
    Done(usize, Box<Outcome>),
}

/// How far the runs are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Runs that have ended.
    pub(super) done: usize,
    /// Runs worth of work that is done, those under way in part.
    pub(super) work: f64,
}

type Ended = (usize, Result<Box<Outcome>, afteryou_sim::Error>);

/// What the workers share.
struct Shared<'a> {
    runs: &'a [Planned],
    next: AtomicUsize,
    /// Parts of work done, all workers together.
    parts: AtomicU64,
    stop: &'a AtomicBool,
    /// The caller gave up.
    over: AtomicBool,
}

/// Runs everything with `jobs` workers. An error of a run or of `hear` ends all.
pub(super) fn run(
    runs: &[Planned],
    jobs: usize,
    stop: &AtomicBool,
    hear: &mut dyn FnMut(Tick) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let shared = Shared {
        runs,
        next: AtomicUsize::new(0),
        parts: AtomicU64::new(0),
        stop,
        over: AtomicBool::new(false),
    };
    // Workers wait when the caller is slow, or outcomes would pile up in memory.
    let (sender, receiver) = mpsc::sync_channel::<Ended>(jobs);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            let (sender, shared) = (sender.clone(), &shared);
            scope.spawn(move || work(shared, &sender));
        }
        drop(sender);
        let heard = listen(&shared, &receiver, hear);
        shared.over.store(true, Ordering::Relaxed);
        drop(receiver); // a worker that waits to hand over is let go
        heard
    })
}

fn work(shared: &Shared<'_>, sender: &mpsc::SyncSender<Ended>) {
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(planned) = shared.runs.get(index) else { return };
        let ended = simulate(shared, planned).map(Box::new);
        let failed = ended.is_err();
        if sender.send((index, ended)).is_err() || failed {
            return;
        }
    }
}

fn simulate(shared: &Shared<'_>, planned: &Planned) -> Result<Outcome, afteryou_sim::Error> {
    let mut told = 0;
    let mut seen = 0.0;
    let mut before = 0.0;
    // A baseline is a second pass over the same time.
    let passes = if planned.scenario.baseline { 2.0 } else { 1.0 };
    let outcome = afteryou_sim::run(&planned.scenario, &mut |progress| {
        if progress.at_s < seen {
            before += 1.0;
        }
        seen = progress.at_s;
        let parts = ((before + progress.at_s / progress.of_s) / passes * PARTS) as u64;
        shared.parts.fetch_add(parts.saturating_sub(told), Ordering::Relaxed);
        told = told.max(parts);
        !shared.stop.load(Ordering::Relaxed) && !shared.over.load(Ordering::Relaxed)
    })?;
    shared.parts.fetch_add((PARTS as u64).saturating_sub(told), Ordering::Relaxed);
    Ok(Outcome { point: planned.point.clone(), repetition: planned.repetition, ..outcome })
}

fn listen(
    shared: &Shared<'_>,
    receiver: &mpsc::Receiver<Ended>,
    hear: &mut dyn FnMut(Tick) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        match receiver.recv_timeout(TICK) {
            Ok((index, ended)) => {
                waiting.insert(index, ended.map_err(failed)?);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some(outcome) = waiting.remove(&next) {
            hear(Tick::Done(next, outcome))?;
            next += 1;
        }
        let work = shared.parts.load(Ordering::Relaxed) as f64 / PARTS;
        hear(Tick::Progress(Progress { done: next, work }))?;
    }
}

fn failed(error: afteryou_sim::Error) -> Failure {
    match error {
        afteryou_sim::Error::Interrupted => Failure::Interrupted,
        afteryou_sim::Error::Scenario(error) => Failure::usage(error),
        other => other.into(),
    }
}
