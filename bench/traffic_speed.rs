//! How fast the simulator is where applications open and close connections, in data packets per second of one core.
//!
//! `cargo run --release --example traffic_speed [RUNS]`. Each figure is the best of RUNS (3).

#![expect(
    clippy::disallowed_methods,
    reason = "the simulator has no clock; what measures its speed needs one"
)]

use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

/// Poisson arrivals: 10 000 transfers of 20 kB and of 100 kB on average, a swarm, and pages of the web.
const CASES: [(&str, &str); 4] = [
    (
        "10 000 transfers of 20 kB, 1 Gbit/s",
        "duration = \"10 s\"\nlink = { rate = \"1 Gbit/s\", buffer = \"20 ms\" }\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
         traffic = { arrivals = { poisson = \"1000 per s\" }, size = { exponential = \"20 kB\" } }\n",
    ),
    (
        "10 000 transfers of 100 kB, 1 Gbit/s",
        "duration = \"10 s\"\nlink = { rate = \"1 Gbit/s\", buffer = \"20 ms\" }\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
         traffic = { arrivals = { poisson = \"1000 per s\" }, size = { exponential = \"100 kB\" } }\n",
    ),
    (
        "swarm of 100 peers, 10 Mbit/s each",
        "duration = \"20 s\"\n[[hosts]]\nname = \"peers\"\ncount = 100\nup = \"10 Mbit/s\"\ndown = \"10 Mbit/s\"\n\
         queue = \"100 packets\"\nrtt = \"50 ms\"\n[[flow]]\ncontroller = \"ledbat\"\nhosts = \"peers\"\n\
         traffic = { swarm = { chunk = \"250 kB\", persist = 0.9 } }\n[[flow]]\nname = \"web\"\ncontroller = \"newreno\"\n\
         hosts = \"peers\"\ntraffic = { downloads = 25, size = { uniform = [\"0 B\", \"512 kB\"] } }\n",
    ),
    (
        "200 web users, 100 Mbit/s",
        "duration = \"60 s\"\nlink = { rate = \"100 Mbit/s\", buffer = \"50 ms\" }\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
         traffic = { web = { users = 200, think = { exponential = \"2 s\" }, objects = 8, size = { exponential = \"12 kB\" } } }\n",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u32 = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    println!("{:<40} {:>9} {:>11} {:>10}", "", "seconds", "transfers", "M pkt/s");
    for (name, text) in CASES {
        let planned = Experiment::parse(text, name, &[])?.runs(None, None)?;
        let scenario = &planned.first().ok_or("no run")?.scenario;
        let (mut best, mut transfers, mut packets) = (f64::INFINITY, 0, 0);
        for _ in 0..runs.max(1) {
            let begun = Instant::now();
            let outcome = afteryou_sim::run(scenario, &mut |_| ControlFlow::Continue(()))?;
            best = best.min(begun.elapsed().as_secs_f64());
            packets = outcome.run.totals.iter().map(|totals| totals.packets).sum::<u64>();
            let completions = outcome.run.totals.iter().filter_map(|totals| totals.completions.as_ref());
            transfers = completions.map(|done| done.completed).sum::<u64>();
        }
        println!("{name:<40} {best:>9.3} {transfers:>11} {:>10.2}", packets as f64 / best / 1e6);
    }
    Ok(())
}
