//! How far the runs are, on one line of the terminal.

use super::pool::Progress;
use crate::output::complain;
use std::time::{Duration, Instant};

/// Characters of the bar.
const BAR: usize = 24;
/// Nothing is shown of what is over sooner.
const QUIET: Duration = Duration::from_millis(500);
/// Clears the line and stays on it.
const CLEAR: &str = "\r\u{1b}[2K";

/// The line.
pub(super) struct Show {
    total: usize,
    is_terminal: bool,
    started: Instant,
    /// Runs of the files that are done.
    before: usize,
    drawn: bool,
}

impl Show {
    /// A line about `total` runs; nothing is drawn unless somebody sees it.
    pub(super) fn new(total: usize, is_terminal: bool) -> Show {
        Show { total, is_terminal, started: Instant::now(), before: 0, drawn: false }
    }

    /// So many runs of a file are over.
    pub(super) fn ended(&mut self, runs: usize) {
        self.before += runs;
    }

    /// Draws the line anew.
    pub(super) fn draw(&mut self, progress: Progress) {
        let elapsed = self.started.elapsed();
        if !self.is_terminal || elapsed < QUIET {
            return;
        }
        let work = (self.before as f64 + progress.work) / self.total.max(1) as f64;
        let line = line(work, self.before + progress.done, self.total, elapsed);
        complain(&format!("{CLEAR}{line}"));
        self.drawn = true;
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            complain(CLEAR);
        }
    }
}

/// `work` is the part that is done.
fn line(work: f64, done: usize, total: usize, elapsed: Duration) -> String {
    let work = work.clamp(0.0, 1.0);
    let full = (work * BAR as f64) as usize;
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
    let runs = if total > 1 { format!("  run {} of {total}", (done + 1).min(total)) } else { String::new() };
    let left = elapsed.as_secs_f64() * (1.0 / work - 1.0);
    let left = if left.is_finite() { format!("  {} left", time(left)) } else { String::new() };
    format!("{bar} {:3.0} %{runs}{left}", work * 100.0)
}

fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_done_and_what_is_left() {
        let at = |work, done, total| line(work, done, total, Duration::from_secs(10));
        assert_eq!(at(0.25, 2, 10), "██████░░░░░░░░░░░░░░░░░░  25 %  run 3 of 10  30 s left");
        assert_eq!(at(0.5, 0, 1), "████████████░░░░░░░░░░░░  50 %  10 s left");
        assert_eq!(at(0.0, 0, 1), "░░░░░░░░░░░░░░░░░░░░░░░░   0 %");
        assert!(at(0.001, 0, 1).ends_with("2 h left"));
    }
}
