//! Compares the demo on real sockets with the simulator: both must agree on the effect of a queue discipline.
//!
//! `cargo run --release --example queue_agreement [RUNS] [QUEUE...]` (3 runs each of pie, codel and fq_codel)
//!
//! The flows and the link are the demo's: a backup with LEDBAT++, an upload with CUBIC that comes after five seconds and
//! stays, and a call. All is measured from 10 s to 60 s. When a queue drops is chance. So the upload starts a little later
//! in each run, and both engines give means of as many runs of the same scenarios. Exits 1 if a share differs by more than
//! 10 % of the link, or a delay by more than 10 % of itself and more than 0.3 ms, which is what an idle machine adds here.

use afteryou_bed::run::{run, Options};
use afteryou_scenario::{Checked, Duration, Flow, Link, Outcome, Role, Scenario, Transport, Window};
use std::error::Error;
use std::ops::ControlFlow;
use std::process::ExitCode;

const MOST: f64 = 0.1;
const LEAST_MS: f64 = 0.3;
/// A run that the machine spoils is repeated so often.
const ATTEMPTS: u32 = 5;

fn scenario(queue: &str, run: u64) -> Result<Checked, Box<dyn Error>> {
    let rtt = "40 ms".parse()?;
    let utp = |name: &str, role, controller: &str| -> Result<Flow, Box<dyn Error>> {
        let controller = Some(controller.parse()?);
        Ok(Flow { transport: Transport::utp(), controller, ..Flow::new(name, role, "", rtt) })
    };
    let start = Duration::from_millis(5000 + 37 * run);
    let upload = Flow { start, ..utp("upload", Role::Foreground, "cubic")? };
    let call = Flow::cbr("call", Role::Foreground, "64 kbit/s".parse()?, "160 B".parse()?, rtt);
    let link = Link { queue: queue.parse()?, ..Link::new("20 Mbit/s".parse()?, "500 ms".parse()?) };
    let scenario = Scenario {
        seed: run + 1,
        measure: vec![Window { name: "both".to_owned(), from: "10 s".parse()?, to: "60 s".parse()? }],
        flow: vec![utp("backup", Role::Background, "ledbat++,restart=true")?, upload, call],
        ..Scenario::new(format!("{queue}, run {run}"), "60 s".parse()?, link)
    };
    Ok(scenario.checked()?)
}

/// Returns the shares of backup and upload, then mean and p95 of the call's delay, ms.
fn figures(outcome: &Outcome) -> [f64; 4] {
    let flows = &outcome.run.windows[0].flows;
    let delay = flows[2].queuing_delay.unwrap_or_default();
    [flows[0].share_of_payload_capacity, flows[1].share_of_payload_capacity, delay.mean_ms, delay.p95_ms]
}

/// Runs the scenario on real sockets; returns `None` if the machine was too busy each time.
fn real(scenario: &Checked) -> Result<Option<[f64; 4]>, Box<dyn Error>> {
    for _ in 0..ATTEMPTS {
        let outcome = run(scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
        if !outcome.run.lateness.is_some_and(|lateness| lateness.spoiled()) {
            return Ok(Some(figures(&outcome)));
        }
    }
    Ok(None)
}

fn mean(all: &[[f64; 4]]) -> [f64; 4] {
    std::array::from_fn(|i| all.iter().map(|one| one[i]).sum::<f64>() / all.len() as f64)
}

/// Prints both engines' figures of a queue; nothing if the machine was too busy.
fn compare(queue: &str, runs: u64) -> Result<Option<bool>, Box<dyn Error>> {
    let (mut measured, mut simulated) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let scenario = scenario(queue, run)?;
        let Some(one) = real(&scenario)? else { return Ok(None) };
        measured.push(one);
        simulated.push(figures(&afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?));
    }
    let (measured, simulated) = (mean(&measured), mean(&simulated));
    let mut agree = true;
    for (i, what) in
        ["backup's share", "upload's share", "call's mean delay, ms", "call's p95, ms"].iter().enumerate()
    {
        let (real, simulated) = (measured[i], simulated[i]);
        let fine = match i {
            0 | 1 => (simulated - real).abs() <= MOST,
            _ => (simulated - real).abs() <= LEAST_MS.max(MOST * real),
        };
        agree &= fine;
        let verdict = if fine { "" } else { "differ" };
        println!("{queue:<10} {what:<22} {real:>9.3} {simulated:>9.3}  {verdict}");
    }
    Ok(Some(agree))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(3);
    let named: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| word.parse::<u64>().is_err()).collect();
    let queues = if named.is_empty() { vec!["pie", "codel", "fq_codel"] } else { named };
    println!("{:<10} {:<22} {:>9} {:>9}", "", "", "real", "simulated");
    let (mut agree, mut skipped) = (true, false);
    for queue in queues {
        match compare(queue, runs)? {
            Some(fine) => agree &= fine,
            None => {
                println!("SKIPPED: {queue}: the machine was too busy for the emulation");
                skipped = true;
            }
        }
    }
    println!(
        "{}",
        match (agree, skipped) {
            (false, _) => "They do not agree within 10 %.",
            (true, true) => "What could be compared agrees within 10 %.",
            (true, false) => "They agree within 10 %.",
        }
    );
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
