//! Judges whether a queue that reads the mark of lower effort restores the priority that queue management destroys.
//!
//! `cargo run --release --example le_queues [--check]`
//!
//! Five NewReno flows of best effort meet five background flows, LEDBAT or NewReno, all marked LE (RFC 8622). The link has
//! 10 Mbit/s, 50 ms and 500 packets of buffer. Of 200 s the first 50 are left out; figures are means of four seeds. Each
//! queue is also run with only one of the two. `--check` exits 1 if a queue that promises priority does not keep it:
//!
//! - best effort gets at least 95 % of the goodput, with at most 10 packets of its own in the queue on average,
//! - the 95th percentile of its delay is within 10 % of the run without lower effort,
//! - lower effort alone uses at least 95 % of the link.

use afteryou_scenario::outcome::{class_name, WindowFigures};
use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;
use std::process::ExitCode;

const SEEDS: u64 = 4;
const PROMISES: &[&str] = &["le_threshold", "le_two_queues", "le_fq_codel"];
const OTHERS: &[&str] = &["droptail", "red", "codel", "pie", "fq_codel"];
const WEIGHTS: [u32; 3] = [4, 8, 16];

/// A call (50 packets a second), and a question now and then (one packet in half a second).
const SPARSE: [(&str, &str); 2] = [("call", "64 kbit/s"), ("question", "2560 bit/s")];

/// The flows that are present.
#[derive(Clone, Copy, PartialEq)]
enum Present {
    Both,
    BestEffort,
    LowerEffort,
}

#[derive(Clone, Copy, Default)]
struct Figures {
    best_effort_share: f64,
    best_effort_packets: f64,
    best_effort_p95_ms: f64,
    utilisation: f64,
}

fn file(queue: &str, background: &str, present: Present, seed: u64) -> String {
    let flows = |name: &str, role: &str, controller: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nrole = \"{role}\"\ncontroller = \"{controller}\"\nrtt = \"50 ms\"\ncount = 5\n\
             start = {{ uniform = [\"0 s\", \"1 s\"] }}\n"
        )
    };
    let best = (present != Present::LowerEffort).then(|| flows("best effort", "foreground", "newreno"));
    let lower = (present != Present::BestEffort).then(|| flows("lower effort", "background", background));
    format!(
        "duration = \"200 s\"\nseed = {seed}\nmeasure = {{ from = \"50 s\" }}\n\
         [link]\nrate = \"10 Mbit/s\"\nbuffer = \"500 packets\"\nqueue = \"{queue}\"\n{}{}",
        best.unwrap_or_default(),
        lower.unwrap_or_default(),
    )
}

/// Returns the figures of best effort; without classes there is only one.
fn figures(window: &WindowFigures) -> Figures {
    let link = window.bottleneck().cloned().unwrap_or_default();
    let best = link.classes.iter().find(|class| class.class == class_name(afteryou_aqm::Class::BestEffort));
    let delay = best.map_or(link.queuing_delay, |class| class.queuing_delay).unwrap_or_default();
    Figures {
        best_effort_share: link.foreground_share.unwrap_or_default(),
        best_effort_packets: best.map_or(link.queue_packets, |class| class.queue_packets).unwrap_or_default(),
        best_effort_p95_ms: delay.p95_ms,
        utilisation: link.utilisation,
    }
}

/// Returns the means over the seeds.
fn mean(queue: &str, background: &str, present: Present) -> Result<Figures, Box<dyn Error>> {
    let mut sum = Figures::default();
    for seed in 1..=SEEDS {
        let experiment = Experiment::parse(&file(queue, background, present, seed), queue, &[])?;
        for planned in experiment.runs(None, None)? {
            let one = figures(
                &afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))?.run.windows[0],
            );
            sum.best_effort_share += one.best_effort_share / SEEDS as f64;
            sum.best_effort_packets += one.best_effort_packets / SEEDS as f64;
            sum.best_effort_p95_ms += one.best_effort_p95_ms / SEEDS as f64;
            sum.utilisation += one.utilisation / SEEDS as f64;
        }
    }
    Ok(sum)
}

/// Prints a row about sparse best effort beside lower effort: its delay, and the used part of the link.
fn sparse_row(queue: &str, what: &str, rate: &str) -> Result<(), Box<dyn Error>> {
    let probe = format!(
        "[[flow]]\nname = \"{what}\"\nrtt = \"50 ms\"\ntraffic = {{ cbr = \"{rate}\", payload = \"160 B\" }}\n"
    );
    let lower = file(queue, "newreno", Present::LowerEffort, 1) + &probe;
    let experiment = Experiment::parse(&lower, queue, &[])?;
    for planned in experiment.runs(None, None)? {
        let window =
            &afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))?.run.windows[0];
        let delay = window.flows.iter().find(|flow| flow.flow == what).and_then(|flow| flow.queuing_delay);
        let delay = delay.unwrap_or_default();
        let utilisation = 100.0 * window.bottleneck().map_or(f64::NAN, |link| link.utilisation);
        println!("{queue:<18} {what:<9} {:>9.1} {:>9.1} {utilisation:>9.1}", delay.mean_ms, delay.p95_ms);
    }
    Ok(())
}

/// Prints a row of the table; returns the broken parts of the promise.
fn row(queue: &str, background: &str, note: &str) -> Result<Vec<&'static str>, Box<dyn Error>> {
    let both = mean(queue, background, Present::Both)?;
    let without = mean(queue, background, Present::BestEffort)?;
    let alone = mean(queue, background, Present::LowerEffort)?;
    println!(
        "{queue:<18} {background:<8} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>11.1} {:>11.1}  {note}",
        100.0 * both.best_effort_share,
        both.best_effort_packets,
        both.best_effort_p95_ms,
        without.best_effort_p95_ms,
        100.0 * both.utilisation,
        100.0 * alone.utilisation,
    );
    let kept = [
        (both.best_effort_share >= 0.95, "share"),
        (both.best_effort_packets <= 10.0, "own queue"),
        (both.best_effort_p95_ms <= 1.1 * without.best_effort_p95_ms, "delay"),
        (alone.utilisation >= 0.95, "lower effort alone"),
    ];
    Ok(kept.into_iter().filter(|(kept, _)| !kept).map(|(_, what)| what).collect())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let check = std::env::args().any(|word| word == "--check");
    println!(
        "{:<18} {:<8} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}",
        "queue", "LE flows", "BE's %", "BE queue", "BE p95", "without", "link's %", "LE alone %"
    );
    let mut broken = false;
    for background in ["ledbat", "newreno"] {
        for queue in OTHERS {
            row(queue, background, "")?;
        }
        for queue in PROMISES {
            let what = row(queue, background, "")?;
            if !what.is_empty() {
                println!("    broken: {}", what.join(", "));
                broken = true;
            }
        }
        for queue in ["le_red", "le_pie"] {
            for weight in WEIGHTS {
                // Rates go with 1/√p, so that five flows against five get 1 : 1/√k.
                let predicted = 100.0 / (1.0 + 1.0 / f64::from(weight).sqrt());
                let note = format!("1/√k predicts {predicted:.1} %");
                row(&format!("{queue},weight={weight}"), background, &note)?;
            }
        }
    }
    println!("\nSparse best effort beside five NewReno of lower effort");
    println!("{:<18} {:<9} {:>9} {:>9} {:>9}", "queue", "who", "mean ms", "p95 ms", "link's %");
    for queue in OTHERS.iter().chain(PROMISES) {
        SPARSE.iter().try_for_each(|(what, rate)| sparse_row(queue, what, rate))?;
    }
    Ok(if check && broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
