//! On a terminal: a bar, the numbers, and what the job does, painted over in place.
//!
//! ```text
//!   ━━━━━━━━━━━━━━━━╸·······················  42 %, 1.3 GB of 3.1 GB, 18.3 Mbit/s, 13 min left, 12 of 340 files
//!   yielding: queue is 148 ms over base 21 ms
//! ```

use super::{numbers, pause, remark, View};
use crate::tally::JobTally;
use afteryou_terminal::cut;
use afteryou_terminal::output::printable;
use afteryou_transfer::event::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io;
use std::time::{Duration, Instant};

/// Faster than this no eye follows.
const APART: Duration = Duration::from_millis(200);

/// Columns of the longest bar; a shorter one leaves room for the numbers.
const LONGEST: usize = 40;
/// A bar of fewer columns shows less than the per cent beside it.
const SHORTEST: usize = 8;

/// Columns of a terminal that reports no size.
const USUAL: u16 = 80;

/// Where a bar is drawn, and how wide that is now.
pub type Place = Box<dyn Fn() -> (ProgressDrawTarget, u16) + Send>;

/// A bar on a terminal.
pub struct Bar {
    place: Place,
    /// Every file is named.
    list: bool,
    /// There is one while a job runs.
    bar: Option<ProgressBar>,
    drawn: Option<Instant>,
    said_paused: bool,
}

/// Returns standard error as the place of a bar.
pub fn stderr() -> Place {
    Box::new(|| {
        (ProgressDrawTarget::stderr(), crossterm::terminal::size().map_or(USUAL, |(columns, _)| columns))
    })
}

impl Bar {
    /// Creates a bar that begins at once, or when there is a connection or an attempt at one has failed.
    pub fn new(at_once: bool, list: bool, place: Place) -> Bar {
        let mut bar = Bar { place, list, bar: None, drawn: None, said_paused: false };
        if at_once {
            bar.begin();
        }
        bar
    }

    fn begin(&mut self) {
        let bar = ProgressBar::with_draw_target(None, (self.place)().0);
        let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar = Some(bar.with_style(style));
        self.drawn = None;
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Returns two lines, neither wider than `width`.
fn picture(tally: &JobTally, now: Instant, width: u16) -> String {
    let numbers = cut(&numbers(tally), width);
    let rest = usize::from(width).saturating_sub(numbers.chars().count() + 2).min(LONGEST);
    let line = match rest {
        SHORTEST.. => format!("{}  {numbers}", bar(tally.bytes_done, tally.bytes, rest)),
        _ => numbers,
    };
    format!("{line}\n{}", cut(&printable(&tally.words(now)), width))
}

/// Draws a part of a whole in halves of columns.
fn bar(part: u64, whole: u64, columns: usize) -> String {
    let halves = (part.min(whole) as f64 / whole.max(1) as f64 * 2.0 * columns as f64) as usize;
    let (full, half) = (halves / 2, halves % 2);
    let rest = columns - full - half;
    format!("{}{}{}", "━".repeat(full), "╸".repeat(half), "·".repeat(rest))
}

impl View for Bar {
    fn event(&mut self, event: &Event, tally: &JobTally, now: Instant) {
        match event {
            Event::Connected { .. } | Event::Disconnected { retry_in_ms: 1.., .. } if self.bar.is_none() => {
                self.begin();
            }
            Event::Finished(_) => self.clear(),
            Event::Pace { .. } => {
                let sentence = pause(&mut self.said_paused, false, tally, now);
                // The line below the bar shows it, where there is one.
                if let (Some(sentence), None) = (sentence, &self.bar) {
                    self.say(&sentence);
                }
            }
            // The line below the bar has it, and counts down.
            Event::Connected { .. } | Event::Disconnected { .. } => {}
            _ => {
                if let Some(remark) = remark(event, self.list) {
                    self.say(&remark);
                }
            }
        }
    }

    fn tick(&mut self, tally: &JobTally, now: Instant) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.is_some_and(|drawn| now.saturating_duration_since(drawn) < APART) {
            return;
        }
        self.drawn = Some(now);
        bar.set_message(picture(tally, now, (self.place)().1));
        bar.tick();
    }

    fn say(&mut self, sentence: &str) {
        let line = printable(sentence);
        match &self.bar {
            Some(bar) => bar.println(line),
            None => afteryou_terminal::output::complain(&format!("{line}\n")),
        }
    }

    fn log(&mut self, line: &str) {
        self.say(line);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.clear();
        Ok(())
    }
}
