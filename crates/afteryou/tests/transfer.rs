//! The built command against itself on loopback: two processes, a ticket, and all that may happen to them.
#![cfg(unix)]

use afteryou_aqm::droptail::DropTail;
use afteryou_bed::relay::{Config, Direction, Link, Relay};
use afteryou_bed::Clock;
use afteryou_cc::Span;
use afteryou_scenario::{Buffer, Probability, Rate};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(25);

/// A place of its own for each test: no test sees another one's jobs, keys or files.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of so many bytes that nobody can guess or compress.
    fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        let mut state = bytes as u64 | 1;
        let content: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(bytes)
        .collect();
        fs::write(&path, content).expect("a file");
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("AFTERYOU_STATE", self.path("state")).env("AFTERYOU_CONTROL_DIR", self.path("control"));
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }

    fn start(&self, words: &[&str]) -> Running {
        let mut command = self.command(words);
        Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    /// `receive` or `serve`, and its ticket.
    fn listen(&self, words: &[&str]) -> (Running, String) {
        let mut running = self.start(&[words, &["--listen", "127.0.0.1:0"]].concat());
        let ticket = running.line();
        assert!(ticket.starts_with("afteryou1"), "{ticket:?}");
        (running, ticket)
    }

    fn ctl(&self, job: &Running, what: &[&str]) -> String {
        let pid = job.child.id().to_string();
        let output = self.run(&[&["ctl", "--job", &pid], what].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Waits until the job says this of itself.
    fn wait_for(&self, job: &Running, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let began = Instant::now();
        let pid = job.child.id().to_string();
        loop {
            let output = self.run(&["ctl", "--job", &pid, "--json"]);
            if let Ok(status) = serde_json::from_slice(&output.stdout) {
                if wanted(&status) {
                    return status;
                }
            }
            assert!(began.elapsed() < PATIENCE, "{} {}", text(&output.stdout), text(&output.stderr));
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// A process that does not outlive its test.
struct Running {
    child: Child,
    stdout: Option<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn new(mut child: Child) -> Running {
        let stdout = child.stdout.take().map(BufReader::new);
        Running { child, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("stdout").read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("a process");
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Its exit code, and what it said on stdout and stderr.
    fn end(mut self) -> (Option<i32>, String, String) {
        let began = Instant::now();
        let code = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status.code(),
                None if began.elapsed() > PATIENCE => panic!("it does not end"),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.take().expect("stdout").read_to_string(&mut out).expect("text");
        self.child.stderr.take().expect("stderr").read_to_string(&mut err).expect("text");
        (code, out, err)
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).expect("sent") == fs::read(other).unwrap_or_default()
}

/// The last progress event, and all events by name.
fn events(stdout: &str) -> Vec<serde_json::Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn finished(stdout: &str) -> serde_json::Value {
    events(stdout).into_iter().rfind(|event| event["event"] == "finished").expect("it finished")
}

#[test]
fn what_is_sent_arrives_and_is_not_sent_again() {
    let place = Place::new();
    let (large, small) = (place.file("photos/large", 3_000_000), place.file("photos/deep/small", 10));
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    let first = place.run(&["send", "photos", &ticket]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert!(text(&first.stderr).contains("sent 2 files, 3 MB"), "{}", text(&first.stderr));
    assert!(same(&large, &place.path("archive/photos/large")));
    assert!(same(&small, &place.path("archive/photos/deep/small")));
    let again = place.run(&["send", "photos", &ticket]);
    let said = text(&again.stderr);
    assert!(said.contains("nothing had to be sent; 3 MB were there already"), "{said}");
    receive.signal(rustix::process::Signal::TERM);
    let (code, _, said) = receive.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waiting for files") && said.contains("received 2 files, 3 MB"), "{said}");
}

#[test]
fn a_part_of_what_is_served_can_be_got_and_the_ticket_may_lie_in_a_file() {
    let place = Place::new();
    let wanted = place.file("photos/2026/a", 100_000);
    place.file("photos/2025/b", 100_000);
    let (_serve, ticket) = place.listen(&["serve", "photos"]);
    fs::write(place.path("ticket"), format!("{ticket}/2026\n")).unwrap();
    let output = place.run(&["get", "@ticket", "album"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(same(&wanted, &place.path("album/2026/a")));
    assert!(!place.path("album/2025").exists() && !place.path("album/b").exists());
    let output = place.run(&["get", &format!("{ticket}/no/such"), "album"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let output = place.run(&["get", &format!("{ticket}/../state"), "album"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let output = place.run(&["send", "photos", &ticket]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("use it with `afteryou get`"), "{}", text(&output.stderr));
}

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
fn a_receiver_that_was_killed_is_found_again() {
    killed_in_the_middle(false);
}

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
    assert!(text(&several.stderr).contains("2 jobs run: say which with --job"), "{}", text(&several.stderr));

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
    assert!(said.contains("run the same command again to go on from there"), "{said}");
    let list = text(&place.run(&["ctl"]).stdout);
    assert!(list.lines().count() == 1 && list.contains(" receive into archive: "), "{list}");
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
fn several_connections_are_one_job() {
    let place = Place::new();
    for name in ["a", "b", "c", "d"] {
        place.file(&format!("photos/{name}"), 400_000);
    }
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let output = place.run(&["send", "photos", &ticket, "--connections", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (_serve, ticket) = place.listen(&["serve", "archive"]);
    let output = place.run(&["get", &ticket, "back", "--connections", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for name in ["a", "b", "c", "d"] {
        assert!(same(&place.path(&format!("photos/{name}")), &place.path(&format!("back/photos/{name}"))));
    }
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

/// The end of a pipe that takes nothing more, and the other end, which nobody reads.
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
    let (receive, ticket) = place.listen(&["receive", "archive"]);
    receive.kill();
    let output = place.run(&["send", "large", &ticket, "--give-up-after", "200ms"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("afteryou: "), "{said}");
}

#[test]
fn words_that_make_no_sense_are_refused_before_anything_happens() {
    let place = Place::new();
    place.file("large", 1_000);
    for (words, expected) in [
        (vec!["send", "--json"], "say what to send and where"),
        (vec!["get", "--json"], "say what to get"),
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

/// A script in ssh's place runs the far end's command here.
#[test]
fn ssh_starts_the_far_end() {
    let place = Place::new();
    let sent = place.file("photos/a", 200_000);
    fs::create_dir(place.path("there")).unwrap();
    let ssh = place.path("ssh");
    let script = "#!/bin/sh\nif [ \"$1\" = -G ]; then echo hostname 127.0.0.1; exit; fi\n\
        shift; shift; unset AFTERYOU_STATE; exec sh -c \"$*\"\n";
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = env!("CARGO_BIN_EXE_afteryou");
    let over = ["--ssh-command", ssh.to_str().unwrap(), "--far-command", program];
    let output = place.run(&[&["send", "photos", "--via", "ssh", "host:there"], &over[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(same(&sent, &place.path("there/photos/a")));
    let output = place.run(&[&["get", "--via", "ssh", "host:there/photos", "back"], &over[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(same(&sent, &place.path("back/photos/a")));
    assert_eq!(text(&place.run(&["ctl"]).stdout), "no job runs\n", "the far ends have gone");
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

/// A link of 10 Mbit/s with a queue of 300 ms before `server`, and where two flows enter it.
fn narrow_link(server: SocketAddr) -> (Relay, SocketAddr, SocketAddr, UdpSocket) {
    let rate = Rate::from_mbit(10);
    let limit = "300 ms".parse::<Buffer>().unwrap().limit(rate);
    let direction =
        || Direction { rate, loss: Probability::default(), queue: Box::new(DropTail::new(limit)) };
    let mut config = Config::new(1);
    let link = config.add_link(Link { name: "uplink".into(), forward: direction(), reverse: direction() });
    let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ours = config.add_flow(link, server, Span::from_millis(10));
    let theirs = config.add_flow(link, sink.local_addr().unwrap(), Span::from_millis(10));
    let relay = Relay::start(config, Clock::start()).unwrap();
    let fronts = (relay.front(ours), relay.front(theirs));
    (relay, fronts.0, fronts.1, sink)
}

#[test]
fn a_transfer_says_that_it_yields_while_somebody_else_is_there() {
    let place = Place::new();
    place.file("large", 12_000_000);
    let server = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_relay, ours, theirs, _sink) = narrow_link(server);
    let (listen, address) = (server.to_string(), ours.to_string());
    let mut receive = place.start(&["receive", "archive", "--listen", &listen, "--address", &address]);
    let ticket = receive.line();
    let send = place.start(&["send", "large", &ticket, "--json"]);
    std::thread::sleep(Duration::from_millis(3_500));
    // 11 Mbit/s, whoever else is there.
    let (began, other) = (Instant::now(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let mut sent = 0_u32;
    while began.elapsed() < Duration::from_secs(4) {
        while f64::from(sent) * 1_200.0 * 8.0 < began.elapsed().as_secs_f64() * 11e6 {
            other.send_to(&[0; 1_200], theirs).unwrap();
            sent += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    place.ctl(&send, &["stop"]);
    let (_, stdout, _) = send.end();
    let end = events(&stdout).last().unwrap()["at_ms"].as_u64().unwrap();
    let words: Vec<(u64, String)> = events(&stdout)
        .iter()
        .filter(|event| event["event"] == "state")
        .map(|event| (event["at_ms"].as_u64().unwrap(), event["words"].as_str().unwrap().to_owned()))
        .collect();
    // The last two seconds of the other one, and the time before it came.
    let share = |from: u64, to: u64| {
        let seen: Vec<_> = words.iter().filter(|(at, _)| (from..to).contains(at)).collect();
        let yielding = seen.iter().filter(|(_, words)| words.starts_with("yielding: queue is ")).count();
        yielding as f64 / seen.len().max(1) as f64
    };
    assert!(share(end - 2_000, end) > 0.6, "{words:#?}");
    assert!(share(0, 3_000) < 0.3, "{words:#?}");
}
