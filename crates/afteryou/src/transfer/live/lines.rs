//! Where there is no terminal: a line every ten seconds, and one at once where something needs attention.

use super::{numbers, printable, remark, View};
use crate::transfer::tally::Tally;
use afteryou_transfer::event::Event;
use std::io::Write;
use std::time::{Duration, Instant};

/// Enough to see in a log what went on, and not too much for a job of days.
const APART: Duration = Duration::from_secs(10);

/// Lines on `out`.
pub struct Lines<W> {
    out: W,
    next: Option<Instant>,
}

impl<W: Write + Send> Lines<W> {
    /// Nothing was said yet.
    pub fn new(out: W) -> Lines<W> {
        Lines { out, next: None }
    }
}

impl<W: Write + Send> View for Lines<W> {
    fn event(&mut self, event: &Event, _: &Tally, now: Instant) {
        match event {
            Event::Connected { .. } => self.next = Some(now + APART),
            Event::Finished { .. } => self.next = None,
            _ => {}
        }
        if let Some(remark) = remark(event) {
            self.say(&remark);
        }
    }

    fn tick(&mut self, tally: &Tally, now: Instant) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + APART);
        self.say(&format!("{}; {}", numbers(tally), tally.words(now)));
    }

    fn say(&mut self, sentence: &str) {
        // If nobody reads it there is nobody to tell.
        let _ = writeln!(self.out, "{}", printable(sentence));
    }

    fn finish(&mut self) {
        let _ = self.out.flush();
    }
}
