//! The measurements.

use super::echoes;
use afteryou_base::{Span, Time};
use afteryou_bed::net::{Addresses, Family, Plan, Side, Topology};
use afteryou_bed::wire::{allowed_cores, run_on, Claim, Options, Wire};
use afteryou_bed::{Clock, Error};
use afteryou_scenario::{Checked, Duration, Flow, Link, Role, Scenario, Window};
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;
use std::thread;
use std::time::Duration as StdDuration;

type Failure = Box<dyn std::error::Error>;

/// The congestion control of the TCP load. CUBIC may leave slow start before the link is full, as soon as delays vary (HyStart), and then
/// takes seconds to fill it.
const CONTROL: &str = "reno";

/// A load that fills the link.
#[derive(Clone, Copy)]
enum Load {
    Udp,
    Tcp,
}

struct Settings {
    seconds: u64,
    rates_mbit: Vec<f64>,
    trips_ms: Vec<f64>,
    check: bool,
}

/// The measures of one run.
struct Point {
    rate_mbit: f64,
    trip_ms: f64,
    load: &'static str,
    of_rate: f64,
    /// Median of the base round-trip time beyond that of the scenario, ms.
    beyond_ms: f64,
    late_p99_ms: f64,
}

/// Measures what the command line asks for.
pub fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if may_not(error.as_ref()) => {
            println!("SKIPPED: {error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether the user lacks a right.
fn may_not(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            Error::Namespace(_)
                | Error::Tun(_)
                | Error::Interface { .. }
                | Error::Sysctl { .. }
                | Error::RealTime(_)
        )
    )
}

fn run() -> Result<bool, Failure> {
    let Settings { seconds, rates_mbit, trips_ms, check } = settings()?;
    println!("| rate Mbit/s | RTT ms | load | of the rate | base RTT beyond, median | lateness p99 |");
    println!("|---|---|---|---|---|---|");
    let mut all_hold = true;
    for rate_mbit in rates_mbit {
        for trip_ms in &trips_ms {
            for load in [Load::Udp, Load::Tcp] {
                let point = measure(rate_mbit, *trip_ms, load, seconds)?;
                let holds = point.holds();
                all_hold &= holds;
                println!("{}{}", point.row(), if holds { "" } else { " out of bounds" });
            }
        }
    }
    Ok(all_hold || !check)
}

fn settings() -> Result<Settings, Failure> {
    let mut settings = Settings {
        seconds: 6,
        rates_mbit: vec![0.25, 2.0, 20.0, 200.0],
        trips_ms: vec![2.0, 10.0, 40.0, 400.0],
        check: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let list = |text: String| text.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
        match argument.as_str() {
            "--seconds" => settings.seconds = value()?.parse()?,
            "--rates" => settings.rates_mbit = list(value()?)?,
            "--trips" => settings.trips_ms = list(value()?)?,
            "--check" => settings.check = true,
            other => return Err(format!("unknown argument {other}: see the head of this file").into()),
        }
    }
    Ok(settings)
}

impl Point {
    fn holds(&self) -> bool {
        let bound_ms = if self.trip_ms <= 10.0 { 0.2 } else { 0.5 };
        (self.of_rate - 1.0).abs() <= 0.01 && self.beyond_ms.abs() <= bound_ms
    }

    fn row(&self) -> String {
        let Point { rate_mbit, trip_ms, load, of_rate, beyond_ms, late_p99_ms } = self;
        format!(
            "| {rate_mbit} | {trip_ms} | {load} | {of_rate:.4} | {beyond_ms:+.3} ms | {late_p99_ms:.3} ms |"
        )
    }
}

fn measure(rate_mbit: f64, trip_ms: f64, load: Load, seconds: u64) -> Result<Point, Failure> {
    let sending_ms = 2.0 * echoes::BYTES as f64 * 8.0 / (rate_mbit * 1e3);
    let echo = echoes::BETWEEN + StdDuration::from_secs_f64((trip_ms + sending_ms + 1.0) / 1e3);
    // The load has to fill the link before the window begins: TCP's slow start takes ten round trips or so.
    let from =
        Span::from(echo) * echoes::COUNT as u64 + Span::from_millis(1500) + Span((trip_ms * 12e6) as u64);
    let until = from + Span::from_millis(seconds * 1000);
    let scenario = scenario(rate_mbit, trip_ms, from, until)?;
    let cores = allowed_cores();
    let mut topology = Topology::build(&Plan::of_scenario(&scenario)?)?;
    let clock = Clock::start();
    let options = Options::of_scenario(&scenario, clock);
    let of_wire = options.core.as_ref().map(Claim::core);
    let others: Vec<usize> = cores.iter().copied().filter(|core| of_wire != Some(*core)).collect();
    let wire = Wire::start(&mut topology, &scenario, options)?;
    run_on(&others);
    let trip = echoes::median(&topology)?;
    let end = Time::ZERO + until;
    let name = match load {
        Load::Udp => {
            send_datagrams(&topology, rate_mbit, clock, end)?;
            "UDP"
        }
        Load::Tcp => {
            send_stream(&topology, clock, end)?;
            "TCP"
        }
    };
    let report = wire.finish()?;
    run_on(&cores);
    Ok(Point {
        rate_mbit,
        trip_ms,
        load: name,
        of_rate: report.measured.windows[0][0].utilisation,
        beyond_ms: trip.as_secs_f64() * 1e3 - sending_ms - trip_ms,
        late_p99_ms: report.lateness.map_or(0.0, |lateness| lateness.departures.p99_ms),
    })
}

fn scenario(rate_mbit: f64, trip_ms: f64, from: Span, until: Span) -> Result<Checked, Failure> {
    let rate = format!("{} kbit/s", (rate_mbit * 1e3).round()).parse()?;
    // So much that one TCP fills the link after it has halved its window, and that a sender which is not scheduled for a while leaves
    // it no gap.
    let packets = (rate_mbit * trip_ms.max(40.0) * 2e3 / 8.0 / 1500.0).ceil().max(20.0);
    let link = Link::new(rate, format!("{packets} packets").parse()?);
    let trip = Duration(Span((trip_ms * 1e6) as u64));
    let window = Window { name: "load".to_owned(), from: Duration(from), to: Duration(until) };
    let flow = |name: &str| Flow::new(name, Role::Foreground, "newreno", trip);
    let scenario = Scenario {
        flow: vec![flow("load"), flow("echoes")],
        measure: vec![window],
        ..Scenario::new("", Duration(until), link)
    };
    Ok(scenario.checked()?)
}

/// Sends datagrams at a tenth more than the rate, until `end`.
fn send_datagrams(topology: &Topology, rate_mbit: f64, clock: Clock, end: Time) -> Result<(), Failure> {
    let Addresses { sender, receiver } = topology.addresses(Family::V4, 0);
    let bind = |side: Side, address| {
        topology.namespace(side).run(move || UdpSocket::bind(SocketAddr::new(address, 0)))
    };
    let (from, to) = (bind(Side::Senders, sender)??, bind(Side::Receivers, receiver)??);
    from.connect(to.local_addr()?)?;
    to.set_read_timeout(Some(StdDuration::from_millis(200)))?;
    let reader = thread::spawn(move || {
        let mut buffer = [0; 2000];
        while clock.now() < end {
            // Nothing has come for a while: look at the clock again.
            let _ = to.recv(&mut buffer);
        }
    });
    let gap_s = 1500.0 * 8.0 / (rate_mbit * 1.1e6);
    let (began, mut sent) = (clock.now(), 0.0);
    while clock.now() < end {
        while sent * gap_s < clock.now().since(began).as_secs_f64() {
            from.send(&[0; 1472])?;
            sent += 1.0;
        }
        thread::sleep(StdDuration::from_secs_f64(gap_s.max(2e-4)));
    }
    reader.join().map_err(|_| "the reader failed".into())
}

/// Sends a stream of the kernel's TCP, until `end`.
fn send_stream(topology: &Topology, clock: Clock, end: Time) -> Result<(), Failure> {
    let Addresses { receiver, .. } = topology.addresses(Family::V4, 0);
    let bind = move || TcpListener::bind(SocketAddr::new(receiver, 0));
    let listener = topology.namespace(Side::Receivers).run(bind)??;
    let to = listener.local_addr()?;
    let reader = thread::spawn(move || -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 16];
        while clock.now() < end && stream.read(&mut buffer)? > 0 {}
        Ok(())
    });
    let mut stream = topology.namespace(Side::Senders).run(move || -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_tcp_congestion(CONTROL.as_bytes())?;
        socket.connect(&to.into())?;
        Ok(socket.into())
    })??;
    stream.set_write_timeout(Some(StdDuration::from_millis(100)))?;
    let buffer = vec![0; 1 << 16];
    while clock.now() < end {
        match stream.write(&buffer) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    drop(stream);
    reader.join().map_err(|_| "the reader failed")??;
    Ok(())
}
