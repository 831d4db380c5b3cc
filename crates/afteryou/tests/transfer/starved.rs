//! A job whose system gives it no descriptors or no threads any more.

use super::support::*;
use rustix::process::{prlimit, Pid, Resource, Rlimit};
use std::process::Command;
use std::time::{Duration, Instant};

/// Less than the time without a connection after which the job would give up.
const PROMPTLY: Duration = Duration::from_secs(25);
const GIVE_UP: [&str; 2] = ["--give-up-after", "30s"];

/// From now on the process may not open anything.
fn starve(job: &Running) {
    let limit = Rlimit { current: Some(5), maximum: Some(5) };
    prlimit(Some(Pid::from_child(&job.child)), Resource::Nofile, limit).expect("a limit");
}

fn assert_says(code: Option<i32>, said: &str, began: Instant) {
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("the receiving side can open no more files; raise its limit (ulimit -n)"),
        "{said}"
    );
    assert!(began.elapsed() < PROMPTLY, "after {:?}: {said}", began.elapsed());
}

#[test]
fn who_sends_to_a_receiver_without_descriptors_learns_so() {
    let place = Place::new();
    place.file("photos/a", 300_000);
    place.file("photos/b", 300_000);
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    starve(&receive);
    let began = Instant::now();
    let output = place.run(&[&["send", "photos", &ticket], &GIVE_UP[..]].concat());
    assert_says(output.status.code(), &text(&output.stderr), began);
}

#[test]
fn who_gets_files_without_descriptors_learns_so() {
    let place = Place::new();
    place.file("photos/a", 300_000);
    let (serve, ticket) = place.listen(&["serve", "photos"]);
    // Nobody is there until `get` has lost its descriptors.
    serve.signal(rustix::process::Signal::STOP);
    let get = place.start(&[&["get", &ticket, "album"], &GIVE_UP[..]].concat());
    place.wait_for(&get, |status| !status["words"].is_null());
    starve(&get);
    let began = Instant::now();
    serve.signal(rustix::process::Signal::CONT);
    let (code, _, said) = get.end();
    assert_says(code, &said, began);
}

#[test]
fn a_job_that_may_open_few_files_does_not_begin() {
    for descriptors in [6, 8, 12, 16, 20] {
        let place = Place::new();
        let script = format!("ulimit -n {descriptors} && exec \"$0\" receive archive --listen 127.0.0.1:0");
        let output =
            Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_afteryou")]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{descriptors}: {said}");
        assert!(said.contains("raise the limit (ulimit -n)"), "{descriptors}: {said}");
        assert!(!place.path("archive").exists());
    }
}
