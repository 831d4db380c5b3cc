//! What arrives, over which ways, and that it yields meanwhile.

use super::support::*;
use afteryou_aqm::droptail::DropTail;
use afteryou_base::Span;
use afteryou_bed::relay::{Config, Direction, Link, Relay};
use afteryou_bed::Clock;
use afteryou_scenario::{Buffer, Probability, Rate};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::process::Stdio;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

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

/// Bytes of each connection in each direction, by the connection IDs that anybody on the path can read.
type Seen = Arc<Mutex<HashMap<(Towards, [u8; 8]), u64>>>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Towards {
    Server,
    Client,
}

/// Passes datagrams on between `server` and one client, to the end of the process, and counts those of data.
fn onlooker(server: SocketAddr) -> (SocketAddr, Seen) {
    let near = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
    let far = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
    far.connect(server).unwrap();
    let (address, seen, client) = (near.local_addr().unwrap(), Seen::default(), Arc::new(OnceLock::new()));
    let pass_on = |towards: Towards, from: Arc<UdpSocket>, to: Arc<UdpSocket>| {
        let (seen, client) = (seen.clone(), client.clone());
        move || {
            let mut buffer = [0; 65_536];
            // What a port answers at which nobody listens yet or any more is an error here, and no end.
            loop {
                let Ok((length, source)) = from.recv_from(&mut buffer) else { continue };
                let datagram = &buffer[..length];
                // Short headers: not the handshake's.
                if let [0x00..=0x7f, id @ ..] = datagram {
                    if let Some(id) = id.first_chunk() {
                        *seen.lock().unwrap().entry((towards, *id)).or_default() += length as u64;
                    }
                }
                let _ = match (towards, client.get()) {
                    (Towards::Server, _) => {
                        client.get_or_init(|| source);
                        to.send(datagram)
                    }
                    (Towards::Client, Some(client)) => to.send_to(datagram, client),
                    (Towards::Client, None) => continue,
                };
            }
        }
    };
    std::thread::spawn(pass_on(Towards::Server, near.clone(), far.clone()));
    std::thread::spawn(pass_on(Towards::Client, far, near));
    (address, seen)
}

/// Runs a job of three connections with a listening side, and looks at both and at what is between them.
fn of_three_connections(listen: &[&str], connect: &[&str], towards: Towards, arrived: &str) {
    const FILES: u64 = 12;
    // A source offers 16 MiB ahead: a third of it to whoever connects first, and the whole job if it is no larger.
    const BYTES: u64 = 2_000_000;
    let place = Place::new();
    for name in 0..FILES {
        place.file(&format!("photos/{name}"), BYTES as usize);
    }
    let server = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (address, seen) = onlooker(server);
    let (server, address) = (server.to_string(), address.to_string());
    let there = ["--listen", &server, "--address", &address, "--ticket-file", "ticket", "--once", "--json"];
    let listening = place.start(&[listen, &there].concat());
    wait_until("there is a ticket", || place.path("ticket").exists());
    // Slow enough that one connection is not done before the others are open.
    let here = ["--connections", "3", "--max-rate", "64Mbit/s", "--json"];
    let connecting = place.start(&[connect, &here].concat());
    for side in [connecting, listening] {
        let (code, stdout, stderr) = side.end();
        assert_eq!(code, Some(0), "{stderr}");
        let events = events(&stdout);
        let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
        assert_eq!((count("connected"), count("finished")), (3, 1), "{stdout}");
        let end = finished(&stdout);
        assert_eq!((&end["stored_files"], &end["bytes_moved"]), (&FILES.into(), &(FILES * BYTES).into()));
    }
    let seen = seen.lock().unwrap();
    let carried = seen.iter().filter(|((way, _), bytes)| *way == towards && **bytes > BYTES).count();
    assert_eq!(carried, 3, "each connection carries a file at least");
    for name in 0..FILES {
        let (sent, arrived) = (format!("photos/{name}"), format!("{arrived}/{name}"));
        assert!(same(&place.path(&sent), &place.path(&arrived)), "{name}");
    }
}

#[test]
fn several_connections_that_send_are_one_job_and_all_carry_content() {
    let (listen, connect) = (["receive", "arrived"], ["send", "photos", "@ticket"]);
    of_three_connections(&listen, &connect, Towards::Server, "arrived/photos");
}

#[test]
fn several_connections_that_get_are_one_job_and_all_carry_content() {
    let (listen, connect) = (["serve", "photos"], ["get", "@ticket", "arrived"]);
    of_three_connections(&listen, &connect, Towards::Client, "arrived");
}

/// Writes a script in ssh's place that runs the remote command here, and returns the options that name both.
fn over_ssh(place: &Place) -> [String; 4] {
    over_ssh_after(place, ":")
}

/// Writes such a script that runs another command here first.
fn over_ssh_after(place: &Place, first: &str) -> [String; 4] {
    let ssh = place.path("ssh");
    let script = format!(
        "#!/bin/sh\n{first}\nif [ \"$1\" = -G ]; then echo hostname 127.0.0.1; exit; fi\n\
         shift; shift; unset AFTERYOU_STATE; exec sh -c \"$*\"\n"
    );
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = env!("CARGO_BIN_EXE_afteryou");
    ["--ssh-command", ssh.to_str().unwrap(), "--far-command", program].map(str::to_owned)
}

#[test]
fn ssh_starts_the_peer() {
    let place = Place::new();
    let sent = place.file("photos/a", 200_000);
    fs::create_dir(place.path("there")).unwrap();
    let over = over_ssh(&place);
    let over = over.each_ref().map(String::as_str);
    let output = place.run(&[&["send", "photos", "--via", "ssh", "host:there"], &over[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(same(&sent, &place.path("there/photos/a")));
    let output = place.run(&[&["get", "--via", "ssh", "host:there/photos", "back"], &over[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(same(&sent, &place.path("back/photos/a")));
    assert_eq!(text(&place.run(&["ctl"]).stdout), "no job runs\n", "the peers have ended");
}

#[test]
fn a_source_is_looked_through_while_ssh_starts_the_peer() {
    let place = Place::new();
    let sent = place.file("photos/a", 200_000);
    fs::create_dir(place.path("there")).unwrap();
    let wait = format!("until [ -e '{}' ]; do sleep 0.05; done", place.path("may begin").display());
    let over = over_ssh_after(&place, &wait);
    let over = over.each_ref().map(String::as_str);
    let words = [&["send", "photos", "--json", "--via", "ssh", "host:there"], &over[..]].concat();
    let mut job = place.start(&words);
    assert!(job.line().contains("\"plan\""));
    place.file("may begin", 0);
    let (code, rest, said) = job.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(finished(&rest)["stored_files"], 1);
    assert!(same(&sent, &place.path("there/photos/a")));
}

/// Both ends print to the same terminal.
#[test]
fn what_both_ends_of_ssh_know_is_printed_once() {
    let place = Place::new();
    place.file("photos/a", 1_000);
    std::os::unix::fs::symlink("/nowhere", place.path("photos/link")).unwrap();
    let over = over_ssh(&place);
    let over = over.each_ref().map(String::as_str);
    for words in
        [["send", "photos", "--via", "ssh", "host:there"], ["get", "--via", "ssh", "host:photos", "back"]]
    {
        let output = place.run(&[&words[..], &over[..]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        for sentence in ["the link's target is absolute", "complete, but 1 entry left out"] {
            assert_eq!(said.matches(sentence).count(), 1, "{sentence}: {said}");
        }
    }
    // The exit code is that of any other receiver.
    let mut far =
        place.command(&["receive", "archive", "--once", "--ticket-only", "--listen", "127.0.0.1:0"]);
    let far = far.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut far = Running::new(far);
    let ticket = far.line();
    assert_eq!(place.run(&["send", "photos", &ticket]).status.code(), Some(3));
    let (code, _, said) = far.end();
    assert_eq!((code, said.as_str()), (Some(3), ""));
}

/// Opens a link of 10 Mbit/s with a queue of 300 ms before `server`, and returns where two flows enter it.
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

#[test]
fn a_path_behind_the_ticket_of_a_receiver_is_refused_and_nothing_is_sent() {
    let place = Place::new();
    place.file("a", 1_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let word = format!("{ticket}/sub");
    fs::write(place.path("ticket"), &word).unwrap();
    let mut by_variable = place.command(&["send", "a"]);
    by_variable.env("AFTERYOU_TICKET", &word);
    for output in [
        place.run(&["send", "a", &word]),
        place.run(&["send", "a", "@ticket"]),
        place.run(&["send", "a", "--ticket", &word]),
        by_variable.output().unwrap(),
    ] {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("not in \"sub\" below it"), "{said}");
    }
    assert!(!place.path("archive/a").exists());
}

#[test]
fn a_mirror_is_looked_at_first_and_needs_the_receivers_leave() {
    let place = Place::new();
    place.file("photos/new", 1000);
    place.file("photos/skip.tmp", 1000);
    place.file("archive/photos/old", 10);
    // A directory's time is an attribute to be set. Two directories changed within one tick of the kernel's clock have the same anyway.
    for directory in ["photos", "archive/photos"] {
        let directory = std::fs::File::open(place.path(directory)).unwrap();
        directory.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }
    let (refusing, ticket) = place.listen(&["receive", "archive"]);
    let refused = place.run(&["send", "photos", "--delete", &ticket]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("start it with `receive --allow-delete`"),
        "{}",
        text(&refused.stderr)
    );
    refusing.kill();
    let (_receive, ticket) = place.listen(&["receive", "archive", "--allow-delete"]);
    let send = |more: &[&str]| {
        place.run(&[&["send", "photos", "--delete", "--exclude", "*.tmp"], more, &[&ticket]].concat())
    };
    let look = send(&["--dry-run"]);
    let said = text(&look.stderr);
    assert_eq!(look.status.code(), Some(0), "{said}");
    assert!(said.contains("would store: photos/new") && said.contains("would remove: photos/old"), "{said}");
    assert!(said.contains("(1 kB) and remove 1 entry"), "{said}");
    assert!(place.path("archive/photos/old").exists() && !place.path("archive/photos/new").exists());
    let json = send(&["--dry-run", "--json"]);
    let removed = serde_json::json!({ "would": "remove" });
    assert!(
        events(&text(&json.stdout)).iter().any(|event| event["outcome"] == removed),
        "{}",
        text(&json.stdout)
    );
    let done = send(&["--stats"]);
    let said = text(&done.stderr);
    assert!(said.contains("removed: photos/old") && said.contains("  removed: 1"), "{said}");
    assert!(!place.path("archive/photos/old").exists() && place.path("archive/photos/new").exists());
    assert!(!place.path("archive/photos/skip.tmp").exists());
}

#[test]
fn options_of_other_programs_are_answered_with_ours() {
    let place = Place::new();
    for (option, answer) in [
        ("-a", "not needed"),
        ("--bwlimit=1M", "--max-rate"),
        ("--delete-excluded", "--delete"),
        ("-H", "keep them"),
        ("--numeric-ids", "--owner=numbers"),
        ("-X", "--xattrs"),
        ("-o", "--owner"),
    ] {
        let output = place.run(&["send", option, "photos", "ticket"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("is an option of another program") && said.contains(answer), "{said}");
    }
}

#[test]
fn standard_input_becomes_a_file_and_a_file_standard_output() {
    let place = Place::new();
    place.file("archive/x", 10);
    let whole = fs::read(place.file("input", 3_000_000)).unwrap();
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let mut command = place.command(&["send", "-", "--name", "x.tar", &ticket]);
    command.stdin(fs::File::open(place.path("input")).unwrap());
    let sent = command.output().unwrap();
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
    assert!(fs::read(place.path("archive/x.tar")).unwrap() == whole);
    let (_serve, served) = place.listen(&["serve", "archive"]);
    let got = place.run(&["get", &format!("{served}/x.tar"), "-"]);
    assert_eq!(got.status.code(), Some(0), "{}", text(&got.stderr));
    assert!(got.stdout == whole);
    for (words, reason) in [
        (&["send", "-", &ticket][..], "--name"),
        (&["send", "-", "--name", "a/b", &ticket], "one name"),
        (&["get", &served, "-"], "name one file"),
        (&["get", &format!("{served}/x.tar"), "-", "--json"], "--json"),
    ] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
}

/// The page is dirty when the file is hashed, so a further write sets no times, unless the source has flushed it.
#[test]
fn a_change_through_a_memory_map_is_sent_by_the_next_run() {
    const WRITER: &str = "import mmap, sys\n\
        file = open('photos/db', 'r+b'); m = mmap.mmap(file.fileno(), 0)\n\
        m[0:4] = b'AAAA'; print('dirty', flush=True); sys.stdin.readline()\n\
        m[0:4] = b'BBBB'; m.flush(); m.close()";
    let place = Place::new();
    place.file("photos/db", 100_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let mut python = std::process::Command::new("python3");
    python.args(["-c", WRITER]).current_dir(place.0.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = python.spawn() else {
        println!("SKIPPED: no python3 to write through a memory map");
        return;
    };
    let mut go = child.stdin.take().unwrap();
    let mut writer = Running::new(child);
    assert_eq!(writer.line(), "dirty");
    // The times of the tree are old enough to be relied upon.
    std::thread::sleep(Duration::from_millis(2500));
    let send = |words: &[&str]| {
        let sent = place.run(&[&["send", "photos", &ticket][..], words].concat());
        assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
        fs::read(place.path("archive/photos/db")).unwrap()[..4].to_vec()
    };
    assert_eq!(send(&[]), b"AAAA");
    go.write_all(b"\n").unwrap();
    assert_eq!(writer.child.wait().unwrap().code(), Some(0));
    assert_eq!(send(&[]), b"BBBB");
    assert_eq!(send(&["--verify"]), b"BBBB");
}

#[test]
fn standard_input_that_is_being_read_leaves_nothing_behind_however_the_job_ends() {
    use rustix::process::Signal;
    let place = Place::new();
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let temporary = place.path(&format!("{signal:?}"));
        fs::create_dir(&temporary).unwrap();
        let mut command = place.command(&["send", "-", "--name", "x", &ticket]);
        command.env("TMPDIR", &temporary).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds: it is being read. The input stays open.
        input.write_all(&vec![1; 3_000_000]).unwrap();
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "it has no name");
        let sending = Running::new(child);
        sending.signal(signal);
        let (code, _, said) = sending.end();
        assert_eq!(code, (signal != Signal::KILL).then_some(130), "{said}");
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{signal:?}");
        drop(input);
    }
    assert!(!place.path("archive/x").exists());
}

#[test]
fn a_ticket_can_be_shown_as_a_qr_code() {
    let place = Place::new();
    fs::create_dir(place.path("archive")).unwrap();
    let (receive, _) = place.listen(&["receive", "archive", "--qr"]);
    std::thread::sleep(Duration::from_millis(300));
    receive.signal(rustix::process::Signal::TERM);
    let (_, _, said) = receive.end();
    assert!(said.contains('█') && said.contains('▀'), "{said}");
}

#[test]
fn each_option_that_gives_a_sender_power_needs_the_receivers_own() {
    let place = Place::new();
    place.file("photos/a", 1_000);
    std::os::unix::fs::symlink("/nowhere", place.path("photos/link")).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let (_strict, strict) = place.listen(&["receive", "strict"]);
    for (words, allow) in [
        (&["--delete"][..], "--allow-delete"),
        (&["--backup-dir", "old"], "--allow-backup"),
        (&["--symlinks", "copy-as-is"], "--allow-links"),
        (&["--owner"], "--allow-owner"),
        (&["--owner=numbers"], "--allow-owner"),
        (&["--xattrs"], "--allow-xattrs"),
        (&["--acls"], "--allow-acls"),
    ] {
        let send = |ticket: &str| place.run(&[&["send", "photos/a", ticket], words].concat());
        let refused = send(&strict);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains(&format!("start it with `receive {allow}`")), "{said}");
        assert!(!place.path("strict/a").exists(), "{words:?}");
        let directory = format!("allowing{allow}");
        let (_receive, ticket) = place.listen(&["receive", &directory, allow]);
        if allow == "--allow-owner" && !is_root {
            assert!(text(&send(&ticket).stderr).contains("run it as root"), "{words:?}");
            continue;
        }
        let allowed = send(&ticket);
        assert_eq!(allowed.status.code(), Some(0), "{words:?}: {}", text(&allowed.stderr));
        assert!(place.path(&format!("{directory}/a")).exists(), "{words:?}");
    }
}

#[test]
fn a_rate_is_shown_in_the_unit_of_the_limit() {
    let place = Place::new();
    place.file("photo", 600_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let output = place.run(&["send", "photo", &ticket, "--max-rate", "500k"]);
    let said = text(&output.stderr);
    assert!(said.contains("KiB/s") && !said.contains("bit/s"), "{said}");
}
