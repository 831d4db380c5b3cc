//! What a job reports, and how it is made to go slower, to pause and to end.

use super::support::*;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_job_can_be_slowed_paused_and_stopped_from_outside() {
    let place = Place::new();
    place.file("large", 8_000_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let send = place.start(&["send", "large", &ticket, "--max-rate", "8Mbit/s"]);
    let held = |words: &'static str| move |status: &serde_json::Value| status["words"] == words;
    place.wait_for(&send, held("held to 8 Mbit/s by --max-rate"));
    let several = place.run(&["ctl", "pause"]);
    assert_eq!(several.status.code(), Some(2), "two jobs run");
    assert!(text(&several.stderr).contains("2 jobs run: choose one with --job"), "{}", text(&several.stderr));

    let said = place.ctl(&send, &["pause"]);
    assert!(said.contains("paused by ctl"), "{said}");
    std::thread::sleep(Duration::from_millis(300));
    let before = place.wait_for(&send, |_| true)["bytes_done"].clone();
    std::thread::sleep(Duration::from_millis(500));
    let after = place.wait_for(&send, |status| status["paused"] == true)["bytes_done"].clone();
    let moved = after.as_u64().unwrap() - before.as_u64().unwrap();
    assert!(moved < 50_000, "{moved} bytes moved in a pause");

    place.ctl(&send, &["rate", "4Mbit/s"]);
    let said = place.ctl(&send, &["resume"]);
    assert!(!said.contains("paused"), "{said}");
    let status = place.wait_for(&send, held("held to 4 Mbit/s by ctl"));
    assert_eq!(status["max_rate"], 500_000);

    place.ctl(&send, &["stop"]);
    let (code, _, said) = send.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("run the same command again to continue from there"), "{said}");
    let list = text(&place.run(&["ctl"]).stdout);
    assert!(list.lines().count() == 1 && list.contains(" receive into archive: "), "{list}");
}

#[test]
fn a_receiver_that_is_paused_while_idle_says_so_and_so_does_whoever_comes() {
    let place = Place::new();
    place.file("a", 100_000);
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    let name = format!("{} receive into archive: ", receive.child.id());
    let waits = "paused by ctl: `afteryou ctl resume` resumes it; waiting for files to move\n";
    assert_eq!(place.ctl(&receive, &["pause"]), format!("{name}paused; {waits}"));
    assert_eq!(place.ctl(&receive, &["pause"]), format!("{name}was paused already; {waits}"));
    assert_eq!(place.ctl(&receive, &["status"]), format!("{name}{waits}"));
    let send = place.start(&["send", "a", &ticket]);
    place.wait_for(&send, |status| status["words"] == "paused by the peer");
    assert!(place.ctl(&receive, &["resume"]).starts_with(&format!("{name}resumed; ")));
    let (code, _, said) = send.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\npaused by the peer\n") && said.contains("\nno longer paused\n"), "{said}");
    assert!(place.ctl(&receive, &["resume"]).starts_with(&format!("{name}was not paused; ")));
    assert!(place.ctl(&receive, &["rate", "5Mbit/s"]).starts_with(&format!("{name}limited to 5 Mbit/s; ")));
    assert!(place.ctl(&receive, &["off"]).starts_with(&format!("{name}all limits and pauses lifted; ")));
    let stopped = place.ctl(&receive, &["stop"]);
    assert!(stopped.starts_with(&format!("{name}ends now; what arrived stays")), "{stopped}");
    let (code, _, said) = receive.end();
    assert_eq!(code, Some(0), "{said}");
    let paused = "paused by ctl: `afteryou ctl resume` resumes it\n";
    assert_eq!(said.matches(paused).count(), 2, "when it was paused, and when a job came: {said}");
}

#[test]
fn a_server_that_is_paused_is_seen_at_the_far_end() {
    let place = Place::new();
    place.file("photos/a", 100_000);
    let (serve, ticket) = place.listen(&["serve", "photos"]);
    place.ctl(&serve, &["pause"]);
    let get = place.start(&["get", &ticket, "album"]);
    place.wait_for(&get, |status| status["words"] == "paused by the peer");
    place.ctl(&serve, &["resume"]);
    let (code, _, said) = get.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_job_answers_prometheus_at_its_socket() {
    use std::io::{Read, Write};
    let place = Place::new();
    place.file("large", 8_000_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let send = place.start(&["send", "large", &ticket, "--max-rate", "8Mbit/s"]);
    place.wait_for(&send, |status| status["bytes"] == 8_000_000);
    let socket = place.path(&format!("control/{}.sock", send.child.id()));
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: job\r\nAccept: */*\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
    for line in [
        r#"afteryou_bytes{command="send",what="large"} 8000000"#,
        r#"afteryou_max_rate_bytes_per_second{command="send",what="large"} 1000000"#,
        r#"afteryou_paused{command="send",what="large"} 0"#,
    ] {
        assert!(answer.lines().any(|known| known == line), "{line} in {answer}");
    }
    place.ctl(&send, &["stop"]);
    assert_eq!(send.end().0, Some(130));
}

#[test]
fn a_socket_whose_job_was_killed_is_cleaned_away() {
    let place = Place::new();
    let (receive, _) = place.listen(&["receive", "archive"]);
    place.wait_for(&receive, |_| true);
    let socket = place.path(&format!("control/{}.sock", receive.child.id())).metadata().unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&socket) & 0o777, 0o600);
    receive.kill();
    assert_eq!(fs::read_dir(place.path("control")).unwrap().count(), 1);
    assert_eq!(text(&place.run(&["ctl"]).stdout), "no job runs\n");
    assert_eq!(fs::read_dir(place.path("control")).unwrap().count(), 0);
    assert_eq!(place.run(&["ctl", "pause"]).status.code(), Some(1));
}

#[test]
fn what_is_no_socket_of_ours_survives_ctl() {
    let place = Place::new();
    let control = place.path("control");
    fs::create_dir(&control).unwrap();
    let precious = place.file("precious", 1_000);
    for file in ["1.sock", "4711.sock"] {
        fs::copy(&precious, control.join(file)).unwrap();
    }
    drop(std::os::unix::net::UnixListener::bind(place.path("elsewhere")).unwrap());
    std::os::unix::fs::symlink(place.path("elsewhere"), control.join("2.sock")).unwrap();
    std::os::unix::fs::symlink(&precious, control.join("3.sock")).unwrap();
    let listed = place.run(&["ctl"]);
    assert_eq!((text(&listed.stdout).as_str(), text(&listed.stderr).as_str()), ("no job runs\n", ""));
    assert_eq!(place.run(&["ctl", "--job", "4711", "stop"]).status.code(), Some(1));
    assert!(same(&precious, &control.join("1.sock")) && same(&precious, &control.join("4711.sock")));
    assert!(same(&precious, &control.join("3.sock")));
    assert!(control.join("2.sock").is_symlink() && place.path("elsewhere").exists());
}

#[test]
fn events_are_lines_of_json_and_a_limit_is_kept() {
    let place = Place::new();
    place.file("large", 2_000_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let began = Instant::now();
    let send = place.start(&["send", "large", &ticket, "--max-rate", "8Mbit/s", "--json"]);
    let (code, stdout, stderr) = send.end();
    let took = began.elapsed();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(took > Duration::from_millis(1_800), "2 MB at 1 MB/s took {took:?}");
    let events = events(&stdout);
    for name in ["connected", "plan", "progress", "state", "pace", "file", "finished"] {
        assert!(events.iter().any(|event| event["event"] == name), "no {name} in {stdout}");
    }
    let state = events.iter().find(|event| event["event"] == "state").unwrap();
    assert!(state["words"].is_string() && state["cwnd"].is_u64(), "{state}");
    assert_eq!(finished(&stdout)["stored"], 1);
}

#[test]
fn ctrl_c_says_how_to_go_on() {
    let place = Place::new();
    place.file("large", 4_000_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let send = place.start(&["send", "large", &ticket, "--max-rate", "4Mbit/s"]);
    place.wait_for(&send, |status| status["bytes_done"].as_u64() > Some(100_000));
    send.signal(rustix::process::Signal::INT);
    let (code, _, said) = send.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("afteryou: stopped at ") && said.contains("run the same command again"), "{said}");
    assert_eq!(fs::read_dir(place.path("control")).unwrap().count(), 1, "its socket is gone");
}

/// Returns the end of a pipe that takes nothing more, and the other end, which nobody reads.
fn full() -> (Stdio, std::os::unix::net::UnixStream) {
    use std::io::Write;
    let (mut ours, unread) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    while ours.write(&[b'\n'; 4_096]).is_ok() {}
    ours.set_nonblocking(false).unwrap();
    (Stdio::from(std::os::fd::OwnedFd::from(ours)), unread)
}

#[test]
fn a_reader_that_stands_still_does_not_keep_a_job_alive() {
    let place = Place::new();
    place.file("large", 8_000_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    for is_json in [true, false] {
        let ((stuck, _unread), mut command) = (full(), place.command(&["send", "large", &ticket]));
        command.args(["--max-rate", "4Mbit/s"]);
        match is_json {
            true => command.arg("--json").stdout(stuck).stderr(Stdio::null()),
            false => command.stdout(Stdio::null()).stderr(stuck),
        };
        let mut send = Running::new(command.spawn().unwrap());
        place.wait_for(&send, |status| status["bytes_done"].as_u64() > Some(100_000));
        send.signal(rustix::process::Signal::TERM);
        let began = Instant::now();
        assert_eq!(send.child.wait().unwrap().code(), Some(130), "{is_json}");
        assert!(began.elapsed() < Duration::from_secs(4), "{is_json}: {:?}", began.elapsed());
    }
}

#[test]
fn a_ticket_that_nobody_reads_does_not_keep_its_process_alive() {
    let place = Place::new();
    let (stuck, _unread) = full();
    let mut receive = Running::new(
        place.command(&["receive", "archive"]).stdout(stuck).stderr(Stdio::null()).spawn().unwrap(),
    );
    place.wait_for(&receive, |_| true);
    receive.signal(rustix::process::Signal::TERM);
    let began = Instant::now();
    assert_eq!(receive.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}
