//! The jobs of the listening side, and the sessions that work for them.

use super::Job;
use crate::job::{Summary, MAX_LANES};
use crate::session;
use quinn::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Sessions with [`session::LARGE_WINDOW`]: the connections of the largest job.
pub(super) const LARGE_SESSIONS: usize = MAX_LANES as usize;
/// Jobs that are remembered without a session.
pub(super) const LINGERING: usize = 16;
/// How long connections of a finished job may come.
pub(super) const FINISHED: Duration = Duration::from_secs(30);

/// A job and who works for it.
pub(super) struct Entry {
    pub(super) job: Arc<Job>,
    pub(super) lanes: HashMap<u16, Running>,
    pub(super) finished: bool,
    /// The time of its report that it has finished.
    pub(super) told: Option<Instant>,
    /// When its last session ended, as a count of such events.
    pub(super) left: u64,
}

impl Entry {
    pub(super) fn of(job: Arc<Job>) -> Entry {
        Entry { job, lanes: HashMap::new(), finished: false, told: None, left: 0 }
    }
}

/// A session: how to close it, and how to learn that it has ended.
pub(super) struct Running {
    pub(super) serial: u64,
    pub(super) connection: Connection,
    /// Bytes that quinn may hold of it.
    pub(super) window: u32,
    pub(super) ended: watch::Receiver<()>,
}

/// A session that may begin.
pub(super) struct Entered {
    pub(super) serial: u64,
    pub(super) window: u32,
    /// The session that had its lane before.
    pub(super) older: Option<Running>,
    /// The end of its job was reported: nothing more is reported of it.
    pub(super) late: bool,
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) jobs: HashMap<[u8; 16], Entry>,
    pub(super) serial: u64,
    pub(super) total: Summary,
    pub(super) closing: bool,
}

impl Books {
    /// Returns the bytes that quinn may hold of another session.
    pub(super) fn window(&self) -> u32 {
        let running = self.jobs.values().flat_map(|entry| entry.lanes.values());
        let large = running.filter(|running| running.window == session::LARGE_WINDOW).count();
        if large < LARGE_SESSIONS {
            session::LARGE_WINDOW
        } else {
            session::SMALL_WINDOW
        }
    }

    /// Forgets jobs that finished long ago, and keeps the number of those without sessions bounded.
    pub(super) fn forget_oldest(&mut self) {
        let over = |entry: &Entry| entry.told.is_some_and(|told| told.elapsed() >= FINISHED);
        let total = &mut self.total;
        self.jobs.retain(|_, entry| {
            let keep = !entry.lanes.is_empty() || !over(entry);
            if !keep {
                *total = total.and(entry.job.tally.summary());
            }
            keep
        });
        let alone = || self.jobs.iter().filter(|(_, entry)| entry.lanes.is_empty());
        if alone().count() <= LINGERING {
            return;
        }
        let Some(oldest) = alone().min_by_key(|(_, entry)| entry.left).map(|(id, _)| *id) else { return };
        if let Some(entry) = self.jobs.remove(&oldest) {
            self.total = self.total.and(entry.job.tally.summary());
        }
    }
}
