//! Files that a thread of its own writes.
//!
//! A thread that moves packets only appends to memory. That memory is limited: beyond it records are skipped and
//! counted. A file that fails gets nothing more, and its error is kept. None of this stops the packets.

mod writer;

use afteryou_base::lock::EvenPoisoned;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use writer::Target;

/// Most bytes that wait to be written.
const BACKLOG: usize = 16 << 20;
/// From this many bytes on the thread does not wait for more.
const ENOUGH: usize = 256 << 10;

/// Some files, and the thread that writes them. Its clones are the same spool.
#[derive(Clone)]
pub struct Spool(Arc<Owner>);

/// One of a spool's files. It ends when this is dropped.
pub struct File {
    owner: Arc<Owner>,
    key: u64,
}

/// How the files are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes taken in for all files.
    pub bytes: u64,
    /// Records that are in no file: the limit was reached, the disk was too slow, or the file had failed.
    pub skipped: u64,
    /// The first error of a file.
    pub error: Option<io::ErrorKind>,
}

/// The thread ends when nobody holds this any more and all is written.
struct Owner(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or more than enough.
    news: Condvar,
    /// Something has been written.
    written: Condvar,
}

struct State {
    files: HashMap<u64, Pending>,
    /// Files with something to write.
    changed: Vec<u64>,
    files_so_far: u64,
    /// Bytes that wait, those that are being written included.
    waiting: usize,
    is_writing: bool,
    is_closed: bool,
    /// Somebody waits for all to be written.
    is_urgent: bool,
    limit: u64,
    totals: Totals,
    /// The first error, which [`Spool::flush`] returns once.
    error: Option<io::Error>,
}

/// A file and the bytes that wait for it.
#[derive(Default)]
struct Pending {
    buffer: Vec<u8>,
    /// None while the thread writes.
    target: Option<Target>,
    is_changed: bool,
    has_failed: bool,
    has_ended: bool,
}

impl Spool {
    /// Starts the thread for files with no more than `limit` bytes together.
    pub fn new(limit: u64) -> Spool {
        let shared = Arc::new(Shared::default());
        shared.state().limit = limit;
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("dump".to_owned());
        if let Err(error) = thread.spawn(move || writer::run(&for_thread)) {
            let mut state = shared.state();
            state.is_closed = true;
            state.note(error);
        }
        Spool(Arc::new(Owner(shared)))
    }

    /// Sets the most bytes of all files together.
    pub fn set_limit(&self, limit: u64) {
        self.0 .0.state().limit = limit;
    }

    /// Adds a file that is open already.
    pub fn file(&self, out: impl Write + Send + 'static) -> File {
        self.add(Target::Open(Box::new(out)))
    }

    /// Adds a new file, which the thread creates with the first record and closes between two writes: there may be thousands.
    pub fn path(&self, path: PathBuf) -> File {
        self.add(Target::Path(path))
    }

    fn add(&self, target: Target) -> File {
        let mut state = self.0 .0.state();
        let key = state.files_so_far;
        state.files_so_far += 1;
        state.files.insert(key, Pending { target: Some(target), ..Pending::default() });
        File { owner: Arc::clone(&self.0), key }
    }

    /// Returns how the files are doing.
    pub fn totals(&self) -> Totals {
        self.0 .0.state().totals
    }

    /// Waits until all that was taken in is written.
    ///
    /// # Errors
    /// The first error of a file, once.
    pub fn flush(&self) -> io::Result<()> {
        let shared = &self.0 .0;
        let mut state = shared.state();
        while !state.is_closed && (state.is_writing || !state.changed.is_empty()) {
            state.is_urgent = true;
            shared.news.notify_one();
            state = shared.written.wait(state).even_poisoned();
        }
        state.error.take().map_or(Ok(()), Err)
    }
}

impl File {
    /// Appends a record. Once one does not fit into the limit, none does.
    pub fn write(&self, record: &[u8]) {
        let shared = &self.owner.0;
        let mut state = shared.state();
        let fits = state.takes(record.len());
        let has_failed = state.files.get(&self.key).is_none_or(|file| file.has_failed);
        if !fits || has_failed {
            state.totals.skipped += 1;
            return;
        }
        state.totals.bytes += record.len() as u64;
        let before = state.waiting;
        state.waiting += record.len();
        let is_first = state.append(self.key, record);
        if is_first || (before < ENOUGH && state.waiting >= ENOUGH) {
            shared.news.notify_one();
        }
    }

    /// Counts records that are in no file because nobody kept them.
    pub fn skip(&self, records: u64) {
        self.owner.0.state().totals.skipped += records;
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let mut state = self.owner.0.state();
        let is_idle = state.files.get_mut(&self.key).is_some_and(|file| {
            file.has_ended = true;
            !file.is_changed && file.target.is_some()
        });
        if is_idle {
            state.files.remove(&self.key);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.news.notify_one();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().even_poisoned()
    }
}

impl Default for State {
    fn default() -> State {
        State {
            files: HashMap::new(),
            changed: Vec::new(),
            files_so_far: 0,
            waiting: 0,
            is_writing: false,
            is_closed: false,
            is_urgent: false,
            limit: u64::MAX,
            totals: Totals::default(),
            error: None,
        }
    }
}

impl State {
    /// Returns whether there is room for a record. The limit is reached once and for all, so that it leaves no gaps.
    fn takes(&mut self, bytes: usize) -> bool {
        if self.totals.bytes.saturating_add(bytes as u64) > self.limit {
            self.limit = 0;
            return false;
        }
        !self.is_closed && self.waiting + bytes <= BACKLOG
    }

    /// Returns true if the file had nothing to be written.
    fn append(&mut self, key: u64, record: &[u8]) -> bool {
        let Some(file) = self.files.get_mut(&key) else { return false };
        file.buffer.extend_from_slice(record);
        let is_first = !std::mem::replace(&mut file.is_changed, true);
        if is_first {
            self.changed.push(key);
        }
        is_first
    }

    fn note(&mut self, error: io::Error) {
        if self.totals.error.is_none() {
            self.totals.error = Some(error.kind());
            self.error = Some(error);
        }
    }
}

impl Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spool").field(&self.totals()).finish()
    }
}

impl Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
