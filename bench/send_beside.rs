//! Measures the effect of `afteryou send` on other traffic, with the real commands over an emulated home uplink.
//!
//! `cargo run --release --example send_beside [RUNS] [--check] [-- words for send, such as --controller cubic]`
//!
//! A link of 20 Mbit/s, 40 ms and 500 ms of buffer carries `send` to `receive` for 30 s and a call of 64 kbit/s. From 12 s
//! to 22 s there is an upload, too, over plain quinn with its own CUBIC. The same without `send` is the baseline. Rates
//! count content: bytes that the receiving end has verified, and the upload's bytes as its reader gets them. Each number is
//! the median of RUNS (1) runs. A run that the machine spoiled (packets late by more than 5 ms at the 99th percentile) is
//! repeated.

mod support;

use afteryou_aqm::droptail::DropTail;
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Direction, Fate, FlowId, Link, Record, Relay, Way};
use afteryou_bed::Clock;
use afteryou_scenario::{Buffer, Probability, Rate};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{free_address, median, noise, quantile, Line, Result, Running, ETHERNET};

const RATE_MBIT: u64 = 20;
const RTT_MS: u64 = 40;
const BUFFER: &str = "500 ms";
/// Seconds from the first packet of the transfer.
const ALONE: (f64, f64) = (3.0, 10.0);
const STAY: (f64, f64) = (12.0, 22.0);
const SETTLED: (f64, f64) = (14.0, 22.0);
const BACK: (f64, f64) = (25.0, 30.0);
const END: f64 = 30.0;
/// The baseline needs nothing before this time.
const BASELINE_FROM: f64 = 10.0;
/// Together more than the link carries in the whole time; several, so that `--connections` has something to share out.
const FILES: u64 = 9;
const FILE_BYTES: usize = 10_000_000;
/// How often rates are looked at.
const SAMPLE: Duration = Duration::from_millis(50);
const LATE_MS: f64 = 5.0;

/// The curves of a run.
struct Run {
    /// When the run began, on the relay's clock.
    begins: Time,
    /// The time at which it began, s: a baseline begins in the middle.
    start_s: f64,
    /// (time s, bytes of content so far) at the receiving end of the transfer.
    transfer: Vec<(f64, f64)>,
    /// The same of the upload.
    upload: Vec<(f64, f64)>,
    records: Vec<Record>,
    call: FlowId,
    send: FlowId,
    late_ms: f64,
}

impl Run {
    /// Returns (time s, wait ms, size) of a flow's packets that passed the link forward.
    fn passed(&self, flow: FlowId) -> impl Iterator<Item = (f64, f64, u32)> + '_ {
        let ours =
            self.records.iter().filter(move |record| record.flow == flow && record.way == Way::Forward);
        ours.filter_map(|record| match record.fate {
            Fate::Sent { dequeued_at, sojourn, .. } => {
                let at = self.start_s + dequeued_at.since(self.begins).as_secs_f64();
                Some((at, sojourn.as_millis_f64(), record.size_bytes))
            }
            _ => None,
        })
    }

    fn call_p95_ms(&self, window: (f64, f64)) -> f64 {
        let inside = self.passed(self.call).filter(|(at, ..)| (window.0..window.1).contains(at));
        quantile(&mut inside.map(|(_, ms, _)| ms).collect::<Vec<_>>(), 0.95)
    }

    /// Returns the part of the transfer's packets that are marked lower effort (DSCP 1, RFC 8622).
    fn marked(&self) -> f64 {
        let ours =
            self.records.iter().filter(|record| record.flow == self.send && record.way == Way::Forward);
        let (all, marked) =
            ours.fold((0, 0), |(all, marked), record| (all + 1, marked + u64::from(record.tos >> 2 == 1)));
        marked as f64 / f64::from(all)
    }

    /// Returns the transfer's largest size on the link, bytes.
    fn packet(&self) -> u32 {
        self.passed(self.send).map(|(.., size)| size).max().unwrap_or(0)
    }
}

/// Returns the bytes a second between two times of a curve, by linear interpolation.
fn rate(curve: &[(f64, f64)], (from, to): (f64, f64)) -> f64 {
    (value(curve, to) - value(curve, from)) / (to - from)
}

fn value(curve: &[(f64, f64)], at: f64) -> f64 {
    let next = curve.partition_point(|(time, _)| *time < at);
    match (next.checked_sub(1).and_then(|i| curve.get(i)), curve.get(next)) {
        (Some(before), Some(after)) => {
            before.1 + (after.1 - before.1) * (at - before.0) / (after.0 - before.0)
        }
        (Some(last), None) => last.1,
        (None, Some(_)) | (None, None) => 0.0,
    }
}

/// Builds the emulated link with room for the three flows.
fn relay(transfer: SocketAddr, upload: SocketAddr, call: SocketAddr) -> Result<(Relay, Clock, [FlowId; 3])> {
    let rate = Rate::from_mbit(RATE_MBIT);
    let limit = BUFFER.parse::<Buffer>()?.limit(rate);
    let direction =
        || Direction { rate, loss: Probability::default(), queue: Box::new(DropTail::new(limit)) };
    let mut config = Config::new(1);
    config.records = true;
    let link = config.add_link(Link { name: "uplink".into(), forward: direction(), reverse: direction() });
    let flows =
        [transfer, upload, call].map(|server| config.add_flow(link, server, Span::from_millis(RTT_MS)));
    let clock = Clock::start();
    Ok((Relay::start(config, clock)?, clock, flows))
}

/// Makes one run, with `send` or, for the baseline, without.
fn run(folder: &Path, words: &[String], with_send: bool) -> Result<Run> {
    let upload = quinn_pair::Server::open()?;
    let call_end = UdpSocket::bind("127.0.0.1:0")?;
    let transfer_end = free_address()?;
    let (relay, clock, flows) = relay(transfer_end, upload.address(), call_end.local_addr()?)?;
    let [send, upload_flow, call] = flows;

    let far = folder.join("far");
    let _ = std::fs::remove_dir_all(&far);
    std::fs::create_dir_all(&far)?;
    let (listen, front) = (transfer_end.to_string(), relay.front(send).to_string());
    let mut receive_words = vec!["receive", path(&far)?, "--listen", &listen, "--address", &front];
    receive_words.extend(ETHERNET);
    let receive = Running::start(folder, &receive_words)?;
    let ticket = receive.ticket()?;

    let start = if with_send { 0.0 } else { BASELINE_FROM };
    let files = folder.join("backup");
    let sender = with_send.then(|| {
        let mut send_words = vec!["send", path(&files)?, &ticket];
        send_words.extend(ETHERNET);
        send_words.extend(words.iter().map(String::as_str));
        Running::start(folder, &send_words)
    });
    let sender = sender.transpose()?;
    // Time zero is when data begins to flow, not when a process begins to start.
    let mut records = Vec::new();
    let mut begins = clock.now();
    if with_send {
        wait_for_data(&relay, send, &mut records, &mut begins)?;
    }
    let instant_of =
        |seconds: f64| clock.instant_of(begins) + Duration::from_secs_f64((seconds - start).max(0.0));

    let over = Arc::new(AtomicBool::new(false));
    let caller = call_thread(relay.front(call), &over)?;
    let mut curve = Vec::new();
    let mut upload_curve = Vec::new();
    let received = Arc::new(AtomicU64::new(0));
    let mut client = None;
    let mut lines: Vec<Line> = Vec::new();
    loop {
        std::thread::sleep(SAMPLE);
        let now = Instant::now();
        if client.is_none() && now >= instant_of(STAY.0) {
            client =
                Some(upload.start(relay.front(upload_flow), instant_of(STAY.1), Arc::clone(&received))?);
        }
        let at = start + now.saturating_duration_since(clock.instant_of(begins)).as_secs_f64();
        upload_curve.push((at, received.load(Ordering::Relaxed) as f64));
        records.extend(relay.drain_records());
        lines.extend(receive.drain());
        if now >= instant_of(if with_send { END } else { STAY.1 }) {
            break;
        }
    }
    over.store(true, Ordering::Relaxed);
    let _ = caller.join();
    drop(sender);
    drop(receive);
    for line in lines.iter().filter(|line| line.is("progress")) {
        let at = line.at.saturating_duration_since(clock.instant_of(begins)).as_secs_f64();
        curve.push((start + at, line.number("bytes_moved") as f64));
    }
    let (statistics, rest) = relay.stop_with_records()?;
    records.extend(rest);
    let late_ms = statistics.lateness.map_or(0.0, |lateness| lateness.departures.p99_ms);
    Ok(Run { begins, start_s: start, transfer: curve, upload: upload_curve, records, call, send, late_ms })
}

fn wait_for_data(relay: &Relay, flow: FlowId, records: &mut Vec<Record>, begins: &mut Time) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        let new = relay.drain_records();
        let first = new.iter().find(|record| record.flow == flow && record.way == Way::Forward);
        if let Some(first) = first {
            *begins = first.arrived_at;
            records.extend(new);
            return Ok(());
        }
    }
    Err("nothing was sent within 20 s".into())
}

/// Starts a thread that sends 50 packets of 160 bytes a second, as telephony does.
fn call_thread(front: SocketAddr, over: &Arc<AtomicBool>) -> Result<std::thread::JoinHandle<()>> {
    let (socket, over) = (UdpSocket::bind("127.0.0.1:0")?, Arc::clone(over));
    Ok(std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            let _ = socket.send_to(&[0; 160], front);
            std::thread::sleep(Duration::from_millis(20));
        }
    }))
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| "the temporary directory's name is not UTF-8".into())
}

/// The requirements, and the measured values.
struct Number {
    what: &'static str,
    unit: &'static str,
    least: Option<f64>,
    most: Option<f64>,
    value: f64,
}

fn numbers(run: &Run, baseline: &Run) -> Vec<Number> {
    // What a packet carries at most: IPv4 and UDP headers, QUIC's short header, frame and tag take the rest.
    let packet = f64::from(run.packet());
    let capacity = RATE_MBIT as f64 * 1e6 / 8.0 * (packet - 28.0 - QUIC_OVERHEAD) / packet;
    let kept = |window| rate(&run.upload, window) / rate(&baseline.upload, window);
    let number = |what, unit, least, most, value| Number { what, unit, least, most, value };
    let share = |window| rate(&run.transfer, window) / capacity;
    vec![
        number("datagram, bytes of UDP payload", "B", None, None, packet - 28.0),
        number("alone, share of payload capacity", "", Some(0.88), None, share(ALONE)),
        number("kept by the upload, whole stay", "", Some(0.92), None, kept(STAY)),
        number("kept by the upload, from 2 s after arrival", "", Some(0.98), None, kept(SETTLED)),
        number("share while the upload is there", "", None, None, share(SETTLED)),
        number("back, share in the last 5 s", "", Some(0.85), None, share(BACK)),
        number("call's p95 delay, alone", "ms", None, Some(75.0), run.call_p95_ms(ALONE)),
        number(
            "call's p95 delay with the upload, above baseline",
            "ms",
            None,
            Some(10.0),
            run.call_p95_ms(SETTLED) - baseline.call_p95_ms(SETTLED),
        ),
        number("packets marked lower effort", "", None, None, run.marked()),
        number("emulation late, p99", "ms", None, Some(LATE_MS), run.late_ms.max(baseline.late_ms)),
    ]
}

/// Short header with an 8-byte connection id and a 2-byte packet number, stream frame header, tag of the cipher.
const QUIC_OVERHEAD: f64 = 1.0 + 8.0 + 2.0 + 8.0 + 16.0;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ours = words.iter().take_while(|word| *word != "--").cloned().collect::<Vec<_>>();
    let for_send = words.get(ours.len() + 1..).unwrap_or_default().to_vec();
    let check = ours.iter().any(|word| word == "--check");
    let runs: usize = ours.iter().find_map(|word| word.parse().ok()).unwrap_or(1);

    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("backup"))?;
    for i in 0..FILES {
        std::fs::write(folder.path().join(format!("backup/{i}.bin")), noise(i, FILE_BYTES))?;
    }
    let mut all: Vec<Vec<Number>> = Vec::new();
    let mut spoiled = 0;
    while all.len() < runs {
        let with = run(folder.path(), &for_send, true)?;
        let without = run(folder.path(), &for_send, false)?;
        let late = with.late_ms.max(without.late_ms);
        if late > LATE_MS {
            spoiled += 1;
            eprintln!("a measurement was invalid (packets late by {late:.1} ms), once more");
            if spoiled > 3 * runs {
                println!("SKIPPED: this machine is too busy to emulate a network");
                return Ok(());
            }
            continue;
        }
        all.push(numbers(&with, &without));
    }
    let mut missed = Vec::new();
    for (i, first) in all[0].iter().enumerate() {
        let values: Vec<f64> = all.iter().map(|numbers| numbers[i].value).collect();
        let middle = median(&values);
        let asked = match (first.least, first.most) {
            (Some(least), _) => format!(">= {least}"),
            (_, Some(most)) => format!("<= {most}"),
            _ => String::new(),
        };
        let list: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
        println!("{:<50} {middle:>9.3} {:<2} {asked:<8} ({})", first.what, first.unit, list.join(" "));
        // A value that is not a number is a miss, too.
        let holds =
            first.least.is_none_or(|least| middle >= least) && first.most.is_none_or(|most| middle <= most);
        if !holds {
            missed.push(first.what);
        }
    }
    if check && !missed.is_empty() {
        return Err(format!("missed: {}", missed.join("; ")).into());
    }
    Ok(())
}

/// The upload: plain quinn as it comes, with its own socket and its own CUBIC.
mod quinn_pair {
    use super::{Arc, AtomicU64, Duration, Instant, Ordering, Result, SocketAddr};
    use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use quinn::{ClientConfig, Endpoint, ServerConfig};
    use tokio::runtime::Runtime;

    /// The peer of the upload.
    pub struct Server {
        runtime: Runtime,
        endpoint: Endpoint,
        certificate: CertificateDer<'static>,
    }

    impl Server {
        /// Listens on the loopback.
        pub fn open() -> Result<Server> {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            let _inside = runtime.enter();
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
            let certificate = made.cert.der().clone();
            let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
            let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
            let endpoint = Endpoint::server(config, SocketAddr::from(([127, 0, 0, 1], 0)))?;
            Ok(Server { runtime, endpoint, certificate })
        }

        /// Returns the address at which it listens.
        pub fn address(&self) -> SocketAddr {
            self.endpoint.local_addr().unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)))
        }

        /// Sends through `front` as fast as CUBIC lets it until `end`; `received` counts what arrives.
        pub fn start(&self, front: SocketAddr, end: Instant, received: Arc<AtomicU64>) -> Result<Endpoint> {
            let _inside = self.runtime.enter();
            let mut roots = quinn::rustls::RootCertStore::empty();
            roots.add(self.certificate.clone())?;
            let mut client = Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            client.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
            let server = self.endpoint.clone();
            self.runtime.spawn(async move {
                let connection = server.accept().await?.await.ok()?;
                let mut stream = connection.accept_uni().await.ok()?;
                while let Ok(Some(chunk)) = stream.read_chunk(1 << 16, true).await {
                    received.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
                }
                Some(())
            });
            let connecting = client.connect(front, "localhost")?;
            self.runtime.spawn(async move {
                let connection = connecting.await.ok()?;
                let mut stream = connection.open_uni().await.ok()?;
                let block = vec![7; 1 << 14];
                while Instant::now() < end {
                    let left = end.saturating_duration_since(Instant::now());
                    let _ =
                        tokio::time::timeout(left.max(Duration::from_millis(1)), stream.write_all(&block))
                            .await;
                }
                connection.close(0u32.into(), b"done");
                Some(())
            });
            Ok(client)
        }
    }
}
