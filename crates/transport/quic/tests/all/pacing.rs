//! The rate of a controller, read from packets on the wire: the kernel's arrival times at the relay.

use crate::common::{client, connect, link, pour, runtime, server, sink};
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Fate, FlowId, Record, Relay, Way, TOS_IS_KEPT};
use afteryou_bed::Clock;
use afteryou_cc::{Ack, Controller, Directive, Loss, Pacing, Sent, Snapshot, Timeout};
use afteryou_quic::{background_transport, transport, Factory, Monitor, Socket};
use quinn::TransportConfig;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// UDP payload of a full packet.
const PACKET: u64 = 1200;
/// Its headers of IPv4 and UDP.
const HEADERS: u32 = 28;
/// Bytes per second at a gain of 1.
const RATE: u64 = 1_000_000;
/// A sender that wakes late makes good a quarter of it: 50 ms, for a busy machine.
const RTT_MS: u64 = 200;
/// Tries until a run passes: a machine that is busy for tens of milliseconds spoils one.
const TRIES: usize = 6;

/// How the next packets leave.
#[derive(Clone, Copy, Debug)]
struct Step {
    packets: usize,
    pacing: Pacing,
}

impl Step {
    const fn rate(packets: usize, rate: u64) -> Step {
        Step { packets, pacing: Pacing::Rate(rate) }
    }
}

/// A rule that takes one step after another, by full packets sent; the last one stays.
#[derive(Clone, Debug)]
struct Steps {
    steps: Vec<Step>,
    /// Full packets sent before the end of each step that has ended.
    ends: Arc<Mutex<Vec<usize>>>,
    packets: usize,
    in_step: usize,
}

impl Steps {
    fn new(steps: Vec<Step>) -> Steps {
        Steps { steps, ends: Arc::default(), packets: 0, in_step: 0 }
    }

    fn transport(&self) -> TransportConfig {
        let rule = self.clone();
        without_probes(transport(Factory::of(move |_| Box::new(rule.clone()))))
    }

    fn has_ended(&self) -> bool {
        self.ends.lock().unwrap().len() + 1 == self.steps.len()
    }

    /// Returns each step with the packets that it spaced: from the last one of the step before to its own last.
    fn spaced<'a>(&'a self, departures: &'a [Time]) -> impl Iterator<Item = (Step, &'a [Time])> + 'a {
        let ends = self.ends.lock().unwrap().clone();
        let first = std::iter::once(0).chain(ends.clone());
        first.zip(ends).zip(&self.steps).skip(1).map(|((from, to), step)| (*step, &departures[from - 1..to]))
    }
}

impl Controller for Steps {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.bytes < PACKET {
            return;
        }
        (self.packets, self.in_step) = (self.packets + 1, self.in_step + 1);
        let mut ends = self.ends.lock().unwrap();
        let step = ends.len();
        if step + 1 < self.steps.len() && self.in_step == self.steps[step].packets {
            ends.push(self.packets);
            self.in_step = 0;
        }
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, _loss: &Loss) {}
    fn on_timeout(&mut self, _timeout: &Timeout) {}
    fn on_mtu(&mut self, _mss: u32) {}
    fn directive(&self) -> Directive {
        let step = self.ends.lock().unwrap().len();
        Directive { pacing: self.steps[step].pacing, ..Directive::window(1 << 24) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "step", cwnd: 1 << 24, ..Snapshot::default() }
    }
}

/// Turns probes off, so that full packets are of one size.
fn without_probes(mut transport: TransportConfig) -> TransportConfig {
    transport.mtu_discovery_config(None);
    transport
}

/// Runs connections of one client's endpoint, each with a rule, until all have taken their steps. Returns when their full packets
/// arrived at the link.
async fn run(rules: &[Steps]) -> Vec<Vec<Time>> {
    let server = server("127.0.0.1:0", background_transport()).0;
    let mut config = Config::new(1);
    let link = config.add_link(link("link", "1 Gbit/s", "500 ms", "0 %"));
    let to = server.local_addr().unwrap();
    let flows: Vec<FlowId> =
        rules.iter().map(|_| config.add_flow(link, to, Span::from_millis(RTT_MS))).collect();
    let relay = Relay::start(config, Clock::start()).unwrap();
    tokio::spawn(sink(server));
    let client = client("127.0.0.1:0").0;
    let mut connections = Vec::new();
    for (rule, flow) in rules.iter().zip(&flows) {
        let connection = connect(&client, relay.front(*flow), rule.transport()).await.unwrap();
        tokio::spawn(pour(connection.clone()));
        connections.push(connection);
    }
    while !rules.iter().all(Steps::has_ended) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The last packets are on their way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    connections.iter().for_each(|connection| connection.close(0_u32.into(), b""));
    let (_, records) = relay.stop_with_records().unwrap();
    flows.into_iter().map(|flow| arrivals(&records, flow)).collect()
}

fn arrivals(records: &[Record], flow: FlowId) -> Vec<Time> {
    let full = PACKET as u32 + HEADERS;
    let mut packets: Vec<&Record> = records
        .iter()
        .filter(|record| record.flow == flow && record.way == Way::Forward && record.size_bytes == full)
        .filter(|record| matches!(record.fate, Fate::Sent { .. }))
        .collect();
    packets.sort_by_key(|record| record.number);
    packets.into_iter().map(|record| record.arrived_at).collect()
}

/// Returns the time over all the steps of this pacing, and what it should be by its rate, in seconds.
fn times(rule: &Steps, departures: &[Time], rate: u64) -> (f64, f64) {
    let of_rate = rule.spaced(departures).filter(|(step, _)| step.pacing == Pacing::Rate(rate));
    let spans = of_rate.map(|(step, times)| {
        let time = times[times.len() - 1].since(times[0]).as_secs_f64();
        (time, step.packets as f64 * PACKET as f64 / rate as f64)
    });
    spans.fold((0.0, 0.0), |sum, span| (sum.0 + span.0, sum.1 + span.1))
}

/// Returns an error unless the mean rate of the steps at `rate` is within `tolerance`.
fn check_rate(rule: &Steps, departures: &[Time], rate: u64, tolerance: f64) -> Result<(), String> {
    let (time, expected) = times(rule, departures, rate);
    let ratio = expected / time;
    println!("{rate} B/s: {ratio:.4} of it in {time:.2} s");
    let is_kept = (1.0 - tolerance..1.0 + tolerance).contains(&ratio);
    is_kept.then_some(()).ok_or_else(|| format!("{ratio:.3} of {rate} B/s"))
}

fn gaps_ms(times: &[Time]) -> Vec<f64> {
    times.windows(2).map(|pair| pair[1].since(pair[0]).as_millis_f64()).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Checks that packets leave in pairs, `every_ms` apart.
fn check_pairs(times: &[Time], every_ms: f64) -> Result<(), String> {
    let gaps = gaps_ms(times);
    let (pauses, within): (Vec<f64>, Vec<f64>) = gaps.iter().partition(|gap| **gap > every_ms / 2.0);
    let (count, mean) = (pauses.len(), pauses.iter().sum::<f64>() / pauses.len().max(1) as f64);
    let shortest = pauses.iter().copied().fold(f64::MAX, f64::min);
    let (within_count, apart) = (within.len(), median(within));
    println!(
        "{count} pauses of {mean:.2} ms, {shortest:.2} at least; {within_count} pairs {apart:.3} ms apart"
    );
    let has_form = count.abs_diff(within_count) <= 1 && apart < 1.0;
    let has_rate = shortest > every_ms * 0.96 && mean < every_ms * 1.05;
    (has_form && has_rate)
        .then_some(())
        .ok_or_else(|| format!("{count} pauses of {mean:.2} ms, {shortest:.2} at least"))
}

/// Checks a train: its packets are spaced, not sent in bursts.
fn check_spacing(times: &[Time], rate: u64) -> Result<(), String> {
    let (spacing, found) = (PACKET as f64 / rate as f64 * 1e3, median(gaps_ms(times)));
    let is_spaced = (0.5 * spacing..1.5 * spacing).contains(&found);
    is_spaced.then_some(()).ok_or_else(|| format!("packets {found:.2} ms apart, not {spacing:.2}"))
}

/// Returns the first error of one try.
async fn try_rates() -> Result<(), String> {
    let base = Step::rate(100, RATE);
    let (fast, slow) = (RATE * 5 / 4, RATE * 3 / 4);
    let turns = [Step::rate(500, fast), Step::rate(300, slow)];
    let gains = Steps::new([base].into_iter().chain(turns.repeat(3)).chain([base]).collect());
    let every = Span::from_millis(40);
    let pairs = Step { packets: 40, pacing: Pacing::Together { packets: 2, apart_us: 0, every } };
    let train = [base, Step::rate(32, RATE / 2)];
    let mixed = Steps::new([base, pairs].into_iter().chain(train.repeat(6)).chain([base]).collect());
    let departures = run(&[gains.clone(), mixed.clone()]).await;

    check_rate(&gains, &departures[0], fast, 0.03)?;
    check_rate(&gains, &departures[0], slow, 0.03)?;
    check_rate(&mixed, &departures[1], RATE / 2, 0.04)?;
    for (step, times) in mixed.spaced(&departures[1]) {
        match step.pacing {
            Pacing::Together { .. } => check_pairs(&times[1..], every.as_millis_f64())?,
            Pacing::Rate(rate) if rate == RATE / 2 => check_spacing(times, rate)?,
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn gains_pairs_and_a_slow_train_are_on_the_wire_as_the_controller_says() {
    if !TOS_IS_KEPT {
        println!("not tested: this platform's clock is too coarse");
        return;
    }
    let mut result = Ok(());
    for _ in 0..TRIES {
        result = runtime().block_on(try_rates());
        match &result {
            Ok(()) => return,
            Err(error) => println!("once more: {error}"),
        }
    }
    result.unwrap();
}

/// Returns the rate in bytes per second at which `monitor`'s connection has data acknowledged.
async fn acked_rate(monitor: &Monitor) -> f64 {
    let (before, start) = (monitor.status().acked_bytes, std::time::Instant::now());
    tokio::time::sleep(Duration::from_millis(1500)).await;
    (monitor.status().acked_bytes - before) as f64 / start.elapsed().as_secs_f64()
}

/// Returns the rate after a connection's endpoint has moved to another socket.
async fn rate_after_a_move() -> f64 {
    let server = server("127.0.0.1:0", background_transport()).0;
    let to = server.local_addr().unwrap();
    tokio::spawn(sink(server));
    let client = client("127.0.0.1:0").0;
    let rule = Steps::new(vec![Step::rate(1, RATE / 2)]);
    let connection = connect(&client, to, rule.transport()).await.unwrap();
    let monitor = Monitor::of(&connection).unwrap();
    tokio::spawn(pour(connection.clone()));
    tokio::time::sleep(Duration::from_millis(300)).await;
    let other = Socket::bind("127.0.0.1:0".parse().unwrap(), afteryou_base::Dscp::LE).unwrap();
    client.rebind_abstract(other).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    acked_rate(&monitor).await
}

#[test]
fn the_rate_is_kept_on_another_socket() {
    let mut ratio = 0.0;
    for _ in 0..TRIES {
        ratio = runtime().block_on(rate_after_a_move()) / (RATE / 2) as f64;
        println!("{ratio:.3} of the rate");
        // Without pacing it would be a hundred times as much.
        assert!(ratio < 1.04, "{ratio:.3} of the rate");
        if ratio > 0.96 {
            return;
        }
    }
    // On a round trip of microseconds a sender that wakes late makes good 2 ms: a busy machine sends less.
    assert!(ratio > 0.2, "{ratio:.3} of the rate");
}

/// Returns the medians of the smoothed round-trip times of a client and of its server, in ms. Both send; the client sends a
/// packet every 240 ms.
async fn round_trips_beside_a_slow_rate_ms() -> [f64; 2] {
    let server = server("127.0.0.1:0", without_probes(background_transport())).0;
    let mut config = Config::new(1);
    let link = config.add_link(link("link", "100 Mbit/s", "500 ms", "0 %"));
    let flow = config.add_flow(link, server.local_addr().unwrap(), Span::from_millis(RTT_MS));
    let relay = Relay::start(config, Clock::start()).unwrap();
    let accepting = tokio::spawn(async move { server.accept().await.unwrap().await.unwrap() });
    let rule = Steps::new(vec![Step::rate(1, 5000)]);
    let client = client("127.0.0.1:0").0;
    let near = connect(&client, relay.front(flow), rule.transport()).await.unwrap();
    let far = accepting.await.unwrap();
    tokio::spawn(pour(near.clone()));
    let reader = near.clone();
    tokio::spawn(async move {
        let Ok(mut stream) = reader.accept_uni().await else { return };
        while let Ok(Some(_)) = stream.read_chunk(1 << 20, true).await {}
    });
    let mut stream = far.open_uni().await.unwrap();
    let monitors = [&near, &far].map(|connection| Monitor::of(connection).unwrap());
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..40 {
        stream.write_all(&[7; 10 * PACKET as usize]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        for (samples, monitor) in samples.iter_mut().zip(&monitors) {
            samples.push(monitor.status().smoothed_rtt.unwrap_or_default().as_millis_f64());
        }
    }
    near.close(0_u32.into(), b"");
    samples.map(median)
}

#[test]
fn a_packet_that_waits_for_its_departure_delays_neither_acknowledgements_nor_its_own_round_trip() {
    let mut rtts_ms = [0.0; 2];
    for _ in 0..TRIES {
        rtts_ms = runtime().block_on(round_trips_beside_a_slow_rate_ms());
        println!("{rtts_ms:?} ms at the client and the server");
        // The packet waits for 240 ms.
        if rtts_ms.iter().all(|rtt| (0.0..60.0).contains(&(rtt - RTT_MS as f64))) {
            return;
        }
    }
    panic!("{rtts_ms:?} ms on a path of {RTT_MS} ms");
}
