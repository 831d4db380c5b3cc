//! Real namespaces and devices, where the user may make them.

use afteryou_base::{Span, Time};
use afteryou_bed::net::{clean, Family, Plan, Side, Topology};
use afteryou_bed::wire::{Options, Report, Wire};
use afteryou_bed::{Clock, Error};
use afteryou_scenario::{Duration, Flow, Link, Role, Scenario, Window};
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;

/// A network with a wire; none, with a word of why, where the user may not make one.
pub fn start(scenario: &Scenario) -> Option<(Topology, Wire, Clock)> {
    let built = Topology::build(&Plan::of_scenario(scenario).unwrap());
    let mut topology = match built {
        Ok(topology) => topology,
        Err(
            error @ (Error::Namespace(_) | Error::Tun(_) | Error::Sysctl { .. } | Error::Interface { .. }),
        ) => {
            println!("SKIPPED: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let clock = Clock::start();
    let wire = Wire::start(&mut topology, scenario, Options::new(clock)).unwrap();
    Some((topology, wire, clock))
}

/// A scenario with two flows over one link.
pub fn scenario(rate: &str, rtt_ms: u64, seconds: u64) -> Scenario {
    let link = Link::new(rate.parse().unwrap(), "100 packets".parse().unwrap());
    let flow = |name: &str| Flow::new(name, Role::Foreground, "cubic", Duration::from_millis(rtt_ms));
    let window = Window {
        name: "all".to_owned(),
        from: Duration::from_millis(0),
        to: Duration::from_millis(seconds * 1000),
    };
    Scenario {
        flow: vec![flow("a"), flow("b")],
        measure: vec![window],
        ..Scenario::new("", Duration::from_millis(seconds * 1000), link)
    }
}

/// Sockets of a flow's ends, each in its namespace, connected with each other.
pub fn udp_pair(topology: &Topology, family: Family, flow: usize) -> (UdpSocket, UdpSocket) {
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
    // Never faster than propagation. How much slower says how busy the machine is, so it is printed and not judged.
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
    assert_eq!(clean(), 0, "nothing was left");
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let Some((topology, _wire, _)) = start(&scenario("10 Mbit/s", 20, 1)) else { return };
    let missing = topology.namespace(Side::Senders).spawn(Command::new("/no/such/program"));
    assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
