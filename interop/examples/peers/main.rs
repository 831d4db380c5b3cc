//! Our uTP beside the transports that a program might take instead, on loopback and over a veth pair:
//! `cargo run --profile peers -p afteryou-interop --features librqbit --example peers -- [--gb 1] [--runs 7] [--mbit 20] [--only ours,quinn] [--over loopback,veth]`.
//!
//! Each transfer runs in two processes of its own, a sender and a receiver, so that CPU time and peak memory are theirs.
//! The transports alternate within each run, and each row is the median over the runs: what else the machine does meets
//! all of them. Every datagram has at most 1472 bytes. `--mbit` has the sender's application write at that rate, in steps
//! of 10 ms, instead of as fast as it goes. `--window` sets the windows of ours and of libutp, MiB; the others have their own.
//! Rows of ours with default buffers have the socket buffers that Linux gives those that ask for nothing. The veth pair is between
//! two network namespaces, which requires root; without it those rows are skipped.

mod gso;
mod libutp;
mod measure;
mod ours;
mod path;
mod quic;
mod rqbit;
mod table;
mod tcp;
mod work;

use measure::Usage;
use path::{End, Namespaces, Path};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};
use table::{Row, Sample};
use work::Work;

/// Options, each followed by its value.
const OPTIONS: [&str; 6] = ["--gb", "--runs", "--mbit", "--only", "--over", "--window"];

/// Every transport, in the order of the table.
const PEERS: [&str; 9] = [
    "kernel TCP",
    "UDP with GSO",
    "quinn",
    "librqbit-utp",
    "libutp",
    "ours ledbat++",
    "ours cubic",
    "ours ledbat++ (default buffers)",
    "ours cubic (default buffers)",
];
/// A transfer that takes longer has failed.
const DEADLINE: Duration = Duration::from_secs(120);

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [role, peer] if role == "receive" => receive(peer),
        [role, peer, to, bytes, pace] if role == "send" => {
            let pace = Some(pace.parse()?).filter(|pace| *pace > 0);
            send(peer, Work { to: to.parse()?, bytes: bytes.parse()?, pace })
        }
        _ => compare(&args),
    }
}

/// Runs the receiving process: reports its address, and when all has arrived the bytes, the time and its usage.
fn receive(peer: &str) -> anyhow::Result<()> {
    let (bytes, took) = match peer {
        "kernel TCP" => tcp::receive()?,
        "UDP with GSO" => gso::receive()?,
        "quinn" => quic::receive()?,
        "librqbit-utp" => rqbit::receive()?,
        "libutp" => libutp::receive()?,
        _ => ours::receive(peer)?,
    };
    println!("{bytes} {} {}", took.as_secs_f64(), Usage::now()?);
    Ok(())
}

/// Runs the sending process: reports its usage when all has arrived.
fn send(peer: &str, work: Work) -> anyhow::Result<()> {
    match peer {
        "kernel TCP" => tcp::send(&work)?,
        "UDP with GSO" => gso::send(&work)?,
        "quinn" => quic::send(work)?,
        "librqbit-utp" => rqbit::send(work)?,
        "libutp" => libutp::send(&work)?,
        _ => ours::send(peer, work)?,
    }
    println!("{}", Usage::now()?);
    Ok(())
}

/// Runs every transport in turn and prints the table.
fn compare(args: &[String]) -> anyhow::Result<()> {
    let number = |name: &str, default: f64| -> anyhow::Result<f64> {
        match args.iter().position(|arg| arg == name) {
            Some(at) => {
                Ok(args.get(at + 1).ok_or_else(|| anyhow::anyhow!("{name} requires a number"))?.parse()?)
            }
            None => Ok(default),
        }
    };
    if let Some(unknown) = args.iter().step_by(2).find(|arg| !OPTIONS.contains(&arg.as_str())) {
        anyhow::bail!("{unknown} is no option of this; there are {}", OPTIONS.join(", "));
    }
    let (gb, runs, mbit) = (number("--gb", 1.0)?, number("--runs", 7.0)?, number("--mbit", 0.0)?);
    let window = (number("--window", 0.0)? * f64::from(1 << 20)) as u64;
    if window > 0 {
        // No other thread runs yet, and the processes inherit it.
        std::env::set_var(work::WINDOW, window.to_string());
    }
    let word = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let (only, over) = (word("--only"), word("--over"));
    // A whole name means that transport alone.
    let is_meant = |peer: &str, part: &str| peer == part || (!PEERS.contains(&part) && peer.contains(part));
    let chosen = |peer: &&&str| only.is_none_or(|only| only.split(',').any(|part| is_meant(peer, part)));
    let pace = (mbit * 125_000.0) as u64;
    let is_over = |path: &str| over.is_none_or(|over| over.split(',').any(|name| name == path));
    for name in ["loopback", "veth"].into_iter().filter(|name| is_over(name)) {
        let path = match name {
            "loopback" => Path::Loopback,
            _ => match Namespaces::new() {
                Ok(namespaces) => Path::Veth(namespaces),
                Err(error) => {
                    println!("SKIPPED: veth: {error}");
                    continue;
                }
            },
        };
        let mut rows: Vec<Row> = PEERS.iter().filter(chosen).map(|peer| Row::new(peer)).collect();
        for run in 1..=runs as u32 {
            for row in &mut rows {
                match transfer(&path, row.peer, (gb * 1e9) as u64, pace) {
                    Ok(sample) => row.samples.push(sample),
                    Err(error) => row.fault = Some(error.to_string()),
                }
            }
            eprintln!("{}: run {run} of {runs} done", path.name());
        }
        print!("{}", table::of(path.name(), &rows));
    }
    Ok(())
}

/// Makes one transfer between two fresh processes.
fn transfer(path: &Path, peer: &'static str, bytes: u64, pace: u64) -> anyhow::Result<Sample> {
    let mut receiver = Process::start(path, End::Receiver, &["receive", peer])?;
    let to = receiver.line()?;
    let arguments = ["send", peer, &to, &bytes.to_string(), &pace.to_string()];
    let mut sender = Process::start(path, End::Sender, &arguments)?;
    let limit = Instant::now() + DEADLINE + Duration::from_secs(bytes.checked_div(pace).unwrap_or(0));
    while sender.is_running()? || receiver.is_running()? {
        anyhow::ensure!(Instant::now() < limit, "not done within {} s", DEADLINE.as_secs());
        std::thread::sleep(Duration::from_millis(5));
    }
    let (sent, received) = (sender.line()?, receiver.line()?);
    let mut fields = received.splitn(3, ' ');
    let mut field = || fields.next().ok_or_else(|| anyhow::anyhow!("the receiver reported {received:?}"));
    let (arrived, took): (u64, f64) = (field()?.parse()?, field()?.parse()?);
    let (receiving, sending): (Usage, Usage) = (field()?.parse()?, sent.parse()?);
    Ok(Sample { bytes: arrived, took, sending, receiving })
}

/// A process of this program, which ends with its handle.
struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    fn start(path: &Path, end: End, args: &[&str]) -> anyhow::Result<Process> {
        let mut command = path.command(end, &std::env::current_exe()?);
        let mut child = command.args(args).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or_else(|| anyhow::anyhow!("no standard output"))?;
        Ok(Process { child, out: BufReader::new(out) })
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        anyhow::ensure!(!line.trim().is_empty(), "a process ended without a result: see its message above");
        Ok(line.trim().to_string())
    }

    fn is_running(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already needs neither.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
