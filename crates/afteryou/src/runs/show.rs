//! How far the runs are, on one line of the terminal.

use afteryou_engines::PoolProgress;
use afteryou_terminal::output::paint;
use std::time::{Duration, Instant};

/// Characters of the bar.
const BAR: usize = 24;
/// Nothing is shown of what is over sooner.
const QUIET: Duration = Duration::from_millis(500);
/// Columns of a terminal that reports no size.
const USUAL: usize = 80;
/// Clears the line and stays on it.
const CLEAR: &str = "\r\u{1b}[2K";

/// The line.
pub(crate) struct Show {
    total: usize,
    is_terminal: bool,
    started: Instant,
    /// Runs of the files that are done.
    before: usize,
    /// Runs that were there before this began.
    there: usize,
    /// Simulated time of those files, s.
    simulated_s: f64,
    /// Simulated time of the file that is under way, s.
    latest_s: f64,
    drawn: bool,
}

impl Show {
    /// Creates a line about `total` runs; nothing is drawn unless somebody sees it.
    pub(crate) fn new(total: usize, is_terminal: bool) -> Show {
        Show {
            total,
            is_terminal,
            started: Instant::now(),
            before: 0,
            there: 0,
            simulated_s: 0.0,
            latest_s: 0.0,
            drawn: false,
        }
    }

    /// Counts `runs` that an earlier sweep has left: they take no time.
    pub(crate) fn was_there(&mut self, runs: usize) {
        self.there += runs;
    }

    /// Counts `runs` of a file that have ended.
    pub(crate) fn ended(&mut self, runs: usize) {
        self.before += runs;
        self.simulated_s += std::mem::take(&mut self.latest_s);
    }

    /// Draws the line anew.
    pub(crate) fn draw(&mut self, progress: PoolProgress) {
        self.latest_s = progress.passed_s;
        let elapsed = self.started.elapsed();
        if !self.is_terminal || elapsed < QUIET {
            return;
        }
        let columns = crossterm::terminal::size().map_or(USUAL, |(columns, _)| usize::from(columns));
        let state = State {
            work: self.before as f64 + progress.work,
            done: self.before + progress.done,
            there: self.there,
            total: self.total,
            simulated_s: self.simulated_s + progress.passed_s,
            elapsed_s: elapsed.as_secs_f64(),
        };
        // The last column stays free: some terminals wrap when it is written.
        paint(&format!("{CLEAR}{}", state.line(columns.saturating_sub(1))));
        self.drawn = true;
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            paint(CLEAR);
        }
    }
}

/// The line's text.
#[derive(Clone, Copy)]
struct State {
    /// Runs that were done here, those under way in part.
    work: f64,
    done: usize,
    there: usize,
    total: usize,
    simulated_s: f64,
    elapsed_s: f64,
}

impl State {
    /// Returns the line with as much as fits into `columns`.
    fn line(self, columns: usize) -> String {
        let part = ((self.there as f64 + self.work) / self.total.max(1) as f64).clamp(0.0, 1.0);
        let full = (part * BAR as f64) as usize;
        let bar = format!("{}{} ", "█".repeat(full), "░".repeat(BAR - full));
        let percent = format!("{:3.0} %", part * 100.0);
        let fits = |line: &str, part: &str| line.chars().count() + part.chars().count() <= columns;
        let mut line = if fits(&bar, &percent) { bar + &percent } else { percent };
        for part in [self.runs(), self.left(), self.rate(), self.speed()].into_iter().flatten() {
            if fits(&line, &part) {
                line += &part;
            }
        }
        line
    }

    fn runs(self) -> Option<String> {
        let under_way = (self.there + self.done + 1).min(self.total);
        (self.total > 1).then(|| format!("  run {under_way} of {}", self.total))
    }

    /// Estimates the time left by the rate of the work done here.
    fn left(self) -> Option<String> {
        let to_do = self.total.saturating_sub(self.there) as f64;
        let left_s = self.elapsed_s * (to_do / self.work - 1.0);
        left_s.is_finite().then(|| format!("  {} left", time(left_s.max(0.0))))
    }

    fn rate(self) -> Option<String> {
        let per_s = self.work / self.elapsed_s;
        match self.total > 1 && per_s > 0.0 {
            false => None,
            true if per_s >= 1.0 => Some(format!("  {per_s:.1} runs/s")),
            true => Some(format!("  {:.1} runs/min", per_s * 60.0)),
        }
    }

    fn speed(self) -> Option<String> {
        let speed = self.simulated_s / self.elapsed_s;
        let decimals = usize::from(speed < 10.0);
        (speed > 0.0).then(|| format!("  {speed:.decimals$} simulated seconds a second"))
    }
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
        let at = |work, done, total, simulated_s| {
            State { work, done, there: 0, total, simulated_s, elapsed_s: 10.0 }.line(120)
        };
        assert_eq!(
            at(2.5, 2, 10, 5000.0),
            "██████░░░░░░░░░░░░░░░░░░  25 %  run 3 of 10  30 s left  15.0 runs/min  500 simulated seconds a second"
        );
        assert_eq!(
            at(0.5, 0, 1, 15.0),
            "████████████░░░░░░░░░░░░  50 %  10 s left  1.5 simulated seconds a second"
        );
        assert_eq!(at(0.0, 0, 1, 0.0), "░░░░░░░░░░░░░░░░░░░░░░░░   0 %");
        assert!(at(0.001, 0, 1, 0.0).ends_with("2 h left"));
    }

    #[test]
    fn runs_that_were_there_count_for_the_bar_and_not_for_the_time_left() {
        let state = State { work: 20.0, done: 20, there: 60, total: 100, simulated_s: 0.0, elapsed_s: 10.0 };
        assert_eq!(state.line(99), "███████████████████░░░░░  80 %  run 81 of 100  10 s left  2.0 runs/s");
    }

    #[test]
    fn a_narrow_terminal_gets_less_of_it() {
        let state = State { work: 2.5, done: 2, there: 0, total: 10, simulated_s: 5000.0, elapsed_s: 10.0 };
        assert_eq!(state.line(55), "██████░░░░░░░░░░░░░░░░░░  25 %  run 3 of 10  30 s left");
        assert_eq!(state.line(25), " 25 %  run 3 of 10");
        for columns in 5..120 {
            assert!(state.line(columns).chars().count() <= columns);
        }
    }
}
