//! Entries that are left out, or differ from the source, are counted, named, and show in the exit code.

use super::support::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

/// Nobody in particular.
const OTHER: u32 = 65_534;

#[test]
fn entries_that_are_left_out_are_counted_and_named_and_the_exit_code_is_three() {
    let place = Place::new();
    place.file("photos/a", 1000);
    symlink(place.path("photos/a"), place.path("photos/absolute")).unwrap();
    let _socket = UnixListener::bind(place.path("photos/socket")).unwrap();
    let (receive, ticket) = place.listen(&["receive", "archive", "--once"]);
    let output = place.run(&["send", "--quiet", "photos", &ticket]);
    assert_left_out(output.status.code(), &text(&output.stderr));
    let (code, _, said) = receive.end();
    assert_left_out(code, &said);
    assert!(place.path("archive/photos/a").exists());
    let (_serve, ticket) = place.listen(&["serve", "photos"]);
    let output = place.run(&["get", &ticket, "album"]);
    assert_left_out(output.status.code(), &text(&output.stderr));
    fs::remove_file(place.path("photos/absolute")).unwrap();
    fs::remove_file(place.path("photos/socket")).unwrap();
    let output = place.run(&["get", &ticket, "album"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

fn assert_left_out(code: Option<i32>, said: &str) {
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("complete, but 2 entries left out"), "{said}");
    assert!(said.contains("absolute: the link's target is absolute"), "{said}");
    assert!(said.contains("socket: it is a socket"), "{said}");
}

/// Only root can make files of somebody else.
#[test]
fn a_file_whose_mode_cannot_be_set_is_stored_and_named_and_the_exit_code_is_three() {
    let place = Place::new();
    let sent = place.file("photos/a", 100_000);
    if sent.metadata().unwrap().uid() != 0 {
        return println!("SKIPPED: needs root");
    }
    let there = place.path("archive/a");
    fs::create_dir(place.path("archive")).unwrap();
    fs::copy(&sent, &there).unwrap();
    fs::set_permissions(&there, Permissions::from_mode(0o604)).unwrap();
    for open in [place.path("."), place.path("archive")] {
        fs::set_permissions(open, Permissions::from_mode(0o777)).unwrap();
    }
    let mut receive = place.command(&["receive", "archive", "--listen", "127.0.0.1:0"]);
    receive.env("AFTERYOU_STATE", place.path("another")).env("AFTERYOU_CONTROL_DIR", place.path("others"));
    let receive = receive.uid(OTHER).gid(OTHER).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut receive = Running::new(receive.spawn().unwrap());
    let ticket = receive.line();
    let output = place.run(&["send", "photos/a", &ticket]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("differs from the source: a: cannot set its mode and time"), "{said}");
    assert!(said.contains("complete, but 1 entry stored, differing from the source"), "{said}");
    assert!(same(&sent, &there));
}
