//! A machine that sleeps and wakes up: a process that is stopped for longer than a connection lives, and continues.

use super::support::*;
use rustix::process::Signal;
use std::fs;
use std::time::Duration;

/// A test that is held up between a look at the progress and the signal has ten seconds of data left.
const BYTES: u64 = 24_000_000;

/// A connection ends 10 s after the first keep-alive that was not answered (RFC 9000 §10.1), and that leaves up to 2 s after the
/// last packet that came.
const SLEEP: Duration = Duration::from_secs(14);

/// More than waits in a socket of whoever sleeps.
const NEW: u64 = 500_000;

/// A connection that is gone is noticed at once, and half a second later there is a new one. The rest is for a busy machine.
const AWAKE: Duration = Duration::from_secs(6);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleeper {
    Sends,
    Receives,
}

/// Returns the bytes of content that came off the wire, by what `receive --json-groups` wrote.
fn received(place: &Place) -> u64 {
    let log = fs::read_to_string(place.path("received")).expect("its events");
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    events(whole)
        .iter()
        .filter(|event| event["event"] == "group")
        .filter_map(|event| event["bytes"].as_u64())
        .sum()
}

fn slept_in_the_middle(sleeper: Sleeper) {
    let place = Place::new();
    let sent = place.file("large", BYTES as usize);
    let mut command =
        place.command(&["receive", "archive", "--listen", "127.0.0.1:0", "--ticket-file", "ticket"]);
    // Into a file, which takes all: a pipe that nobody reads stops its writer.
    command.args(["--json", "--json-groups"]).stdout(fs::File::create(place.path("received")).unwrap());
    let receive = Running::new(command.stderr(std::process::Stdio::null()).spawn().expect("it starts"));
    wait_until("there is a ticket", || place.path("ticket").exists());
    let send = place.start(&["send", "large", "@ticket", "--max-rate", "16Mbit/s", "--json"]);
    place.wait_for(&send, |status| status["bytes_done"].as_u64() > Some(2_000_000));

    let asleep = if sleeper == Sleeper::Sends { &send } else { &receive };
    asleep.signal(Signal::STOP);
    std::thread::sleep(SLEEP);
    let before = received(&place);
    assert!(before < BYTES - 2_000_000, "{before} bytes had come, so there is nothing to go on with");
    asleep.signal(Signal::CONT);
    let flows = wait_until("data flows again", || received(&place) > before + NEW);
    assert!(flows < AWAKE, "data flows {flows:?} after waking");
    place.ctl(&send, &["off"]);

    let (code, stdout, stderr) = send.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(same(&sent, &place.path("archive/large")));
    let connections = events(&stdout).iter().filter(|event| event["event"] == "connected").count();
    assert!(connections > 1, "the first connection outlived {SLEEP:?}");
    // What was under way when the connection broke moves once more.
    let all = received(&place);
    let flows = flows.as_millis();
    eprintln!("{sleeper:?}: {NEW} bytes {flows} ms after waking, on connection {connections}; {all} in all");
    assert!((BYTES..BYTES + 1_000_000).contains(&all), "{all} of {BYTES} bytes received");
}

/// Both at the same time, since most of it is waiting.
#[test]
fn who_sleeps_through_the_end_of_a_connection_goes_on_where_it_was() {
    std::thread::scope(|scope| {
        scope.spawn(|| slept_in_the_middle(Sleeper::Sends));
        scope.spawn(|| slept_in_the_middle(Sleeper::Receives));
    });
}
