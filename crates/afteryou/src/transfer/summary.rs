//! The sentence at the end.

use super::figures::{count, rate, short_time, size};
use super::tally::{End, Tally};
use std::time::{Duration, Instant};

/// The rate of less says nothing.
const SHORT: Duration = Duration::from_millis(500);

/// What was done, in one sentence: "sent 12 files, 3.1 GB in 4 min 12 s (98.4 Mbit/s); 1.2 GB were there already; yielded
/// 34 % of the time".
pub fn summary(verb: &str, end: End, tally: &Tally, now: Instant) -> String {
    let took = now.saturating_duration_since(tally.began);
    let moved = tally.bytes_moved;
    let mut parts = vec![match end.stored {
        0 if moved == 0 => format!("nothing had to be {verb}"),
        stored if took < SHORT => format!("{verb} {}, {}", count(stored, "file"), size(moved)),
        stored => format!(
            "{verb} {}, {} in {} ({})",
            count(stored, "file"),
            size(moved),
            short_time(took),
            rate((moved as f64 / took.as_secs_f64()) as u64)
        ),
    }];
    if tally.resumed() > 0 {
        parts.push(format!("{} were there already", size(tally.resumed())));
    }
    if end.failed > 0 {
        parts.push(format!("{} failed", count(end.failed, "file")));
    }
    if tally.skipped > 0 {
        parts.push(format!("{} left out", tally.skipped));
    }
    if moved > 0 {
        parts.extend(tally.yielded_percent().map(|percent| match percent {
            0 => "did not have to yield".to_owned(),
            _ => format!("yielded {percent} % of the time"),
        }));
    }
    parts.join("; ")
}

/// What is said when somebody ended it before its end.
pub fn stopped(tally: &Tally) -> String {
    match tally.bytes {
        0 => "stopped: run the same command again to go on".to_owned(),
        bytes => format!(
            "stopped at {} of {}: run the same command again to go on from there",
            size(tally.bytes_done),
            size(bytes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_transfer::event::{Event, Outcome};
    use afteryou_transfer::pace::Pace;

    fn tally(bytes_done: u64, bytes_moved: u64) -> (Tally, Instant) {
        let now = Instant::now();
        let mut tally = Tally::new(Pace::new(), None, now);
        tally.add(&Event::Plan { files: 12, bytes: 4_300_000_000, complete: true }, now);
        tally.add(&Event::Progress { files_done: 12, bytes_done, bytes_moved, rate: 0 }, now);
        (tally, now + Duration::from_secs(252))
    }

    #[test]
    fn the_sentence_says_what_moved_and_what_did_not_have_to() {
        let (done, now) = tally(4_300_000_000, 3_100_000_000);
        let end = End { stored: 12, had: 1, failed: 2 };
        let expected =
            "sent 12 files, 3.1 GB in 4 min 12 s (98.4 Mbit/s); 1.2 GB were there already; 2 files failed";
        assert_eq!(summary("sent", end, &done, now), expected);
        let (mut done, now) = tally(4_300_000_000, 0);
        let reason = "it is a socket".to_owned();
        done.add(&Event::File { path: "s".to_owned(), outcome: Outcome::Skipped(reason) }, now);
        let end = End { stored: 0, had: 12, failed: 0 };
        assert_eq!(
            summary("sent", end, &done, now),
            "nothing had to be sent; 4.3 GB were there already; 1 left out"
        );
    }

    #[test]
    fn who_stops_learns_how_to_go_on() {
        let (done, _) = tally(1_300_000_000, 1);
        assert_eq!(
            stopped(&done),
            "stopped at 1.3 GB of 4.3 GB: run the same command again to go on from there"
        );
        let nothing = Tally::new(Pace::new(), None, Instant::now());
        assert_eq!(stopped(&nothing), "stopped: run the same command again to go on");
    }
}
