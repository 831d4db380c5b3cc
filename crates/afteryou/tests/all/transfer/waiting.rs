//! The side that waits for others: its end, its limits, its environment; and words that make no sense.

use super::support::*;
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn who_waits_for_one_job_and_is_ended_in_it_says_so() {
    let place = Place::new();
    place.file("large", 8_000_000);
    let (receive, ticket) = place.listen(&["receive", "archive", "--once"]);
    let send = place.start(&["send", "large", &ticket, "--max-rate", "4Mbit/s"]);
    place.wait_for(&receive, |status| status["bytes_done"].as_u64() > Some(100_000));
    receive.signal(rustix::process::Signal::TERM);
    let (code, _, said) = receive.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("afteryou: stopped before a job was complete"), "{said}");
    drop(send);
}

#[test]
fn who_waits_for_ever_ends_well_whatever_failed_meanwhile() {
    let place = Place::new();
    place.file("a", 10);
    fs::create_dir_all(place.path("archive/a/occupied")).unwrap();
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    let output = place.run(&["send", "a", &ticket]);
    assert_eq!(output.status.code(), Some(1), "a directory has its name: {}", text(&output.stderr));
    receive.signal(rustix::process::Signal::TERM);
    let (code, _, said) = receive.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("failed: a: "), "{said}");
}

/// As many files as the system lets us open.
#[cfg(target_os = "linux")]
#[test]
fn a_soft_limit_of_open_files_is_raised() {
    let place = Place::new();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -Sn 100 && ulimit -Hn 5000 && exec \"$0\" receive archive --listen 127.0.0.1:0",
    ]);
    command.arg(env!("CARGO_BIN_EXE_afteryou")).current_dir(place.0.path()).stdin(Stdio::null());
    command.env("AFTERYOU_STATE", place.path("state")).env("AFTERYOU_CONTROL_DIR", place.path("control"));
    let mut receive = Running::new(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    assert!(receive.line().starts_with("afteryou1"));
    let limits = fs::read_to_string(format!("/proc/{}/limits", receive.child.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(line.split_whitespace().nth(3), Some("5000"), "{line}");
}

#[test]
fn a_ticket_is_no_directory() {
    let place = Place::new();
    fs::create_dir(place.path("photos")).unwrap();
    let (_receive, to_send) = place.listen(&["receive", "archive"]);
    let (_serve, to_get) = place.listen(&["serve", "photos"]);
    fs::write(place.path("ticket"), &to_get).unwrap();
    let before = fs::read_dir(place.path("")).unwrap().count();
    for command in ["receive", "serve"] {
        for (word, instead) in [
            (to_send.as_str(), "to send files with it, type `afteryou send PATH... TICKET`"),
            (to_get.as_str(), "to get files with it, type `afteryou get TICKET [DIR]`"),
            ("@ticket", "to get files with it, type `afteryou get TICKET [DIR]`"),
            ("afteryou1slip", "type `afteryou send PATH... TICKET` or `afteryou get TICKET [DIR]`"),
        ] {
            let output = place.run(&[command, word]);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command} {word}: {said}");
            assert!(
                said.contains("a ticket where a directory is expected") && said.contains(instead),
                "{said}"
            );
            assert!(!said.contains("afteryou1"), "a ticket is a secret: {said}");
        }
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), before, "nothing was made");

    fs::create_dir(place.path("@home")).unwrap();
    place.listen(&["receive", "@home"]);
}

#[test]
fn words_that_make_no_sense_are_refused_before_anything_happens() {
    let place = Place::new();
    place.file("large", 1_000);
    for (words, expected) in [
        (vec!["send", "--json"], "say what to send and where"),
        (vec!["get", "--json"], "name what to get"),
        (vec!["send", "large"], "\"large\" is a path, and the last word should be a ticket"),
        (vec!["send", "large", "afteryou1abc"], "ticket"),
        (vec!["get", "afteryou1abc"], "ticket"),
        (vec!["send", "large", "@none"], "cannot read the ticket in \"none\": there is no such file"),
        (vec!["serve", "large"], "\"large\" is no directory"),
        (vec!["receive", "large"], "\"large\" is no directory"),
        (vec!["receive", "--max-rate", "25:00,1M"], "--max-rate: cannot read \"25:00\""),
        (vec!["receive", "--dscp", "64"], "--dscp: "),
        (vec!["receive", "--controller", "cubik"], "did you mean \"cubic\"?"),
        (vec!["ctl", "rate", "fast"], "cannot read \"fast\": expected a rate"),
    ] {
        let output = place.run(&words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.starts_with("afteryou: ") && said.contains(expected), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
    assert!(!place.path("control").exists(), "no job began");
}

#[test]
fn the_environment_configures_a_service_and_its_ticket_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("a", 1_000);
    let notify = place.path("notify");
    let systemd = std::os::unix::net::UnixDatagram::bind(&notify).unwrap();
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = place.command(&["receive"]);
    command.env("AFTERYOU_DIR", place.path("archive")).env("AFTERYOU_LISTEN", "127.0.0.1:0");
    command.env("AFTERYOU_ONCE", "1").env("AFTERYOU_QUIET", "yes").env("NOTIFY_SOCKET", &notify);
    command.env("AFTERYOU_TICKET_FILE", place.path("ticket")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let receive = Running::new(command.spawn().unwrap());
    let mut said = [0; 200];
    let length = systemd.recv(&mut said).unwrap();
    assert!(text(&said[..length]).starts_with("READY=1\nSTATUS=waiting at "), "{}", text(&said[..length]));
    assert_eq!(place.path("ticket").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let ticket = fs::read_to_string(place.path("ticket")).unwrap();
    let sent = place.command(&["send", "a"]).env("AFTERYOU_TICKET", ticket.trim()).output().unwrap();
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
    let (code, stdout, stderr) = receive.end();
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    assert!(same(&place.path("a"), &place.path("archive/a")));
}
