//! One `serve` and many `get` at once: how fair it is, and what memory it costs.
//!
//! `cargo run --release --example many_clients [CLIENTS] [MEGABYTES] [--check]`
//!
//! CLIENTS (200) processes of `get` fetch a file of MEGABYTES (2) from one `serve`. They share one emulated link of 40 Mbit/s,
//! 200 ms and 500 ms of buffer. Each client has an address of its own: connections of one host would share a window.
//!
//! Fairness is Jain's index of the goodputs while all are active. That is from when the last client has its first content
//! until the first client has all. Memory is the peak of the resident set without the pages of files, such as the program's
//! own, whose number depends on the build. `--check` fails below 0.9, or if `serve` needs more than 8 MB and 2 MB for each
//! client. A run in which the emulation is late by more than 5 ms at the 99th percentile is invalid.
//!
//! The link has to hold two packets of each client, the least window of LEDBAT++. 200 clients need 120 ms at this rate. On a
//! shorter path they queue at the least window, and a client that comes late takes that queue for the path's base delay.

mod support;

use afteryou_aqm::droptail::DropTail;
use afteryou_base::Span;
use afteryou_bed::relay::{Config, Direction, Flow, FlowId, Link, Relay, LATENESS_BOUND_MS};
use afteryou_bed::Clock;
use afteryou_scenario::{self as scenario, Buffer, Probability, Rate};
use afteryou_transfer::ticket::{Address, Host, Ticket};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{free_address, noise, quantile, Result, Running, ETHERNET};

const LEAST_JAIN: f64 = 0.9;
/// Megabytes of `serve` in all: a constant part, and a part for each client.
const MOST_MB: (f64, f64) = (8.0, 2.0);
const RATE_MBIT: u64 = 40;
const RTT_MS: u64 = 200;
const BUFFER: &str = "500 ms";
/// Between the starts of two clients: starting is what they need the processor for.
const BETWEEN_STARTS: Duration = Duration::from_millis(25);
const SAMPLE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(600);

/// One `get`.
struct Client {
    process: Running,
    directory: PathBuf,
    /// (when, bytes of content so far).
    curve: Vec<(Instant, u64)>,
    finished: bool,
}

impl Client {
    fn start(folder: &Path, number: usize, ticket: &Ticket, front: SocketAddr) -> Result<Client> {
        let state = folder.join(format!("client {number}"));
        let directory = state.join("files");
        std::fs::create_dir_all(&directory)?;
        let addresses = vec![Address { host: Host::Ip(front.ip()), port: front.port() }];
        let ticket = Ticket { addresses, ..ticket.clone() }.to_line()?;
        let words = [&["get", &ticket, text(&directory)?][..], &ETHERNET].concat();
        let process = Running::start(&state, &words)?;
        Ok(Client { process, directory, curve: Vec::new(), finished: false })
    }

    fn look(&mut self) -> Result<()> {
        for line in self.process.drain() {
            self.finished |= line.is("finished");
            if line.is("progress") {
                self.curve.push((line.at, line.number("bytes_moved")));
            }
        }
        match self.process.ended()? {
            Some(false) => Err("a client failed".into()),
            _ => Ok(()),
        }
    }

    fn moved(&self) -> u64 {
        self.curve.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns the bytes at a time, by linear interpolation.
    fn at(&self, time: Instant) -> f64 {
        let next = self.curve.partition_point(|(at, _)| *at < time);
        let Some(&(after, above)) = self.curve.get(next) else { return self.moved() as f64 };
        let Some(&(before, below)) = next.checked_sub(1).and_then(|i| self.curve.get(i)) else { return 0.0 };
        let part = (time - before).as_secs_f64() / (after - before).as_secs_f64();
        below as f64 + (above - below) as f64 * part
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| "the temporary directory's name is not UTF-8".into())
}

/// Builds one link for all; every client is a host of its own.
fn shared_link(server: SocketAddr, clients: usize) -> Result<(Relay, Vec<FlowId>)> {
    let rate = Rate::from_mbit(RATE_MBIT);
    let limit = BUFFER.parse::<Buffer>()?.limit(rate);
    let direction =
        || Direction { rate, loss: Probability::default(), queue: Box::new(DropTail::new(limit)) };
    let mut config = Config::new(1);
    config.records = false;
    config.hosts = true;
    let link = config.add_link(Link { name: "server".into(), forward: direction(), reverse: direction() });
    let rtt = Span::from_millis(RTT_MS);
    let flow = Flow { link, server, rtt, direction: scenario::Direction::Down };
    let flows = (0..clients).map(|_| config.add(flow)).collect();
    Ok((Relay::start(config, Clock::start())?, flows))
}

/// Returns a process's largest resident set so far without the pages of files, bytes.
fn peak_bytes(process: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let bytes = |name: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib: f64 =
            line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or(format!("no {name}"))?.parse()?;
        Ok(kib * 1024.0)
    };
    Ok(bytes("VmHWM:")? - bytes("RssFile:")?)
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    sum * sum / (rates.len() as f64 * squares)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().any(|word| word == "--check");
    let mut numbers = words.iter().filter_map(|word| word.parse::<usize>().ok());
    let (count, megabytes) = (numbers.next().unwrap_or(200), numbers.next().unwrap_or(2));
    let folder = tempfile::tempdir()?;
    let served = folder.path().join("served");
    std::fs::create_dir(&served)?;
    let content = noise(1, megabytes * 1_000_000);
    std::fs::write(served.join("file.bin"), &content)?;

    let server = free_address()?;
    let listen = server.to_string();
    let words = [&["serve", text(&served)?, "--listen", &listen][..], &ETHERNET].concat();
    let serve = Running::start(folder.path(), &words)?;
    let ticket: Ticket = serve.ticket()?.parse()?;
    let (relay, flows) = shared_link(server, count)?;
    let mut clients = Vec::new();
    for (number, flow) in flows.iter().enumerate() {
        clients.push(Client::start(folder.path(), number, &ticket, relay.front(*flow))?);
        std::thread::sleep(BETWEEN_STARTS);
    }
    let began = Instant::now();
    let (mut all_since, mut active, mut memory, mut late_ms) = (None, None, Vec::new(), 0.0_f64);
    while !clients.iter().all(|client| client.finished) {
        std::thread::sleep(SAMPLE);
        serve.drain();
        clients.iter_mut().try_for_each(Client::look)?;
        let now = Instant::now();
        if all_since.is_none() && clients.iter().all(|client| client.moved() > 0) {
            all_since = Some(now);
            relay.take_lateness();
        }
        if let (Some(since), None) = (all_since, active) {
            if clients.iter().any(|client| client.moved() >= content.len() as u64) {
                active = Some((since, now));
                late_ms = relay.take_lateness().map_or(0.0, |late| late.departures.p99_ms);
                for client in &clients {
                    memory.push(peak_bytes(client.process.id()).unwrap_or(f64::NAN) / 1e6);
                }
            }
        }
        if began.elapsed() > PATIENCE {
            return Err("some clients do not end".into());
        }
    }
    let needed = peak_bytes(serve.id())? / 1e6;
    drop(serve);
    let (since, until) = active.ok_or("never were all active at once; use larger files")?;
    let seconds = (until - since).as_secs_f64();
    let mut rates: Vec<f64> =
        clients.iter().map(|client| (client.at(until) - client.at(since)) / seconds).collect();
    for client in &clients {
        if std::fs::read(client.directory.join("file.bin"))? != content {
            return Err(format!("{} has other content", client.directory.display()).into());
        }
    }
    let (fairness, most) = (jain(&rates), MOST_MB.0 + MOST_MB.1 * count as f64);
    let mbit = rates.iter().sum::<f64>() * 8e-6;
    println!("{count} clients, {megabytes} MB each: all complete, all equal");
    println!("all active for {seconds:.1} s at {mbit:.1} Mbit/s together");
    println!("Jain's index of the goodputs   {fairness:>8.3}     (asked: >= {LEAST_JAIN})");
    let (slowest, fastest) = (quantile(&mut rates, 0.0), quantile(&mut rates, 1.0));
    println!(
        "slowest and fastest            {:>8.3} {:.3} of the mean",
        slowest * 8e-6 * count as f64 / mbit,
        fastest * 8e-6 * count as f64 / mbit
    );
    println!("memory of serve                {needed:>8.1} MB  (asked: <= {most} MB)");
    println!(
        "memory of a client             {:>8.1} MB  (at most {:.1} MB)",
        quantile(&mut memory, 0.5),
        quantile(&mut memory, 1.0)
    );
    println!("emulation late, p99            {late_ms:>8.2} ms");
    if late_ms > LATENESS_BOUND_MS {
        println!("SKIPPED: this machine is too busy to emulate a network");
        return Ok(());
    }
    // Also if there is no number.
    if check && !(fairness >= LEAST_JAIN && needed <= most) {
        return Err("missed".into());
    }
    Ok(())
}
