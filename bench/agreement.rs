//! Holds a result of real packets against the simulation of the same scenario.
//!
//! `cargo run --release --example agreement [RESULT_JSON]` (the demo's `afteryou-demo/result.json` by default). Exits 1 if a
//! share of the link or a part kept differs by more than 5 % of the whole, or a delay by more than 5 % of itself.

use afteryou_scenario::outcome::{Outcome, WindowFigures};
use afteryou_scenario::Role;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

/// Largest difference.
const MOST: f64 = 0.05;
/// A shorter delay is not compared, ms.
const LEAST_DELAY_MS: f64 = 5.0;

/// A figure that both have: what it is, and the value of each.
struct Pair {
    what: String,
    real: f64,
    simulated: f64,
    /// The value of which a difference is a part.
    whole: f64,
}

fn pairs(real: &Outcome, simulated: &Outcome) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for ((window, a), (_, b)) in windows(real).zip(windows(simulated)) {
        for (a, b) in a.flows.iter().zip(&b.flows).filter(|(a, _)| a.role == Role::Background) {
            let (real, simulated) = (a.share_of_payload_capacity, b.share_of_payload_capacity);
            pairs.push(Pair { what: format!("{window}: share of {}", a.flow), real, simulated, whole: 1.0 });
        }
    }
    for a in &real.comparison {
        let other = simulated.comparison.iter().find(|b| b.window == a.window && b.flow == a.flow);
        let Some(b) = other else { continue };
        if let (Some(real), Some(simulated)) = (a.kept, b.kept) {
            pairs.push(Pair {
                what: format!("{}: kept by {}", a.window, a.flow),
                real,
                simulated,
                whole: 1.0,
            });
        }
        if let (Some(real @ LEAST_DELAY_MS..), Some(simulated)) = (a.added_delay_p95_ms, b.added_delay_p95_ms)
        {
            pairs.push(Pair {
                what: format!("{}: p95 added to {}, ms", a.window, a.flow),
                real,
                simulated,
                whole: real,
            });
        }
    }
    pairs
}

fn windows(outcome: &Outcome) -> impl Iterator<Item = (&str, &WindowFigures)> {
    outcome.run.windows.iter().map(|window| (window.window.as_str(), window))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| "afteryou-demo/result.json".into(), PathBuf::from);
    let real = afteryou_plot::read(&path)?;
    if real.run.lateness.is_some_and(|lateness| lateness.spoiled()) {
        println!("SKIPPED: the machine was too slow for the emulation, so there is nothing to compare with");
        return Ok(ExitCode::SUCCESS);
    }
    let simulated = afteryou_sim::run(&real.scenario.clone().checked()?, &mut |_| ControlFlow::Continue(()))?;
    println!("{:<48} {:>10} {:>10} {:>8}", "", "real", "simulated", "differ");
    let mut agree = true;
    for Pair { what, real, simulated, whole } in pairs(&real, &simulated) {
        let difference = (simulated - real) / whole;
        agree &= difference.abs() <= MOST;
        println!("{what:<48} {real:>10.3} {simulated:>10.3} {:>7.1}%", difference * 100.0);
    }
    println!("{}", if agree { "They agree within 5 %." } else { "They do not agree within 5 %." });
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
