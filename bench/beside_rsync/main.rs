//! Measures the cost of trees of small files, one large file and changed files, beside rsync and scp over ssh on the same machine.
//!
//! `cargo run --release --example beside_rsync -- [small] [large] [unchanged] [delta] [--files N] [--mb N] [--runs N] [--dir DIR] [--check]`
//!
//! - `small`: N files (10 000) of 1–20 kB to an empty directory, beside `rsync -a` and `rsync -a --fsync`.
//! - `large`: one file of N MB (1000), beside scp.
//! - `unchanged`: N files (100 000) of 1–20 kB that are there already, beside `rsync -a --checksum`, and with `--quick`
//!   beside `rsync -a`. Ours keeps hashes from run to run there, as it does for its users; all other runs begin without any.
//! - `delta`: a file of N MB (300) with appended, inserted and scattered changes, and one with another name: bytes on the
//!   wire, beside `rsync -a --no-whole-file`.
//!
//! All go to 127.0.0.1 through an ssh server of its own, ours by `--via ssh` with CUBIC. CPU time is that of all processes
//! of both sides. The ways take turns; the first turn warms the page cache and does not count. Of small files each turn
//! makes a directory of its own and nothing is removed before the end. For minutes ext4 looks for inodes that were not
//! removed lately, at the cost of the next turn. rsync, ssh and sshd must be installed. sshd runs as the user of this
//! command. `--check` fails if a bound is missed.

mod delta;
mod relay;
mod ssh;
#[path = "../support/mod.rs"]
mod support;

use ssh::{of_children, ours, ours_again, rsync, scp, Server, Way};
use std::path::{Path, PathBuf};
use std::time::Instant;
use support::{median, noise, Result};

/// Makes a tree of small files, a hundred in a directory.
fn make_tree(folder: &Path, files: usize) -> Result<()> {
    let content = noise(2, 100_000);
    let mut random = noise(1, files * 4).into_iter();
    let mut next = || u16::from_le_bytes([random.next().unwrap_or(0), random.next().unwrap_or(0)]);
    for file in 0..files {
        let directory = folder.join(format!("{:04}", file / 100));
        if file % 100 == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        let (bytes, from) = (1_000 + usize::from(next()) % 19_000, usize::from(next()));
        std::fs::write(directory.join(format!("{file:06}.bin")), &content[from..from + bytes])?;
    }
    Ok(())
}

/// A measured way: its name, and at most how much of its CPU and wall time ours may take.
struct Beside {
    name: &'static str,
    way: Way,
    cpu: Option<f64>,
    wall: Option<f64>,
}

/// A measurement: ours beside others, and where it begins.
struct Case {
    from: PathBuf,
    ours: Way,
    others: Vec<Beside>,
    start: Start,
}

/// The contents of the target.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// Nothing, in a directory of each turn's own.
    Fresh,
    /// Nothing, since it is removed after each turn: there is no room for all.
    Emptied,
    /// Everything.
    Full,
}

/// Returns whether all bounds held.
fn measure(name: &str, folder: &Path, case: &Case, runs: usize) -> Result<bool> {
    let ways: Vec<&Way> =
        std::iter::once(&case.ours).chain(case.others.iter().map(|other| &other.way)).collect();
    let mut figures = vec![(Vec::new(), Vec::new()); ways.len()];
    for turn in 0..=runs {
        for (index, (way, (cpu, wall))) in ways.iter().zip(&mut figures).enumerate() {
            let to = match case.start {
                Start::Fresh => folder.join(format!("to-{turn}-{index}")),
                Start::Emptied | Start::Full => folder.join("to"),
            };
            if case.start == Start::Emptied {
                _ = std::fs::remove_dir_all(&to);
            }
            std::fs::create_dir_all(&to)?;
            nix::unistd::sync();
            let keys = tempfile::tempdir_in(folder)?;
            let (server, before) = (Server::start(keys.path())?, of_children()?);
            let started = Instant::now();
            way(&server, &case.from, &to)?;
            let took = started.elapsed().as_secs_f64();
            drop(server);
            if turn > 0 {
                cpu.push(of_children()? - before);
                wall.push(took);
            }
        }
    }
    println!("{name:<30} {:>8} {:>8} {:>10} {:>10}", "CPU s", "wall s", "ours: CPU", "ours: wall");
    let ours = (median(&figures[0].0), median(&figures[0].1));
    println!("{:<30} {:>8.2} {:>8.2}", "ours", ours.0, ours.1);
    let mut all_held = true;
    for (other, (cpu, wall)) in case.others.iter().zip(&figures[1..]) {
        let (cpu, wall) = (median(cpu), median(wall));
        let (cpu_ratio, wall_ratio) = (ours.0 / cpu, ours.1 / wall);
        let asked = |bound: Option<f64>| bound.map_or(String::new(), |bound| format!(" (<= {bound})"));
        println!(
            "{:<30} {cpu:>8.2} {wall:>8.2} {cpu_ratio:>10.2}{} {wall_ratio:>10.2}{}",
            other.name,
            asked(other.cpu),
            asked(other.wall)
        );
        let holds = |ratio: f64, bound: Option<f64>| bound.is_none_or(|bound| ratio <= bound);
        all_held &= holds(cpu_ratio, other.cpu) && holds(wall_ratio, other.wall);
    }
    Ok(all_held)
}

fn small(folder: &Path, files: usize, runs: usize) -> Result<bool> {
    let from = folder.join("from");
    make_tree(&from, files)?;
    let others = vec![
        Beside { name: "rsync -a", way: rsync(&["-a"]), cpu: Some(1.2), wall: Some(1.2) },
        Beside { name: "rsync -a --fsync", way: rsync(&["-a", "--fsync"]), cpu: None, wall: Some(0.3) },
    ];
    let case = Case { from, ours: ours(&[]), others, start: Start::Fresh };
    measure(&format!("{files} small files"), folder, &case, runs)
}

fn large(folder: &Path, megabytes: usize, runs: usize) -> Result<bool> {
    let from = folder.join("file.bin");
    std::fs::write(&from, noise(1, megabytes * 1_000_000))?;
    let others = vec![Beside { name: "scp", way: scp(), cpu: Some(0.85), wall: None }];
    let case = Case { from, ours: ours(&[]), others, start: Start::Emptied };
    measure(&format!("{megabytes} MB"), folder, &case, runs)
}

fn unchanged(folder: &Path, files: usize, runs: usize) -> Result<bool> {
    let from = folder.join("from");
    make_tree(&from, files)?;
    let verified = Beside {
        name: "rsync -a --checksum",
        way: rsync(&["-a", "--checksum"]),
        cpu: Some(1.5),
        wall: Some(1.5),
    };
    let again = ours_again(folder.join("state"), &[]);
    let case = Case { from: from.clone(), ours: again, others: vec![verified], start: Start::Full };
    let verified = measure(&format!("{files} unchanged files"), folder, &case, runs)?;
    let quick = Beside { name: "rsync -a", way: rsync(&["-a"]), cpu: Some(1.5), wall: Some(1.5) };
    let case = Case { from, ours: ours(&["--quick"]), others: vec![quick], start: Start::Full };
    let quick = measure(&format!("{files} unchanged files, --quick"), folder, &case, runs)?;
    Ok(verified && quick)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str, usual: usize| after(name).map_or(Ok(usual), |word| word.parse());
    let runs = number("--runs", 3)?;
    let base = after("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let has = |name: &str| words.iter().any(|word| word == name);
    let all = !["small", "large", "unchanged", "delta"].into_iter().any(has);
    let asked = |name: &str| all || has(name);
    let folder = || tempfile::tempdir_in(&base);
    let mut held = true;
    if asked("small") {
        held &= small(folder()?.path(), number("--files", 10_000)?, runs)?;
    }
    if asked("large") {
        held &= large(folder()?.path(), number("--mb", 1000)?, runs)?;
    }
    if asked("unchanged") {
        held &= unchanged(folder()?.path(), number("--files", 100_000)?, runs)?;
    }
    if asked("delta") {
        held &= delta::measure(folder()?.path(), number("--mb", 300)?)?;
    }
    match has("--check") && !held {
        true => Err("a bound is missed".into()),
        false => Ok(()),
    }
}
