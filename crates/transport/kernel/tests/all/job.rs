//! A job: the connections of a program and its descendants.

use crate::network::{Network, RATE};
use afteryou_kernel::{Counts, Error, Job};
use nix::sched::{unshare, CloneFlags};
use socket2::Socket;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// TOS of background traffic.
const MARK: u8 = 4;
const TOS: i32 = MARK as i32;

/// Makes a job, or returns `None` and prints why not.
fn job() -> Option<Job> {
    match Job::new(MARK) {
        Ok(job) => Some(job),
        Err(error @ (Error::NoBtf | Error::TooOld(_) | Error::NotPermitted | Error::NoCgroup)) => {
            eprintln!("SKIPPED: a job in the kernel: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Runs `task` in a network namespace that has an address beside loopback's, in a thread of this process.
fn in_namespace(task: impl FnOnce() + Send + 'static) {
    let inside = move || {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            return eprintln!("SKIPPED: a network namespace: {error}");
        }
        for words in
            ["link set lo up", "addr add 192.0.2.1/32 dev lo", "addr add 2001:db8::1/128 dev lo nodad"]
        {
            assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success());
        }
        task();
    };
    thread::spawn(inside).join().unwrap();
}

/// Returns controller and mark of both ends of a connection that a program in the job makes, and those of the first after it chose others.
fn chosen(job: &Job, address: &str) -> String {
    let program = format!(
        "import socket, sys
listener = socket.socket(socket.AF_INET6 if ':' in '{address}' else socket.AF_INET)
listener.bind(('{address}', 0))
listener.listen()
with socket.socket(listener.family) as one:
    one.connect(listener.getsockname())
    other = listener.accept()[0]
    level, option = (41, 67) if ':' in '{address}' else (0, 1)
    seen = lambda each: (each.getsockopt(6, 13, 16).strip(bytes(1)).decode(), each.getsockopt(level, option))
    print(*seen(one), *seen(other), end=' ')
    one.setsockopt(6, 13, b'reno')
    one.setsockopt(level, option, 0x20)
    print(*seen(one))"
    );
    let shell = format!("echo 0 > {} && exec \"$@\"", job.members().display());
    let output = Command::new("sh").args(["-c", &shell, "sh", "python3", "-c", &program]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn connections_of_a_job_to_other_machines_have_its_controller_and_mark_and_keep_them() {
    let Some(job) = job() else { return };
    in_namespace(move || {
        let default = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        let (name, default) = (job.name(), default.trim());
        for (count, address) in (1..).zip(["192.0.2.1", "2001:db8::1"]) {
            assert_eq!(chosen(&job, address), format!("{name} {TOS} {name} {TOS} {name} {TOS}"), "{address}");
            assert_eq!(job.counts(), Counts { covered: 2 * count, local: 0, refused: 0 });
        }
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(chosen(&job, address).starts_with(&format!("{default} 0 {default} 0 ")), "{address}");
        }
        assert_eq!(job.counts(), Counts { covered: 4, local: 6, refused: 0 });
        // A route would choose another one.
        let route = "route replace table local local 192.0.2.1 dev lo congctl reno";
        assert!(Command::new("ip").args(route.split(' ')).status().unwrap().success());
        assert_eq!(chosen(&job, "192.0.2.1"), format!("{name} {TOS} {name} {TOS} {name} {TOS}"));
        let route = "route replace table local local 192.0.2.1 dev lo";
        assert!(Command::new("ip").args(route.split(' ')).status().unwrap().success());
        // Those of this process are none of the job's.
        let listener = TcpListener::bind("192.0.2.1:0").unwrap();
        let own = Socket::from(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        assert!(own.tcp_congestion().unwrap().starts_with(default.as_bytes()));
        assert_eq!(own.tos_v4().unwrap(), 0);
    });
}

#[test]
fn jobs_have_names_and_groups_of_their_own_and_leave_nothing() {
    let (Some(one), Some(other)) = (job(), job()) else { return };
    let is_there = |name: &str| {
        let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        names.split_whitespace().any(|available| available == name)
    };
    let names = [one.name().to_owned(), other.name().to_owned()];
    let groups = [one.members(), other.members()];
    assert!(names[0] != names[1] && names.iter().all(|name| is_there(name)));
    // A process that outlives the job, in a group that the program has made.
    let inner = groups[0].with_file_name("inner");
    std::fs::create_dir(&inner).unwrap();
    let mut left = Command::new("sleep").arg("60").spawn().unwrap();
    std::fs::write(inner.join("cgroup.procs"), left.id().to_string()).unwrap();
    drop(one);
    assert!(!groups[0].exists() && groups[1].exists());
    assert!(left.try_wait().unwrap().is_none(), "it goes on");
    left.kill().unwrap();
    left.wait().unwrap();
    drop(other);
    let is_gone = || {
        thread::sleep(Duration::from_millis(10));
        !names.iter().any(|name| is_there(name))
    };
    assert!((0..200).any(|_| is_gone()), "{names:?}");
    assert!(!groups[1].exists());
}

/// Sends over `count` connections with a controller. Returns the bytes that arrive after `settling`, within `measured`.
fn sent(network: &Network, controller: &str, count: usize, settling: Duration, measured: Duration) -> u64 {
    let (start, end) = (Instant::now() + settling, Instant::now() + settling + measured);
    thread::scope(|threads| {
        let each = || {
            let (mut socket, mut peer) = network.connect(controller.to_owned()).unwrap();
            thread::spawn(move || while Instant::now() < end && socket.write_all(&[0; 16_384]).is_ok() {});
            threads.spawn(move || {
                let (mut block, mut received) = (vec![0; 65_536], 0);
                while Instant::now() < end {
                    let read = peer.read(&mut block).unwrap();
                    received += if Instant::now() >= start { read as u64 } else { 0 };
                }
                received
            })
        };
        let readers: Vec<_> = (0..count).map(|_| each()).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    })
}

#[test]
fn sixteen_connections_of_a_job_leave_cubic_nine_tenths() {
    const MEASURED: Duration = Duration::from_secs(15);
    let Some(job) = job() else { return };
    let network = match Network::new() {
        Ok(network) => network,
        Err(reason) => return eprintln!("SKIPPED: a job beside CUBIC: {reason}"),
    };
    let alone = Duration::from_secs(5);
    let [job, cubic] = thread::scope(|threads| {
        let job = threads.spawn(|| sent(&network, job.name(), 16, alone, MEASURED));
        thread::sleep(alone);
        let cubic = threads.spawn(|| sent(&network, "cubic", 1, Duration::ZERO, MEASURED));
        [job, cubic].map(|sent| sent.join().unwrap() as f64 * 8.0 / RATE / MEASURED.as_secs_f64())
    });
    println!("16 connections of a job {job:.3} of the link, CUBIC {cubic:.3}");
    assert!(job + cubic >= 0.9, "the link is used: {job:.3} and {cubic:.3}");
    assert!(cubic >= 0.9 * (job + cubic), "CUBIC has {cubic:.3} of the link, the job {job:.3}");
}
