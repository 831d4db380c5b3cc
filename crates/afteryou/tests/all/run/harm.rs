//! What `afteryou run` must not do to a program: stall it, delay its ends, keep its ports, or take its processor time.

use super::namespace::{connect, in_namespace, is_a_part, now_s, numbers, Part, ADDRESS};
use nix::errno::Errno;
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags};
use nix::sys::time::{TimeSpec, TimeVal, TimeValLike};
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{socket_with, AddressFamily, Protocol, SocketFlags, SocketType};
use std::collections::HashMap;
use std::io::{IoSliceMut, Read, Write};
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

const PARTS: &[Part] = &[
    ("capture", capture),
    ("accept", accept),
    ("short", short),
    ("answer", answer),
    ("ask", ask),
    ("stream", stream),
    ("fetch", fetch),
    ("hold", hold),
];
/// Connections of the part `short`, in this time.
const SHORT: usize = 3000;
const SHORT_IN: Duration = Duration::from_secs(3);
/// Largest time from the program's close to the packet that ends the connection, s.
const LATE_S: f64 = 0.020;
/// Time without a packet after which all have come, s.
const QUIET_S: i64 = 3;
/// Connections of the part `ask`.
const ASKING: usize = 2000;
/// Sockets of the part `hold`.
const HELD: usize = 5000;
/// Ticks of the kernel's clock for processor time, a second.
const CLOCK_TICKS: f64 = 100.0;

/// Prints the time of each packet of a client that ends a connection, with the client's port, when none has come for [`QUIET_S`].
fn capture() {
    const ETHERNET: usize = 14;
    let internet = NonZeroU32::new(u32::from(0x0800_u16.to_be())).map(Protocol::from_raw);
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, internet)
        .expect("a socket for packets");
    // The kernel's own time of each: this process may be late.
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).expect("a setting");
    // A thread of a busy machine may come late to all of them.
    if setsockopt(&socket, sockopt::RcvBufForce, &(64 << 20)).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &(64 << 20)).expect("a setting");
    }
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut ends = Vec::with_capacity(2 * SHORT);
    let quiet = TimeVal::seconds(QUIET_S);
    loop {
        let mut packet = [0; 256];
        let mut parts = [IoSliceMut::new(&mut packet)];
        let message = match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())
        {
            Ok(message) => message,
            Err(Errno::EAGAIN) => break,
            Err(error) => panic!("{error}"),
        };
        let at = message.cmsgs().expect("a time").find_map(|part| match part {
            ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time).as_secs_f64()),
            _ => None,
        });
        let (at, length) = (at.expect("a time"), message.bytes);
        let header = &packet[ETHERNET..length.min(packet.len())];
        let tcp = &header[usize::from(header[0] & 15) * 4..];
        let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let (fin, reset) = (tcp[13] & 1 != 0, tcp[13] & 4 != 0);
        if port(2) == 7000 && (fin || reset) {
            if ends.is_empty() {
                setsockopt(&socket, sockopt::ReceiveTimeout, &quiet).expect("a setting");
            }
            ends.push((at, port(0)));
        }
    }
    for (at, port) in ends {
        println!("end={at:.6} of={port}");
    }
}

/// Takes connections, and closes each when its client has.
fn accept() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        thread::spawn(move || stream.read(&mut [0; 16]));
    }
}

/// Makes a thousand connections a second and closes each a moment later, every second one by a reset. Prints when each was closed.
fn short() {
    const THREADS: usize = 10;
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            thread::spawn(|| {
                let began = Instant::now();
                let count = SHORT / THREADS;
                let mut closed = Vec::with_capacity(count);
                for index in 0..count {
                    let stream = connect();
                    let port = stream.local_addr().expect("an address").port();
                    if index % 2 == 0 {
                        set_socket_linger(&stream, Some(Duration::ZERO)).expect("a setting");
                    }
                    let due = SHORT_IN * u32::try_from(index + 1).expect("few")
                        / u32::try_from(count).expect("few");
                    thread::sleep(due.saturating_sub(began.elapsed()));
                    drop(stream);
                    closed.push((port, now_s()));
                }
                closed
            })
        })
        .collect();
    for (port, at) in threads.into_iter().flat_map(|thread| thread.join().expect("its connections")) {
        println!("closed={at:.6} by={port}");
    }
}

#[test]
fn a_thousand_connections_a_second_end_when_the_program_closes_them_and_keep_no_port() {
    const TEST: &str =
        "run::harm::a_thousand_connections_a_second_end_when_the_program_closes_them_and_keep_no_port";
    if is_a_part(PARTS) {
        return;
    }
    // States but TIME_WAIT (06) and LISTEN (0A).
    let script = "PART accept & accept=$!\nPART capture & capture=$!\nsleep 0.5\n(RUN short)\nsleep 0.3\n\
                  echo kept=$(grep -c ':1B58 [0-9A-F]* 0[1-57-9B]' /proc/net/tcp)\nwait $capture; kill $accept";
    let Some(said) = in_namespace(TEST, script) else { return };
    let (closed, by) = (numbers(&said, "closed"), numbers(&said, "by"));
    assert_eq!((closed.len(), numbers(&said, "kept")), (SHORT, vec![0.0]), "{said}");
    let (end, of) = (numbers(&said, "end"), numbers(&said, "of"));
    let by_port = |ports: &[f64], times: &[f64]| {
        let mut found: HashMap<u16, Vec<f64>> = HashMap::new();
        ports.iter().zip(times).for_each(|(port, at)| found.entry(*port as u16).or_default().push(*at));
        found
    };
    let (ends, closes) = (by_port(&of, &end), by_port(&by, &closed));
    // A port may have had a second connection.
    let missing = by.iter().filter(|port| !ends.contains_key(&(**port as u16))).count();
    let late: Vec<String> = of
        .iter()
        .zip(&end)
        .filter(|(port, end)| {
            let closes = closes.get(&(**port as u16)).into_iter().flatten();
            !closes.into_iter().any(|closed| (-1.0..LATE_S).contains(&(*end - closed)))
        })
        .map(|(port, end)| format!("{port} at {end}"))
        .collect();
    assert!(missing == 0 && late.is_empty(), "{missing} without an end, {} too late: {late:?}", late.len());
}

/// Answers each byte of each client by a hundred.
fn answer() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        thread::spawn(
            move || while stream.read_exact(&mut [0]).is_ok() && stream.write_all(&[1; 100]).is_ok() {},
        );
    }
}

/// Asks over new connections, and reads with room for much more than the answer. Prints how many answers did not come.
fn ask() {
    const THREADS: usize = 8;
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            thread::spawn(move || {
                let mut missing = 0;
                for index in 0..ASKING / THREADS {
                    let mut stream = connect();
                    stream.set_read_timeout(Some(Duration::from_secs(3))).expect("a setting");
                    for _ in 0..20 {
                        // At any time after a look of `run` at the sockets.
                        thread::sleep(Duration::from_micros((index * 37 + thread * 11) as u64 % 800));
                        stream.write_all(&[1]).expect("a connection");
                        missing += usize::from(stream.read(&mut [0; 1 << 16]).is_err());
                    }
                }
                missing
            })
        })
        .collect();
    let missing: usize = threads.into_iter().map(|thread| thread.join().expect("a count")).sum();
    println!("missing={missing}");
}

#[test]
fn answers_that_are_shorter_than_the_room_for_them_come_at_once() {
    const TEST: &str = "run::harm::answers_that_are_shorter_than_the_room_for_them_come_at_once";
    if is_a_part(PARTS) {
        return;
    }
    let Some(said) = in_namespace(TEST, "PART answer & server=$!\n(RUN ask); kill $server") else { return };
    assert_eq!(numbers(&said, "missing"), [0.0], "{said}");
}

#[test]
fn ten_thousand_short_lived_processes_end_as_they_would_and_leave_none() {
    const TEST: &str = "run::harm::ten_thousand_short_lived_processes_end_as_they_would_and_leave_none";
    if is_a_part(PARTS) {
        return;
    }
    // A hundred times: fifty that its parent waits for, and fifty that lose their parent.
    let program = "i=0; while [ $i -lt 100 ]; do i=$((i + 1)); \
                   j=0; while [ $j -lt 50 ]; do j=$((j + 1)); (exit 3); [ $? = 3 ] || exit 1; ( (:) & ); done; done; exit 7";
    // It counts without processes of its own.
    let script = format!(
        "count() {{ n=0; for p in /proc/[0-9]*; do name=; read name 2>/dev/null <$p/comm\n\
         case $name in afteryou | sh) n=$((n + 1));; esac; done; }}\n\
         \"$AFTERYOU\" run -- sh -c '{program}'; echo code=$?\n\
         i=0; while count; [ $n -gt 1 ] && [ $i -lt 50 ]; do sleep 0.2; i=$((i + 1)); done; echo left=$n"
    );
    let Some(said) = in_namespace(TEST, &script) else { return };
    // The script itself is a shell.
    let left = numbers(&said, "left");
    assert!(numbers(&said, "code") == [7.0] && left == [1.0], "{said}");
}

/// Sends 6.25 Mbit/s to each client.
fn stream() {
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection");
        thread::spawn(move || {
            while stream.write_all(&[0; 7812]).is_ok() {
                thread::sleep(Duration::from_millis(10));
            }
        });
    }
}

/// Reads from 16 connections.
fn fetch() {
    let threads: Vec<_> = (0..16)
        .map(|_| {
            thread::spawn(|| {
                let (mut stream, began) = (connect(), Instant::now());
                let mut buffer = [0; 1 << 16];
                while began.elapsed() < Duration::from_secs(7)
                    && stream.read(&mut buffer).is_ok_and(|length| length > 0)
                {}
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it reads"));
}

/// Holds thousands of connections.
fn hold() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let limit = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).expect("a limit");
    let listener = TcpListener::bind(ADDRESS).expect("an address");
    let pairs: Vec<_> =
        (0..HELD / 2).map(|_| (connect(), listener.accept().expect("a connection"))).collect();
    println!("held={}", 2 * pairs.len());
    thread::sleep(Duration::from_secs(10));
}

/// Part of a core that steering may take.
const MOST: f64 = 0.02;

/// Returns the part of a core that the process which steers uses: the least of three times at most, since what else runs on the machine adds to it.
fn processor(test: &str, before: &str, part: &str) -> Option<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        least = least.min(processor_once(test, before, part)?);
        if least <= MOST {
            break;
        }
    }
    Some(least)
}

/// Returns that part from second 2 to 6.
fn processor_once(test: &str, before: &str, part: &str) -> Option<f64> {
    let script = format!(
        "{before}\n(RUN {part}) & front=$!\nsleep 2\nread steering rest </proc/$front/task/$front/children\n\
         echo before=$(cut -d' ' -f14 /proc/$steering/stat) also=$(cut -d' ' -f15 /proc/$steering/stat)\nsleep 4\n\
         echo after=$(cut -d' ' -f14 /proc/$steering/stat) also=$(cut -d' ' -f15 /proc/$steering/stat)\n\
         wait $front; kill $(jobs -p) 2>/dev/null; true"
    );
    let said = in_namespace(test, &script)?;
    let (before, after, also) = (numbers(&said, "before"), numbers(&said, "after"), numbers(&said, "also"));
    assert_eq!((before.len(), after.len(), also.len()), (1, 1, 2), "{said}");
    Some((after[0] + also[1] - before[0] - also[0]) / CLOCK_TICKS / 4.0)
}

#[test]
fn sixteen_connections_at_100_mbit_s_take_two_percent_of_a_core() {
    const TEST: &str = "run::harm::sixteen_connections_at_100_mbit_s_take_two_percent_of_a_core";
    if is_a_part(PARTS) {
        return;
    }
    let Some(used) = processor(TEST, "PART stream &", "fetch") else { return };
    assert!(used <= MOST, "{used}");
}

#[test]
fn five_hundred_processes_and_five_thousand_sockets_take_two_percent_of_a_core() {
    const TEST: &str =
        "run::harm::five_hundred_processes_and_five_thousand_sockets_take_two_percent_of_a_core";
    if is_a_part(PARTS) {
        return;
    }
    // The processes are the program's, which is replaced by the one that has the sockets.
    let script = "RUN() { AFTERYOU_PART=hold exec \"$AFTERYOU\" run -- sh -c 'i=0; while [ $i -lt 500 ]; do i=$((i + 1)); sleep 9 & done; \
                  exec \"$@\"' - \"$TESTS\" \"$TEST\" --exact --nocapture; }";
    let Some(used) = processor(TEST, script, "hold") else { return };
    assert!(used <= MOST, "{used}");
}
