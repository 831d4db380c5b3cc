//! Sockets of a program under `afteryou run`, in a network namespace of the test's own.
//!
use super::namespace::{connect, in_namespace, is_a_part, now_s, numbers, Part, ADDRESS};
use afteryou_outside::linux::window_clamp;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// Windows of a steered and of a free connection differ by more than this, bytes.
const LARGE: u32 = 1 << 20;
/// … and the smallest one is two packets, of 64 KiB on this way, bytes.
const SMALL: f64 = 150_000.0;

const PARTS: &[Part] = &[("serve", serve), ("download", download), ("short", short), ("ends", print_ends)];

/// Sends to every client, until the namespace is gone.
fn serve() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        thread::spawn(move || while stream.write_all(&[0; 1 << 16]).is_ok() {});
    }
}

/// Reads for 3 s and prints what its window may be, ten times a second.
fn download() {
    let mut stream = connect();
    let began = Instant::now();
    let mut next = Duration::from_millis(100);
    let mut buffer = vec![0; 1 << 20];
    while began.elapsed() < Duration::from_secs(3) {
        assert!(stream.read(&mut buffer).expect("data") > 0);
        if began.elapsed() >= next {
            println!(
                "clamp={} at={:.3}",
                window_clamp(stream.as_fd()).expect("a socket"),
                began.elapsed().as_secs_f64()
            );
            next += Duration::from_millis(100);
        }
    }
}

/// Makes and closes connections one after the other, and prints when each was closed.
fn short() {
    for _ in 0..200 {
        let stream = connect();
        thread::sleep(Duration::from_millis(15));
        println!("closed={:.6}", now_s());
        drop(stream);
    }
}

/// Prints when each of 200 connections ended.
fn print_ends() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    let ends: Vec<_> = listener
        .incoming()
        .take(200)
        .map(|stream| {
            let mut stream = stream.expect("a connection");
            thread::spawn(move || {
                let mut buffer = [0; 16];
                match stream.read(&mut buffer) {
                    Ok(0) => {}
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => panic!("{error}"),
                    other => panic!("{other:?}"),
                }
                let ended = now_s();
                let _ = stream.shutdown(Shutdown::Both);
                ended
            })
        })
        .collect();
    for end in ends {
        println!("ended={:.6}", end.join().expect("an end"));
    }
}

#[test]
fn a_download_with_a_largest_rate_has_a_small_window_and_without_run_a_large_one() {
    const TEST: &str =
        "run::steered::a_download_with_a_largest_rate_has_a_small_window_and_without_run_a_large_one";
    if is_a_part(PARTS) {
        return;
    }
    let Some(plain) = in_namespace(TEST, "PART serve & PART download") else { return };
    let free = numbers(&plain, "clamp");
    assert!(free.iter().copied().fold(0.0, f64::max) > SMALL, "{plain}");
    let Some(said) = in_namespace(TEST, "PART serve & (RUN download --max-rate=8Mbit/s)") else { return };
    // On a busy machine it is found late.
    let pairs = numbers(&said, "at").into_iter().zip(numbers(&said, "clamp"));
    let clamps: Vec<f64> = pairs.filter(|(at, _)| *at > 1.5).map(|(_, clamp)| clamp).collect();
    assert!(clamps.len() > 5 && clamps.iter().all(|clamp| *clamp < SMALL), "{said}");
}

#[test]
fn whichever_of_the_two_processes_is_killed_the_window_is_restored_within_a_second() {
    const TEST: &str =
        "run::steered::whichever_of_the_two_processes_is_killed_the_window_is_restored_within_a_second";
    if is_a_part(PARTS) {
        return;
    }
    // The first process, whose child is the second.
    for victim in ["$!", "$(cat /proc/$!/task/$!/children)"] {
        let script = format!("PART serve &\n(RUN download) & sleep 1.5; kill -KILL {victim}; sleep 3; true");
        let Some(said) = in_namespace(TEST, &script) else { return };
        let late: Vec<f64> = numbers(&said, "at")
            .into_iter()
            .zip(numbers(&said, "clamp"))
            .filter(|(at, _)| *at > 2.6)
            .map(|(_, clamp)| clamp)
            .collect();
        assert!(!late.is_empty() && late.iter().all(|clamp| *clamp >= f64::from(LARGE)), "{victim}: {said}");
    }
}

#[test]
fn a_connection_ends_when_the_program_closes_it() {
    const TEST: &str = "run::steered::a_connection_ends_when_the_program_closes_it";
    if is_a_part(PARTS) {
        return;
    }
    let Some(said) = in_namespace(TEST, "PART ends & server=$!; (RUN short); wait $server") else { return };
    let (mut closed, mut ended) = (numbers(&said, "closed"), numbers(&said, "ended"));
    assert_eq!((closed.len(), ended.len()), (200, 200), "{said}");
    closed.sort_by(f64::total_cmp);
    ended.sort_by(f64::total_cmp);
    let mut late: Vec<f64> =
        closed.iter().zip(&ended).map(|(closed, ended)| (ended - closed) * 1e3).collect();
    late.sort_by(f64::total_cmp);
    // A busy machine delays either end now and then.
    assert!(late[180] < 20.0, "the slowest: {:?} ms", &late[180..]);
}

#[test]
fn nobody_is_left_when_the_program_has_ended() {
    const TEST: &str = "run::steered::nobody_is_left_when_the_program_has_ended";
    if is_a_part(PARTS) {
        return;
    }
    let script = "PART serve & server=$!\n(RUN download); echo code=$?; sleep 0.2; echo left=$(cat /proc/[0-9]*/comm | grep -cx afteryou); kill $server";
    let Some(said) = in_namespace(TEST, script) else { return };
    assert_eq!((numbers(&said, "code"), numbers(&said, "left")), (vec![0.0], vec![0.0]), "{said}");
}
