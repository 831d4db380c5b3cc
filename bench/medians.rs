//! Runs the demo several times and prints the median of each of its numbers: the table in the README.
//!
//! `cargo run --release --example medians -- 5 --controller cubic`: how often, then what the demo takes.

use afteryou_scenario::Outcome;
use std::process::Command;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let times: usize = words.next().as_deref().unwrap_or("5").parse()?;
    let words: Vec<String> = words.collect();
    let program = std::env::current_exe()?.with_file_name("").join("../afteryou");
    let folder = tempfile::tempdir()?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    while outcomes.len() < times {
        let seed = (outcomes.len() + 1).to_string();
        let demo = Command::new(&program)
            .args(["demo", "--json", "--seed", &seed, "--out"])
            .arg(folder.path())
            .args(&words)
            .output()
            .map_err(|error| format!("{}: {error}; run `cargo build --release` first", program.display()))?;
        let outcome: Outcome = serde_json::from_slice(&demo.stdout)?;
        let spoiled =
            |run: &afteryou_scenario::outcome::Run| run.lateness.is_some_and(|lateness| lateness.spoiled());
        if spoiled(&outcome.run) || outcome.baseline.as_ref().is_some_and(spoiled) {
            eprintln!("a measurement was invalid, once more");
            continue;
        }
        for check in &outcome.checks {
            eprint!("{} {}  ", check.value.unwrap_or(f64::NAN), check.unit);
        }
        eprintln!();
        outcomes.push(outcome);
    }
    for (i, check) in outcomes[0].checks.iter().enumerate() {
        let mut values: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.checks[i].value).collect();
        values.sort_by(f64::total_cmp);
        let median = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
        println!("{median:8.3} {:2}  {}  ({values:?})", check.unit, check.what);
    }
    Ok(())
}
