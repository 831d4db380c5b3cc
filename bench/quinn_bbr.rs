//! quinn's own BBR beside ours: both versions 1, over the same emulated path, alone and beside CUBIC.
//!
//! `cargo run --release --example quinn_bbr [RUNS] [--seconds N]` (3 runs of 25 s, ten minutes)
//!
//! The path has 10 Mbit/s, 40 ms and a DropTail queue of 0.5 or 2 BDP. Every flow is one stream of quinn over IPv4 and loopback, with
//! quinn's default settings apart from the controller. "quinn" has the `BbrConfig` and the socket of quinn 0.11 itself. "ours" is `bbr`
//! of `afteryou-cc` by `afteryou-quic`, which keeps a controller's rate; so is the CUBIC that each of the two meets. "simulated" is the
//! same with ours over TCP in the simulator.
//!
//! Flows start within the first 100 ms, and the first fifth of a run is not measured. Figures are means over the runs. The share is
//! BBR's part of the bytes that left the link. Queues are those of packets, without the packet that is being sent. Lost packets are
//! those of BBR, as a part of what it sent. A run that the machine was too slow for is left out.

mod support;

use afteryou_base::{Dscp, Span, Time};
use afteryou_bed::relay::{Config, Fate, Flow, Link, Record, Relay, Way, LATENESS_BOUND_MS};
use afteryou_bed::Clock;
use afteryou_cc::list::find;
use afteryou_quic::{endpoint, Factory, Socket};
use afteryou_scenario as scenario;
use afteryou_scenario_file::Experiment;
use quinn::congestion::BbrConfig;
use quinn::{Endpoint, EndpointConfig, TransportConfig};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use support::{certificates, free_address, Result};

const RATE: &str = "10 Mbit/s";
const RATE_BIT_S: f64 = 1e7;
const RTT_MS: u64 = 40;
/// Half of what the path holds, and twice.
const BUFFERS: [&str; 2] = ["20 ms", "80 ms"];
/// The second flow starts this much after the first in the first run, and before it in the second.
const STARTS_MS: [[u64; 2]; 3] = [[0, 50], [50, 0], [0, 100]];
/// The part of a run that is not measured.
const SETTLING: f64 = 0.2;

/// A controller at work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// quinn's BBR, on quinn's socket.
    Quinn,
    /// A controller of ours, on our socket.
    Ours(&'static str),
}

/// The figures of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    utilisation: f64,
    share: f64,
    queue_ms: f64,
    lost: f64,
}

impl Figures {
    fn mean(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Figures {
            utilisation: mean(|one| one.utilisation),
            share: mean(|one| one.share),
            queue_ms: mean(|one| one.queue_ms),
            lost: mean(|one| one.lost),
        }
    }
}

/// The packets of a flow that are measured.
#[derive(Clone, Copy, Default)]
struct Counts {
    arrived: u64,
    dropped: u64,
    sent_bytes: u64,
    waited: Span,
    left: u64,
}

impl Counts {
    fn add(&mut self, record: &Record) {
        self.arrived += 1;
        match record.fate {
            Fate::Sent { sojourn, .. } => {
                self.sent_bytes += u64::from(record.size_bytes);
                self.waited = self.waited + sojourn;
                self.left += 1;
            }
            Fate::Dropped { .. } | Fate::Lost => self.dropped += 1,
        }
    }
}

/// Sends from a client to a server at `listen` without end, through `front`. Must be called within a runtime.
fn pour(by: By, listen: SocketAddr, front: SocketAddr, start: Duration) -> Result<()> {
    let mut transport = TransportConfig::default();
    match by {
        By::Quinn => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
        By::Ours(name) => {
            let entry = find(name).ok_or("no such controller")?;
            transport.congestion_controller_factory(Factory::new(entry, &[])?)
        }
    };
    let (server, client) = certificates::configurations(&Arc::new(transport))?;
    let server = Endpoint::server(server, listen)?;
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let near = match by {
        By::Quinn => Endpoint::client(any)?,
        By::Ours(_) => endpoint(Socket::bind(any, Dscp::DEFAULT)?, EndpointConfig::default(), None)?,
    };
    tokio::spawn(async move {
        let connection = server.accept().await?.await.ok()?;
        let mut stream = connection.accept_uni().await.ok()?;
        while let Ok(Some(_)) = stream.read_chunk(1 << 16, true).await {}
        Some(())
    });
    tokio::spawn(async move {
        tokio::time::sleep(start).await;
        let connection = near.connect_with(client, front, "localhost").ok()?.await.ok()?;
        let mut stream = connection.open_uni().await.ok()?;
        let block = bytes::Bytes::from_static(&[7; 10_000]);
        while stream.write_chunk(block.clone()).await.is_ok() {}
        Some(())
    });
    Ok(())
}

/// Runs flows through one link; returns `None` if the machine was too slow.
fn real(flows: &[By], buffer: &str, run: usize, seconds: f64) -> Result<Option<Figures>> {
    let link = scenario::Link::new(RATE.parse()?, buffer.parse()?);
    let mut config = Config::new(run as u64);
    let path = config.add_link(Link::of_scenario("path", &link, run as u64)?);
    let servers = flows.iter().map(|_| free_address()).collect::<Result<Vec<_>>>()?;
    let rtt = Span::from_millis(RTT_MS);
    let ids: Vec<_> = servers
        .iter()
        .map(|&server| config.add(Flow { link: path, server, rtt, direction: scenario::Direction::Up }))
        .collect();
    let relay = Relay::start(config, Clock::start())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let inside = runtime.enter();
    let starts = STARTS_MS[run % STARTS_MS.len()];
    for (number, &by) in flows.iter().enumerate() {
        let start = Duration::from_millis(starts[number]);
        pour(by, servers[number], relay.front(ids[number]), start)?;
    }
    drop(inside);
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let (statistics, records) = relay.stop_with_records()?;
    runtime.shutdown_background();
    if statistics.lateness.is_none_or(|late| late.departures.p99_ms > LATENESS_BOUND_MS) {
        return Ok(None);
    }
    let (from, to) = (seconds_at(SETTLING * seconds), seconds_at(seconds));
    let mut counts = vec![Counts::default(); flows.len()];
    let measured = |record: &&Record| record.way == Way::Forward && (from..to).contains(&record.arrived_at);
    for record in records.iter().filter(measured) {
        let number = ids.iter().position(|id| *id == record.flow).ok_or("a stranger's packet")?;
        counts[number].add(record);
    }
    Ok(Some(figures(&counts, seconds * (1.0 - SETTLING))))
}

fn seconds_at(seconds: f64) -> Time {
    Time((seconds * 1e9) as u64)
}

/// Returns the figures of flows, the first of which is BBR.
fn figures(counts: &[Counts], seconds: f64) -> Figures {
    let sum = |of: fn(&Counts) -> f64| counts.iter().map(of).sum::<f64>();
    let bytes = sum(|one| one.sent_bytes as f64);
    let bbr = counts[0];
    Figures {
        utilisation: 100.0 * 8.0 * bytes / seconds / RATE_BIT_S,
        share: 100.0 * bbr.sent_bytes as f64 / bytes,
        queue_ms: sum(|one| one.waited.as_secs_f64()) * 1e3 / sum(|one| one.left as f64),
        lost: 100.0 * bbr.dropped as f64 / bbr.arrived as f64,
    }
}

/// Returns the figures of the same flows in the simulator, over TCP.
fn simulated(names: &[&str], buffer: &str, run: usize, seconds: f64) -> Result<Figures> {
    let starts = STARTS_MS[run % STARTS_MS.len()];
    let flow = |(name, start): (&&str, u64)| {
        format!("[[flow]]\nname = \"{name}\"\ncontroller = \"{name}\"\ntransport = \"tcp\"\nrtt = \"{RTT_MS} ms\"\nstart = \"{start} ms\"\n")
    };
    let flows: String = names.iter().zip(starts).map(flow).collect();
    let from = SETTLING * seconds;
    let text = format!(
        "duration = \"{seconds} s\"\nmeasure = {{ from = \"{from} s\" }}\n[link]\nrate = \"{RATE}\"\nbuffer = \"{buffer}\"\n{flows}"
    );
    let planned = Experiment::parse(&text, "bbr", &[])?.runs(Some(run as u64 + 1), Some(1))?;
    let scenario = &planned.first().ok_or("no runs")?.scenario;
    let outcome = afteryou_sim::run(scenario, &mut |_| ControlFlow::Continue(()))?.run;
    let window = &outcome.windows[0];
    let link = window.bottleneck().cloned().unwrap_or_default();
    let goodput: Vec<f64> = window.flows.iter().map(|flow| flow.goodput_bit_s).collect();
    let bbr = outcome.totals.iter().find(|totals| totals.flow == "bbr").ok_or("no totals")?;
    Ok(Figures {
        utilisation: 100.0 * link.utilisation,
        share: 100.0 * goodput[0] / goodput.iter().sum::<f64>(),
        queue_ms: link.queuing_delay.unwrap_or_default().mean_ms,
        lost: 100.0 * bbr.losses as f64 / bbr.packets as f64,
    })
}

fn print(buffer: &str, flows: &str, by: &str, all: &[Figures]) {
    if all.is_empty() {
        println!("SKIPPED: {by} in {buffer}, {flows}: the machine was too busy to emulate a network");
        return;
    }
    let Figures { utilisation, share, queue_ms, lost } = Figures::mean(all);
    let each: Vec<String> = all.iter().map(|one| format!("{:.1}", one.share)).collect();
    println!(
        "| {buffer} | {flows} | {by} | {utilisation:.1} | {share:.1} ({}) | {queue_ms:.1} | {lost:.1} |",
        each.join(" ")
    );
}

fn main() -> Result<()> {
    let (mut runs, mut seconds) = (3_usize, 25.0_f64);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().ok_or("--seconds requires a number")?.parse()?,
            number => runs = number.parse::<usize>()?.max(1),
        }
    }
    println!("| buffer | flows | BBR of | link used % | share of BBR % (each run) | mean queue ms | BBR's losses % |");
    println!("|---|---|---|--:|--:|--:|--:|");
    for buffer in BUFFERS {
        for rival in [None, Some("cubic")] {
            let flows = if rival.is_some() { "beside CUBIC" } else { "alone" };
            for (bbr, by) in [(By::Quinn, "quinn"), (By::Ours("bbr"), "ours")] {
                let together: Vec<By> = [Some(bbr), rival.map(By::Ours)].into_iter().flatten().collect();
                let all = (0..runs).map(|run| real(&together, buffer, run, seconds));
                print(buffer, flows, by, &all.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?);
            }
            let names: Vec<&str> = [Some("bbr"), rival].into_iter().flatten().collect();
            let all = (0..runs).map(|run| simulated(&names, buffer, run, seconds));
            print(buffer, flows, "simulated", &all.collect::<Result<Vec<_>>>()?);
        }
    }
    Ok(())
}
