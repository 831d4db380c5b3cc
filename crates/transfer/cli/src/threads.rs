//! The threads that a job runs on.
//!
//! # Model
//! tokio panics when it cannot start its workers, and work for its blocking threads waits indefinitely when there is
//! none. So the threads are tried before the runtime starts, and those for blocking work are started at once and never
//! end. Threads that need more later and get none wait for these.

use afteryou_terminal::Failure;
use anyhow::Context;
use std::sync::{mpsc, Arc, Barrier};
use std::thread::Builder as Thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const HINT: &str = "raise the limit of processes (ulimit -u)";
/// Threads for blocking work that are there from the beginning.
const BLOCKING: usize = 4;
/// Threads of a job beside those of the runtime: view, control, walking, hashing, encoding, decoding.
const OTHERS: usize = 8;
/// No job lasts longer.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// For this long the system is trusted to start the threads that it has just shown it can start.
const SOON: Duration = Duration::from_secs(10);

/// Builds a runtime whose threads all run. Its workers have half of the cores: the job's own threads hash, encode and decode
/// meanwhile. On two cores one worker needs a tenth less processor time than two, which wake each other up for every packet.
///
/// # Errors
/// The system refuses a thread.
pub fn runtime() -> Result<Runtime, Failure> {
    let workers = std::thread::available_parallelism().map_or(1, |cores| usize::from(cores).div_ceil(2));
    check(workers + BLOCKING + OTHERS)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_keep_alive(FOREVER)
        .enable_all()
        .build()
        .context("cannot start the threads that a job needs")?;
    if start_blocking(&runtime) {
        return Ok(runtime);
    }
    runtime.shutdown_background();
    Err(anyhow::anyhow!("cannot start the threads that a job needs: {HINT}").into())
}

/// Starts `threads` threads, and ends them.
fn check(threads: usize) -> Result<(), Failure> {
    let mut started = Vec::new();
    let failed = (0..threads).find_map(|_| match Thread::new().spawn(std::thread::park) {
        Ok(thread) => {
            started.push(thread);
            None
        }
        Err(error) => Some(error),
    });
    for thread in started {
        thread.thread().unpark();
        _ = thread.join();
    }
    match failed {
        None => Ok(()),
        Some(error) => Err(anyhow::anyhow!("a job needs {threads} threads: {error}; {HINT}").into()),
    }
}

/// Returns `true` when all of them run. Each waits for the others, so that none does the work of two.
fn start_blocking(runtime: &Runtime) -> bool {
    let all = Arc::new(Barrier::new(BLOCKING));
    let (running, ran) = mpsc::channel();
    for _ in 0..BLOCKING {
        let (all, running) = (all.clone(), running.clone());
        runtime.spawn_blocking(move || {
            all.wait();
            running.send(())
        });
    }
    ran.recv_timeout(SOON).is_ok()
}
