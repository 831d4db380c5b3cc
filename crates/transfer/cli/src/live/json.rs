//! For programs: one JSON object in a line for each event.
//!
//! Each has `at_ms`, the time since the job began, and `event`; a `state` also has `words`, what a person would read. A
//! `missed` event gives a slow reader the number of files whose events were left out.

use super::View;
use crate::tally::JobTally;
use afteryou_transfer::event::Event;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::time::Instant;

/// Events on `out`.
pub struct Json<W> {
    /// Gone when its reader is.
    out: Option<W>,
    /// Why events were lost, if the reader did not go away.
    failure: Option<io::Error>,
    began: Instant,
}

#[derive(Serialize)]
struct Line<'a> {
    at_ms: u64,
    #[serde(flatten)]
    event: &'a Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
}

impl<W: Write + Send> Json<W> {
    /// Creates a view that has written nothing yet.
    pub fn new(out: W) -> Json<W> {
        Json { out: Some(out), failure: None, began: Instant::now() }
    }

    fn at_ms(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }

    fn write(&mut self, line: &impl Serialize) {
        let Some(out) = &mut self.out else { return };
        let Ok(mut text) = serde_json::to_vec(line) else { return };
        text.push(b'\n');
        // Neither a reader that has seen enough nor a full disk is a reason to stop the job.
        if let Err(error) = out.write_all(&text).and_then(|()| out.flush()) {
            self.out = None;
            self.failure = Some(error).filter(|error| error.kind() != ErrorKind::BrokenPipe);
        }
    }
}

impl<W: Write + Send> View for Json<W> {
    fn event(&mut self, event: &Event, tally: &JobTally, now: Instant) {
        let at_ms = self.at_ms(now);
        let words = matches!(event, Event::State(_)).then(|| tally.words(now));
        self.write(&Line { at_ms, event, words });
    }

    fn tick(&mut self, _: &JobTally, _: Instant) {}

    fn say(&mut self, _: &str) {}

    fn missed(&mut self, files: u64) {
        let line =
            serde_json::json!({ "at_ms": self.at_ms(Instant::now()), "event": "missed", "files": files });
        self.write(&line);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
