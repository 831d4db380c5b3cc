//! A job's reports about itself while it runs: for progress bars, `--json` and tests.

use crate::entry::EntryPath;
use crate::wire::{Change, ControllerState};
use serde::Serialize;

/// Something happened in a job. Serialises as one JSON object with the field `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A connection is open.
    Connected {
        /// The peer's address.
        peer: String,
    },
    /// A connection is gone or could not be made; the job tries again.
    Disconnected {
        /// One sentence.
        reason: String,
        /// When it tries again.
        retry_in_ms: u64,
    },
    /// The job's size, as far as it is known.
    Plan {
        /// Files, directories and links.
        entries: u64,
        /// The files among them.
        files: u64,
        /// Bytes of their content.
        bytes: u64,
        /// Nothing will be added.
        complete: bool,
    },
    /// The job's progress; about five times a second.
    Progress {
        /// Entries settled (stored or there already).
        entries_done: u64,
        /// The files among them.
        files_done: u64,
        /// Bytes that need not be sent any more: stored, resumed or there already.
        bytes_done: u64,
        /// Bytes of content sent or received in this run.
        bytes_moved: u64,
        /// Content per second lately, bytes.
        rate: u64,
    },
    /// The congestion controller's state; about five times a second while it runs.
    State(ControllerState),
    /// An entry is settled.
    File {
        /// Which.
        path: String,
        /// How.
        outcome: Outcome,
    },
    /// Another job is storing this file; it is looked at again when that is over. Reported once by each connection.
    Busy {
        /// Which.
        path: String,
    },
    /// A chunk group came off the wire (only if asked for).
    Group {
        /// The file's path.
        path: String,
        /// Offset of its first byte.
        offset: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The job's pace changed.
    Pace {
        /// Bytes a second.
        max_rate: Option<u64>,
        /// Whether it is paused.
        paused: bool,
    },
    /// This pattern of the command line matched nothing.
    Unmatched {
        /// Which.
        pattern: String,
    },
    /// It is over.
    Finished {
        /// Entries stored in this run: files, and directories and links that were made.
        stored: u64,
        /// The files among these.
        stored_files: u64,
        /// Entries that were there already.
        had: u64,
        /// Entries that were left out.
        skipped: u64,
        /// Entries that differ from the source.
        incomplete: u64,
        /// Entries that failed.
        failed: u64,
        /// Entries that were removed because they were not sent.
        removed: u64,
        /// In a dry run, entries that would be stored or replaced.
        would_change: u64,
        /// In a dry run, entries whose attributes alone would be set.
        would_adjust: u64,
        /// In a dry run, entries that would be removed.
        would_remove: u64,
        /// In a dry run, bytes of the files that would change. Less may travel.
        would_bytes: u64,
        /// Entries that were to be removed and were not, since the source is empty or a limit forbids it.
        not_removed: u64,
        /// The reason for that, one sentence.
        not_removed_because: Option<String>,
        /// Bytes of content moved in this run.
        bytes_moved: u64,
    },
}

/// An entry's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has its final name.
    Stored,
    /// It was there already.
    Had,
    /// It has its final name and its content; a mode or time could not be set, or it is a copy instead of a link.
    Incomplete(String),
    /// It was left out: a socket, a device, a link that the policy excludes.
    Skipped(String),
    /// It could not be moved.
    Failed(String),
    /// The existing file is newer and is kept.
    Newer,
    /// It was removed, since it was not sent.
    Removed,
    /// A dry run: this would have been done.
    Would(Change),
}

/// The listener that gets events. Called from any thread; must not block for long.
pub type Listener = std::sync::Arc<dyn Fn(Event) + Send + Sync>;

/// Returns a path as events show it: no two paths alike, see [`EntryPath`].
pub fn shown(path: &EntryPath) -> String {
    // Nearly all are like this, and a job has many.
    let needs_no_escape = |byte| (b' '..=b'~').contains(&byte) && byte != b'\\';
    let is_plain = path.0.iter().fold(true, |plain, &byte| plain & needs_no_escape(byte));
    match std::str::from_utf8(&path.0) {
        Ok(text) if is_plain => text.to_owned(),
        _ => path.to_string(),
    }
}
