//! How fast the simulator is, in data packets per second of one core, and side by side with ns-2 if `ns` is on the PATH.
//!
//! `cargo run --release --example speed [RUNS [CASE]]`, where CASE is a part of the names of the cases to run
//!
//! Each figure is the best of RUNS (5). A loop that touches no memory is timed in the same way. Figures of two machines, or
//! of a busy and an idle one, can be compared only as ratios to it.

#![expect(
    clippy::disallowed_methods,
    reason = "the simulator has no clock; what measures its speed needs one"
)]

use afteryou_scenario::{Checked, Duration, Flow, Link, Role, Scenario, Transport};
use std::error::Error;
use std::ops::ControlFlow;
use std::process::Command;
use std::time::Instant;

/// A dumbbell to time.
struct Case {
    name: &'static str,
    rate: &'static str,
    buffer_packets: u64,
    seconds: f64,
    controllers: &'static [&'static str],
    flows: usize,
    transport: fn() -> Transport,
    /// Seconds of simulated time that ns-2 runs, too, fewer since it is slower.
    ns_seconds: Option<f64>,
}

fn classic() -> Transport {
    Transport::tcp().with("preset", "classic")
}

const CASES: &[Case] = &[
    Case {
        name: "10 flows (5 NewReno, 5 LEDBAT), 10 Mbit/s",
        rate: "10 Mbit/s",
        buffer_packets: 500,
        seconds: 1000.0,
        controllers: &["newreno", "ledbat"],
        flows: 10,
        transport: Transport::tcp,
        ns_seconds: None,
    },
    Case {
        name: "1 NewReno, 100 Mbit/s",
        rate: "100 Mbit/s",
        buffer_packets: 417,
        seconds: 100.0,
        controllers: &["newreno"],
        flows: 1,
        transport: Transport::tcp,
        ns_seconds: None,
    },
    Case {
        name: "100 CUBIC, 1 Gbit/s",
        rate: "1 Gbit/s",
        buffer_packets: 4096,
        seconds: 20.0,
        controllers: &["cubic"],
        flows: 100,
        transport: Transport::tcp,
        ns_seconds: None,
    },
    Case {
        name: "1000 CUBIC, 1 Gbit/s",
        rate: "1 Gbit/s",
        buffer_packets: 4096,
        seconds: 20.0,
        controllers: &["cubic"],
        flows: 1000,
        transport: Transport::tcp,
        ns_seconds: None,
    },
    Case {
        name: "10 NewReno over uTP, 10 Mbit/s",
        rate: "10 Mbit/s",
        buffer_packets: 500,
        seconds: 1000.0,
        controllers: &["newreno"],
        flows: 10,
        transport: Transport::utp,
        ns_seconds: None,
    },
    Case {
        name: "1 CUBIC over uTP, 100 Mbit/s",
        rate: "100 Mbit/s",
        buffer_packets: 417,
        seconds: 100.0,
        controllers: &["cubic"],
        flows: 1,
        transport: Transport::utp,
        ns_seconds: None,
    },
    Case {
        name: "300 s of one LEDBAT++ and one CUBIC, 20 Mbit/s",
        rate: "20 Mbit/s",
        buffer_packets: 833,
        seconds: 300.0,
        controllers: &["ledbat++", "cubic"],
        flows: 2,
        transport: Transport::tcp,
        ns_seconds: None,
    },
    Case {
        name: "as ns-2: 10 SACK TCP, 10 Mbit/s",
        rate: "10 Mbit/s",
        buffer_packets: 500,
        seconds: 1000.0,
        controllers: &["newreno"],
        flows: 10,
        transport: classic,
        ns_seconds: Some(1000.0),
    },
    Case {
        name: "as ns-2: 100 SACK TCP, 1 Gbit/s",
        rate: "1 Gbit/s",
        buffer_packets: 4096,
        seconds: 20.0,
        controllers: &["newreno"],
        flows: 100,
        transport: classic,
        ns_seconds: Some(5.0),
    },
];

impl Case {
    fn scenario(&self) -> Result<Checked, Box<dyn Error>> {
        let link = Link::new(self.rate.parse()?, afteryou_scenario::Buffer::Packets(self.buffer_packets));
        let flow = (0..self.flows).map(|i| Flow {
            start: Duration::from_millis(i as u64 * 37 % 1000),
            transport: (self.transport)(),
            ..Flow::new(
                format!("flow {i}"),
                Role::Foreground,
                self.controllers[i % self.controllers.len()],
                Duration::from_millis(50),
            )
        });
        let duration = Duration::from_secs_f64(self.seconds);
        Ok(Scenario { flow: flow.collect(), ..Scenario::new(self.name, duration, link) }.checked()?)
    }

    /// Returns the seconds and packets of the fastest of `runs`.
    fn time(&self, runs: usize) -> Result<(f64, u64), Box<dyn Error>> {
        let scenario = self.scenario()?;
        let mut best = (f64::INFINITY, 0);
        for _ in 0..runs {
            let started = Instant::now();
            let outcome = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?;
            let seconds = started.elapsed().as_secs_f64();
            if seconds < best.0 {
                best = (seconds, outcome.run.totals.iter().map(|totals| totals.packets).sum());
            }
        }
        Ok(best)
    }

    /// Returns the packets per second of ns-2 on the same dumbbell; `None` if it is not here.
    fn time_ns(&self, seconds: f64, runs: usize) -> Result<Option<f64>, Box<dyn Error>> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/speed.tcl");
        let bits = afteryou_scenario::Rate::bits_per_second(self.rate.parse()?);
        let args =
            [self.flows.to_string(), bits.to_string(), self.buffer_packets.to_string(), seconds.to_string()];
        let mut best = None;
        for _ in 0..runs {
            let started = Instant::now();
            let Ok(output) = Command::new("ns").arg(script).args(&args).output() else { return Ok(None) };
            let elapsed = started.elapsed().as_secs_f64();
            let packets: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
            best = best.max(Some(packets / elapsed).map(|rate| rate as u64));
        }
        Ok(best.map(|rate| rate as f64))
    }
}

/// Returns the iterations per second of a loop that touches no memory.
fn reference() -> f64 {
    const ITERATIONS: u64 = 200_000_000;
    let started = Instant::now();
    let mut x = 1u64;
    for _ in 0..ITERATIONS {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    std::hint::black_box(x);
    ITERATIONS as f64 / started.elapsed().as_secs_f64()
}

/// Returns the most memory that this process has had, MB; Linux only.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kb: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1000.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().nth(1).map_or(Ok(5), |runs| runs.parse())?;
    let reference = (0..runs).map(|_| reference()).fold(0.0, f64::max);
    println!("reference loop: {:.0} M iterations/s", reference / 1e6);
    println!("{:<48} {:>9} {:>9} {:>12} {:>9}", "", "seconds", "M pkt/s", "per M iter.", "vs ns-2");
    let part = std::env::args().nth(2).unwrap_or_default();
    for case in CASES.iter().filter(|case| case.name.contains(&part)) {
        let (seconds, packets) = case.time(runs)?;
        let rate = packets as f64 / seconds;
        let ns = match case.ns_seconds {
            Some(seconds) => case.time_ns(seconds, runs.min(3))?,
            None => None,
        };
        let ratio = match (ns, case.ns_seconds) {
            (Some(ns), _) => format!("{:.1}x", rate / ns),
            (None, Some(_)) => "no ns".to_owned(),
            (None, None) => String::new(),
        };
        let per_reference = rate / reference * 1e6;
        println!("{:<48} {seconds:>9.3} {:>9.2} {per_reference:>12.0} {ratio:>9}", case.name, rate / 1e6);
    }
    if let Some(mb) = peak_memory_mb() {
        println!("most memory of all of them: {mb:.0} MB");
    }
    Ok(())
}
