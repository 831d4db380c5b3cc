//! Where there is no terminal: a line every ten seconds, and one at once where something needs attention.

use super::{numbers, pause, remark, View};
use crate::tally::JobTally;
use afteryou_terminal::output::printable;
use afteryou_transfer::event::Event;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Often enough to follow a job in a log, and not too much for a job of days.
const APART: Duration = Duration::from_secs(10);

/// Lines on `out`.
pub struct Lines<W> {
    out: W,
    /// Every file is named.
    list: bool,
    next: Option<Instant>,
    /// The job's connection was reported.
    said_connected: bool,
    said_paused: bool,
}

impl<W: Write + Send> Lines<W> {
    /// Creates a view that has printed nothing yet.
    pub fn new(list: bool, out: W) -> Lines<W> {
        Lines { out, list, next: None, said_connected: false, said_paused: false }
    }
}

impl<W: Write + Send> View for Lines<W> {
    fn event(&mut self, event: &Event, tally: &JobTally, now: Instant) {
        match event {
            Event::Connected { .. } => self.next = Some(now + APART),
            Event::Finished(_) => (self.next, self.said_connected) = (None, false),
            _ => {}
        }
        if matches!(event, Event::Connected { .. }) && std::mem::replace(&mut self.said_connected, true) {
            return;
        }
        if let Some(remark) = remark(event, self.list) {
            self.say(&remark);
        }
        // A client that comes now waits for the end of a pause, and is shown waiting.
        if let Event::Connected { .. } | Event::Pace { .. } = event {
            let again = matches!(event, Event::Connected { .. });
            if let Some(sentence) = pause(&mut self.said_paused, again, tally, now) {
                self.say(&sentence);
            }
        }
    }

    fn tick(&mut self, tally: &JobTally, now: Instant) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + APART);
        self.say(&format!("{}; {}", numbers(tally), tally.words(now)));
    }

    fn say(&mut self, sentence: &str) {
        // If nobody reads it there is nobody to report it to.
        let _ = writeln!(self.out, "{}", printable(sentence));
    }

    fn log(&mut self, line: &str) {
        self.say(line);
    }

    fn finish(&mut self) -> io::Result<()> {
        let _ = self.out.flush();
        Ok(())
    }
}
