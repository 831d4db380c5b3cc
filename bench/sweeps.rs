//! A sweep of many runs, measured: speed on two cores against one, memory against the number of runs, and kills at random
//! moments.
//!
//! `cargo build --release -p afteryou --bins --example sweeps && target/release/examples/sweeps [RUNS] [KILLS] [SEED]`
//!
//! Speed is the ratio of two wall times in one call of this program; it fails below 1.8 if the machine has two cores. The sweep is run
//! with one thread and with two in turn, twice, and the better time of each counts. Memory is the largest resident set of
//! the command (Linux), for a tenth of the runs and for all. Then the same sweep is started and killed again and again; in the
//! end its folder must have the bytes of the undisturbed one.

mod support;
#[path = "support/sweep_folder.rs"]
mod sweep_folder;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{program, Result};

const RUNS: u64 = 1000;
const KILLS: u64 = 20;
const SEED: u64 = 1;
/// Least ratio of the two speeds.
const LEAST: f64 = 1.8;
/// Most growth of memory from a tenth of the runs to all, kB.
const MOST_GROWTH_KB: u64 = 8_000;
/// Time between two looks at a process.
const LOOK: Duration = Duration::from_millis(2);

/// Eight combinations; about 20 ms a run.
const FILE: &str = r#"
name = "many short runs"
duration = "60 s"
link = { rate = "10 Mbit/s", buffer = "100 ms" }

[[flow]]
name = "upload"
controller = "cubic"
rtt = "20 ms"
start = { uniform = ["0 s", "1 s"] }

[[flow]]
name = "backup"
role = "background"
controller = "ledbat++"
rtt = "20 ms"

[sweep]
"link.rate" = { from = "5 Mbit/s", to = "20 Mbit/s", step = "5 Mbit/s" }
"flow.backup.controller" = ["ledbat", "ledbat++"]
"#;
const COMBINATIONS: u64 = 8;

fn command(folder: &Path, out: &str, runs: u64, jobs: u32) -> Result<Command> {
    let mut command = Command::new(program()?);
    command.arg("sim").arg(folder.join("sweep.toml")).arg("--out").arg(folder.join(out));
    command.args(["--no-series", "--repeat", &runs.div_ceil(COMBINATIONS).to_string()]);
    command.args(["--jobs", &jobs.to_string()]).stdout(Stdio::null()).stderr(Stdio::inherit());
    Ok(command)
}

/// Runs a sweep to its end; returns its wall time and its largest resident set, kB, where the system reports it.
fn measured(folder: &Path, out: &str, runs: u64, jobs: u32) -> Result<(Duration, u64)> {
    let begin = Instant::now();
    let mut child = command(folder, out, runs, jobs)?.spawn()?;
    let mut most_kb = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        most_kb = most_kb.max(resident_kb(child.id()));
        std::thread::sleep(LOOK);
    };
    match status.success() {
        true => Ok((begin.elapsed(), most_kb)),
        false => Err(format!("the sweep {out} ended with {status}").into()),
    }
}

fn resident_kb(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Kills the sweep `kills` times at random moments, lets it end, and returns how many runs it had at each kill.
fn killed(folder: &Path, runs: u64, kills: u64, whole: Duration, random: &mut Pcg64) -> Result<Vec<usize>> {
    let mut finished = Vec::new();
    // Lives that together take about as long as the whole sweep.
    let longest_ms = (2 * whole.as_millis() as u64 / (kills + 1)).max(2);
    for _ in 0..kills {
        let mut child = command(folder, "killed", runs, 2)?.spawn()?;
        std::thread::sleep(Duration::from_millis(random.next_u64() % longest_ms));
        child.kill()?;
        child.wait()?;
        finished.push(sweep_folder::finished(&folder.join("killed")));
    }
    measured(folder, "killed", runs, 2)?;
    Ok(finished)
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let mut number = |usual| words.next().unwrap_or(Ok(usual));
    let (runs, kills, seed) = (number(RUNS)?, number(KILLS)?, number(SEED)?);
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    std::fs::write(folder.join("sweep.toml"), FILE)?;

    let mut best = [Duration::MAX; 2];
    let mut memory_kb = 0;
    for round in 0..2 {
        for jobs in 1..=2 {
            let (time, kb) = measured(folder, &format!("{jobs} jobs, {round}"), runs, jobs)?;
            best[jobs as usize - 1] = best[jobs as usize - 1].min(time);
            memory_kb = memory_kb.max(kb);
        }
    }
    let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
    let seconds = best.map(|time| time.as_secs_f64());
    println!(
        "{runs} runs: {:.2} s on one core, {:.2} s on two: {ratio:.2} times as fast",
        seconds[0], seconds[1]
    );

    let (_, fewer_kb) = measured(folder, "a tenth", runs / 10, 2)?;
    println!("memory: {fewer_kb} kB for {} runs, {memory_kb} kB for {runs}", runs / 10);

    let finished = killed(folder, runs, kills, best[1], &mut Pcg64::seed_from_u64(seed))?;
    println!("killed {kills} times, with {finished:?} of {runs} runs finished");
    let (whole, after) =
        (sweep_folder::files(&folder.join("2 jobs, 0"))?, sweep_folder::files(&folder.join("killed"))?);
    if whole != after {
        return Err("the folder of the killed sweep differs from that of the undisturbed one".into());
    }
    if !finished.is_sorted() {
        return Err("a kill lost finished runs".into());
    }
    println!("after the kills: the same bytes in {} files", whole.len());
    let has_two_cores = std::thread::available_parallelism()?.get() >= 2;
    if has_two_cores && ratio < LEAST {
        return Err(
            format!("two cores are {ratio:.2} times as fast as one, at least {LEAST} is required").into()
        );
    }
    match memory_kb > fewer_kb + MOST_GROWTH_KB {
        true => Err("memory grows with the number of runs".into()),
        false => Ok(()),
    }
}
