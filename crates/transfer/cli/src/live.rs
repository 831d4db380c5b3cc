//! The display while a job runs: a bar on a terminal, a line now and then elsewhere, events for programs, or nothing.
//!
//! All but the events go to stderr, so that stdout stays free for the ticket and for programs. Events reach a view from
//! one thread, in order. It is also asked to look again a few times a second, since countdowns run without events, too.

mod bar;
mod json;
mod lines;
mod quiet;

use super::args::Common;
use super::figures::{count, percent, size, time};
use super::tally::JobTally;
use afteryou_terminal::output::complain;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::wire::Change;
use std::io::{self, IsTerminal};
use std::time::Instant;

/// Somewhere that a job is shown.
pub trait View: Send {
    /// Shows an event; `tally` has it in already.
    fn event(&mut self, event: &Event, tally: &JobTally, now: Instant);
    /// Shows that time has passed.
    fn tick(&mut self, tally: &JobTally, now: Instant);
    /// Prints a sentence that is not painted over.
    fn say(&mut self, sentence: &str);
    /// Prints a line of the log.
    fn log(&mut self, line: &str) {
        complain(&format!("{line}\n"));
    }
    /// Reports the number of files that were settled without an event, since the reader was too slow.
    fn missed(&mut self, files: u64) {
        self.say(&format!("{} more: too many to list", count(files, "file")));
    }
    /// Ends the view; printed lines remain. Gives the failure of an output that programs rely upon.
    fn finish(&mut self) -> io::Result<()>;
}

/// Returns the requested view; `at_once` if it shows the job before there is a connection.
pub fn view(common: &Common, at_once: bool) -> Box<dyn View> {
    let list = common.list;
    match (common.json, common.quiet) {
        (true, _) => Box::new(json::Json::new(std::io::stdout())),
        (false, true) => Box::new(quiet::Quiet { entries: !common.is_far_end }),
        (false, false) if std::io::stderr().is_terminal() && !afteryou_terminal::is_dumb() => {
            Box::new(bar::Bar::new(at_once, list, bar::stderr()))
        }
        (false, false) => Box::new(lines::Lines::new(list, std::io::stderr())),
    }
}

/// Returns whether no view but a list or a program shows this event: a file that was stored, or there already.
pub fn is_listed_only(event: &Event) -> bool {
    matches!(event, Event::File { outcome: Outcome::Stored | Outcome::Had | Outcome::Newer, .. })
}

/// Returns the text of an event that is printed at once, for people: events that need attention, and with `list` every
/// file.
fn remark(event: &Event, list: bool) -> Option<String> {
    match event {
        Event::File { path, outcome: Outcome::Stored } if list => Some(format!("done: {path}")),
        Event::File { path, outcome: Outcome::Had } if list => Some(format!("there already: {path}")),
        Event::File { path, outcome: Outcome::Newer } if list => Some(format!("newer there: {path}")),
        Event::File { path, outcome: Outcome::Removed } => Some(format!("removed: {path}")),
        Event::File { path, outcome: Outcome::Would(change) } => Some(format!("{}: {path}", would(*change))),
        Event::Connected { peer } => Some(format!("connected to {peer}")),
        Event::Disconnected { reason, .. } => Some(format!("no connection: {reason}")),
        Event::File { path, outcome: Outcome::Failed(reason) } => Some(format!("failed: {path}: {reason}")),
        Event::File { path, outcome: Outcome::Skipped(reason) } => {
            Some(format!("left out: {path}: {reason}"))
        }
        Event::File { path, outcome: Outcome::Incomplete(reason) } => {
            Some(format!("differs from the source: {path}: {reason}"))
        }
        Event::Unmatched { pattern } => Some(format!("matched nothing: the pattern {pattern}")),
        Event::Notice { text } => Some(text.clone()),
        _ => None,
    }
}

/// Returns the text of a dry run about an entry.
fn would(change: Change) -> &'static str {
    match change {
        Change::Create => "would store",
        Change::Replace => "would replace",
        Change::Adjust => "would set attributes of",
        Change::Remove => "would remove",
    }
}

/// Returns the text for a job that is paused or continues, once each. While it is paused, `again` repeats it.
fn pause(said: &mut bool, again: bool, tally: &JobTally, now: Instant) -> Option<String> {
    let paused = tally.pause(now);
    let before = std::mem::replace(said, paused.is_some());
    match paused {
        Some(sentence) => (!before || again).then_some(sentence),
        None => before.then(|| "no longer paused".to_owned()),
    }
}

/// Returns the job's figures: "42 %, 1.3 GB of 3.1 GB, 18.3 Mbit/s, 13 min left, 12 of 340 files", without what is not
/// known.
fn numbers(tally: &JobTally) -> String {
    let mut parts = Vec::new();
    if tally.entries == 0 {
        return "looking for files".to_owned();
    }
    if tally.is_plan_complete {
        parts.push(format!("{} %", percent(tally.bytes_done, tally.bytes)));
    }
    // While files are still being looked at, more is to come.
    let more = if tally.is_plan_complete { "" } else { " or more" };
    parts.push(format!("{} of {}{more}", size(tally.bytes_done), size(tally.bytes)));
    parts.push(tally.unit.rate(tally.rate));
    parts.extend(tally.time_left().map(|left| format!("{} left", time(left))));
    parts.push(format!("{} of {}{more}", tally.files_done, count(tally.files, "file")));
    parts.join(", ")
}

#[cfg(test)]
mod tests;
