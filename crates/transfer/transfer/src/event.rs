//! A job's reports about itself while it runs: for progress bars, `--json` and tests.

use crate::entry::EntryPath;
use crate::wire::{Change, ControllerState, Spared};
use serde::{Serialize, Serializer};

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
    /// Something that a user should know, and that changes nothing else.
    Notice {
        /// One sentence.
        text: String,
    },
    /// It is over.
    Finished(Summary),
}

/// The outcome of a job, which its last event reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Entries stored in this run: files, and directories and links that were made.
    pub stored: u64,
    /// The files among these.
    pub stored_files: u64,
    /// Entries that were there already.
    pub had: u64,
    /// Entries that were left out.
    pub skipped: u64,
    /// Entries whose content is there, stored or had, and which differ from the source: see [`crate::store::Kept`].
    pub incomplete: u64,
    /// Entries that failed.
    pub failed: u64,
    /// Entries that were removed because they were not sent.
    pub removed: u64,
    /// In a dry run, entries that would be stored or replaced.
    pub would_change: u64,
    /// In a dry run, entries whose attributes alone would be set.
    pub would_adjust: u64,
    /// In a dry run, entries that would be removed.
    pub would_remove: u64,
    /// In a dry run, bytes of the files that would change. Less may travel.
    pub would_bytes: u64,
    /// Entries that were to be removed and were not, since the source is empty or a limit forbids it. Serialised as their number,
    /// `not_removed`, and the reason in one sentence, `not_removed_because`.
    #[serde(flatten, serialize_with = "not_removed")]
    pub spared: Option<Spared>,
    /// Bytes of content moved in this run.
    pub bytes_moved: u64,
}

impl Summary {
    /// Returns the number of entries that were to be removed and were not.
    pub fn not_removed(&self) -> u64 {
        entries_spared(self.spared.as_ref())
    }
}

fn entries_spared(spared: Option<&Spared>) -> u64 {
    spared.map_or(0, |spared| spared.entries)
}

/// Writes the number of the entries that are kept, and the reason.
fn not_removed<S: Serializer>(spared: &Option<Spared>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct NotRemoved {
        not_removed: u64,
        not_removed_because: Option<String>,
    }
    let spared = spared.as_ref();
    NotRemoved { not_removed: entries_spared(spared), not_removed_because: spared.map(ToString::to_string) }
        .serialize(serializer)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Because;

    #[test]
    fn the_end_is_one_object_without_others_in_it() {
        let text = |summary| serde_json::to_string(&Event::Finished(summary)).unwrap();
        assert_eq!(
            text(Summary { stored: 3, stored_files: 2, bytes_moved: 500, ..Summary::default() }),
            r#"{"event":"finished","stored":3,"stored_files":2,"had":0,"skipped":0,"incomplete":0,"failed":0,"removed":0,"#
                .to_owned()
                + r#""would_change":0,"would_adjust":0,"would_remove":0,"would_bytes":0,"not_removed":0,"#
                + r#""not_removed_because":null,"bytes_moved":500}"#
        );
        let spared = Spared { entries: 5, because: Because::SourceIsEmpty(EntryPath::default()) };
        let because = serde_json::to_string(&spared.to_string()).unwrap();
        let stays = text(Summary { spared: Some(spared), ..Summary::default() });
        let expected = format!(r#","not_removed":5,"not_removed_because":{because},"bytes_moved":0}}"#);
        assert!(stays.ends_with(&expected), "{stays}");
    }
}
