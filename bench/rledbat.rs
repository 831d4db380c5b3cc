//! Prints rLEDBAT at the receiver beside LEDBAT++ at the sender: the table of the book's page.
//!
//! `cargo run --release -p afteryou-engines --example rledbat`
//!
//! 20 Mbit/s with 500 ms of buffer, measured from 60 s to 180 s, one run a figure. A row has a round trip, random loss and a rule; its figures are
//! the share of the link alone, the 95th percentile of the queue then, what CUBIC keeps beside it, and the share of two of a kind with
//! their fairness. Then come other senders below the preset `rfc` at 50 ms.

use afteryou_scenario::outcome::{Outcome, WindowFigures};
use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;

const CUBIC: &str = "[[flow]]\nname = \"cubic\"\nrole = \"foreground\"\ncontroller = \"cubic\"\n";

/// Returns a background flow: LEDBAT++ at the sender, or `sender` below a preset of the receiver.
fn background(name: &str, sender: &str, rule: &str) -> String {
    let rule = match rule {
        "sender" => "controller = \"ledbat++\"".to_owned(),
        preset => format!(
            "controller = \"{sender}\"\nreceiver = {{ controller = \"rledbat\", preset = \"{preset}\" }}"
        ),
    };
    format!("[[flow]]\nname = \"{name}\"\nrole = \"background\"\n{rule}\n")
}

/// Runs flows over one path.
fn run(flows: &[String], rtt_ms: u64, loss_per_cent: f64, baseline: bool) -> Result<Outcome, Box<dyn Error>> {
    let flows: Vec<String> = flows.iter().map(|flow| format!("{flow}rtt = \"{rtt_ms} ms\"\n")).collect();
    let file = format!(
        "duration = \"180 s\"\nbaseline = {baseline}\nmeasure = {{ from = \"60 s\" }}\n\
         [link]\nrate = \"20 Mbit/s\"\nbuffer = \"500 ms\"\nloss = \"{loss_per_cent} %\"\n{}",
        flows.concat()
    );
    let planned =
        Experiment::parse(&file, "rledbat", &[])?.runs(None, None)?.into_iter().next().ok_or("no run")?;
    Ok(afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))?)
}

fn share(window: &WindowFigures, name: &str) -> f64 {
    window.flows.iter().find(|flow| flow.flow == name).map_or(f64::NAN, |flow| flow.share_of_payload_capacity)
}

/// Returns the share of a flow alone and the 95th percentile of the queuing delay, ms.
fn alone(sender: &str, rule: &str, rtt_ms: u64, loss: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let outcome = run(&[background("b", sender, rule)], rtt_ms, loss, false)?;
    let window = &outcome.run.windows[0];
    let delay = window.bottleneck().and_then(|link| link.queuing_delay).unwrap_or_default();
    Ok((share(window, "b"), delay.p95_ms))
}

/// Returns what CUBIC keeps beside a background flow, and the share of that.
fn beside(sender: &str, rule: &str, rtt_ms: u64, loss: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let outcome = run(&[CUBIC.to_owned(), background("b", sender, rule)], rtt_ms, loss, true)?;
    let kept = outcome.comparison.iter().find_map(|compared| compared.kept).unwrap_or(f64::NAN);
    Ok((kept, share(&outcome.run.windows[0], "b")))
}

/// Returns the shares of two of a kind together, and their fairness.
fn two(rule: &str, rtt_ms: u64, loss: f64) -> Result<(f64, f64), Box<dyn Error>> {
    let outcome = run(&["b", "c"].map(|name| background(name, "cubic", rule)), rtt_ms, loss, false)?;
    let window = &outcome.run.windows[0];
    let fairness = window.bottleneck().and_then(|link| link.fairness).unwrap_or(f64::NAN);
    Ok((share(window, "b") + share(window, "c"), fairness))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| round trip | loss | rule | alone | delay, p95 | CUBIC keeps | beside it | two share | fairness |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (rtt_ms, loss) in
        [5, 50, 135, 250].into_iter().flat_map(|rtt_ms| [0.0, 0.1, 1.0, 5.0].map(|loss| (rtt_ms, loss)))
    {
        for rule in ["sender", "rfc", "apple", "uc3m"] {
            let (alone, p95_ms) = alone("cubic", rule, rtt_ms, loss)?;
            let (kept, taken) = beside("cubic", rule, rtt_ms, loss)?;
            let (both, fairness) = two(rule, rtt_ms, loss)?;
            println!(
                "| {rtt_ms} ms | {loss} % | {rule} | {alone:.3} | {p95_ms:.0} ms | {kept:.3} | {taken:.3} | {both:.3} | {fairness:.3} |"
            );
        }
    }
    for sender in ["newreno", "cubic", "bbr", "bbr3", "ledbat++"] {
        let (kept, taken) = beside(sender, "rfc", 50, 0.0)?;
        let (alone, p95_ms) = alone(sender, "rfc", 50, 0.0)?;
        println!("{sender}: keeps {kept:.3}, beside {taken:.3}, alone {alone:.3}, {p95_ms:.0} ms");
    }
    Ok(())
}
