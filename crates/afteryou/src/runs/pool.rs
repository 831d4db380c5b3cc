//! Many runs on several cores. Outcomes are handed over in the order of the runs, whichever ends first.

use super::engine::Engine;
use crate::failure::Failure;
use afteryou_scenario::file::Planned;
use afteryou_scenario::Outcome;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);
/// Parts of a run in the counters of progress.
const PARTS: f64 = 1e6;
/// Runs, for each worker, that may have begun while the first of them has not ended. Those that have ended wait in memory
/// with all their curves.
const AHEAD: usize = 4;

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
    /// Simulated time that has passed in all of them, baselines included, s.
    pub(super) simulated_s: f64,
}

type Ended = (usize, Result<Box<Outcome>, Failure>);

/// What the workers share.
struct Shared<'a> {
    engine: Engine,
    runs: &'a [Planned],
    next: AtomicUsize,
    /// Parts of work done, all workers together.
    parts: AtomicU64,
    /// Simulated time that has passed, ms.
    simulated_ms: AtomicU64,
    stop: &'a AtomicBool,
    /// The caller gave up, or a worker panicked.
    over: AtomicBool,
    /// Runs that the caller has got.
    handed_over: Mutex<usize>,
    /// Tells of changes of the two above.
    changed: Condvar,
    /// Runs that may have begun beyond those.
    ahead: usize,
}

impl Shared<'_> {
    /// The next run, when its turn has come; none when there is nothing left to do.
    fn next(&self) -> Option<(usize, &Planned)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let planned = self.runs.get(index)?;
        let handed_over = self.handed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let early = |handed_over: &mut usize| index >= *handed_over + self.ahead && !self.is_over();
        let waited = self.changed.wait_while(handed_over, early);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        (!self.is_over()).then_some((index, planned))
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The caller has got the first `runs`.
    fn hand_over(&self, runs: usize) {
        *self.handed_over.lock().unwrap_or_else(PoisonError::into_inner) = runs;
        self.changed.notify_all();
    }

    fn end(&self) {
        // Under the lock: a worker that has just looked would miss it.
        let _held = self.handed_over.lock().unwrap_or_else(PoisonError::into_inner);
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Ends everything when its worker panics: the others would wait for its run.
struct Alarm<'a>(&'a Shared<'a>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Runs everything with `jobs` workers. An error of a run or of `hear` ends all.
pub(super) fn run(
    engine: Engine,
    runs: &[Planned],
    jobs: usize,
    stop: &AtomicBool,
    hear: &mut dyn FnMut(Tick) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let shared = Shared {
        engine,
        runs,
        next: AtomicUsize::new(0),
        parts: AtomicU64::new(0),
        simulated_ms: AtomicU64::new(0),
        stop,
        over: AtomicBool::new(false),
        handed_over: Mutex::new(0),
        changed: Condvar::new(),
        ahead: AHEAD * jobs,
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
        shared.end();
        drop(receiver); // a worker that waits to hand over is let go
        heard
    })
}

fn work(shared: &Shared<'_>, sender: &mpsc::SyncSender<Ended>) {
    let _alarm = Alarm(shared);
    while let Some((index, planned)) = shared.next() {
        let ended = run_one(shared, planned).map(Box::new);
        let failed = ended.is_err();
        if sender.send((index, ended)).is_err() || failed {
            return;
        }
    }
}

fn run_one(shared: &Shared<'_>, planned: &Planned) -> Result<Outcome, Failure> {
    let mut meter = Meter::new(shared, planned);
    let outcome = shared.engine.run(&planned.scenario, &mut |at_s| {
        meter.at(at_s);
        !shared.stop.load(Ordering::Relaxed) && !shared.is_over()
    })?;
    meter.whole();
    Ok(Outcome { point: planned.point.clone(), repetition: planned.repetition, ..outcome })
}

/// Adds what a run has done to the counters of all.
struct Meter<'a> {
    shared: &'a Shared<'a>,
    of_s: f64,
    /// A baseline is a second pass over the same time.
    passes: f64,
    /// Passes that are over.
    before: f64,
    seen_s: f64,
    told_parts: u64,
    told_ms: u64,
}

impl<'a> Meter<'a> {
    fn new(shared: &'a Shared<'a>, planned: &Planned) -> Meter<'a> {
        let passes = if planned.scenario.baseline { 2.0 } else { 1.0 };
        let of_s = planned.scenario.duration.as_secs_f64();
        Meter { shared, of_s, passes, before: 0.0, seen_s: 0.0, told_parts: 0, told_ms: 0 }
    }

    fn at(&mut self, at_s: f64) {
        if at_s < self.seen_s {
            self.before += 1.0;
        }
        self.seen_s = at_s;
        self.tell(self.before + at_s / self.of_s);
    }

    fn whole(&mut self) {
        self.tell(self.passes);
    }

    fn tell(&mut self, passed: f64) {
        let tell = |counter: &AtomicU64, told: &mut u64, value: f64| {
            let value = value as u64;
            counter.fetch_add(value.saturating_sub(*told), Ordering::Relaxed);
            *told = value.max(*told);
        };
        tell(&self.shared.parts, &mut self.told_parts, passed / self.passes * PARTS);
        tell(&self.shared.simulated_ms, &mut self.told_ms, passed * self.of_s * 1e3);
    }
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
                waiting.insert(index, ended?);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some(outcome) = waiting.remove(&next) {
            hear(Tick::Done(next, outcome))?;
            next += 1;
            shared.hand_over(next);
        }
        let work = shared.parts.load(Ordering::Relaxed) as f64 / PARTS;
        let simulated_s = shared.simulated_ms.load(Ordering::Relaxed) as f64 / 1e3;
        hear(Tick::Progress(Progress { done: next, work, simulated_s }))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::Experiment;

    /// The first run takes much longer than the others.
    const UNEQUAL: &str =
        "name = \"unequal\"\nduration = \"1 s\"\nlink = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }\n\
         flow = { name = \"a\", controller = \"cubic\", rtt = \"20 ms\" }\n\
         sweep.\"link.rate\" = [\"1 Gbit/s\", \"1 Mbit/s\"]\n";

    fn shared(runs: &[Planned], ahead: usize) -> Shared<'_> {
        static STOP: AtomicBool = AtomicBool::new(false);
        Shared {
            engine: Engine::Simulator,
            runs,
            next: AtomicUsize::new(0),
            parts: AtomicU64::new(0),
            simulated_ms: AtomicU64::new(0),
            stop: &STOP,
            over: AtomicBool::new(false),
            handed_over: Mutex::new(0),
            changed: Condvar::new(),
            ahead,
        }
    }

    fn planned() -> Vec<Planned> {
        Experiment::parse(UNEQUAL, "unequal", &[]).unwrap().runs(None, Some(20)).unwrap()
    }

    #[test]
    fn outcomes_come_in_order_and_the_counters_end_at_the_whole() {
        let (runs, stop) = (planned(), AtomicBool::new(false));
        let (mut order, mut last) = (Vec::new(), None);
        let heard = run(Engine::Simulator, &runs, 3, &stop, &mut |tick| {
            match tick {
                Tick::Done(index, outcome) => order.push((index, outcome.repetition)),
                Tick::Progress(progress) => last = Some(progress),
            }
            Ok(())
        });
        heard.unwrap();
        let expected: Vec<(usize, u32)> = (0..40).map(|i| (i, i as u32 % 20)).collect();
        assert_eq!(order, expected);
        let last = last.unwrap();
        assert_eq!((last.done, last.work, last.simulated_s), (40, 40.0, 40.0));
    }

    #[test]
    fn a_worker_waits_when_it_is_too_far_ahead_until_it_is_over() {
        let runs = planned();
        let shared = shared(&runs, 2);
        assert_eq!([shared.next().unwrap().0, shared.next().unwrap().0], [0, 1]);
        std::thread::scope(|scope| {
            let third = scope.spawn(|| shared.next().map(|(index, _)| index));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!third.is_finished());
            shared.hand_over(1);
            assert_eq!(third.join().unwrap(), Some(2));
            let fourth = scope.spawn(|| shared.next().map(|(index, _)| index));
            shared.end();
            assert_eq!(fourth.join().unwrap(), None);
        });
    }
}
