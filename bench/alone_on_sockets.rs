//! Compares a controller alone on real sockets with the simulator.
//!
//! `cargo run --release --example alone_on_sockets [RUNS] [--seconds N] [--check] [CONTROLLER...]`
//!
//! Each controller (all of the list if none is named) sends over uTP through the bed's emulated link. It has 20 Mbit/s, 50
//! ms, a buffer of 200 ms, 12 s from its start. The median of RUNS (5) is held against the simulation of the same scenario.
//! A run in which the host was too slow for the emulation is invalid and repeated. All controllers together may repeat a
//! fifth of their runs. One run takes the machine at a time, since two on two cores disturb each other. With the defaults
//! the whole takes 11 to 14 minutes. `--check` fails if a median differs by more than 10 % from the simulation.

use afteryou_bed::run::{run, Options};
use afteryou_cc::list::{find, Class, CONTROLLERS};
use afteryou_scenario::{
    Algorithm, Checked, Duration, Flow, Link, Outcome, Role, Scenario, Transport, Window,
};
use std::error::Error;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Largest difference, as a part of the simulation's goodput.
const MOST: f64 = 0.1;
/// The number of requested runs for which one invalid run may be repeated.
const RUNS_PER_REPETITION: usize = 5;

/// The request on the command line.
struct Request {
    runs: usize,
    duration: Duration,
    check: bool,
    controllers: Vec<String>,
}

impl Request {
    fn from_command_line() -> Result<Request, Box<dyn Error>> {
        let mut request =
            Request { runs: 5, duration: "12 s".parse()?, check: false, controllers: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--check" => request.check = true,
                "--seconds" => {
                    let seconds: f64 = words.next().ok_or("--seconds requires a number")?.parse()?;
                    request.duration = Duration::from_secs_f64(seconds);
                }
                number if number.parse::<usize>().is_ok() => request.runs = number.parse::<usize>()?.max(1),
                name => request.controllers.push(name.to_owned()),
            }
        }
        if request.controllers.is_empty() {
            request.controllers = CONTROLLERS.iter().map(|entry| entry.name.to_owned()).collect();
        }
        Ok(request)
    }
}

fn scenario(controller: &str, duration: Duration) -> Result<Checked, Box<dyn Error>> {
    let algorithm: Algorithm = controller.parse()?;
    let role = match find(&algorithm.kind).map(|entry| entry.class) {
        Some(Class::Background) => Role::Background,
        _ => Role::Foreground,
    };
    let flow = Flow {
        transport: Transport::utp(),
        controller: Some(algorithm),
        ..Flow::new("alone", role, "", "50 ms".parse()?)
    };
    let scenario = Scenario {
        measure: vec![Window { name: "all".to_owned(), from: "0 s".parse()?, to: duration }],
        flow: vec![flow],
        ..Scenario::new(controller, duration, Link::new("20 Mbit/s".parse()?, "200 ms".parse()?))
    };
    Ok(scenario.checked()?)
}

fn goodput_mbit(outcome: &Outcome) -> f64 {
    outcome.run.windows[0].flows[0].goodput_bit_s / 1e6
}

/// Runs of a controller on sockets, Mbit/s.
#[derive(Default)]
struct Measured {
    valid: Vec<f64>,
    /// The host was too slow for the emulation.
    invalid: Vec<f64>,
}

impl Measured {
    /// Runs until `runs` are valid; takes what it repeats off `repetitions`.
    fn new(scenario: &Checked, runs: usize, repetitions: &mut usize) -> Result<Measured, Box<dyn Error>> {
        let mut measured = Measured::default();
        while measured.valid.len() < runs {
            let outcome = run(scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
            if !outcome.run.lateness.is_some_and(|lateness| lateness.spoiled()) {
                measured.valid.push(goodput_mbit(&outcome));
                continue;
            }
            measured.invalid.push(goodput_mbit(&outcome));
            match repetitions.checked_sub(1) {
                Some(left) => *repetitions = left,
                None => break,
            }
        }
        measured.valid.sort_by(f64::total_cmp);
        Ok(measured)
    }

    fn median(&self) -> Option<f64> {
        let n = self.valid.len();
        (n > 0).then(|| (self.valid[(n - 1) / 2] + self.valid[n / 2]) / 2.0)
    }

    /// Lists all runs, invalid ones in brackets.
    fn list(&self) -> String {
        let valid = self.valid.iter().map(|mbit| format!("{mbit:.2}"));
        let invalid = self.invalid.iter().map(|mbit| format!("({mbit:.2})"));
        valid.chain(invalid).collect::<Vec<_>>().join(" ")
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let request = Request::from_command_line()?;
    let mut repetitions = request.runs * request.controllers.len() / RUNS_PER_REPETITION;
    let (mut agree, mut incomplete) = (true, false);
    println!("{:<12} {:>9} {:>9} {:>8}  runs (invalid), Mbit/s", "", "sockets", "sim", "differ");
    for controller in &request.controllers {
        let scenario = scenario(controller, request.duration)?;
        let simulated = goodput_mbit(&afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?);
        let measured = Measured::new(&scenario, request.runs, &mut repetitions)?;
        incomplete |= measured.valid.len() < request.runs;
        let Some(median) = measured.median() else {
            println!("{controller:<12} {:>9} {simulated:>9.2} {:>8}  {}", "-", "-", measured.list());
            continue;
        };
        let difference = median / simulated - 1.0;
        agree &= difference.abs() <= MOST;
        let percent = difference * 100.0;
        println!("{controller:<12} {median:>9.2} {simulated:>9.2} {percent:>7.1}%  {}", measured.list());
    }
    if incomplete {
        println!("SKIPPED: what the host was too slow for; repeat it on a quiet machine");
    }
    println!(
        "{}",
        if agree { "No median differs by more than 10 %." } else { "They do not agree within 10 %." }
    );
    Ok(if agree || !request.check { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
