//! Commands that run when a job has ended.

use super::support::*;
use std::fs;

/// Notes the exit code in a file.
fn note(name: &str) -> String {
    format!("echo $AFTERYOU_EXIT_CODE >{name}")
}

#[test]
fn the_command_for_the_outcome_runs_once_and_the_exit_code_stays() {
    let place = Place::new();
    place.file("photos/a", 1_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let run = |words: &[&str]| {
        let (well, badly) = (note("well"), note("badly"));
        let options = ["send", "photos", &ticket, "--on-success", &well, "--on-failure", &badly];
        place.run(&[&options, words].concat())
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(place.path("well")).unwrap(), "0\n");
    assert!(!place.path("badly").exists());
    fs::remove_file(place.path("well")).unwrap();
    // The receiver does not allow it.
    let output = run(&["--delete"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(place.path("badly")).unwrap(), "1\n");
    assert!(!place.path("well").exists());
}

#[test]
fn a_command_that_fails_is_reported_and_changes_nothing() {
    let place = Place::new();
    place.file("photos/a", 1_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let output = place.run(&["send", "photos", &ticket, "--on-success", "exit 7"]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(said.contains("the command of --on-success failed (exit status: 7)"), "{said}");
}

#[test]
fn what_the_command_prints_does_not_mix_with_a_file_on_standard_output() {
    let place = Place::new();
    fs::create_dir(place.path("served")).unwrap();
    fs::write(place.path("served/file"), "content").unwrap();
    let (_serve, ticket) = place.listen(&["serve", "served"]);
    let output = place.run(&["get", &format!("{ticket}/file"), "-", "--on-success", "echo done"]);
    assert_eq!(text(&output.stdout), "content", "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("done"), "{}", text(&output.stderr));
}

#[test]
fn a_peer_runs_nothing_and_no_word_of_a_peer_reaches_the_shell() {
    let place = Place::new();
    place.file("photos/$(touch intruder)", 1_000);
    place.file("photos/`touch intruder`", 1_000);
    let command = note("well");
    let (receive, ticket) = place.listen(&["receive", "archive", "--once", "--on-success", &command]);
    let output = place.run(&["send", "photos", &ticket]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (code, _, said) = receive.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(place.path("well")).unwrap(), "0\n");
    assert!(!place.path("intruder").exists());
}

#[test]
fn a_desktop_notification_is_one_command_with_the_outcome_and_only_if_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("photos/a", 1_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    fs::create_dir(place.path("bin")).unwrap();
    let program = place.path("bin/notify-send");
    fs::write(&program, "#!/bin/sh\nfor word; do echo \"$word\"; done >>shown\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let send = |words: &[&str]| {
        let mut command = place.command(&[&["send", "photos", &ticket], words].concat());
        command.env("PATH", &path).output().unwrap()
    };
    assert_eq!(send(&[]).status.code(), Some(0));
    assert!(!place.path("shown").exists());
    assert_eq!(send(&["--notify"]).status.code(), Some(0));
    let shown = fs::read_to_string(place.path("shown")).unwrap();
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        ["--app-name=afteryou", "--", "afteryou send", "complete: everything is stored and verified"]
    );
    assert_eq!(send(&["--notify", "--delete"]).status.code(), Some(1));
    assert!(fs::read_to_string(place.path("shown")).unwrap().contains("receive --allow-delete"));
}
