//! Threads that work on jobs and may be given up.
//!
//! The pool of `afteryou-engines` waits for its threads. A rule that takes part may never return, and nothing can end a thread from outside.
//! So these threads are not waited for: one that has given no sign of life for a while is left behind, its job is reported as failed, and
//! another thread continues.

use afteryou_base::lock::EvenPoisoned;
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Wall time between two looks at the threads.
const TICK: Duration = Duration::from_millis(100);

/// The work of a job, on any of the threads. It calls the sign of life now and then, and returns when that is false.
pub type Work<Out> = Arc<dyn Fn(usize, &Sign) -> Out + Send + Sync>;

/// The sign of life of a thread.
pub struct Sign {
    began: Instant,
    /// The time of the last sign, ms since `began`.
    last_ms: AtomicU64,
    /// The job is of no interest any more.
    over: AtomicBool,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<Out> {
    /// With this.
    Done(Out),
    /// It panicked, with this message.
    Panicked(String),
    /// It gave no sign of life for so long.
    Silent(Duration),
}

impl Sign {
    fn new() -> Sign {
        Sign { began: Instant::now(), last_ms: AtomicU64::new(0), over: AtomicBool::new(false) }
    }

    /// Notes that the job is alive; returns whether it should continue.
    pub fn continues(&self) -> bool {
        self.last_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
        !self.over.load(Ordering::Relaxed)
    }

    fn silent_for(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.last_ms.load(Ordering::Relaxed)))
    }
}

/// A job under way.
struct Busy {
    job: usize,
    sign: Arc<Sign>,
}

type Slot = Arc<Mutex<Option<Busy>>>;

/// An event for the thread that waits.
pub enum Event<Out> {
    /// This job ended.
    Ended(usize, Ended<Out>),
    /// Some time has passed, a tenth of a second at most.
    Tick,
}

/// Does all `jobs` on `threads` threads and calls `report` in this thread with each one as it ends, and ten times a second. It returns
/// whether to continue. A job that gives no sign of life for `patience` is given up.
pub fn run<Out: Send + 'static>(
    jobs: Vec<usize>,
    threads: usize,
    patience: Duration,
    work: &Work<Out>,
    report: &mut dyn FnMut(Event<Out>) -> bool,
) {
    let mut left = jobs.len();
    let jobs = Arc::new(Mutex::new(VecDeque::from(jobs)));
    let (sender, receiver) = mpsc::channel();
    let start = || {
        let slot: Slot = Arc::default();
        let (jobs, work, sender, own) = (jobs.clone(), work.clone(), sender.clone(), slot.clone());
        thread::spawn(move || serve(&jobs, &work, &sender, &own));
        slot
    };
    let mut slots: Vec<Slot> = (0..threads.clamp(1, left.max(1))).map(|_| start()).collect();
    let mut goes_on = true;
    while left > 0 && goes_on {
        match receiver.recv_timeout(TICK) {
            Ok((job, ended)) => {
                left -= 1;
                goes_on = report(Event::Ended(job, ended));
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        for slot in &mut slots {
            if let Some(job) = give_up(slot, patience) {
                left -= 1;
                goes_on &= report(Event::Ended(job, Ended::Silent(patience)));
                *slot = start();
            }
        }
        goes_on &= report(Event::Tick);
    }
    jobs.lock().even_poisoned().clear();
    for slot in &slots {
        if let Some(busy) = &*slot.lock().even_poisoned() {
            busy.sign.over.store(true, Ordering::Relaxed);
        }
    }
}

/// Takes the job of a thread that has been silent for too long.
fn give_up(slot: &Slot, patience: Duration) -> Option<usize> {
    let mut busy = slot.lock().even_poisoned();
    busy.take_if(|busy| busy.sign.silent_for() > patience).map(|busy| {
        busy.sign.over.store(true, Ordering::Relaxed);
        busy.job
    })
}

/// Works on jobs until there are none, or until this thread has been given up.
fn serve<Out>(
    jobs: &Mutex<VecDeque<usize>>,
    work: &Work<Out>,
    sender: &mpsc::Sender<(usize, Ended<Out>)>,
    slot: &Mutex<Option<Busy>>,
) {
    loop {
        let sign = Arc::new(Sign::new());
        let job = {
            // The lock is held until the slot is filled, so `run` sees every job that was taken before it cleared the list.
            let mut jobs = jobs.lock().even_poisoned();
            let Some(job) = jobs.pop_front() else { return };
            *slot.lock().even_poisoned() = Some(Busy { job, sign: sign.clone() });
            job
        };
        let ended = match catch_unwind(AssertUnwindSafe(|| work(job, &sign))) {
            Ok(out) => Ended::Done(out),
            Err(payload) => Ended::Panicked(message(&*payload)),
        };
        let was_given_up = slot.lock().even_poisoned().take().is_none();
        if was_given_up || sender.send((job, ended)).is_err() {
            return;
        }
    }
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(jobs: usize, threads: usize, work: Work<usize>) -> Vec<(usize, Ended<usize>)> {
        let mut all = Vec::new();
        let patience = Duration::from_secs(2);
        let mut report = |event| {
            if let Event::Ended(job, ended) = event {
                all.push((job, ended));
            }
            true
        };
        run((0..jobs).collect(), threads, patience, &work, &mut report);
        all.sort_by_key(|(job, _)| *job);
        all
    }

    #[test]
    fn a_job_that_panics_or_never_returns_is_reported_and_all_others_are_done() {
        let work = |job: usize, _: &Sign| match job {
            2 => panic!("rule {job} is broken"),
            5 | 6 => loop {
                thread::sleep(Duration::from_millis(20));
            },
            _ => job * 10,
        };
        let all = ended(12, 2, Arc::new(work));
        assert_eq!(all.len(), 12);
        for (job, ended) in all {
            let expected = match job {
                2 => Ended::Panicked("rule 2 is broken".to_owned()),
                5 | 6 => Ended::Silent(Duration::from_secs(2)),
                _ => Ended::Done(job * 10),
            };
            assert_eq!(ended, expected);
        }
    }

    #[test]
    fn a_long_job_with_signs_of_life_is_not_given_up() {
        let work = |job: usize, sign: &Sign| {
            for _ in 0..60 {
                thread::sleep(Duration::from_millis(40));
                assert!(sign.continues());
            }
            job
        };
        assert_eq!(ended(1, 1, Arc::new(work)), [(0, Ended::Done(0))]);
    }

    #[test]
    fn after_an_end_nothing_more_begins_and_jobs_under_way_learn_of_it() {
        let begun = Arc::new(AtomicU64::new(0));
        let counter = begun.clone();
        let work: Work<()> = Arc::new(move |_, sign: &Sign| {
            counter.fetch_add(1, Ordering::Relaxed);
            while sign.continues() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        run((0..50).collect(), 2, Duration::from_secs(9), &work, &mut |event| !matches!(event, Event::Tick));
        thread::sleep(Duration::from_millis(100));
        assert!(begun.load(Ordering::Relaxed) <= 2);
    }
}
