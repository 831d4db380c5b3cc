//! Work on two threads, results in the order of the jobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// More would take the machine from the tests beside us.
const THREADS: usize = 2;

/// `work` on every job.
pub fn each<Job: Sync, Out: Send>(jobs: &[Job], work: impl Fn(&Job) -> Out + Sync) -> Vec<Out> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((i, job)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(i).map(|job| (i, job))
                } {
                    let out = work(job);
                    done.lock().expect("no job panicked").push((i, out));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no job panicked");
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, out)| out).collect()
}
