//! Settings of a program's sockets: what it has set itself, what it passes to others, and what is left when `afteryou run` is killed.

use super::namespace::{connect, in_namespace, is_a_part, numbers, Part, ADDRESS};
use afteryou_outside::linux::window_clamp;
use rustix::net::sockopt::{set_socket_recv_buffer_size, socket_recv_buffer_size};
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PARTS: &[Part] = &[
    ("serve", serve),
    ("download", || read_on(&mut connect())),
    ("tuned", tuned),
    ("pass", pass),
    ("passed", passed),
    ("quiet", quiet),
    ("echo", echo),
    ("cut", cut),
    ("lend", lend),
    ("borrow", borrow),
];
/// Address of the part `echo`.
const QUIET: &str = "192.0.2.1:7002";
/// A connection with a largest rate has a smaller window than this, bytes …
const SMALL: f64 = 150_000.0;
/// … and one that is not steered has a larger one, bytes.
const LARGE: f64 = 1_048_576.0;

/// Sends to every client, until the namespace is gone.
fn serve() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        thread::spawn(move || while stream.write_all(&[0; 1 << 16]).is_ok() {});
    }
}

/// Reads for 4 s and prints what its window may be, ten times a second.
fn read_on(stream: &mut TcpStream) {
    let began = Instant::now();
    let mut next = Duration::from_millis(100);
    let mut buffer = vec![0; 1 << 20];
    while began.elapsed() < Duration::from_secs(4) {
        assert!(stream.read(&mut buffer).expect("data") > 0);
        if began.elapsed() >= next {
            let clamp = window_clamp(stream.as_fd()).expect("a socket");
            println!("clamp={clamp} at={:.3}", began.elapsed().as_secs_f64());
            next += Duration::from_millis(100);
        }
    }
}

/// Returns the windows that were printed between two times, s.
fn windows(said: &str, from: f64, to: f64) -> Vec<f64> {
    let pairs = numbers(said, "at").into_iter().zip(numbers(said, "clamp"));
    let found: Vec<f64> = pairs.filter(|(at, _)| (from..to).contains(at)).map(|(_, clamp)| clamp).collect();
    assert!(found.len() > 2, "{said}");
    found
}

fn assert_small(said: &str, from: f64, to: f64) {
    assert!(windows(said, from, to).iter().all(|clamp| *clamp < SMALL), "{said}");
}

fn assert_large(said: &str, from: f64, to: f64) {
    assert!(windows(said, from, to).iter().all(|clamp| *clamp >= LARGE), "{said}");
}

/// Kills the first process at 2 s, or both, and does something at 2.3 s.
fn killed(part: &str, victims: &str, then: &str) -> String {
    format!(
        "PART serve & server=$!\n(RUN {part} --max-rate=8Mbit/s) & front=$!\nsleep 2\n\
         kill -KILL {victims}\nsleep 0.3\n{then}\nsleep 4\nkill $server"
    )
}

const BOTH: &str = "$front $(cat /proc/$front/task/$front/children)";

#[test]
fn the_next_ctl_restores_what_a_run_left_whose_processes_were_killed() {
    const TEST: &str = "run::settings::the_next_ctl_restores_what_a_run_left_whose_processes_were_killed";
    if is_a_part(PARTS) {
        return;
    }
    let then = "CTL; sleep 0.1; echo files=$(ls \"$AFTERYOU_CONTROL_DIR\" | wc -l)";
    let Some(said) = in_namespace(TEST, &killed("download", BOTH, then)) else { return };
    assert_small(&said, 1.0, 1.6);
    assert_large(&said, 2.6, 4.0);
    assert_eq!(numbers(&said, "files"), [0.0], "{said}");
}

#[test]
fn the_next_run_restores_it_too_and_without_one_it_is_left() {
    const TEST: &str = "run::settings::the_next_run_restores_it_too_and_without_one_it_is_left";
    if is_a_part(PARTS) {
        return;
    }
    let script = killed("download", BOTH, "sleep 0.7; \"$AFTERYOU\" run -- true");
    let Some(said) = in_namespace(TEST, &script) else { return };
    assert_small(&said, 1.0, 2.6);
    assert_large(&said, 3.4, 4.0);
}

/// Reads over a socket whose buffer it has set, and prints that at the end.
fn tuned() {
    let mut stream = connect();
    set_socket_recv_buffer_size(&stream, 100_000).expect("a setting");
    println!("own={}", window_clamp(stream.as_fd()).expect("a socket"));
    read_on(&mut stream);
    println!("buffer={}", socket_recv_buffer_size(&stream).expect("a setting"));
}

#[test]
fn a_buffer_that_the_program_has_set_stays_as_it_is() {
    const TEST: &str = "run::settings::a_buffer_that_the_program_has_set_stays_as_it_is";
    if is_a_part(PARTS) {
        return;
    }
    let Some(said) = in_namespace(TEST, &killed("tuned", "$front", "")) else { return };
    // The kernel doubles it for its own part.
    assert_eq!(numbers(&said, "buffer"), [200_000.0], "{said}");
    assert_small(&said, 1.0, 1.6);
}

/// Becomes the part `passed`, which has the connection under another number, and then starts that once more.
fn pass() {
    std::env::set_current_dir("/").expect("a folder");
    let error = again("passed").stdin(Stdio::from(OwnedFd::from(connect()))).exec();
    panic!("{error}");
}

fn passed() {
    let stream = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    if std::env::var_os("PASSED").is_some() {
        return read_on(&mut TcpStream::from(stream));
    }
    thread::sleep(Duration::from_millis(300));
    let mut child = again("passed").env("PASSED", "").stdin(Stdio::from(stream)).spawn().expect("a program");
    // Now nobody but the child has it.
    let nothing = std::fs::File::open("/dev/null").expect("a file");
    rustix::stdio::dup2_stdin(nothing).expect("a descriptor");
    child.wait().expect("it ends");
}

/// Returns this test again, as a part.
fn again(part: &str) -> Command {
    let test = std::env::var("TEST").expect("in a script");
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([test.as_str(), "--exact", "--nocapture"]).env("AFTERYOU_PART", part);
    command
}

#[test]
fn a_connection_that_goes_from_process_to_process_stays_steered_and_is_restored() {
    const TEST: &str =
        "run::settings::a_connection_that_goes_from_process_to_process_stays_steered_and_is_restored";
    if is_a_part(PARTS) {
        return;
    }
    let Some(said) = in_namespace(TEST, &killed("pass", "$front", "")) else { return };
    assert_small(&said, 0.7, 1.2);
    assert_large(&said, 3.0, 4.0);
}

/// Opens one connection that moves much, and one that says a word now and then, and prints the window that this may have.
fn quiet() {
    thread::spawn(|| {
        let mut buffer = vec![0; 1 << 20];
        let mut stream = connect();
        while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
    });
    let stream = TcpStream::connect(QUIET).expect("a listener");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(4) {
        thread::sleep(Duration::from_millis(100));
        (&stream).write_all(&[1; 50]).expect("a connection");
        (&stream).read_exact(&mut [0; 50]).expect("an answer");
        let clamp = window_clamp(stream.as_fd()).expect("a socket");
        println!("clamp={clamp} at={:.3}", began.elapsed().as_secs_f64());
    }
}

/// Returns every word to the client of `quiet`.
fn echo() {
    let (mut stream, _) = TcpListener::bind(QUIET).expect("an address").accept().expect("a client");
    let mut word = [0; 50];
    while stream.read_exact(&mut word).is_ok() && stream.write_all(&word).is_ok() {}
}

#[test]
fn a_connection_that_says_a_word_now_and_then_has_room_for_ten_packets_beside_a_large_transfer() {
    const TEST: &str =
        "run::settings::a_connection_that_says_a_word_now_and_then_has_room_for_ten_packets_beside_a_large_transfer";
    if is_a_part(PARTS) {
        return;
    }
    let script = "PART serve & server=$!\nPART echo &\nsleep 0.5\n(RUN quiet); kill $server";
    let Some(said) = in_namespace(TEST, script) else { return };
    // Packets of 1460 bytes at least: ten are what any sender begins with.
    assert!(windows(&said, 0.5, 4.0).iter().all(|clamp| *clamp >= 14_600.0), "{said}");
}

/// Reads until nothing has come for a second, and ends as a program does whose peer is gone.
fn cut() {
    let mut stream = connect();
    stream.set_read_timeout(Some(Duration::from_secs(1))).expect("a setting");
    let mut buffer = vec![0; 1 << 20];
    let error = loop {
        match stream.read(&mut buffer) {
            Ok(length) => assert!(length > 0),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    println!("waited=1");
}

#[test]
fn a_program_whose_peer_is_gone_ends_by_its_own_patience() {
    const TEST: &str = "run::settings::a_program_whose_peer_is_gone_ends_by_its_own_patience";
    if is_a_part(PARTS) {
        return;
    }
    let script = "PART serve & server=$!\n(RUN cut) & program=$!\nsleep 1.5\nip link set lo down\n\
                  wait $program\nsleep 0.3\n\
                  echo left=$(cat /proc/[0-9]*/comm | grep -cx afteryou)\nkill $server";
    let Some(said) = in_namespace(TEST, script) else { return };
    assert_eq!((numbers(&said, "waited"), numbers(&said, "left")), (vec![1.0], vec![0.0]), "{said}");
}

fn lending() -> PathBuf {
    PathBuf::from(std::env::var_os("AFTERYOU_CONTROL_DIR").expect("in a script")).join("lending")
}

/// Gives a connection to another process, and keeps it.
fn lend() {
    let stream = connect();
    let listener = UnixListener::bind(lending()).expect("an address");
    let (client, _) = listener.accept().expect("a client");
    let lent = [stream.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&lent));
    sendmsg(&client, &[IoSlice::new(b"!")], &mut ancillary, SendFlags::empty()).expect("it is sent");
    thread::sleep(Duration::from_secs(6));
}

/// Takes it, and reads.
fn borrow() {
    let lender = UnixStream::connect(lending()).expect("a lender");
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    recvmsg(&lender, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, RecvFlags::empty())
        .expect("a message");
    let borrowed = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    read_on(&mut TcpStream::from(borrowed.expect("a descriptor")));
}

#[test]
fn a_connection_that_a_process_elsewhere_has_too_is_left_alone() {
    const TEST: &str = "run::settings::a_connection_that_a_process_elsewhere_has_too_is_left_alone";
    if is_a_part(PARTS) {
        return;
    }
    let script = "PART serve & server=$!\nPART lend & lender=$!\nsleep 1\n(RUN borrow --max-rate=8Mbit/s); kill $server $lender";
    let Some(said) = in_namespace(TEST, script) else { return };
    // The other process is found within a second.
    assert_large(&said, 2.0, 4.0);
}
