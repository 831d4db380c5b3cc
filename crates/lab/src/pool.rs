//! Many runs on several cores, with progress, cancellation and results in the order of the plan.

use crate::engine::Engine;
use crate::error::Error;
use crate::ordered::{self, Report, Turns};
use crate::plan::Point;
use afteryou_scenario::Outcome;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Parts of a run in the counters of progress.
const PARTS: f64 = 1e6;

/// Threads that carry out plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    threads: usize,
}

/// A report of a pool to its caller.
#[derive(Debug)]
pub enum Event {
    /// The progress of all runs; ten times a second, and after each run.
    Progress(PoolProgress),
    /// The run of the point with this index has ended. Indices ascend from 0 without gaps, whichever run ends first.
    Done(usize, Box<Outcome>),
}

/// The progress of a pool's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolProgress {
    /// Runs that have been handed over.
    pub done: usize,
    /// Runs worth of work that is done, those under way in part.
    pub work: f64,
    /// Time that has passed within the scenarios of all runs, baselines added, s.
    pub passed_s: f64,
}

impl Default for Pool {
    /// A thread for each core.
    fn default() -> Pool {
        Pool::of(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Pool {
    /// So many threads, at least one.
    pub fn of(threads: usize) -> Pool {
        Pool { threads: threads.max(1) }
    }

    /// Runs `points` with `engine` and calls `report` in this thread with each outcome and with progress.
    ///
    /// Outcomes do not depend on the number of threads. The first error ends everything: of the points before it all
    /// outcomes have been handed over, of those after it none. Setting `stop` ends everything within a moment; the points
    /// that were handed over by then are complete, and nothing is left of the others. No thread is left when this returns.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `stop` was set, the first error of a run in the order of the points, and every error that
    /// `report` returns.
    pub fn run<E: From<Error>>(
        self,
        engine: &dyn Engine,
        points: &[Point],
        stop: &AtomicBool,
        report: &mut dyn FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let counters = Counters::default();
        let work = |point: &Point, turns: &Turns| {
            let mut meter = Meter { counters: &counters, parts: 0, passed_ms: 0 };
            let outcome = point.run_with(engine, &mut |progress| {
                meter.report(progress.done, progress.passed_s);
                !stop.load(Ordering::Relaxed) && !turns.is_over()
            })?;
            meter.report(1.0, 0.0);
            Ok::<_, Error>(Box::new(outcome))
        };
        ordered::run(points, self.threads.min(engine.at_once()), work, &mut |received| {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted.into());
            }
            match received {
                Report::Done(index, outcome) => report(Event::Done(index, outcome)),
                Report::Tick(done) => report(Event::Progress(counters.progress(done))),
            }
        })
    }

    /// Runs `points` with `engine` and returns all outcomes in the order of the points, each with all its curves in memory.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn outcomes(
        self,
        engine: &dyn Engine,
        points: &[Point],
        stop: &AtomicBool,
    ) -> Result<Vec<Outcome>, Error> {
        let mut outcomes = Vec::with_capacity(points.len());
        self.run(engine, points, stop, &mut |event| {
            if let Event::Done(_, outcome) = event {
                outcomes.push(*outcome);
            }
            Ok::<(), Error>(())
        })?;
        Ok(outcomes)
    }
}

/// Work of all threads together.
#[derive(Default)]
struct Counters {
    /// Parts of runs.
    parts: AtomicU64,
    passed_ms: AtomicU64,
}

impl Counters {
    fn progress(&self, done: usize) -> PoolProgress {
        let work = self.parts.load(Ordering::Relaxed) as f64 / PARTS;
        let passed_s = self.passed_ms.load(Ordering::Relaxed) as f64 / 1e3;
        PoolProgress { done, work, passed_s }
    }
}

/// Adds the progress of a run to the counters of all.
struct Meter<'a> {
    counters: &'a Counters,
    /// The part that this run has added so far.
    parts: u64,
    passed_ms: u64,
}

impl Meter<'_> {
    fn report(&mut self, done: f64, passed_s: f64) {
        let add = |counter: &AtomicU64, added: &mut u64, value: f64| {
            let value = value as u64;
            counter.fetch_add(value.saturating_sub(*added), Ordering::Relaxed);
            *added = value.max(*added);
        };
        add(&self.counters.parts, &mut self.parts, done.clamp(0.0, 1.0) * PARTS);
        add(&self.counters.passed_ms, &mut self.passed_ms, passed_s * 1e3);
    }
}
