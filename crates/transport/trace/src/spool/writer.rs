//! The thread that writes.

use super::{Pending, Shared, State, ENOUGH};
use afteryou_base::lock::EvenPoisoned;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::MutexGuard;
use std::time::Duration;

/// How long a record may wait for others.
const GATHER: Duration = Duration::from_millis(50);
/// Memory of a buffer that stays with its file, bytes.
const SPARE: usize = 16 << 10;

/// Where a file is.
pub(super) enum Target {
    Open(Box<dyn Write + Send>),
    /// Not there yet.
    Path(PathBuf),
    /// There, and closed.
    Created(PathBuf),
}

/// A file with what is to be written to it.
struct Job {
    key: u64,
    target: Target,
    buffer: Vec<u8>,
}

/// Writes until nobody can add anything more.
pub(super) fn run(shared: &Shared) {
    let mut state = shared.state();
    loop {
        state = gather(shared, state);
        let mut jobs = take(&mut state);
        if jobs.is_empty() && state.is_closed {
            return;
        }
        state.is_writing = true;
        drop(state);
        let results: Vec<_> = jobs.iter_mut().map(|job| job.target.write(&job.buffer)).collect();
        state = shared.state();
        jobs.into_iter().zip(results).for_each(|(job, result)| give_back(&mut state, job, result));
        state.is_writing = false;
        state.is_urgent &= !state.changed.is_empty();
        shared.written.notify_all();
    }
}

/// Waits for something to write, and then a moment for more of it.
fn gather<'a>(shared: &Shared, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    let is_idle = |state: &mut State| state.changed.is_empty() && !state.is_closed;
    let state = shared.news.wait_while(state, is_idle).even_poisoned();
    let may_wait = |state: &mut State| state.waiting < ENOUGH && !state.is_closed && !state.is_urgent;
    let waited = shared.news.wait_timeout_while(state, GATHER, may_wait);
    waited.even_poisoned().0
}

fn take(state: &mut State) -> Vec<Job> {
    let changed = std::mem::take(&mut state.changed);
    let jobs = changed.into_iter().filter_map(|key| {
        let Pending { buffer, target, is_changed, .. } = state.files.get_mut(&key)?;
        *is_changed = false;
        Some(Job { key, target: target.take()?, buffer: std::mem::take(buffer) })
    });
    jobs.collect()
}

fn give_back(state: &mut State, job: Job, result: io::Result<()>) {
    let Job { key, target, mut buffer } = job;
    state.waiting = state.waiting.saturating_sub(buffer.len());
    let Some(file) = state.files.get_mut(&key) else { return };
    file.target = Some(target);
    file.has_failed |= result.is_err();
    if file.has_ended && !file.is_changed {
        state.files.remove(&key);
    } else if file.buffer.is_empty() && buffer.capacity() <= SPARE {
        buffer.clear();
        file.buffer = buffer;
    }
    if let Err(error) = result {
        state.note(error);
    }
}

impl Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Target::Open(out) => {
                out.write_all(bytes)?;
                out.flush()
            }
            Target::Created(path) => OpenOptions::new().append(true).open(path)?.write_all(bytes),
            Target::Path(path) => {
                let mut file = OpenOptions::new().write(true).create_new(true).open(&*path)?;
                *self = Target::Created(std::mem::take(path));
                file.write_all(bytes)
            }
        }
    }
}
