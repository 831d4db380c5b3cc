//! Many runs on several cores, with progress, cancellation and results in the order of the plan.

use crate::engine::Engine;
use crate::error::Error;
use crate::ordered::{self, Report, Turns};
use crate::point::Point;
use afteryou_scenario::Outcome;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Parts of a run in the counters of progress.
const PARTS: f64 = 1e6;
/// Runs ahead of the first one that has not ended, for each thread, where outcomes wait in memory with all their curves.
pub const AHEAD: usize = 4;

/// Threads that carry out plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    threads: usize,
}

/// Runs of a longer list that is never in memory as a whole.
#[derive(Clone, Copy)]
pub struct Jobs<'a> {
    /// The engine for all of them.
    pub engine: &'a dyn Engine,
    /// The points to run, by index.
    pub indices: &'a [usize],
    /// Makes the point with an index.
    pub point: &'a (dyn Fn(usize) -> Result<Point, Error> + Sync),
    /// Runs, for each thread, that may have begun while the first of them has not ended. The results of those that have
    /// ended wait in memory. Where results are small there need be no bound.
    pub ahead: usize,
}

/// A report of a pool to its caller.
#[derive(Debug)]
pub enum Event<Out = Box<Outcome>> {
    /// The progress of all runs; ten times a second, and after each run.
    Progress(PoolProgress),
    /// The run of the point with this index has ended. Indices come in the order of the jobs, whichever run ends first.
    Done(usize, Out),
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
    /// Returns a pool with a thread for each core.
    fn default() -> Pool {
        Pool::of(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Pool {
    /// Returns a pool of `threads` threads, at least one.
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
        let indices: Vec<usize> = (0..points.len()).collect();
        let point = |index: usize| Ok(points[index].clone());
        let job = Jobs { engine, indices: &indices, point: &point, ahead: AHEAD };
        self.each(&job, &|_, outcome| Ok::<_, Error>(Box::new(outcome)), stop, report)
    }

    /// Runs the points of `jobs`. Each outcome goes to `finish` in the thread that made it, as soon as it is there. The
    /// result of `finish` is reported in this thread, in the order of the jobs.
    ///
    /// # Errors
    /// As [`run`](Self::run), and every error of `finish`, which ends everything as the error of a run does.
    pub fn each<Out: Send, F: From<Error> + Send, E: From<F>>(
        self,
        jobs: &Jobs,
        finish: &(dyn Fn(usize, Outcome) -> Result<Out, F> + Sync),
        stop: &AtomicBool,
        report: &mut dyn FnMut(Event<Out>) -> Result<(), E>,
    ) -> Result<(), E> {
        let counters = Counters::default();
        let work = |index: &usize, turns: &Turns| {
            let mut meter = Meter { counters: &counters, parts: 0, passed_ms: 0 };
            let outcome = (jobs.point)(*index)?.run_with(jobs.engine, &mut |progress| {
                meter.report(progress.done, progress.passed_s);
                match stop.load(Ordering::Relaxed) || turns.is_over() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            let finished = finish(*index, outcome)?;
            meter.report(1.0, 0.0);
            Ok::<_, F>(finished)
        };
        let threads = self.threads.min(jobs.engine.at_once());
        ordered::run(jobs.indices, threads, jobs.ahead, work, &mut |received| {
            if stop.load(Ordering::Relaxed) {
                return Err(F::from(Error::Interrupted).into());
            }
            match received {
                Report::Done(place, finished) => report(Event::Done(jobs.indices[place], finished)),
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
