//! How many files the sinks of this process may hold open at a time.
//!
//! # Model
//! A file that is considered or requested holds a place. A session may take another while it holds fewer than [`SHARE`]
//! times the free ones. One alone gets most of the room, several share it evenly, and a stalled one never holds all.
//! Files are sent in the order of the requests, so every session that holds places can continue with those.
//!
//! # Constants
//! A file is its content, its tree and, while it takes over parts, the file that has them: three descriptors. [`RESERVED`] are left for sockets, for directories while files are
//! looked at or named, and for what else the process does.
//!
//! # Source
//! A. K. Choudhury, E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use tokio::sync::watch;

/// Descriptors that are not for receptions.
const RESERVED: u64 = 96;
/// Descriptors of a file.
const FILE: u64 = 3;
/// More are of no use to any disk.
const MOST: u64 = 384;
/// The least number, however low the limit is; an operation that then fails for lack of a descriptor is tried again.
const LEAST: u64 = 4;
const SHARE: usize = 4;

/// Places that are free in this process.
static FREE: LazyLock<watch::Sender<usize>> = LazyLock::new(|| watch::Sender::new(places(limit())));

fn places(limit: Option<u64>) -> usize {
    limit.map_or(MOST, |limit| (limit.saturating_sub(RESERVED) / FILE).clamp(LEAST, MOST)) as usize
}

/// Returns the number of descriptors that the process may have. `None`: no known limit.
#[cfg(unix)]
fn limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn limit() -> Option<u64> {
    None
}

/// A session's part of the room.
pub(super) struct Room {
    held: Arc<AtomicUsize>,
    changes: watch::Receiver<usize>,
}

impl Room {
    pub(super) fn new() -> Room {
        Room { held: Arc::default(), changes: FREE.subscribe() }
    }

    /// Takes a place for one file, if there is room.
    pub(super) fn take(&mut self) -> Option<Place> {
        // Before looking, so that no change is missed.
        self.changes.borrow_and_update();
        let held = self.held.load(Ordering::Relaxed);
        let mut may = false;
        FREE.send_if_modified(|free| {
            may = held < SHARE * *free;
            *free -= usize::from(may);
            // Nobody waits for less.
            false
        });
        may.then(|| {
            self.held.fetch_add(1, Ordering::Relaxed);
            Place(self.held.clone())
        })
    }

    /// Returns when a place was given back.
    pub(super) async fn changed(&mut self) {
        // The sender is never dropped.
        _ = self.changes.changed().await;
    }
}

/// Given back when dropped.
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        FREE.send_modify(|free| *free += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_what_the_limit_leaves_are_places() {
        assert_eq!(places(Some(256)), 53);
        assert_eq!(places(Some(1024)), 309);
        assert_eq!(places(Some(10)), 4);
        assert_eq!(places(None), 384);
    }

    #[test]
    fn a_session_that_holds_much_leaves_room_for_others() {
        let (mut one, mut two) = (Room::new(), Room::new());
        let held: Vec<_> = std::iter::from_fn(|| one.take()).collect();
        assert!(!held.is_empty());
        assert!(two.take().is_some());
        drop(held);
        assert!(one.take().is_some());
    }
}
