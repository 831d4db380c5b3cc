//! Work on several threads whose results come back in the order of the jobs, whichever ends first.

use afteryou_base::lock::EvenPoisoned;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Wall time between two calls of `report` while nothing ends.
const TICK: Duration = Duration::from_millis(100);
/// State that the threads share: the next job, and whether there is one.
pub struct Turns {
    jobs: usize,
    next: AtomicUsize,
    /// No job begins any more, and those under way should end.
    over: AtomicBool,
    /// Results that the caller has got.
    handed_over: Mutex<usize>,
    /// Signals changes of the two above.
    changed: Condvar,
    /// Jobs that may have begun beyond those.
    ahead: usize,
}

impl Turns {
    fn new(jobs: usize, ahead: usize) -> Turns {
        Turns {
            jobs,
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            handed_over: Mutex::new(0),
            changed: Condvar::new(),
            ahead,
        }
    }

    /// Returns the next job, when its turn has come; `None` when there is nothing left to do.
    fn next(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.jobs {
            return None;
        }
        let handed_over = self.handed_over.lock().even_poisoned();
        let early =
            |handed_over: &mut usize| index >= handed_over.saturating_add(self.ahead) && !self.is_over();
        let waited = self.changed.wait_while(handed_over, early);
        drop(waited.even_poisoned());
        (!self.is_over()).then_some(index)
    }

    /// Lets no further job begin; those under way continue.
    fn begin_no_more(&self) {
        self.next.store(self.jobs, Ordering::Relaxed);
    }

    /// Returns whether all is over, so that a job under way should end.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Notes that the caller has got the first `results`.
    fn hand_over(&self, results: usize) {
        *self.handed_over.lock().even_poisoned() = results;
        self.changed.notify_all();
    }

    fn end(&self) {
        // Under the lock: a thread that has just looked would miss it.
        let _held = self.handed_over.lock().even_poisoned();
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Ends everything when its thread panics: the others would wait for its result.
struct Alarm<'a>(&'a Turns);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Events for the caller of [`run`].
pub enum Report<Out> {
    /// The result of the job with this index.
    Done(usize, Out),
    /// Some time has passed, or a result has come; the number of results that have been handed over.
    Tick(usize),
}

/// Does `work` on every job, on `threads` threads, and calls `report` in this thread with each result in the order of the jobs.
///
/// The first error in that order ends everything, whichever job fails first, and so does an error of `report`. `work` should
/// return when [`Turns::is_over`]. When `run` returns no thread is left. At most `ahead` jobs for each thread have begun beyond the
/// results that were handed over.
pub fn run<Job: Sync, Out: Send, Fault: Send, E: From<Fault>>(
    jobs: &[Job],
    threads: usize,
    ahead: usize,
    work: impl Fn(&Job, &Turns) -> Result<Out, Fault> + Sync,
    report: &mut dyn FnMut(Report<Out>) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    let turns = Turns::new(jobs.len(), ahead.saturating_mul(threads));
    // Threads wait when the caller is slow, or results would pile up in memory.
    let (sender, receiver) = mpsc::sync_channel(threads.min(jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            let (sender, turns, work) = (sender.clone(), &turns, &work);
            scope.spawn(move || {
                let _alarm = Alarm(turns);
                while let Some(index) = turns.next() {
                    let result = work(&jobs[index], turns);
                    if result.is_err() {
                        turns.begin_no_more();
                    }
                    if sender.send((index, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let received = listen(&turns, &receiver, report);
        turns.end();
        drop(receiver); // a thread that waits to hand over is let go
        received
    })
}

fn listen<Out, Fault, E: From<Fault>>(
    turns: &Turns,
    receiver: &mpsc::Receiver<(usize, Result<Out, Fault>)>,
    report: &mut dyn FnMut(Report<Out>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    loop {
        match receiver.recv_timeout(TICK) {
            Ok((index, result)) => _ = waiting.insert(index, result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some(result) = waiting.remove(&next) {
            report(Report::Done(next, result?))?;
            next += 1;
            turns.hand_over(next);
        }
        report(Report::Tick(next))?;
    }
}

/// Jobs ahead where every result is kept anyway.
const AHEAD: usize = 4;

/// Runs `work` on every job on `threads` threads; returns the results in the order of the jobs.
pub fn each<Job: Sync, Out: Send>(
    jobs: &[Job],
    threads: usize,
    work: impl Fn(&Job) -> Out + Sync,
) -> Vec<Out> {
    let mut results = Vec::with_capacity(jobs.len());
    let mut take = |received| {
        if let Report::Done(_, result) = received {
            results.push(result);
        }
        Ok(())
    };
    let done: Result<(), Never> = run(jobs, threads, AHEAD, |job, _| Ok::<Out, Never>(work(job)), &mut take);
    match done {
        Ok(()) => results,
        Err(never) => match never {},
    }
}

/// No error.
enum Never {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works slowly on the first jobs.
    fn slow(index: &usize) -> usize {
        std::thread::sleep(Duration::from_millis(20_u64.saturating_sub(*index as u64)));
        index * 10
    }

    #[test]
    fn results_are_in_the_order_of_the_jobs_on_any_number_of_threads() {
        let jobs: Vec<usize> = (0..30).collect();
        let expected: Vec<usize> = (0..30).map(|index| index * 10).collect();
        for threads in [0, 1, 3, 100] {
            assert_eq!(each(&jobs, threads, slow), expected, "{threads} threads");
        }
        assert_eq!(each(&[] as &[usize], 2, slow), Vec::<usize>::new());
    }

    #[test]
    fn a_thread_waits_when_it_is_too_far_ahead_until_it_is_over() {
        let turns = Turns::new(40, 2);
        assert_eq!([turns.next(), turns.next()], [Some(0), Some(1)]);
        std::thread::scope(|scope| {
            let third = scope.spawn(|| turns.next());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!third.is_finished());
            turns.hand_over(1);
            assert_eq!(third.join().unwrap(), Some(2));
            let fourth = scope.spawn(|| turns.next());
            turns.end();
            assert_eq!(fourth.join().unwrap(), None);
        });
    }

    #[test]
    fn the_first_error_in_the_order_of_the_jobs_is_reported_after_all_results_before_it() {
        let jobs: Vec<usize> = (0..20).collect();
        // The later of the two errors comes first in time.
        let work = |index: &usize, _: &Turns| match index {
            3 | 4 => {
                std::thread::sleep(Duration::from_millis(if *index == 3 { 40 } else { 0 }));
                Err(*index)
            }
            _ => Ok(*index),
        };
        for threads in [1, 4] {
            let mut seen = Vec::new();
            let mut report = |received| {
                if let Report::Done(index, _) = received {
                    seen.push(index);
                }
                Ok(())
            };
            assert_eq!(run(&jobs, threads, AHEAD, work, &mut report), Err(3), "{threads} threads");
            assert_eq!(seen, [0, 1, 2], "{threads} threads");
        }
    }

    #[test]
    fn a_job_that_panics_ends_the_others() {
        let jobs: Vec<usize> = (0..50).collect();
        let ended = std::panic::catch_unwind(|| each(&jobs, 3, |index| assert_ne!(*index, 5)));
        assert!(ended.is_err());
    }
}
