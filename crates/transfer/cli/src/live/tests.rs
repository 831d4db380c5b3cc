//! The output for people and for programs, read back from a terminal in memory.

use super::bar::Bar;
use super::json::Json;
use super::lines::Lines;
use super::*;
use afteryou_transfer::event::Summary;
use afteryou_transfer::pace::{Limit, Owner, Pace};
use afteryou_transfer::wire::ControllerState;
use indicatif::{InMemoryTerm, ProgressDrawTarget};
use std::time::Duration;

fn connected() -> Event {
    Event::Connected { peer: "[2001:db8::7]:4747".to_owned() }
}

fn plan() -> Event {
    Event::Plan { entries: 340, files: 340, bytes: 3_100_000_000, complete: true }
}

fn progress() -> Event {
    let rate = 2_290_000;
    Event::Progress {
        entries_done: 12,
        files_done: 12,
        bytes_done: 1_300_000_000,
        bytes_moved: 1_000_000,
        rate,
    }
}

/// Returns events that last long enough for a rate from which the remaining time is estimated.
fn steady() -> Vec<Event> {
    vec![progress(); 4]
}

fn state() -> Event {
    Event::State(ControllerState {
        base_us: Some(21_000),
        queue_us: Some(148_000),
        target_us: Some(60_000),
        cwnd: 3_000,
        phase: "congestion avoidance".to_owned(),
    })
}

fn failed() -> Event {
    Event::File { path: "a\u{1b}[31mb".to_owned(), outcome: Outcome::Failed("it changed".to_owned()) }
}

/// Shows `events` a second apart, and looks once more at the end.
fn show(view: &mut dyn View, events: &[Event]) -> JobTally {
    let now = Instant::now();
    let mut tally = JobTally::new(Pace::new(), None, now);
    for (at, event) in events.iter().enumerate() {
        let now = now + Duration::from_secs(at as u64);
        tally.add(event, now);
        view.event(event, &tally, now);
        view.tick(&tally, now);
    }
    tally
}

#[test]
fn a_line_of_the_log_stands_above_the_bar() {
    let (terminal, mut bar) = on_terminal(80, &[connected(), plan(), progress()]);
    bar.log("WARN a line of the log");
    bar.tick(&JobTally::new(Pace::new(), None, Instant::now()), Instant::now());
    let shown = terminal.contents();
    assert!(shown.starts_with("WARN a line of the log\n"), "{shown}");
    assert!(shown.contains("12 of 340 files"), "{shown}");
    bar.finish().unwrap();
}

fn on_terminal(columns: u16, events: &[Event]) -> (InMemoryTerm, Bar) {
    let terminal = InMemoryTerm::new(24, columns);
    let target = terminal.clone();
    let place = move || (ProgressDrawTarget::term_like(Box::new(target.clone())), columns);
    let mut bar = Bar::new(false, false, Box::new(place));
    show(&mut bar, events);
    (terminal, bar)
}

#[test]
fn a_terminal_shows_a_bar_the_numbers_and_what_it_does() {
    let (terminal, mut bar) =
        on_terminal(110, &[vec![connected(), plan()], steady(), vec![state()]].concat());
    let expected = "\
━━━━━━━━━━━━━━━━╸·······················  41 %, 1.3 GB of 3.1 GB, 18.3 Mbit/s, 13 min left, 12 of 340 files
yielding: queue is 148 ms over base 21 ms";
    assert_eq!(terminal.contents(), expected, "\n{}", terminal.contents());
    bar.finish().unwrap();
    assert_eq!(terminal.contents(), "", "the summary stays instead");
}

/// ssh may ask for a password on the same terminal.
#[test]
fn nothing_is_painted_before_there_is_a_connection_or_an_attempt_at_one_has_failed() {
    let (terminal, mut bar) = on_terminal(80, &[plan()]);
    assert_eq!(terminal.contents(), "");
    show(&mut bar, &[plan(), Event::Disconnected { reason: "nobody answers".to_owned(), retry_in_ms: 500 }]);
    assert!(terminal.contents().contains("nobody answers"), "{}", terminal.contents());
}

#[test]
fn failures_stay_above_the_bar_and_steer_no_terminal() {
    let (terminal, _bar) = on_terminal(110, &[connected(), plan(), progress(), failed(), state()]);
    let shown = terminal.contents();
    assert!(shown.starts_with("failed: a") && shown.contains("[31mb: it changed"), "{shown}");
    assert!(shown.ends_with("yielding: queue is 148 ms over base 21 ms"), "{shown}");
}

#[test]
fn a_narrow_terminal_gets_less_and_nothing_wraps() {
    for columns in [20, 40, 60, 80] {
        let (terminal, _bar) = on_terminal(columns, &[connected(), plan(), progress(), state()]);
        let shown = terminal.contents();
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 2, "{columns}:\n{shown}");
        assert!(lines[0].contains("41 %, 1.3 GB") && lines[1].starts_with("yielding: queue"), "{shown}");
    }
}

#[test]
fn without_a_terminal_there_is_a_line_every_ten_seconds() {
    let mut out = Vec::new();
    let mut lines = Lines::new(false, &mut out);
    let mut events = [vec![connected(), plan()], steady()].concat();
    events.extend((0..9).map(|_| state()));
    events.push(failed());
    show(&mut lines, &events);
    let expected = "connected to [2001:db8::7]:4747\n\
        41 %, 1.3 GB of 3.1 GB, 18.3 Mbit/s, 13 min left, 12 of 340 files; yielding: queue is 148 ms over base 21 ms\n\
        failed: a\\u{1b}[31mb: it changed\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_job_of_many_connections_says_once_that_there_is_one() {
    let mut out = Vec::new();
    let end = Event::Finished(Summary { stored: 1, stored_files: 1, bytes_moved: 1, ..Summary::default() });
    show(&mut Lines::new(false, &mut out), &[connected(), connected(), end, connected()]);
    assert_eq!(String::from_utf8(out).unwrap(), "connected to [2001:db8::7]:4747\n".repeat(2));
}

#[test]
fn what_is_still_being_counted_is_said_to_be() {
    let mut tally = show(&mut Lines::new(false, Vec::new()), &[connected(), progress()]);
    tally.add(
        &Event::Plan { entries: 340, files: 340, bytes: 3_100_000_000, complete: false },
        Instant::now(),
    );
    assert_eq!(numbers(&tally), "1.3 GB of 3.1 GB or more, 18.3 Mbit/s, 12 of 340 files or more");
}

#[test]
fn programs_get_one_object_in_a_line_with_the_same_words() {
    let mut out = Vec::new();
    show(&mut Json::new(&mut out), &[connected(), plan(), progress(), state(), failed()]);
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["connected", "plan", "progress", "state", "file"]);
    assert_eq!(lines[3]["words"], "yielding: queue is 148 ms over base 21 ms");
    assert_eq!(
        (&lines[3]["queue_us"], &lines[3]["phase"]),
        (&148_000.into(), &"congestion avoidance".into())
    );
    assert_eq!(lines[4]["outcome"]["failed"], "it changed");
    assert!(lines.iter().all(|line| line["at_ms"].is_u64()));
}

#[test]
fn a_limit_is_seen_at_once() {
    let mut tally = show(&mut Lines::new(false, Vec::new()), &[connected(), progress()]);
    let pace = Pace::new();
    let now = Instant::now();
    let mut slower = JobTally::new(pace.clone(), None, now);
    slower.add(&connected(), now);
    slower.add(&progress(), now);
    pace.set(Owner::Control, Limit { max_rate: Some(2_500_000), paused: false });
    assert_eq!(slower.words(now), "held to 20 Mbit/s by ctl");
    tally.add(&state(), now);
    assert_eq!(tally.words(now), "yielding: queue is 148 ms over base 21 ms");
}

#[test]
fn a_pause_is_told_at_once_and_again_to_whoever_comes() {
    let mut out = Vec::new();
    let (pace, now) = (Pace::new(), Instant::now());
    let mut tally = JobTally::new(pace.clone(), None, now).listening();
    let mut lines = Lines::new(false, &mut out);
    let mut happens = |event: Event| {
        tally.add(&event, now);
        lines.event(&event, &tally, now);
    };
    let paused = |paused| Event::Pace { max_rate: None, paused };
    happens(paused(false));
    pace.set(Owner::Control, Limit { max_rate: None, paused: true });
    happens(paused(true));
    happens(paused(true));
    happens(connected());
    pace.set(Owner::Control, Limit::NONE);
    happens(paused(false));
    let said = "paused by ctl: `afteryou ctl resume` resumes it\n";
    let expected = format!("{said}connected to [2001:db8::7]:4747\n{said}no longer paused\n");
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

/// Takes nothing.
struct Refuses(std::io::ErrorKind);

impl std::io::Write for Refuses {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn events_that_a_full_disk_loses_are_a_failure_at_the_end_and_a_reader_that_leaves_is_none() {
    use std::io::ErrorKind::{BrokenPipe, StorageFull};
    for (kind, fails) in [(StorageFull, true), (BrokenPipe, false)] {
        let mut view = json::Json::new(Refuses(kind));
        show(&mut view, &[connected(), progress()]);
        assert_eq!(view.finish().map_err(|error| error.kind()), if fails { Err(kind) } else { Ok(()) });
    }
}
