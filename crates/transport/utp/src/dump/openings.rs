//! Logs of connections that a peer opens.
//!
//! The address of a SYN may be forged, and a SYN costs nothing. The file is made when the peer has completed the handshake; until then the
//! first records wait in memory. An opening that comes to nothing leaves nothing.

use afteryou_trace::qlog::Output;
use afteryou_trace::spool::File;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Most bytes of one opening's records that wait. A handshake takes a third of it.
const EACH: usize = 4 << 10;
/// Most bytes of all that wait, apart from the first record of each.
const TOGETHER: usize = 1 << 20;

/// The memory of all records that wait.
#[derive(Debug, Default)]
pub(super) struct Openings {
    bytes: AtomicUsize,
}

/// The log of a connection that a peer opens.
pub(super) struct Opened {
    openings: Arc<Openings>,
    state: State,
}

enum State {
    Waits(Waiting),
    Connected(File),
}

/// An opening whose peer has not answered yet.
struct Waiting {
    make: Box<dyn Fn() -> File + Send>,
    records: Vec<u8>,
    /// Bytes of them that count.
    counted: usize,
    skipped: u64,
}

impl Openings {
    fn take(&self, bytes: usize) -> bool {
        let more = |taken: usize| Some(taken + bytes).filter(|taken| *taken <= TOGETHER);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Opened {
    /// Creates a log whose file `make` adds once the peer has completed the handshake.
    pub(super) fn new(openings: &Arc<Openings>, make: impl Fn() -> File + Send + 'static) -> Opened {
        let waiting = Waiting { make: Box::new(make), records: Vec::new(), counted: 0, skipped: 0 };
        Opened { openings: Arc::clone(openings), state: State::Waits(waiting) }
    }
}

impl Output for Opened {
    fn write(&mut self, record: &[u8]) {
        let waiting = match &mut self.state {
            State::Connected(file) => return file.write(record),
            State::Waits(waiting) => waiting,
        };
        // The first record is the file's header: without it the rest could not be read. Their number is that of half-open connections.
        if waiting.records.is_empty() {
            waiting.records.extend_from_slice(record);
            return;
        }
        let fits = waiting.counted + record.len() <= EACH && self.openings.take(record.len());
        if !fits {
            waiting.skipped += 1;
            return;
        }
        waiting.counted += record.len();
        waiting.records.extend_from_slice(record);
    }

    fn connected(&mut self) {
        let State::Waits(waiting) = &self.state else { return };
        let file = (waiting.make)();
        file.write(&waiting.records);
        file.skip(waiting.skipped);
        self.openings.give_back(waiting.counted);
        self.state = State::Connected(file);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let State::Waits(waiting) = &self.state {
            self.openings.give_back(waiting.counted);
        }
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_trace::spool::Spool;
    use std::path::Path;

    const RECORD: [u8; 500] = [b'x'; 500];

    fn opened(openings: &Arc<Openings>, spool: &Spool, path: &Path) -> Opened {
        let (spool, path) = (spool.clone(), path.to_owned());
        Opened::new(openings, move || spool.path(path.clone()))
    }

    #[test]
    fn openings_without_end_take_bounded_memory_and_give_it_back() {
        let (folder, spool, openings) = (tempfile::tempdir().unwrap(), Spool::new(u64::MAX), Arc::default());
        let path = folder.path().join("never");
        let mut all: Vec<Opened> = (0..1000).map(|_| opened(&openings, &spool, &path)).collect();
        (0..100).for_each(|_| all.iter_mut().for_each(|one| one.write(&RECORD)));
        let kept = |opened: &Opened| match &opened.state {
            State::Waits(waiting) => waiting.records.len(),
            State::Connected(_) => panic!("nobody has answered"),
        };
        assert!(all.iter().all(|one| (500..=EACH + 500).contains(&kept(one))));
        let together: usize = all.iter().map(kept).sum();
        assert!((TOGETHER..=TOGETHER + 1000 * RECORD.len()).contains(&together), "{together} bytes");
        drop(all);
        assert_eq!(openings.bytes.load(Ordering::Relaxed), 0);
        spool.flush().unwrap();
        assert!(!path.exists() && spool.totals().bytes == 0);
    }

    #[test]
    fn whoever_answers_gets_the_records_of_the_opening_and_all_that_follow() {
        let (folder, spool, openings) = (tempfile::tempdir().unwrap(), Spool::new(u64::MAX), Arc::default());
        let path = folder.path().join("log");
        let mut log = opened(&openings, &spool, &path);
        log.write(b"header ");
        log.write(b"syn ");
        log.write(&[b'x'; 2 * EACH]);
        log.write(b"answer ");
        log.connected();
        log.connected();
        log.write(b"data");
        drop(log);
        spool.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "header syn answer data");
        assert_eq!((spool.totals().skipped, openings.bytes.load(Ordering::Relaxed)), (1, 0));
    }
}
