//! `get` with URLs, from a server on this machine: exit codes, standard output, events, and runs that are ended and killed.

use super::support::*;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::Duration;

const LENGTH: usize = 1 << 20;

/// Starts a server of a file that honours ranges; the first `stalls` answers end in the middle and do not close. Returns the address and the
/// number of requests.
fn serve(content: Vec<u8>, stalls: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, content) = (asked.clone(), Arc::new(content));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (number, content) = (count.fetch_add(1, SeqCst), content.clone());
            std::thread::spawn(move || answer(stream, &content, number < stalls));
        }
    });
    (format!("http://{address}"), asked)
}

fn answer(mut stream: TcpStream, content: &[u8], stalls: bool) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    if lines.first().is_some_and(|line| line.contains("/missing")) {
        _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    let range = lines
        .iter()
        .find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let (from, length) = (range.unwrap_or(0), content.len());
    let status = if from > 0 { "206 Partial Content" } else { "200 OK" };
    let last = length - 1;
    let head = format!(
        "HTTP/1.1 {status}\r\nETag: \"1\"\r\nContent-Range: bytes {from}-{last}/{length}\r\nContent-Length: {}\r\n\r\n",
        length - from
    );
    let end = if stalls { length / 2 } else { length };
    _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content[from..end]));
    if stalls {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn content(place: &Place) -> Vec<u8> {
    fs::read(place.file("original", LENGTH)).unwrap()
}

/// Runs the command without a proxy of this machine.
fn get(place: &Place, words: &[&str]) -> Output {
    place.command(&[&["get"], words].concat()).env("no_proxy", "*").output().unwrap()
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// Returns the length of the partial file.
fn partial(place: &Place) -> usize {
    let files = fs::read_dir(place.path("new")).into_iter().flatten().map_while(Result::ok);
    let parts = files.filter(|file| file.file_name().to_string_lossy().ends_with(".part"));
    parts.map(|file| file.metadata().map_or(0, |metadata| metadata.len() as usize)).sum()
}

#[test]
fn exit_codes_are_those_of_all_jobs_and_an_existing_file_is_kept() {
    let place = Place::new();
    let (server, _) = serve(content(&place), 0);
    let url = format!("{server}/a.iso");
    let first = get(&place, &[&url, "new"]);
    assert_eq!(code(&first), Some(0), "{}", text(&first.stderr));
    assert!(text(&first.stderr).contains("received 1 file, 1.05 MB"), "{}", text(&first.stderr));
    assert!(same(&place.path("original"), &place.path("new/a.iso")));
    fs::write(place.path("new/a.iso"), "mine").unwrap();
    let kept = get(&place, &[&url, "new"]);
    assert!(code(&kept) == Some(1) && text(&kept.stderr).contains("use --force"), "{}", text(&kept.stderr));
    assert_eq!(fs::read_to_string(place.path("new/a.iso")).unwrap(), "mine");
    assert_eq!(code(&get(&place, &[&url, "new", "--force", "--quiet"])), Some(0));
    assert!(same(&place.path("original"), &place.path("new/a.iso")));
    let wrong = get(&place, &[&url, "-o", "new/b", "--sha256", &"0".repeat(64)]);
    assert!(code(&wrong) == Some(1) && !place.path("new/b").exists(), "{}", text(&wrong.stderr));
    let invalid = get(&place, &["ftp://me:secret@127.0.0.1/x"]);
    assert!(
        code(&invalid) == Some(2) && !text(&invalid.stderr).contains("secret"),
        "{}",
        text(&invalid.stderr)
    );
}

#[test]
fn a_file_that_fails_does_not_keep_others_away_and_events_report_both() {
    let place = Place::new();
    let (server, _) = serve(content(&place), 0);
    let output = get(&place, &[&format!("{server}/missing?key"), &format!("{server}/a"), "new", "--json"]);
    assert_eq!(code(&output), Some(1));
    let out = text(&output.stdout);
    let end = finished(&out);
    assert_eq!(
        (&end["stored_files"], &end["failed"], &end["bytes_moved"]),
        (&1.into(), &1.into(), &LENGTH.into())
    );
    let files: Vec<_> = events(&out).into_iter().filter(|event| event["event"] == "file").collect();
    assert!(
        files[0]["outcome"]["failed"].as_str().unwrap().contains("404") && files[1]["outcome"] == "stored"
    );
    assert!(!out.contains("key"), "{out}");
    assert!(same(&place.path("original"), &place.path("new/a")));
}

#[test]
fn standard_output_gets_the_whole_file_or_nothing() {
    let place = Place::new();
    let (server, _) = serve(content(&place), 0);
    let output = get(&place, &[&format!("{server}/a"), "-"]);
    assert!(code(&output) == Some(0) && output.stdout == fs::read(place.path("original")).unwrap());
    let output = get(&place, &[&format!("{server}/a"), "-o", "-", "--sha256", &"0".repeat(64)]);
    assert!(code(&output) == Some(1) && output.stdout.is_empty());
}

#[test]
fn a_run_that_is_ended_or_killed_is_continued() {
    let place = Place::new();
    let (server, asked) = serve(content(&place), 2);
    let url = format!("{server}/a.iso");
    for is_killed in [false, true] {
        let mut command = place.command(&["get", &url, "new"]);
        let command = command.env("no_proxy", "*").stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = Running::new(command.spawn().unwrap());
        let requests = if is_killed { 2 } else { 1 };
        wait_until("half of it is there", || asked.load(SeqCst) == requests && partial(&place) == LENGTH / 2);
        if is_killed {
            running.kill();
            continue;
        }
        running.signal(rustix::process::Signal::TERM);
        let (code, _, err) = running.end();
        assert_eq!(code, Some(130), "{err}");
        assert!(err.contains("run the same command again to continue from there"), "{err}");
    }
    assert!(!place.path("new/a.iso").exists());
    let output = get(&place, &[&url, "new"]);
    assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("524 kB were there already"), "{}", text(&output.stderr));
    assert!(same(&place.path("original"), &place.path("new/a.iso")) && partial(&place) == 0);
}
