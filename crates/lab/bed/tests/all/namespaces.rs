//! Real namespaces and devices, where the user may make them.

use afteryou_base::{Span, Time};
use afteryou_bed::net::{clean, Family, Plan, Side, Topology};
use afteryou_bed::wire::{Options, Report, Wire};
use afteryou_bed::{Clock, Error};
use afteryou_scenario::passage::{Content, Ecn, Fate, Passage};
use afteryou_scenario::{Algorithm, Checked, Duration, Flow, Link, Role, Scenario, Window};
use afteryou_sockets::{Control, Messages, Options as SocketOptions};
use socket2::SockRef;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;

/// Builds a network; returns `None` after a word about the reason, where the user may not make one.
fn build(scenario: &Checked) -> Option<Topology> {
    match Topology::build(&Plan::of_scenario(scenario).unwrap()) {
        Ok(topology) => Some(topology),
        Err(
            error @ (Error::Namespace(_) | Error::Tun(_) | Error::Sysctl { .. } | Error::Interface { .. }),
        ) => {
            println!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Starts a network with a wire, where the user may make one.
fn start(scenario: &Checked) -> Option<(Topology, Wire, Clock)> {
    let mut topology = build(scenario)?;
    let clock = Clock::start();
    let wire = Wire::start(&mut topology, scenario, Options::new(clock)).unwrap();
    Some((topology, wire, clock))
}

/// Returns a scenario with two flows over one link.
fn scenario(rate: &str, rtt_ms: u64, seconds: u64) -> Checked {
    let link = Link::new(rate.parse().unwrap(), "100 packets".parse().unwrap());
    let flow = |name: &str| Flow::new(name, Role::Foreground, "cubic", Duration::from_millis(rtt_ms));
    let window = Window {
        name: "all".to_owned(),
        from: Duration::from_millis(0),
        to: Duration::from_millis(seconds * 1000),
    };
    let scenario = Scenario {
        flow: vec![flow("a"), flow("b")],
        measure: vec![window],
        ..Scenario::new("", Duration::from_millis(seconds * 1000), link)
    };
    scenario.checked().unwrap()
}

/// Opens sockets of a flow's ends, each in its namespace, connected with each other.
fn udp_pair(topology: &Topology, family: Family, flow: usize) -> (UdpSocket, UdpSocket) {
    let addresses = topology.addresses(family, flow);
    let bind = |side, address| {
        let bound = topology.namespace(side).run(move || UdpSocket::bind(SocketAddr::new(address, 0)));
        bound.unwrap().unwrap()
    };
    let sender = bind(Side::Senders, addresses.sender);
    let receiver = bind(Side::Receivers, addresses.receiver);
    sender.connect(receiver.local_addr().unwrap()).unwrap();
    receiver.connect(sender.local_addr().unwrap()).unwrap();
    (sender, receiver)
}

fn finish_after(wire: Wire, clock: Clock, end: Time) -> Report {
    thread::sleep(end.since(clock.now()).into());
    wire.finish().unwrap()
}

#[test]
fn packets_of_both_families_cross_the_wire_both_ways_and_are_counted_at_their_flow() {
    let scenario = scenario("10 Mbit/s", 20, 1);
    let Some((topology, wire, clock)) = start(&scenario) else { return };
    for family in Family::BOTH {
        let (sender, receiver) = udp_pair(&topology, family, 1);
        let mut buffer = [0; 2000];
        sender.send(&[7; 1000]).unwrap();
        assert_eq!(receiver.recv(&mut buffer).unwrap(), 1000);
        receiver.send(&[8; 10]).unwrap();
        assert_eq!(sender.recv(&mut buffer).unwrap(), 10);
    }
    let report = finish_after(wire, clock, Time::from_millis(1100));
    // IPv4 and IPv6 take the same on the link.
    let [of_a, of_b] = &report.measured.flows[0][..] else { panic!("two flows") };
    assert_eq!((of_a.packets, of_b.packets), (0, 2));
    let forward = &report.measured.totals[0];
    assert_eq!(forward.packets.unwrap().delivered, 2);
    assert_eq!(report.measured.totals[1].packets.unwrap().delivered, 2);
    assert_eq!(report.connections, 2);
    assert!(report.lateness.is_some());
}

#[test]
fn a_round_trip_takes_what_the_scenario_says() {
    let scenario = scenario("100 Mbit/s", 30, 1);
    let Some((topology, wire, _)) = start(&scenario) else { return };
    let (sender, receiver) = udp_pair(&topology, Family::V4, 0);
    let echo = thread::spawn(move || {
        let mut buffer = [0; 100];
        for _ in 0..20 {
            let bytes = receiver.recv(&mut buffer).unwrap();
            receiver.send(&buffer[..bytes]).unwrap();
        }
    });
    let mut trips: Vec<Span> = (0..20)
        .map(|_| {
            let began = std::time::Instant::now();
            sender.send(&[1; 60]).unwrap();
            sender.recv(&mut [0; 100]).unwrap();
            began.elapsed().into()
        })
        .collect();
    echo.join().unwrap();
    trips.sort();
    let shortest = trips[0].as_millis_f64();
    println!("shortest {shortest:.3} ms, median {:.3} ms", trips[10].as_millis_f64());
    // Never faster than propagation. How much slower depends on how busy the machine is, so it is printed and not judged.
    assert!(shortest >= 30.0, "{shortest}");
    drop(wire);
}

#[test]
fn a_program_runs_inside_and_dies_with_its_namespace() {
    let Some((topology, _wire, _)) = start(&scenario("10 Mbit/s", 20, 1)) else { return };
    let mut command = Command::new("sleep");
    command.arg("60");
    let mut child = topology.namespace(Side::Receivers).spawn(command).unwrap();
    let inside = std::fs::read_link(format!("/proc/{}/ns/net", child.id())).unwrap();
    let of_namespace =
        topology.namespace(Side::Receivers).run(|| std::fs::read_link("/proc/thread-self/ns/net"));
    assert_eq!(inside, of_namespace.unwrap().unwrap());
    assert_ne!(inside, std::fs::read_link("/proc/self/ns/net").unwrap());
    drop(topology);
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let Some((topology, _wire, _)) = start(&scenario("10 Mbit/s", 20, 1)) else { return };
    let missing = topology.namespace(Side::Senders).spawn(Command::new("/no/such/program"));
    assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_queue_marks_real_packets_and_the_tap_sees_it() {
    let mut scenario = scenario("1 Mbit/s", 4, 3).into_scenario();
    scenario.link.queue = Algorithm::named("codel").with("ecn", "true");
    let scenario = scenario.checked().unwrap();
    let Some(mut topology) = build(&scenario) else { return };
    let (seen, passages) = std::sync::mpsc::channel();
    let tap = move |passage: &Passage<'_>| {
        let Content::Whole { packet } = passage.content else { panic!("{passage:?}") };
        // The second byte of IPv4's header has the ECN bits.
        let _ = seen.send((passage.ecn, packet[1] & 3, passage.fate));
    };
    let options = Options { tap: Some(Box::new(tap)), ..Options::new(Clock::start()) };
    let wire = Wire::start(&mut topology, &scenario, options).unwrap();
    let (sender, receiver) = udp_pair(&topology, Family::V4, 0);
    SockRef::from(&sender).set_tos_v4(2).unwrap(); // ECT(0)
    let control =
        Control::new(SockRef::from(&receiver), SocketOptions { tos: true, ..SocketOptions::default() });
    let control = control.unwrap();
    receiver.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    (0..60).for_each(|_| assert_eq!(sender.send(&[0; 1000]).unwrap(), 1000));
    let (mut messages, mut buffer) = (Messages::default(), [0; 2000]);
    let mut bits = Vec::new();
    while let Ok(incoming) = control.receive(SockRef::from(&receiver), &mut messages, &mut buffer) {
        // The kernel has checked the sum over the header, or it would not be here.
        bits.extend(incoming.ecn);
    }
    let report = wire.finish().unwrap();
    let arrived = |ecn: u8| bits.iter().filter(|bits| **bits == ecn).count();
    let shown: Vec<_> = passages.iter().filter(|(_, _, fate)| *fate == Fate::Sent).collect();
    assert!(shown.iter().all(|(ecn, byte, _)| ecn.bits() == *byte), "the packet shown has its mark");
    let marked = shown.iter().filter(|(ecn, ..)| *ecn == Ecn::Ce).count();
    assert!(marked > 0 && arrived(2) > 0, "{marked} marks, {} packets without", arrived(2));
    assert_eq!((arrived(3), report.counts.marked), (marked, marked as u64));
}

/// Tells the test below that it is the process to be killed.
const HOLDS: &str = "AFTERYOU_TEST_HOLDS_A_NETWORK";

#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    if std::env::var_os(HOLDS).is_some() {
        return hold_a_network();
    }
    if build(&scenario("10 Mbit/s", 20, 1)).is_none() {
        return;
    }
    let before = interfaces();
    for _ in 0..10 {
        let (mut run, inside) = start_run();
        let children: Vec<u32> = inside.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(children.len(), 4, "{inside}");
        run.kill().unwrap(); // SIGKILL
        run.wait().unwrap();
        // The program dies with the run; what it had started dies at the next start.
        clean();
        children.iter().for_each(|pid| wait_for_end(*pid));
    }
    assert_eq!(interfaces(), before);
}

/// Starts this very test as another process, and returns the numbers of the processes that it has started in its namespaces.
fn start_run() -> (std::process::Child, String) {
    let name = "namespaces::a_run_that_is_killed_leaves_nothing_behind";
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(HOLDS, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let inside = lines.map_while(Result::ok).find_map(|line| line.contains("inside: ").then_some(line));
    (run, inside.unwrap())
}

/// Holds a network at work with a program in each namespace that has started another one.
fn hold_a_network() {
    let Some((topology, _wire, _)) = start(&scenario("10 Mbit/s", 20, 60)) else { return };
    let start = |side| {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $!; wait"]).stdout(Stdio::piped());
        let mut child = topology.namespace(side).spawn(command).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        print!("inside: {} {} ", child.id(), line.trim());
        child
    };
    let children = Side::BOTH.map(start);
    println!();
    // They never end by themselves.
    children.into_iter().for_each(|mut child| drop(child.wait()));
}

fn interfaces() -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> =
        std::fs::read_dir("/sys/class/net").unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Returns once a process is gone, or dead and waiting for its parent.
fn wait_for_end(pid: u32) {
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ").map(|(_, state)| !state.starts_with('Z'))
    };
    while lives().unwrap_or(false) {
        thread::sleep(std::time::Duration::from_millis(5));
    }
}
