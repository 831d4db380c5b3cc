//! `send` and `get` on a lossy path, beside plain quinn with the same controller.
//!
//! `cargo run --release --example lossy [SEEDS] [MEGABYTES] [RTT ...] [--controller NAME] [--check]`
//!
//! ```text
//! lossy                           10 seeds, 20 MB, 20 ms and 50 ms, ledbat++ as the commands use it
//! lossy --controller cubic
//! lossy 10 4 20ms --check         a short form
//! ```
//!
//! The emulated path loses 5 % of the packets in each direction at random. It has 100 Mbit/s, so only the losses limit the
//! rate. A file of MEGABYTES travels over it three ways: by `send`, by `get`, and on one stream of plain quinn. Plain quinn has
//! its own defaults and the controller of the commands. Each seed of each way has a path of its own, and all runs go
//! side by side.
//!
//! The time of a run counts from its first packet until the command reports the end. For plain quinn it ends when the reader has all
//! bytes. Goodputs are means over the seeds. `--check` fails if `send` or `get` has less than 0.95 of plain quinn.

mod support;

use afteryou_aqm::droptail::DropTail;
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Direction, Flow, FlowId, Link, Record, Relay, Way, LATENESS_BOUND_MS};
use afteryou_bed::Clock;
use afteryou_scenario::{self as scenario, Buffer, Probability, Rate};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{free_address, noise, Result, Running, ETHERNET};

const LEAST: f64 = 0.95;
const LOSS: f64 = 0.05;
/// Far more than the losses leave.
const RATE_MBIT: u64 = 100;
const BUFFER: &str = "500 ms";
/// IPv4 and UDP, bytes.
const HEADERS: u32 = 28;
/// Larger packets carry content.
const SMALL: u32 = 600;
const PATIENCE: Duration = Duration::from_secs(1_200);

struct Options {
    seeds: u64,
    megabytes: usize,
    rtts_ms: Vec<u64>,
    controller: String,
    check: bool,
}

impl Options {
    fn read(words: &[String]) -> Result<Options> {
        let (mut numbers, mut rtts_ms) = (Vec::new(), Vec::new());
        let (mut controller, mut check) = ("ledbat++".to_owned(), false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--check" => check = true,
                "--controller" => controller = words.next().ok_or("--controller requires a name")?.clone(),
                word => match word.strip_suffix("ms") {
                    Some(rtt) => rtts_ms.push(rtt.parse()?),
                    None => numbers.push(word.parse::<usize>()?),
                },
            }
        }
        let seeds = numbers.first().copied().unwrap_or(10).max(1) as u64;
        let megabytes = numbers.get(1).copied().unwrap_or(20);
        if rtts_ms.is_empty() {
            rtts_ms = vec![20, 50];
        }
        Ok(Options { seeds, megabytes, rtts_ms, controller, check })
    }
}

/// How the file travels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Plain,
    Send,
    Get,
}

const WAYS: [(By, &str); 3] = [(By::Plain, "plain quinn"), (By::Send, "send"), (By::Get, "get")];

/// The packets of a run, lost ones included.
#[derive(Clone, Copy, Default)]
struct Counts {
    first: Option<Time>,
    /// Packets with content, and their bytes of UDP payload.
    large: u64,
    bytes: u64,
    /// The others of that direction.
    small: u64,
    /// The other direction's.
    back: u64,
}

impl Counts {
    fn add(&mut self, record: &Record) {
        self.first = self.first.or(Some(record.arrived_at));
        if record.way == Way::Reverse {
            self.back += 1;
        } else if record.size_bytes < SMALL {
            self.small += 1;
        } else {
            self.large += 1;
            self.bytes += u64::from(record.size_bytes - HEADERS);
        }
    }
}

/// One relay with a path for each run.
struct Paths {
    relay: Relay,
    clock: Clock,
    flows: Vec<FlowId>,
    counts: Vec<Counts>,
}

impl Paths {
    fn start(rtt_ms: u64, servers: &[(By, SocketAddr)]) -> Result<Paths> {
        let rate = Rate::from_mbit(RATE_MBIT);
        let limit = BUFFER.parse::<Buffer>()?.limit(rate);
        let loss = Probability::from_ratio(LOSS).ok_or("no probability")?;
        let direction = || Direction { rate, loss, queue: Box::new(DropTail::new(limit)) };
        let mut config = Config::new(rtt_ms);
        let mut flows = Vec::new();
        for (number, (by, server)) in servers.iter().enumerate() {
            let (forward, reverse) = (direction(), direction());
            let link = config.add_link(Link { name: format!("path {number}"), forward, reverse });
            // The content crosses every link forward.
            let direction = if *by == By::Get { scenario::Direction::Down } else { scenario::Direction::Up };
            flows.push(config.add(Flow { link, server: *server, rtt: Span::from_millis(rtt_ms), direction }));
        }
        let clock = Clock::start();
        let relay = Relay::start(config, clock)?;
        Ok(Paths { relay, clock, flows, counts: vec![Counts::default(); servers.len()] })
    }

    fn count(&mut self) {
        for record in self.relay.drain_records() {
            let number = self.flows.iter().position(|flow| *flow == record.flow);
            if let Some(counts) = number.and_then(|number| self.counts.get_mut(number)) {
                counts.add(&record);
            }
        }
    }

    /// Returns the seconds from the first packet of a run to `end`.
    fn seconds(&self, number: usize, end: Instant) -> Result<f64> {
        let first = self.counts[number].first.ok_or("nothing was sent")?;
        Ok(end.saturating_duration_since(self.clock.instant_of(first)).as_secs_f64())
    }
}

/// A run under way.
struct Run {
    by: By,
    work: Work,
    end: Option<Instant>,
}

/// The two ends that move the file.
enum Work {
    Plain(plain::Transfer),
    /// The command that listens, and the one that connects.
    Commands(Running, Running),
}

impl Run {
    fn start(by: By, server: SocketAddr, front: SocketAddr, folder: &Path, options: &Options) -> Result<Run> {
        let work = match by {
            By::Plain => {
                let bytes = options.megabytes * 1_000_000;
                Work::Plain(plain::Transfer::start(server, front, bytes, &options.controller)?)
            }
            By::Send | By::Get => commands(by, server, front, folder, &options.controller)?,
        };
        Ok(Run { by, work, end: None })
    }

    /// Returns true once it has ended.
    fn has_ended(&mut self) -> Result<bool> {
        if self.end.is_none() {
            self.end = match &mut self.work {
                Work::Plain(transfer) => transfer.ended()?,
                Work::Commands(listening, dialing) => {
                    listening.drain();
                    let end = dialing.drain().iter().find(|line| line.is("finished")).map(|line| line.at);
                    if end.is_none() && dialing.ended()? == Some(false) {
                        return Err("a command failed".into());
                    }
                    end
                }
            };
        }
        Ok(self.end.is_some())
    }
}

fn commands(by: By, server: SocketAddr, front: SocketAddr, folder: &Path, controller: &str) -> Result<Work> {
    let state = tempfile::tempdir_in(folder)?.keep();
    let far = state.join("far");
    std::fs::create_dir_all(&far)?;
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a name that is not UTF-8");
    let (source, far) = (text(&folder.join("source"))?, text(&far)?);
    let file = format!("{source}/file.bin");
    let (listen, front) = (server.to_string(), front.to_string());
    let (command, directory) = if by == By::Send { ("receive", &far) } else { ("serve", &source) };
    let mut words = vec![command, directory, "--listen", &listen, "--address", &front];
    words.extend(ETHERNET);
    words.extend(["--controller", controller]);
    let listening = Running::start(&state, &words)?;
    let ticket = listening.ticket()?;
    words = if by == By::Send { vec!["send", &file, &ticket] } else { vec!["get", &ticket, &far] };
    words.extend(ETHERNET);
    words.extend(["--controller", controller]);
    Ok(Work::Commands(listening, Running::start(&state, &words)?))
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::read(&words)?;
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("source"))?;
    std::fs::write(folder.path().join("source/file.bin"), noise(1, options.megabytes * 1_000_000))?;
    println!(
        "{} MB, 5 % loss each way, {}, mean of {} seeds (asked: share >= {LEAST})",
        options.megabytes, options.controller, options.seeds
    );
    let mut sets = Vec::new();
    for rtt_ms in options.rtts_ms.clone() {
        sets.push(Set::start(rtt_ms, folder.path(), &options)?);
    }
    let began = Instant::now();
    let mut under_way = true;
    while under_way {
        std::thread::sleep(Duration::from_millis(50));
        under_way = false;
        for set in &mut sets {
            under_way |= !set.has_ended()?;
        }
        if began.elapsed() > PATIENCE {
            return Err("a transfer does not end".into());
        }
    }
    let (mut least, mut latest) = (f64::INFINITY, 0.0_f64);
    for set in sets {
        let (share, late_ms) = set.finish(options.megabytes)?;
        (least, latest) = (least.min(share), latest.max(late_ms));
    }
    println!("emulation late, p99: {latest:.2} ms");
    if latest > LATENESS_BOUND_MS {
        println!("SKIPPED: this machine is too busy to emulate a network");
        return Ok(());
    }
    if options.check && least < LEAST {
        return Err(format!("{least:.3} of plain quinn's goodput").into());
    }
    Ok(())
}

/// The runs of a round-trip time.
struct Set {
    rtt_ms: u64,
    paths: Paths,
    runs: Vec<Run>,
}

impl Set {
    fn start(rtt_ms: u64, folder: &Path, options: &Options) -> Result<Set> {
        let mut servers = Vec::new();
        for _ in 0..options.seeds {
            for (by, _) in WAYS {
                servers.push((by, free_address()?));
            }
        }
        let paths = Paths::start(rtt_ms, &servers)?;
        let mut runs = Vec::new();
        for ((by, server), flow) in servers.iter().zip(&paths.flows) {
            runs.push(Run::start(*by, *server, paths.relay.front(*flow), folder, options)?);
        }
        Ok(Set { rtt_ms, paths, runs })
    }

    fn has_ended(&mut self) -> Result<bool> {
        self.paths.count();
        let mut all = true;
        for run in &mut self.runs {
            all &= run.has_ended()?;
        }
        Ok(all)
    }

    /// Returns the least share of plain quinn's goodput, and how late the emulation was.
    fn finish(self, megabytes: usize) -> Result<(f64, f64)> {
        let least = report(self.rtt_ms, &self.paths, &self.runs, megabytes)?;
        let late_ms = self.paths.relay.stop()?.lateness.map_or(0.0, |late| late.departures.p99_ms);
        Ok((least, late_ms))
    }
}

/// Prints a line for each way. Returns the least share of plain quinn's goodput.
fn report(rtt_ms: u64, paths: &Paths, runs: &[Run], megabytes: usize) -> Result<f64> {
    println!(
        "{:<12} {:>8} {:>7} {:>8} {:>7} {:>7} {:>7}  each",
        format!("{rtt_ms} ms"),
        "Mbit/s",
        "share",
        "packets",
        "bytes",
        "small",
        "back"
    );
    let (mut base, mut least) = (f64::NAN, f64::INFINITY);
    for (by, name) in WAYS {
        let numbers: Vec<usize> = (0..runs.len()).filter(|number| runs[*number].by == by).collect();
        let mut rates = Vec::new();
        for &number in &numbers {
            let seconds = paths.seconds(number, runs[number].end.ok_or("it has no end")?)?;
            rates.push(megabytes as f64 * 8.0 / seconds);
        }
        let goodput = mean(&rates);
        if by == By::Plain {
            base = goodput;
        }
        least = least.min(goodput / base);
        let count = |value: fn(&Counts) -> u64| {
            mean(&numbers.iter().map(|number| value(&paths.counts[*number]) as f64).collect::<Vec<_>>())
        };
        let large = count(|counts| counts.large);
        let each: Vec<String> = rates.iter().map(|rate| format!("{rate:.2}")).collect();
        println!(
            "{name:<12} {goodput:>8.3} {:>7.3} {large:>8.0} {:>7.0} {:>7.0} {:>7.0}  {}",
            goodput / base,
            count(|counts| counts.bytes) / large,
            count(|counts| counts.small),
            count(|counts| counts.back),
            each.join(" ")
        );
    }
    Ok(least)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One stream of plain quinn: its own socket, its own defaults, the controller of the commands.
mod plain {
    use super::support::certificates;
    use super::{Instant, Result, SocketAddr};
    use afteryou_quic::Factory;
    use quinn::{Endpoint, TransportConfig};
    use std::sync::mpsc::{self, Receiver, TryRecvError};
    use std::sync::{Arc, LazyLock};
    use tokio::runtime::Runtime;

    static RUNTIME: LazyLock<std::io::Result<Runtime>> =
        LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build());

    /// A transfer under way.
    pub struct Transfer {
        end: Receiver<Instant>,
    }

    fn transport(controller: &str) -> Result<Arc<TransportConfig>> {
        let factory = match controller {
            "ledbat++" => afteryou_quic::background(),
            name => Factory::new(afteryou_cc::list::find(name).ok_or("no such controller")?, &[])?,
        };
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(factory);
        Ok(Arc::new(transport))
    }

    impl Transfer {
        /// Sends `bytes` to a server at `listen` through `front`.
        pub fn start(
            listen: SocketAddr,
            front: SocketAddr,
            bytes: usize,
            controller: &str,
        ) -> Result<Transfer> {
            let runtime = RUNTIME.as_ref()?;
            let _inside = runtime.enter();
            let (server, client) = certificates::configurations(&transport(controller)?)?;
            let server = Endpoint::server(server, listen)?;
            let endpoint = Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            let connecting = endpoint.connect_with(client, front, "localhost")?;
            let (done, end) = mpsc::channel();
            runtime.spawn(async move {
                let connection = server.accept().await?.await.ok()?;
                let mut stream = connection.accept_uni().await.ok()?;
                let mut received = 0;
                while let Ok(Some(chunk)) = stream.read_chunk(1 << 16, true).await {
                    received += chunk.bytes.len();
                }
                if received == bytes {
                    _ = done.send(Instant::now());
                }
                connection.close(0u32.into(), b"done");
                server.wait_idle().await;
                Some(())
            });
            runtime.spawn(async move {
                let connection = connecting.await.ok()?;
                let mut stream = connection.open_uni().await.ok()?;
                let block = bytes::Bytes::from(vec![7; 100_000]);
                for _ in 0..bytes / block.len() {
                    stream.write_chunk(block.clone()).await.ok()?;
                }
                stream.finish().ok()?;
                connection.closed().await;
                endpoint.wait_idle().await;
                Some(())
            });
            Ok(Transfer { end })
        }

        /// Returns when the reader had everything, if it has.
        pub fn ended(&mut self) -> Result<Option<Instant>> {
            match self.end.try_recv() {
                Ok(at) => Ok(Some(at)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err("plain quinn failed".into()),
            }
        }
    }
}
