//! A job whose system gives it no descriptors or no threads any more.

use super::support::*;
use rustix::process::{prlimit, Pid, Resource, Rlimit};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_afteryou");
/// Less than the time without a connection after which the job would give up.
const PROMPTLY: Duration = Duration::from_secs(25);
const GIVE_UP: [&str; 2] = ["--give-up-after", "30s"];

/// Lets the process open nothing from now on.
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
fn who_serves_without_descriptors_is_named_with_the_remedy() {
    let place = Place::new();
    place.file("photos/a", 300_000);
    let (serve, ticket) = place.listen(&["serve", "photos"]);
    starve(&serve);
    let output = place.run(&[&["get", &ticket, "album"], &GIVE_UP[..]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("raise the limit of open files (ulimit -n)"), "{said}");
}

#[test]
fn a_job_that_may_open_few_files_does_not_begin() {
    for descriptors in [6, 8, 12, 16, 20] {
        let place = Place::new();
        let script = format!("ulimit -n {descriptors} && exec \"$0\" receive archive --listen 127.0.0.1:0");
        let output = Command::new("sh").args(["-c", &script, PROGRAM]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{descriptors}: {said}");
        assert!(said.contains("raise the limit (ulimit -n)"), "{descriptors}: {said}");
        assert!(!place.path("archive").exists());
    }
}

/// Whom no other process belongs to: root has as many threads as it likes.
const OTHER: u32 = 54_321;

/// Returns a command that may be refused threads.
fn as_other(place: &Place, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(place.path(".")).stdin(Stdio::null());
    if std::fs::metadata("/proc/self").expect("metadata").uid() == 0 {
        std::fs::set_permissions(place.path("."), std::fs::Permissions::from_mode(0o777)).expect("a mode");
        command.uid(OTHER).gid(OTHER);
    }
    command.env("AFTERYOU_STATE", place.path("another")).env("AFTERYOU_CONTROL_DIR", place.path("others"));
    command
}

/// Refuses the job threads, as its owner: others may not, root included where it lacks a capability.
fn refuse_threads(place: &Place, job: &Running) {
    let pid = job.child.id().to_string();
    let done = as_other(place, &["prlimit", "--pid", &pid, "--nproc=1:1"]).status().expect("it starts");
    assert!(done.success());
}

fn assert_no_thread(code: Option<i32>, said: &str, began: Instant) {
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot start a thread, raise the limit of processes (ulimit -u)"), "{said}");
    assert!(!said.contains("panicked") && began.elapsed() < PROMPTLY, "after {:?}: {said}", began.elapsed());
}

#[test]
fn a_receiver_that_gets_no_thread_says_so_and_stores_what_needs_none() {
    let place = Place::new();
    let (small, large) = (place.file("photos/small", 1_000), place.file("photos/large", 1_000_000));
    let mut receive = as_other(&place, &[PROGRAM, "receive", "archive", "--listen", "127.0.0.1:0"]);
    let receive = receive.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut receive = Running::new(receive);
    let ticket = receive.line();
    refuse_threads(&place, &receive);
    let began = Instant::now();
    let output = place.run(&[&["send", "photos", &ticket], &GIVE_UP[..]].concat());
    assert_no_thread(output.status.code(), &text(&output.stderr), began);
    assert!(same(&small, &place.path("archive/photos/small")));
    assert!(!place.path("archive/photos/large").exists() && large.exists());
}

#[test]
fn a_server_that_gets_no_thread_says_so() {
    let place = Place::new();
    place.file("photos/a", 1_000_000);
    let mut serve = as_other(&place, &[PROGRAM, "serve", "photos", "--listen", "127.0.0.1:0"]);
    let serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut serve = Running::new(serve);
    let ticket = serve.line();
    refuse_threads(&place, &serve);
    let began = Instant::now();
    let output = place.run(&[&["get", &ticket, "album"], &GIVE_UP[..]].concat());
    assert_no_thread(output.status.code(), &text(&output.stderr), began);
}

#[test]
fn a_job_that_gets_few_threads_does_not_begin() {
    for threads in [1, 2, 3, 5, 8, 11] {
        let place = Place::new();
        let limit = format!("--nproc={threads}:{threads}");
        let receive = [PROGRAM, "receive", "archive", "--listen", "127.0.0.1:0"];
        let output = as_other(&place, &[&["prlimit", &limit], &receive[..]].concat()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{threads}: {said}");
        assert!(said.contains("raise the limit of processes (ulimit -u)"), "{threads}: {said}");
        assert!(!said.contains("panicked"), "{threads}: {said}");
    }
}
