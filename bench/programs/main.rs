//! Programs of others under `afteryou run`: what they leave to CUBIC, and how much longer they take alone.
//!
//! `cargo run --release --example programs [--check] [--brief] [ROW…]`
//!
//! In the testbed, as root: 20 Mbit/s, 40 ms, a queue of 500 ms. Each program moves data beside a bulk flow of the kernel's CUBIC; the figure
//! is the part of its own goodput alone that CUBIC keeps. Then the program moves 30 MB with nobody else there, under `afteryou run` and
//! without it; the figure is the ratio of the times. The servers are nginx, which closes a connection that it cannot send on for 10 s, and
//! sshd. A program that is not installed is skipped, with a word.
//!
//! `--check` exits 1 if a program leaves CUBIC less than 0.95, takes more than 1.05 times as long, or fails. `--brief` measures what CUBIC
//! keeps, and nothing else. The command `afteryou` is taken from the folder above this program's.

mod rows;
mod servers;

use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario_file::Experiment;
use rows::{Row, ROWS};
use servers::Folder;
use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Part of its goodput that CUBIC keeps at least.
const KEPT: f64 = 0.95;
/// Time under `afteryou run`, as a multiple of that without it, at most.
const LONGER: f64 = 1.05;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Whether the program is there, and how it is started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// It is not there.
    Absent,
    /// It runs by itself.
    Plain,
    /// It runs under `afteryou run`.
    Under,
}

/// A program's end, by its own account.
struct End {
    code: i32,
    seconds: f64,
}

/// Runs a row beside CUBIC for `beside_s`, or alone, and returns CUBIC's goodput, bit/s, and the program's end, if it has ended.
fn run(row: &Row, folder: &Folder, how: How, beside_s: Option<f64>) -> Result<(f64, Option<End>)> {
    let begin_s = row.begin_s;
    let end_s = beside_s.map_or(row.alone_s, |seconds| begin_s + seconds + 1.0);
    let mut text = format!(
        "duration = \"{end_s} s\"\n[link]\nrate = \"20 Mbit/s\"\nbuffer = \"500 ms\"\n\
         [[measure]]\nname = \"together\"\nfrom = \"{}\"\nto = \"{} s\"\n",
        if beside_s.is_some() { format!("{begin_s} s") } else { "1 s".to_owned() },
        end_s - 1.0
    );
    if beside_s.is_some() {
        text += &format!(
            "[[flow]]\nname = \"cubic\"\nrole = \"foreground\"\ncontroller = \"cubic\"\ntransport = \"tcp\"\nrtt = \"40 ms\"\n\
             start = \"{begin_s} s\"\nstop = \"{} s\"\n",
            end_s - 1.0
        );
    }
    let _ = fs::remove_file(folder.path("end"));
    if how != How::Absent {
        let (serve, client) = (row.serve(folder), row.client(folder, how == How::Under, beside_s.is_none())?);
        // Data go from `command` to `server`.
        let (command, server) = if row.is_upload { (client, serve) } else { (serve, client) };
        text += &format!(
            "[[flow]]\nname = \"program\"\nrtt = \"40 ms\"\nstop = \"{} s\"\n\
             traffic = {{ command = [\"sh\", {command:?}], server = [\"sh\", {server:?}] }}\n",
            end_s - 0.3
        );
    }
    let experiment = Experiment::parse(&text, row.name, &[])?;
    let planned = experiment.runs(None, None)?.into_iter().next().ok_or("no run")?;
    let outcome = testbed::run(&planned.scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
    let together = outcome.run.windows.first().ok_or("no window")?;
    let cubic =
        together.flows.iter().find(|flow| flow.flow == "cubic").map_or(0.0, |flow| flow.goodput_bit_s);
    Ok((cubic, folder.end()))
}

/// Returns the time that a transfer takes, s.
fn time(row: &Row, folder: &Folder, how: How) -> Result<f64> {
    match run(row, folder, how, None)?.1 {
        Some(End { code: 0, seconds }) => Ok(seconds),
        Some(End { code, .. }) => Err(format!("alone it ended with {code}").into()),
        None => Err(format!("alone it took more than {} s", row.alone_s).into()),
    }
}

/// Measures a row and prints it; returns whether it is within bounds.
fn judge(row: &Row, folder: &Folder, is_brief: bool, free: &mut Vec<(f64, f64)>) -> Result<bool> {
    let beside_s = row.beside_s;
    let known = free.iter().find(|(seconds, _)| *seconds == beside_s).map(|(_, goodput)| *goodput);
    let goodput = match known {
        Some(goodput) => goodput,
        None => run(row, folder, How::Absent, Some(beside_s))?.0,
    };
    free.retain(|(seconds, _)| *seconds != beside_s);
    free.push((beside_s, goodput));
    let (beside, end) = run(row, folder, How::Under, Some(beside_s))?;
    let kept = beside / goodput;
    let failed = end.as_ref().is_some_and(|end| end.code != 0);
    let longer = match is_brief {
        true => None,
        false => Some(time(row, folder, How::Under)? / time(row, folder, How::Plain)?),
    };
    let within = kept >= KEPT && !failed && longer.is_none_or(|longer| longer <= LONGER);
    let note = match (within, end.filter(|end| end.code != 0)) {
        (_, Some(end)) => format!("  ended with {} after {:.1} s", end.code, end.seconds),
        (true, _) => String::new(),
        (false, _) => "  out of bounds".to_owned(),
    };
    let longer = longer.map_or_else(|| "-".to_owned(), |longer| format!("{longer:.3}"));
    println!("{:<14} {kept:>7.3} {longer:>7}{note}", row.name);
    Ok(within)
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let named: Vec<&Row> = ROWS.iter().filter(|row| has(row.name)).collect();
    let rows: Vec<&Row> = if named.is_empty() { ROWS.iter().collect() } else { named };
    let folder = Folder::new()?;
    println!("{:<14} {:>7} {:>7}", "program", "kept", "longer");
    let mut is_good = true;
    let mut free = Vec::new();
    for row in rows {
        if let Some(missing) = row.missing() {
            println!("SKIPPED: {}: {missing} is not installed", row.name);
            continue;
        }
        is_good &= judge(row, &folder, has("--brief"), &mut free).unwrap_or_else(|error| {
            println!("{:<14} {error}", row.name);
            false
        });
    }
    Ok(if has("--check") && !is_good { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
