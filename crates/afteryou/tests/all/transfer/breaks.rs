//! What a job makes of a side that was killed, a ticket that is void, a disk that is full.

use super::support::*;
use std::fs;
use std::process::Command;

/// Kills one side in the middle, begins again, and counts what moves then.
fn killed_in_the_middle(kill_sender: bool) {
    const BYTES: u64 = 8_000_000;
    let place = Place::new();
    let sent = place.file("large", BYTES as usize);
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    let slow = ["send", "large", &ticket, "--max-rate", "16Mbit/s", "--json"];
    let send = place.start(&slow);
    let there = place.wait_for(&send, |status| status["bytes_done"].as_u64() > Some(2_000_000));
    let there = there["bytes_done"].as_u64().unwrap();
    let fast = ["send", "large", &ticket, "--json"];
    let (code, stdout, stderr, _receive) = match kill_sender {
        true => {
            send.kill();
            assert!(!place.path("archive/large").exists(), "a final name holds whole files only");
            let (code, stdout, stderr) = place.start(&fast).end();
            (code, stdout, stderr, receive)
        }
        false => {
            receive.kill();
            assert!(!place.path("archive/large").exists(), "a final name holds whole files only");
            let (receive, again) = place.listen(&["receive", "archive"]);
            assert_eq!(again, ticket, "the ticket stays good");
            place.ctl(&send, &["off"]);
            let (code, stdout, stderr) = send.end();
            (code, stdout, stderr, receive)
        }
    };
    assert_eq!(code, Some(0), "{stderr}");
    assert!(same(&sent, &place.path("archive/large")));
    let moved = finished(&stdout)["bytes_moved"].as_u64().unwrap();
    // What was under way at the kill moves once more.
    let most = if kill_sender { BYTES - there / 2 } else { BYTES + 1_000_000 };
    assert!(moved < most, "{moved} of {BYTES} moved, {there} were there");
}

#[test]
fn a_sender_that_was_killed_goes_on_where_it_was() {
    killed_in_the_middle(true);
}

#[test]
fn the_successor_of_a_killed_sender_does_not_wait_until_its_connection_is_idle() {
    let place = Place::new();
    place.file("large", 4_000_000);
    let (receive, ticket) = place.listen(&["receive", "archive", "-v"]);
    let send = place.start(&["send", "large", &ticket, "--max-rate", "8Mbit/s"]);
    place.wait_for(&send, |status| status["bytes_done"].as_u64() > Some(500_000));
    send.kill();
    let (code, _, said) = place.start(&["send", "large", &ticket]).end();
    assert_eq!(code, Some(0), "{said}");
    place.ctl(&receive, &["stop"]);
    let log = receive.end().2;
    assert!(log.contains("gone without a word: its files are free for others"), "{log}");
    // It was closed here. Otherwise QUIC finds out after 10 s, and the reason is that it timed out.
    assert!(log.contains("no connection: it was silent, and a newer connection came"), "{log}");
}

#[test]
fn a_receiver_that_was_killed_is_found_again() {
    killed_in_the_middle(false);
}

#[test]
fn a_ticket_that_is_void_is_refused_and_nothing_arrives() {
    let place = Place::new();
    place.file("large", 1_000);
    let (receive, old) = place.listen(&["receive", "archive"]);
    receive.kill();
    let (_receive, new) = place.listen(&["receive", "archive", "--new-ticket"]);
    assert_ne!(old, new);
    let output = place.run(&["send", "large", &old]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("refused this ticket"), "{said}");
    assert!(!place.path("archive/large").exists());
    let output = place.run(&["send", "large", &new]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn who_is_not_there_is_given_up_after_the_time_that_was_said() {
    let place = Place::new();
    place.file("large", 1_000);
    let (_port, ticket) = place.silent();
    let output = place.run(&["send", "large", &ticket, "--give-up-after", "200ms"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("afteryou: "), "{said}");
}

#[test]
fn a_disk_that_fills_is_said_and_the_next_run_goes_on() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: a small file system can be mounted by root only");
    }
    let place = Place::new();
    place.file("large", 3_000_000);
    fs::create_dir(place.path("small")).unwrap();
    let mount = |options: &str| {
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(place.path("small")).output()
    };
    if !mount("size=1m").is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: nothing can be mounted here");
    }
    let (receive, ticket) = place.listen(&["receive", "small"]);
    let full = place.run(&["send", "large", &ticket]);
    let larger = mount("remount,size=8m").is_ok_and(|output| output.status.success());
    let after = larger.then(|| place.run(&["send", "large", &ticket]));
    let arrived = same(&place.path("large"), &place.path("small/large"));
    receive.kill();
    let unmounted = Command::new("umount").arg(place.path("small")).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    let said = text(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{said}");
    assert!(said.contains("space") || said.contains("full"), "{said}");
    if let Some(after) = after {
        assert_eq!(after.status.code(), Some(0), "{}", text(&after.stderr));
        assert!(arrived);
    }
}
