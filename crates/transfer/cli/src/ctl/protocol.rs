//! The protocol between `afteryou ctl` and a job, and the job's actions.

use crate::figures::{count, percent, size};
use crate::tally::JobTally;
use crate::timetable::Direction;
use afteryou_transfer::pace::{Limit, Owner, Pace};
use afteryou_transfer::store::Store;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Longest question or answer, bytes.
pub const LONGEST: u64 = 64 * 1024;

/// Requests to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// Report the status.
    Status,
    /// Pause.
    Pause,
    /// Resume.
    Resume,
    /// Go no faster.
    Rate {
        /// Bytes a second.
        max_rate: u64,
    },
    /// Lift all limits and pauses set here.
    Off,
    /// End; data that arrived are kept.
    Stop,
}

/// A job's answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Its state after the request.
    Status(Status),
    /// It did not understand.
    Refused {
        /// One sentence.
        reason: String,
    },
}

/// A job's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The job's process.
    pub pid: u32,
    /// "send", "get", "receive", "serve" or "run".
    pub command: String,
    /// Its files: directories, paths; the program of `run`.
    pub what: String,
    /// Seconds since it began.
    pub seconds: u64,
    /// Its state, in plain words.
    pub words: String,
    /// Entries that are settled.
    pub entries_done: u64,
    /// The files among them.
    pub files_done: u64,
    /// Entries, as far as they are known.
    pub entries: u64,
    /// The files among them.
    pub files: u64,
    /// Bytes that need not move any more.
    pub bytes_done: u64,
    /// Bytes of all entries, as far as they are known.
    pub bytes: u64,
    /// Bytes a second, lately.
    pub rate: u64,
    /// The limit that holds, bytes a second.
    pub max_rate: Option<u64>,
    /// Whether it was paused by a command.
    pub paused: bool,
    /// Share of the observed time in which the job yielded, in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yielded_percent: Option<u64>,
    /// Partial files in the receiving directory that no job works on now.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial_files: u64,
    /// Bytes that these take on the disk.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A job's properties beside its tally.
#[derive(Clone, Debug)]
pub struct Job {
    /// "send", "get", "receive" or "serve".
    pub command: &'static str,
    /// The same when it is over: "sent", "received".
    pub done: &'static str,
    /// The direction of the data.
    pub direction: Direction,
    /// The files that the job moves.
    pub what: String,
    /// The store of a job that receives.
    pub store: Option<Store>,
}

impl Status {
    /// Returns the status at `now`.
    pub fn of(job: &Job, tally: &JobTally, pace: &Pace, now: Instant) -> Status {
        let limit = pace.current();
        let abandoned = job.store.as_ref().map(Store::abandoned).unwrap_or_default();
        Status {
            pid: std::process::id(),
            command: job.command.to_owned(),
            what: job.what.clone(),
            seconds: now.saturating_duration_since(tally.began).as_secs(),
            words: tally.words(now),
            entries_done: tally.entries_done,
            files_done: tally.files_done,
            entries: tally.entries,
            files: tally.files,
            bytes_done: tally.bytes_done,
            bytes: tally.bytes,
            rate: tally.rate,
            max_rate: limit.max_rate,
            paused: limit.paused,
            yielded_percent: tally.yielded_percent(),
            partial_files: abandoned.files,
            partial_bytes: abandoned.bytes,
        }
    }
}

impl Status {
    /// Returns the job's name: "4711 send photos".
    pub fn name(&self) -> String {
        format!("{} {} {}", self.pid, self.command, self.what)
    }

    /// Returns the job's course: "42 % of 3.1 GB, 12 of 340 files; yielding: queue is …".
    pub fn course(&self) -> String {
        match self.partial_files {
            0 => self.progress(),
            files => {
                let (files, bytes) = (count(files, "partial file"), size(self.partial_bytes));
                format!("{}; {files} of earlier jobs, {bytes}", self.progress())
            }
        }
    }

    fn progress(&self) -> String {
        if self.entries == 0 {
            return self.words.clone();
        }
        let (done, files) = (self.files_done, count(self.files, "file"));
        let percent = percent(self.bytes_done, self.bytes);
        format!("{percent} % of {}, {done} of {files}; {}", size(self.bytes), self.words)
    }
}

/// Applies the request to `pace`, as far as it concerns the pace.
pub fn obey(question: Question, pace: &Pace) {
    let set = |max_rate, paused| pace.set(Owner::Control, Limit { max_rate, paused });
    let (rate, paused) = (pace.of(Owner::Control).max_rate, pace.of(Owner::Control).paused);
    match question {
        Question::Status | Question::Stop => {}
        Question::Pause => set(rate, true),
        Question::Resume => {
            set(rate, false);
            unpause(pace, Owner::Timetable);
        }
        Question::Rate { max_rate } => {
            forget_others(pace);
            set(Some(max_rate), paused);
        }
        Question::Off => {
            forget_others(pace);
            set(None, false);
        }
    }
}

fn forget_others(pace: &Pace) {
    pace.set(Owner::User, Limit::NONE);
    pace.set(Owner::Timetable, Limit::NONE);
}

fn unpause(pace: &Pace, owner: Owner) {
    pace.set(owner, Limit { paused: false, ..pace.of(owner) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(max_rate: u64) -> Limit {
        Limit { max_rate: Some(max_rate), paused: false }
    }

    #[test]
    fn the_last_word_counts() {
        let pace = Pace::new();
        pace.set(Owner::User, limit(5));
        pace.set(Owner::Timetable, limit(4));
        obey(Question::Rate { max_rate: 9 }, &pace);
        assert_eq!(pace.current(), limit(9));
        obey(Question::Off, &pace);
        assert_eq!(pace.current(), Limit::NONE);
    }

    #[test]
    fn a_pause_keeps_the_rate_and_a_rate_keeps_the_pause() {
        let pace = Pace::new();
        obey(Question::Rate { max_rate: 9 }, &pace);
        obey(Question::Pause, &pace);
        assert_eq!(pace.current(), Limit { max_rate: Some(9), paused: true });
        obey(Question::Rate { max_rate: 7 }, &pace);
        assert_eq!(pace.current(), Limit { max_rate: Some(7), paused: true });
        obey(Question::Resume, &pace);
        assert_eq!(pace.current(), limit(7));
    }

    #[test]
    fn the_far_ends_limit_is_not_ours_to_lift() {
        let pace = Pace::new();
        pace.set(Owner::FarEnd, limit(3));
        obey(Question::Off, &pace);
        assert_eq!(pace.current(), limit(3));
    }

    #[test]
    fn words_travel_as_json() {
        let ask = serde_json::to_string(&Question::Rate { max_rate: 625_000 }).unwrap();
        assert_eq!(ask, r#"{"ask":"rate","max_rate":625000}"#);
        let answer = Answer::Status(Status { pid: 7, max_rate: Some(1), ..Status::default() });
        let text = serde_json::to_string(&answer).unwrap();
        assert!(text.starts_with(r#"{"answer":"status","pid":7,"#), "{text}");
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }
}
