//! Nothing but what failed, was left out or is incomplete.

use super::{remark, View};
use crate::tally::JobTally;
use afteryou_terminal::output::complain;
use afteryou_terminal::output::printable;
use afteryou_transfer::event::{Event, Outcome};
use std::io;
use std::time::Instant;

/// Nothing but what failed, was left out or is incomplete.
pub struct Quiet {
    /// Entries are named; otherwise the view prints the log only.
    pub entries: bool,
}

impl View for Quiet {
    fn event(&mut self, event: &Event, _: &JobTally, _: Instant) {
        let Event::File { outcome, .. } = event else { return };
        let is_said = matches!(outcome, Outcome::Failed(_) | Outcome::Skipped(_) | Outcome::Incomplete(_));
        if self.entries && is_said {
            complain(&format!("{}\n", printable(&remark(event, false).unwrap_or_default())));
        }
    }

    fn tick(&mut self, _: &JobTally, _: Instant) {}

    fn say(&mut self, _: &str) {}

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
